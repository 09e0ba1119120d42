"""Alt text and captions that the run computed.

A chapter stores them in the metadata of the figure's output (``lazyrich.plots.show``). MyST-NB
keeps only width and height of it, but names the image file by the SHA-256 of its bytes: that is
how the image finds its metadata again.
"""

import json
import re
from base64 import b64decode
from hashlib import sha256
from pathlib import Path, PurePosixPath

from docutils import nodes
from sphinx.transforms import SphinxTransform


def figure_metadata(notebook: Path) -> dict[str, dict]:
    """Map the SHA-256 of each PNG stored in a notebook to its alt text, caption and name."""
    found = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            if png := output.get("data", {}).get("image/png"):
                key = sha256(b64decode("".join(png))).hexdigest()
                found[key] = output["metadata"].get("image/png", {})
    return found


def inline(text: str) -> list[nodes.Node]:
    """Plain text with ``$…$`` as maths."""
    parts = re.split(r"\$([^$]+)\$", text)
    return [nodes.math(part, part) if i % 2 else nodes.Text(part) for i, part in enumerate(parts) if part]


class ComputedFigures(SphinxTransform):
    """Give a notebook's images their alt text, and make those with a caption numbered figures."""

    default_priority = 400

    def apply(self, **kwargs):
        source = Path(self.env.doc2path(self.env.docname))
        if source.suffix != ".ipynb":
            return
        metadata = figure_metadata(source)
        for image in list(self.document.findall(nodes.image)):
            found = metadata.get(PurePosixPath(image["uri"]).stem, {})
            if "alt" in found:
                image["alt"] = found["alt"]
            if "caption" in found:
                figure = nodes.figure("", image.deepcopy(), nodes.caption("", "", *inline(found["caption"])))
                # a figure's name is unique in its chapter, a label in the book
                label = f"fig {source.stem[:2]} {found['name']}" if "name" in found else None
                name = label and nodes.fully_normalize_name(label)
                if name:
                    figure["names"].append(name)
                    self.document.note_explicit_target(figure, figure)
                image.replace_self(figure)


def setup(app):
    app.add_transform(ComputedFigures)
