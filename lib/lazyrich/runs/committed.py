"""What the repository shows with nothing run: chapters' outputs and ledgers, taken from good runs.

A committed ledger maps a chapter's stem to its run (the content of `run.json`) and its rows.
"""

import json
from pathlib import Path

from lazyrich.files import data_path, repository, write_atomic
from lazyrich.ledger import Comparison, compare, load_rows, read_ledger, write_ledger

from . import provenance
from .chapters import chapters, find
from .front import RunFailed
from .parameters import ParameterError
from .presets import LAPTOP, with_preset

RUN_METADATA = ("papermill", "execution", "ExecuteTime")


def refresh() -> list[Path]:
    """Store every chapter's laptop run: outputs and execution counts, figures' data, rows of the ledger.

    Returns the files written. Raises RunFailed, having written nothing, when a chapter has no
    laptop run, or one of other sources.
    """
    runs = {notebook: last_run(notebook, LAPTOP) for notebook in chapters()}
    executed = {notebook: with_outputs(notebook, folder / notebook.name) for notebook, folder in runs.items()}
    for notebook, text in executed.items():
        write_atomic(notebook, text)
    figures = [path for notebook, folder in runs.items() for path in _store_figures(notebook.stem, folder)]
    return [*executed, *figures, _store(LAPTOP, {notebook.stem: folder for notebook, folder in runs.items()})]


def record(chapter: str) -> Path:
    """Store the ledger of a chapter's record run, beside those of the other chapters."""
    notebook = find(chapter)
    return _store("record", {notebook.stem: last_run(notebook, "record")})


def last_run(notebook: Path, preset: str) -> Path:
    """The folder of a chapter's last run at a preset.

    Raises RunFailed when there is none, or when sources have changed since.
    """
    folder = repository() / "results" / preset / notebook.stem
    if not (folder / "run.json").is_file():
        raise RunFailed(f"{notebook.stem} has no run at preset {preset}: expected {folder}")
    ran = json.loads((folder / "run.json").read_text(encoding="utf-8"))["sources"]
    if ran != provenance.sources(notebook, with_preset(notebook, preset)):
        raise RunFailed(f"{folder}: library, data, lock, chapter or preset have changed since; run it again")
    return folder


def with_outputs(notebook: Path, executed: Path, keep_injected: bool = False) -> str:
    """The notebook's own cells with the outputs of an executed copy, matched by cell id.

    What papermill noted about the run stays out, and so does the cell of parameters it put in, unless
    it is to be kept. Execution counts are those of a run from top to bottom.
    """
    mine = json.loads(notebook.read_text(encoding="utf-8"))
    theirs = {cell["id"]: cell for cell in json.loads(executed.read_text(encoding="utf-8"))["cells"]}
    if keep_injected:
        injected = [cell for cell in theirs.values() if _tagged(cell, "injected-parameters")]
        (after,) = [k for k, cell in enumerate(mine["cells"]) if _tagged(cell, "parameters")]
        mine["cells"][after + 1 : after + 1] = injected
    for part in (mine, *mine["cells"]):
        for name in RUN_METADATA:
            part["metadata"].pop(name, None)
    mine["metadata"]["language_info"] = {"name": "python"}
    code = [cell for cell in mine["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(code, 1):
        cell["execution_count"] = count
        cell["outputs"] = theirs[cell["id"]]["outputs"]
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = count
    return json.dumps(mine, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _tagged(cell: dict, tag: str) -> bool:
    return tag in cell["metadata"].get("tags", [])


def agreement(run: str) -> Comparison:
    """How the ledger of a run's folder agrees with the committed one: of record runs, or of laptop's.

    Raises ParameterError when the folder holds no run.
    """
    folder = Path(run)
    if not (folder / "run.json").is_file() or not (folder / "claims.json").is_file():
        raise ParameterError(f"run = {run}: expected the folder of a run, with run.json and claims.json")
    preset = json.loads((folder / "run.json").read_text(encoding="utf-8"))["preset"]
    path = _ledger("record" if preset == "record" else LAPTOP)
    if not path.is_file():
        raise ParameterError(f"there is no committed ledger to compare with: expected {path}")
    rows = load_rows(folder / "claims.json")
    return compare(rows, [row for entry in read_ledger(path).values() for row in entry["rows"]])


def _ledger(name: str) -> Path:
    return data_path() / "ledger" / f"{name}.json"


def _store_figures(stem: str, folder: Path) -> list[Path]:
    """Put the data behind a run's figures beside the ledgers, in place of those of the run before."""
    kept = data_path() / "ledger" / "figures" / stem
    for old in kept.glob("*.csv"):
        old.unlink()
    new = [kept / path.name for path in sorted((folder / "figures").glob("*.csv"))]
    for path in new:
        write_atomic(path, (folder / "figures" / path.name).read_bytes())
    return new


def _store(name: str, runs: dict[str, Path]) -> Path:
    path = _ledger(name)
    kept = read_ledger(path) if path.is_file() else {}
    for stem, folder in runs.items():
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        kept[stem] = {"run": run, "rows": load_rows(folder / "claims.json")}
    write_ledger(path, kept)
    return path
