"""Papers are labelled by their keys (FL, DM, GE, FS), as the chapters and the ledger name them."""

from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as Unsorted
from pybtex.style.labels import BaseLabelStyle


class KeyLabels(BaseLabelStyle):
    def format_labels(self, entries):
        return [entry.key for entry in entries]


class KeyStyle(Unsorted):
    default_label_style = KeyLabels


def setup(app):
    register_plugin("pybtex.style.formatting", "key", KeyStyle)
