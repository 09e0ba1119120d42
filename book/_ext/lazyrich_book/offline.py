"""Pages that make no outside request: MathJax beside them, and no thebe."""

from importlib.util import find_spec
from pathlib import Path

from sphinx.util.fileutil import copy_asset


def drop_thebe(app, pagename, templatename, context, doctree):
    """Remove thebe's scripts: Jupyter Book loads them on every page, twice, and they name a CDN."""
    context["script_files"] = [
        script for script in context.get("script_files", [])
        if "thebe" not in f"{script.filename} {script.attributes.get('body', '')}".lower()
    ]


def copy_mathjax(app, exception):
    """Copy one file of ``sphinx-mathjax-offline``, the SVG build, which needs no fonts beside it."""
    if exception is None and app.builder.format == "html":
        package = Path(find_spec("sphinx-mathjax-offline").submodule_search_locations[0])
        copy_asset(package / "static" / app.config.mathjax_path, Path(app.outdir, "_static", "mathjax"))


def setup(app):
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("build-finished", copy_mathjax)
