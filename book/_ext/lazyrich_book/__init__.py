"""The book's Sphinx extension: generated pages, computed alt text, and no outside request."""

from . import (
    accessible,
    cells,
    citations,
    cite,
    differences,
    docstrings,
    downloads,
    equations,
    explore_portrait,
    explore_scaling,
    figures,
    headlines,
    hints,
    library,
    offline,
    pages,
    paper_figures,
    presets,
    repository,
)

PARTS = (
    accessible,
    cells,
    citations,
    cite,
    differences,
    docstrings,
    downloads,
    equations,
    explore_portrait,
    explore_scaling,
    figures,
    headlines,
    hints,
    library,
    offline,
    pages,
    paper_figures,
    presets,
    repository,
)


def setup(app):
    for part in PARTS:
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
