"""Progress of long loops, which never ends up in a stored output.

A kernel's stderr is stored in the notebook, so a bar goes to a side file instead, named by
`LAZYRICH_PROGRESS`, and the front shows what arrives there. In it, text ended by a carriage return
is passing and a whole line stays, as on a terminal.
"""

import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
VARIABLE = "LAZYRICH_PROGRESS"


def progress(iterable: Iterable[T], label: str, total: int | None = None) -> Iterator[T]:
    """The elements of `iterable`, while a bar shows how far they are.

    The bar goes to the side file where there is one, to a terminal where stderr is one, else nowhere.
    """
    from tqdm import tqdm

    side = os.environ.get(VARIABLE)
    if side:
        with open(side, "a", encoding="utf-8") as file:
            yield from tqdm(iterable, label, total, file=file, ncols=90, mininterval=0.5)
    else:
        yield from tqdm(iterable, label, total, ncols=90, disable=not sys.stderr.isatty())


@contextmanager
def shown(side: Path, prefix: str, terminal=None) -> Iterator[None]:
    """Show on the terminal what arrives in the side file, as long as the context lasts.

    A terminal gets one line that changes; a log gets the finished lines only.
    """
    side.touch()
    done = threading.Event()
    follower = threading.Thread(
        target=_follow, args=(side, prefix, terminal or sys.stderr, done), daemon=True
    )
    follower.start()
    try:
        yield
    finally:
        done.set()
        follower.join()


def _follow(side: Path, prefix: str, terminal, done: threading.Event) -> None:
    clear = "\r\x1b[K" if terminal.isatty() else ""
    rest = ""
    with side.open(encoding="utf-8", newline="") as file:
        last = False
        while not last:
            last = done.wait(0.2)
            *lines, rest = (rest + file.read()).split("\n")
            for line in lines:
                print(f"{clear}{prefix}: {_passing(line)}", file=terminal)
            if clear and (passing := _passing(rest)):
                print(f"{clear}{prefix}: {passing}", end="", file=terminal)
            terminal.flush()
    print(clear, end="", file=terminal, flush=True)


def _passing(text: str) -> str:
    return text.rstrip("\r ").split("\r")[-1].strip()
