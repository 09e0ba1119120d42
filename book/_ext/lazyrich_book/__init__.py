"""The book's Sphinx extension: generated pages, computed alt text, and no outside request."""

from . import accessible, citations, docstrings, figures, library, offline, pages, repository


def setup(app):
    for part in (accessible, citations, docstrings, figures, library, offline, pages, repository):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
