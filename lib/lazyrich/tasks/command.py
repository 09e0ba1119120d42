"""`python -m lazyrich data list | check NAME | fetch NAME`: the data sets, from the command line."""

import argparse
import sys
from pathlib import Path

from lazyrich.tasks import embedded, in_parts, own_files
from lazyrich.tasks.fetch import fetch
from lazyrich.tasks.sources import SOURCES, Source


def data(options: argparse.Namespace) -> int:
    """Carry out ``options.action`` (list, check or fetch) on ``options.name`` with ``options.folder``.

    Prints to stdout what it found or did, and one line to stderr on an error. Returns the exit status:
    0 done, 1 a file is missing or damaged, or could not be fetched, 2 the request makes no sense.
    """
    if options.action == "list":
        print(table())
        return 0
    if options.name not in SOURCES:
        return _told(f"data set {options.name!r}: expected one of {', '.join(SOURCES)}", 2)
    source = SOURCES[options.name]
    if not options.folder and (options.action == "fetch" or not own(source)):
        return _told(f"data {options.action} {source.name}: give --folder, where its files lie or go", 2)
    try:
        if options.action == "fetch":
            fetch(source, Path(options.folder))
        for line in check(source, options.folder):
            print(line)
    except OSError as error:
        path = f"{error.filename}: " if error.filename else ""
        return _told(path + (error.strerror or str(error)), 1)
    return 0


def own(source: Source) -> bool:
    """Whether the package holds this data set, or part of it."""
    return "package" in source.size + source.content


def table() -> str:
    """All data sets, a line each."""
    rows = [("name", "content", "size", "can be fetched")]
    for source in SOURCES.values():
        fetched = "yes" if source.files else "no need" if own(source) else "no: generate it"
        rows.append((source.name, source.content, source.size, fetched))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def check(source: Source, folder: str | Path = ""):
    """Read a data set whole, hashes included; yields a line for each part that is right.

    Raises OSError as the loaders do.
    """
    if source.name.endswith("-stream") or (source.name == "mnist" and not str(folder)):
        name, read = source.name.removesuffix("-stream"), embedded.load
        parts = {split: read(name, split).labels for split in ("train", "test")}
    elif source.name in own_files.IDX_SHA256:
        parts = {
            split: own_files.mnist_files(folder, split, source.name).labels for split in ("train", "test")
        }
    elif source.name == "cifar10":
        parts = {split: own_files.cifar10_files(folder, split).labels for split in ("train", "test")}
    elif source.name == "tiny-imagenet":
        read = in_parts.tiny_imagenet_files
        parts = {split: read(folder, split)[0][1] for split in ("train", "test")}
    else:
        read = in_parts.cifar5m_files if source.name == "cifar5m" else in_parts.mnist1m_files
        parts = {f"part {i}": labels for i, (_, labels) in enumerate(read(folder, again=True))}
    for name, labels in parts.items():
        yield f"right: {source.name} {name}, {len(labels):,} images"


def _told(message: str, status: int) -> int:
    print(f"lazyrich: {' '.join(message.split())}", file=sys.stderr)
    return status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that `data` reads."""
    parser.add_argument("action", choices=["list", "check", "fetch"], help="list, check or fetch")
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="a data set of the list")
    parser.add_argument("--folder", default="", metavar="PATH", help="where its files lie or go")
