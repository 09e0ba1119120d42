"""Launch and source buttons, from the one place that names the repository.

``[project.urls] Repository`` in pyproject.toml; while it is unset, the buttons stay off.
"""

import tomllib
from pathlib import Path


def project_file(source: Path, name: str) -> Path | None:
    """A file of the repository's root, at or above the Sphinx source directory."""
    return next((f / name for f in (source, *source.parents) if (f / name).is_file()), None)


def repository_url(source: Path) -> str | None:
    """The repository's address, as pyproject.toml has it."""
    project = project_file(source, "pyproject.toml")
    if project is None:
        return None
    return tomllib.loads(project.read_text())["project"].get("urls", {}).get("Repository")


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
