"""The strict front to papermill: everything is checked before a kernel starts, and nothing is lost.

Papermill runs an unknown name with exit 0 and injects the YAML number 1e-3 as a text.
"""

import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from glob import escape
from json import dumps
from pathlib import Path

from lazyrich import device
from lazyrich.files import repository, write_atomic

from . import checkpoints, provenance
from .chapters import cells, find
from .locks import held
from .memory import affordable
from .parameters import Checked, ParameterError
from .presets import LAPTOP, preset_name, with_preset
from .progress import VARIABLE, shown
from .records import RunFailed, finished

RESULTS = "LAZYRICH_RESULTS"


def run(
    chapter: str,
    preset: str | None,
    changes: dict[str, str],
    out: str | None,
    once: bool = False,
    memory: str | None = None,
) -> Path:
    """Run a chapter and return the folder with its notebook, ledger, record and figures' data.

    The preset is changed by `changes`, name to text. The folder is `out`, by default
    `results/<preset>/<stem>`, with the name that the parameters bear in the end. It appears, or
    replaces that of an earlier run, only when the whole chapter has succeeded. With `once`, a folder
    that holds the run of these parameters and sources stays, and a process that is writing it is waited for.
    A run that would take more than `memory` (of this machine, unless given) is refused.

    Raises ParameterError before anything starts, RunFailed when the chapter fails.
    """
    notebook = find(chapter)
    parameters = with_preset(notebook, LAPTOP if preset is None else preset, changes)
    affordable(parameters, memory)
    name = preset_name(notebook, parameters)
    target = _target(out, name, notebook.stem)
    try:
        with held(target, wait=once):
            _restore(target)
            if not (once and finished(target, notebook, parameters)):
                _run(notebook, name, parameters, target)
    except BlockingIOError:
        raise RunFailed(f"{target} is being written by another run") from None
    return target


def _run(notebook: Path, name: str, parameters: Checked, target: Path) -> None:
    with _draft(target) as draft:
        origin = provenance.origin(notebook, name, parameters) | {"limits": device.limits()}
        parts = target.with_name(f".{target.name}.checkpoints")
        os.environ[checkpoints.VARIABLE] = str(parts / origin["sources"][:16])
        began = time.monotonic()
        failure = _execute(notebook, parameters, draft)
        if failure:
            failed = target.with_name(f"{target.name}.failed")
            _replace(draft, failed)
            raise RunFailed(f"{notebook.stem} failed ({failure}); its notebook: {failed / notebook.name}")
        record = origin | provenance.outcome(draft, time.monotonic() - began)
        write_atomic(draft / "run.json", dumps(record, indent=1) + "\n")
        _replace(draft, target)
        shutil.rmtree(parts, ignore_errors=True)


def _target(out: str | None, name: str, stem: str) -> Path:
    """The folder of the run; refused when it is in use for something else or cannot be written."""
    root = repository() or Path.cwd()
    if out == "":
        raise ParameterError("out = '': expected the path of a folder")
    target = Path(out).absolute() if out else root / "results" / name / stem
    try:
        if target.is_dir() and any(target.iterdir()) and not (target / "run.json").is_file():
            raise ParameterError(f"out = {target}: this folder holds something else than a run")
        if target.exists() and not target.is_dir():
            raise ParameterError(f"out = {target}: this is a file, expected a folder")
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"out = {target}: {error.strerror}") from error
    if not os.access(target.parent, os.W_OK):
        raise ParameterError(f"out = {target}: no permission to write there")
    return target


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """An empty folder beside the target, of a name that no other run has; what killed runs left goes."""
    for left in target.parent.glob(f".{escape(target.name)}.running-*"):
        shutil.rmtree(left, ignore_errors=True)
    draft = target.with_name(f".{target.name}.running-{uuid.uuid4().hex}")
    draft.mkdir()
    try:
        yield draft
    finally:
        # A folder that was moved away is no longer here; one that was not holds nothing to keep.
        shutil.rmtree(draft, ignore_errors=True)


def _replace(draft: Path, target: Path) -> None:
    """Move a finished folder into place; the one it replaces goes only after that."""
    old = _old(target)
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    draft.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _restore(target: Path) -> None:
    """Bring back a good run that a kill caught between the two moves."""
    if (old := _old(target)).exists() and not target.exists():
        old.rename(target)


def _old(target: Path) -> Path:
    return target.with_name(f".{target.name}.old")


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
