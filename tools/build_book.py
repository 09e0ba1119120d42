"""Build the book from the runs of one preset: stage pages and executed chapters, build, move into place.

    python tools/build_book.py PRESET HTML

The prose is that of the chapters as they are now, the outputs are those of the runs. A failed build
leaves the book that was there.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from lazyrich.files import repository
from lazyrich.runs.chapters import chapters
from lazyrich.runs.committed import with_outputs

ROOT = repository()
PAGES = ("_config.yml", "_toc.yml", "CHANGELOG.md", "book", "workflow")


def stage(preset: str, source: Path) -> None:
    """Lay out the book's source with the executed chapters and, under `runs/`, what else they left."""
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    for name in PAGES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    (source / "chapters").mkdir()
    for notebook in chapters():
        run = ROOT / "results" / preset / notebook.stem
        # Another preset's outputs would contradict the laptop values in the parameters cell.
        text = with_outputs(notebook, run / notebook.name, keep_injected=preset != "laptop")
        (source / "chapters" / notebook.name).write_text(text, encoding="utf-8")
        shutil.copytree(run, source / "runs" / notebook.stem, ignore=shutil.ignore_patterns("*.ipynb"))


def build(source: Path, html: Path) -> int:
    """Build the staged book strictly, and put it in place when nothing is wrong with it."""
    program = Path(sys.executable).with_name("jupyter-book")
    # Always --all: an incremental build hides broken references.
    command = [program, "build", source, "-W", "-n", "--keep-going", "--all", "-q"]
    status = subprocess.run(command, check=False).returncode
    if status == 0:
        shutil.rmtree(html, ignore_errors=True)
        (source / "_build" / "html").rename(html)
    return status


if __name__ == "__main__":
    preset, html = sys.argv[1], Path(sys.argv[2]).absolute()
    stage(preset, html.parent / "book-src")
    sys.exit(build(html.parent / "book-src", html))
