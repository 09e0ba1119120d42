# Chapters and book as a workflow: what changed is what runs again. `make` is its front door.
#
#     snakemake book --config preset=ci
#
# A notebook is `ancient` and enters through the hash of its cells instead, so that opening it or
# refreshing its outputs runs nothing; every library file, data file, preset and the lock are inputs.

import sys

from lazyrich.files import repository, sha256
from lazyrich.runs import provenance
from lazyrich.runs.chapters import cells, chapters, code
from lazyrich.runs.presets import presets

ROOT = repository()
workdir: ROOT

PRESET = config.get("preset", "laptop")
HTML = config.get("html", "_build/html")
NOTEBOOKS = {path.stem: path for path in chapters()}
if "chapter" in config:  # a number, which YAML may have read as one
    NOTEBOOKS = {stem: path for stem, path in NOTEBOOKS.items() if int(stem[:2]) == int(config["chapter"])}
PAGES = [
    ROOT / "_config.yml", ROOT / "_toc.yml", ROOT / "CHANGELOG.md", ROOT / "pyproject.toml",
    *[path for path in (ROOT / "book").rglob("*") if path.is_file() and "__pycache__" not in path.parts],
    *(ROOT / "data" / "ledger").glob("record.json"),
]


def relative(paths):
    return [str(path.relative_to(ROOT)) for path in paths]


def prose(notebook):
    """Everything of a notebook but its outputs."""
    return sha256("\n".join("".join(cell["source"]) for cell in cells(notebook)).encode())


rule chapters:
    input: expand("results/{preset}/{stem}/run.json", preset=PRESET, stem=NOTEBOOKS)


rule book:
    message: f"building the book at preset {PRESET}"
    input:
        runs=rules.chapters.input,
        library=relative(provenance.inputs()),
        pages=relative(PAGES),
    params:
        preset=PRESET,
        prose=[prose(path) for path in NOTEBOOKS.values()],
    output: update(f"{HTML}/index.html")
    shell: "{sys.executable} tools/build_book.py {params.preset} {HTML}"


# The front replaces a good run only by another good one; `update` keeps Snakemake from removing it first.
rule chapter:
    message: "running chapter {wildcards.stem} at preset {wildcards.preset}"
    input:
        notebook=ancient(lambda found: relative([NOTEBOOKS[found.stem]])),
        preset=lambda found: relative([presets(NOTEBOOKS[found.stem])[found.preset]]),
        library=relative(provenance.inputs()),
    params: code=lambda found: sha256(code(NOTEBOOKS[found.stem]).encode())
    output: update("results/{preset}/{stem}/run.json")
    threads: workflow.cores  # chapters are timed on the whole machine, and share it with nothing
    shell: "{sys.executable} -m lazyrich run {wildcards.stem} --preset {wildcards.preset}"
