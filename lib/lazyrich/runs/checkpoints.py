"""Where a chapter keeps finished parts of long computations: a run that was killed goes on from them."""

import os
from pathlib import Path

VARIABLE = "LAZYRICH_CHECKPOINTS"


def checkpoint(name: str) -> Path | None:
    """The folder for one computation's parts, for `lazyrich.training.sweep(…, checkpoint=…)`.

    None outside of the front, where nothing is written. The front gives a run of the same parameters and
    sources the same folder again, and removes it when the run has succeeded.

    >>> checkpoint("plane")
    """
    folder = os.environ.get(VARIABLE)
    return Path(folder) / name if folder else None
