"""Chapters as files: found by number, stem or path, read, and told apart from what is none."""

import json
from pathlib import Path

from lazyrich.files import repository

from .parameters import ParameterError, suggest


def chapters() -> list[Path]:
    """The repository's chapters in order; none when the package was installed from a wheel."""
    root = repository()
    return sorted((root / "chapters").glob("[0-9][0-9]_*.ipynb")) if root else []


def find(chapter: str) -> Path:
    """The notebook that a number (1, 01), a stem or a path means.

    Raises ParameterError when there is none, or when the file is not a notebook.
    """
    path = Path(chapter)
    if path.suffix != ".ipynb":
        known = chapters()
        number = int(chapter) if chapter.isdecimal() and len(chapter) < 9 else None
        found = [path for path in known if path.stem == chapter or int(path.stem[:2]) == number]
        if not found:
            raise ParameterError(f"unknown chapter {chapter!r}{suggest(chapter, [p.stem for p in known])}")
        (path,) = found
    elif not is_file(path):
        raise ParameterError(f"chapter {chapter}: there is no such file")
    cells(path)
    return path.resolve()


def is_file(path: Path) -> bool:
    """Whether there is a file; a name that no file can have is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def cells(notebook: Path) -> list[dict]:
    """The cells of a notebook as stored.

    Raises ParameterError, naming the file, when it holds none.
    """
    try:
        found = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        tagged = any("parameters" in cell["metadata"].get("tags", []) for cell in found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParameterError(f"{notebook}: not a notebook ({type(error).__name__}: {error})") from error
    if not tagged:
        raise ParameterError(f"{notebook}: no cell is tagged 'parameters'")
    return found


def code(notebook: Path) -> str:
    """The sources of the code cells, which are what a run depends on; prose and outputs are not."""
    return "\n\n".join("".join(cell["source"]) for cell in cells(notebook) if cell["cell_type"] == "code")
