"""The book's Sphinx extension: generated pages, computed alt text, and no outside request."""

from . import (
    accessible,
    cells,
    citations,
    docstrings,
    downloads,
    equations,
    figures,
    hints,
    library,
    offline,
    pages,
    repository,
)

PARTS = (
    accessible,
    cells,
    citations,
    docstrings,
    downloads,
    equations,
    figures,
    hints,
    library,
    offline,
    pages,
    repository,
)


def setup(app):
    for part in PARTS:
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
