"""Launch and source buttons, from the one place that names the repository.

``[project.urls] Repository`` in pyproject.toml; while it is unset, the buttons stay off.
"""

import tomllib
from pathlib import Path


def repository_url(source: Path) -> str | None:
    """The repository's address, from the pyproject.toml at or above the Sphinx source directory."""
    for folder in (source, *source.parents):
        project = folder / "pyproject.toml"
        if project.is_file():
            return tomllib.loads(project.read_text())["project"].get("urls", {}).get("Repository")
    return None


def theme_options(url: str | None) -> dict:
    """Options of sphinx-book-theme that a known repository turns on."""
    if url is None:
        return {}
    return {
        "repository_url": url,
        "repository_branch": "main",
        "path_to_docs": ".",
        "use_repository_button": True,
        "use_issues_button": True,
        "launch_buttons": {"colab_url": "https://colab.research.google.com",
                           "binderhub_url": "https://mybinder.org", "notebook_interface": "jupyterlab"},
    }


def configure(app, config):
    config.html_theme_options.update(theme_options(repository_url(Path(app.srcdir))))


def setup(app):
    app.connect("config-inited", configure, priority=100)
