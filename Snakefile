# Chapters and book as a workflow: what changed is what runs again. `make` is its front door.
#
#     snakemake book --config preset=ci
#
# A notebook is `ancient` and enters through the hash of its cells instead, so that opening it or
# refreshing its outputs runs nothing; what it imports of the library, its data, claims and preset, and the lock are inputs.

import sys

from lazyrich.files import repository, sha256
from lazyrich.runs import provenance
from lazyrich.runs.chapters import cells, chapters, code, find
from lazyrich.runs.presets import presets, with_preset

ROOT = repository()
workdir: ROOT

PRESET = config.get("preset", "laptop")
HTML = config.get("html", "_build/html")
found = [find(str(config["chapter"]))] if "chapter" in config else chapters()
NOTEBOOKS = {path.stem: path for path in found}
for notebook in found:
    with_preset(notebook, PRESET)  # an unknown or broken one is refused before anything runs
PAGES = [
    ROOT / "_config.yml", ROOT / "_toc.yml", ROOT / "CHANGELOG.md", ROOT / "pyproject.toml",
    *[path for path in (ROOT / "book").rglob("*") if path.is_file() and "__pycache__" not in path.parts],
    *(ROOT / "workflow").rglob("*.yaml"),
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
        library=relative(sorted((ROOT / "lib").rglob("*.py"))),
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
        notebook=ancient(lambda wildcards: relative([NOTEBOOKS[wildcards.stem]])),
        preset=lambda wildcards: relative([presets(NOTEBOOKS[wildcards.stem])[wildcards.preset]]),
        library=lambda wildcards: relative(provenance.inputs(NOTEBOOKS[wildcards.stem])),
    params: code=lambda wildcards: sha256(code(NOTEBOOKS[wildcards.stem]).encode())
    output: update("results/{preset}/{stem}/run.json")
    threads: workflow.cores  # chapters are timed on the whole machine, and share it with nothing
    shell: "{sys.executable} -m lazyrich run {wildcards.stem} --preset {wildcards.preset}"
