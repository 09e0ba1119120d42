"""The strict front to papermill: everything is checked before a kernel starts, and nothing is lost.

Papermill runs an unknown name with exit 0 and injects the YAML number 1e-3 as a text.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from json import dumps
from pathlib import Path

from lazyrich.files import repository, write_atomic

from . import provenance
from .chapters import cells, find
from .parameters import Checked, ParameterError
from .presets import LAPTOP, preset_name, with_preset
from .progress import VARIABLE, shown

RESULTS = "LAZYRICH_RESULTS"


class RunFailed(Exception):
    """A chapter stopped with an error; the message says where, and where its notebook lies."""


def run(chapter: str, preset: str | None, changes: dict[str, str], out: str | None) -> Path:
    """Run a chapter and return the folder with its notebook, ledger, record and figures' data.

    The preset is changed by `changes`, name to text. The folder is `out`, by default
    `results/<preset>/<stem>`, with the name that the parameters bear in the end. It appears, or
    replaces that of an earlier run, only when the whole chapter has succeeded.

    Raises ParameterError before anything starts, RunFailed when the chapter fails.
    """
    notebook = find(chapter)
    parameters = with_preset(notebook, preset or LAPTOP, changes)
    name = preset_name(notebook, parameters)
    target = _target(out, name, notebook.stem)
    with _draft(target) as draft:
        origin = provenance.origin(notebook, name, parameters)
        began = time.monotonic()
        failure = _execute(notebook, parameters, draft)
        if failure:
            failed = target.with_name(f"{target.name}.failed")
            _replace(draft, failed)
            raise RunFailed(f"{notebook.stem} failed ({failure}); its notebook: {failed / notebook.name}")
        record = origin | provenance.outcome(draft, time.monotonic() - began)
        write_atomic(draft / "run.json", dumps(record, indent=1) + "\n")
        _replace(draft, target)
    return target


def _target(out: str | None, name: str, stem: str) -> Path:
    """The folder of the run; refused when it is in use for something else or cannot be written."""
    root = repository() or Path.cwd()
    target = Path(out).absolute() if out else root / "results" / name / stem
    if target.is_dir() and any(target.iterdir()) and not (target / "run.json").is_file():
        raise ParameterError(f"out = {target}: this folder holds something else than a run")
    if target.exists() and not target.is_dir():
        raise ParameterError(f"out = {target}: this is a file, expected a folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"out = {target}: {error.strerror}") from error
    if not os.access(target.parent, os.W_OK):
        raise ParameterError(f"out = {target}: no permission to write there")
    return target


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """An empty folder beside the target, held by this process alone; what a killed run left goes."""
    draft = target.with_name(f".{target.name}.running")
    draft.mkdir(exist_ok=True)
    handle = os.open(draft, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RunFailed(f"{target} is being written by another run") from None
    else:
        for left in draft.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        yield draft
        # A folder that was moved away is no longer here; one that was not holds nothing to keep.
        shutil.rmtree(draft, ignore_errors=True)
    finally:
        os.close(handle)


def _replace(draft: Path, target: Path) -> None:
    """Move a finished folder into place; the one it replaces goes only after that."""
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    draft.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _execute(notebook: Path, parameters: Checked, draft: Path) -> str | None:
    """Run the notebook into the draft; None, or the error it stopped with."""
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill import PapermillExecutionError, execute_notebook

    count = len(cells(notebook)) + 1  # papermill puts in one more, with the parameters
    with tempfile.TemporaryDirectory() as folder:
        side = Path(folder) / "progress"

        def started(cell, cell_index):
            with side.open("a", encoding="utf-8") as file:
                file.write(f"cell {cell_index + 1} of {count}\r")

        # The kernel inherits the environment: in it a notebook learns where its results go.
        os.environ |= {RESULTS: str(draft), VARIABLE: str(side), "TF_CPP_MIN_LOG_LEVEL": "2"}
        with shown(side, notebook.stem):
            try:
                execute_notebook(
                    notebook,
                    draft / notebook.name,
                    parameters={name: _plain(value) for name, value in asdict(parameters).items()},
                    kernel_name="python3",
                    cwd=notebook.parent,
                    progress_bar=False,
                    on_cell_start=started,
                    extra_arguments=["--log-level=ERROR"],  # what it warns of is no reader's business
                )
            except PapermillExecutionError as error:
                return f"cell {error.cell_index + 1}: {error.ename}: {error.evalue}"
            except (DeadKernelError, CellTimeoutError) as error:
                return f"{type(error).__name__}: {error}"
            except KeyboardInterrupt:
                return "interrupted"
    return None


def _plain(value):
    return list(value) if isinstance(value, tuple) else value
