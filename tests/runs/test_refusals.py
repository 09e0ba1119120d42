"""Over a hundred bad invocations of every command and chapter: refused with exit 2 and one clear line.

They run in one fresh process, which in the end has imported neither jax nor papermill nor Snakemake,
and in whose folders nothing has changed.
"""

import contextlib
import io
import json
import math
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich.__main__ import main
from lazyrich.files import presets_path, repository
from lazyrich.runs import front, sweep
from lazyrich.runs.chapters import chapters
from lazyrich.runs.parameters import allowed, names, of_chapter
from lazyrich.runs.parameters.ch01 import Parameters
from tiny_chapter import write_chapter

ALPHA = f"expected {allowed(Parameters, 'alpha')}"
SEEDS = f"expected {allowed(Parameters, 'seeds')}"
FORMS = "expected low:high:n, low:high:nlog or a list a,b,c, with a number in [0.05, 10]"
SWEEP = "sweep C --grid beta=0.5,1"

# What is asked for (C is the tiny chapter's path, D that of one with broken presets), and what the line says.
REFUSED = [
    # names
    ("run C -p alhpa=2", "unknown parameter 'alhpa'; did you mean alpha?"),
    ("run C -p Alpha=2", "unknown parameter 'Alpha'; did you mean alpha?"),
    ("run C -p zzz=2", "unknown parameter 'zzz'. Known: alpha"),
    ("run C -p alpha-beta=2", "unknown parameter 'alpha-beta'"),
    ("run C -p =2", "unknown parameter ''"),
    ("run C -p alpha", "-p alpha: expected name=value"),
    ("run C -p", "argument -p: expected one argument"),
    ("run C -p alpha=2 -p alpha=3", "alpha is given twice"),
    ("run 01 -p width=2", "unknown parameter 'width'"),
    ("run 02 -p dateset=mnist", "unknown parameter 'dateset'; did you mean dataset?"),
    # types
    ("run C -p alpha=wide", f"alpha = 'wide': {ALPHA}"),
    ("run C -p alpha=", f"alpha = '': {ALPHA}"),
    ("run C -p alpha=1,5", f"alpha = '1,5': {ALPHA}"),
    ("run C -p alpha=[1.5]", f"alpha = '[1.5]': {ALPHA}"),
    ("run C -p alpha=true", f"alpha = 'true': {ALPHA}"),
    ("run C -p alpha=null", f"alpha = 'null': {ALPHA}"),
    ("run C -p alpha=nan", f"alpha = 'nan': {ALPHA}"),
    ("run C -p alpha=inf", f"alpha = 'inf': {ALPHA}"),
    ("run C -p alpha=1e999", f"alpha = '1e999': {ALPHA}"),
    ("run C -p alpha=0x2", f"alpha = '0x2': {ALPHA}"),
    ("run C -p alpha=1=2", f"alpha = '1=2': {ALPHA}"),
    ("run C -p seeds=2.5", f"seeds = '2.5': {SEEDS}"),
    ("run C -p seeds=[1,2]", f"seeds = '[1,2]': {SEEDS}"),
    ("run C -p seeds=many", f"seeds = 'many': {SEEDS}"),
    ("run C -p seeds=nan", f"seeds = 'nan': {SEEDS}"),
    ("run C -p seeds=1e400", f"seeds = '1e400': {SEEDS}"),
    ("run 02 -p model=mpl", "model = 'mpl': expected one of mlp, cnn"),
    ("run 02 -p model=", "model = '': expected one of mlp, cnn"),
    ("run 02 -p dataset=imagenet", "dataset = 'imagenet': expected one of digits-stream"),
    ("run 02 -p dataset=cifar10", "expected the folder of the files of cifar10"),
    ("run 02 -p dataset=cifar5m -p data_folder=/none", "data_folder = '/none': expected the folder of"),
    ("run 03 -p dataset=tiny-imagenet", "expected the folder of the files of tiny-imagenet"),
    ("run 02 -p dataset=tiny-imagenet", "dataset"),
    ("sweep 02 --grid dataset=mnist,cifar10", "expected the folder of the files of cifar10"),
    # ranges
    ("run C -p alpha=0.9", f"alpha = '0.9': {ALPHA}"),
    ("run C -p alpha=1", f"alpha = '1': {ALPHA}"),
    ("run C -p alpha=-1.5", f"alpha = '-1.5': {ALPHA}"),
    ("run C -p alpha=11", f"alpha = '11': {ALPHA}"),
    ("run C -p beta=0", "beta = '0': expected a number in [0.05, 10]"),
    ("run C -p gamma=-1e-9", "gamma = '-1e-9': expected a number in [0, 1e+06]"),
    ("run C -p seeds=2", f"seeds = '2': {SEEDS}"),
    ("run C -p seeds=0", f"seeds = '0': {SEEDS}"),
    ("run C -p seeds=-3", f"seeds = '-3': {SEEDS}"),
    ("run C -p seeds=99999999999999999999", f"seeds = '99999999999999999999': {SEEDS}"),
    ("run C -p seed0=-1", "seed0 = '-1': expected an integer in [0, "),
    ("run C -p alpha=2 -p beta=99", "beta = '99': expected a number in [0.05, 10]"),
    ("run 02 -p alpha=1", "alpha = '1': expected a number in (1, 20]"),
    ("run 02 -p image_batch=0", "image_batch = '0': expected an integer in [1, 65536]"),
    # presets
    ("run C --preset labtop", "unknown preset 'labtop'; did you mean laptop?"),
    ("run C --preset Laptop", "unknown preset 'Laptop'; did you mean laptop?"),
    ("run C --preset ../../x", "unknown preset '../../x'"),
    ("run C --preset ci.yaml", "unknown preset 'ci.yaml'. Known: ci, laptop"),
    ("run C --preset gpu", "unknown preset 'gpu'. Known: ci, laptop"),
    ("run D --preset broken", "broken.yaml: not a YAML file"),
    ("run D --preset list", "list.yaml: expected one 'name: value' a line"),
    ("run D --preset odd", "parameter alpha is missing: expected a number in [1.05, 10]"),
    ("run D --preset binary", "binary.yaml: not a YAML file"),
    ("run C --preset", "argument --preset: expected one argument"),
    ("run 01 --preset huge", "unknown preset 'huge'. Known: ci, gpu, laptop, paper, record"),
    # paths
    ("run C --out taken", "this folder holds something else than a run"),
    ("run C --out file", "this is a file, expected a folder"),
    ("run C --out file/below", "out = "),
    ("run C --out /proc/none/out", "out = /proc/none/out: "),
    (f"run C --out {'x' * 300}", "out = "),
    ("run none.ipynb", "chapter none.ipynb: there is no such file"),
    ("run torn.ipynb", "torn.ipynb: not a notebook"),
    ("run bare.ipynb", "bare.ipynb: no cell is tagged 'parameters'"),
    ("run odd.ipynb", "odd.ipynb: not a notebook"),
    ("run folder.ipynb", "chapter folder.ipynb: there is no such file"),
    ("run file", "unknown chapter 'file'"),
    # chapters
    ("run 77", "unknown chapter '77'"),
    ("run 0", "unknown chapter '0'"),
    ("run -1", "unknown chapter '-1'"),
    ("run 1.5", "unknown chapter '1.5'"),
    ("run ²", "unknown chapter '²'"),
    ("run 01_scaling_lawz", "unknown chapter '01_scaling_lawz'; did you mean 01_scaling_laws?"),
    ("run 99_own.ipynb", "chapter '99_own' has no parameter type"),
    (f"run {'9' * 5000}", "unknown chapter '999"),
    (f"run {'x' * 300}.ipynb", "there is no such file"),
    # memory
    ("run C --memory 8GB", "memory = '8GB': expected a size such as 8G or 500M, or none"),
    ("run C --memory -1", "memory = '-1': expected a size"),
    ("run C --memory 0", "memory = '0': expected a size"),
    ("run C --memory 1M", "memory: this run would take about"),
    # subcommands and options
    ("run", "the following arguments are required: CHAPTER"),
    ("run C C", "unrecognized arguments: "),
    ("rum C", "invalid choice: 'rum'"),
    ("run C --speed 3", "unrecognized arguments: --speed 3"),
    ("run C --pre ci", "unrecognized arguments: --pre ci"),
    ("run C --grid beta=0.5,1", "unrecognized arguments: --grid beta=0.5,1"),
    ("run C --once=yes", "argument --once: ignored explicit argument 'yes'"),
    ("--speed", "unrecognized arguments: --speed"),
    ("record 77", "unknown chapter '77'"),
    ("record", "the following arguments are required: CHAPTER"),
    ("refresh now", "unrecognized arguments: now"),
    ("compare none", "run = none: expected the folder of a run"),
    ("compare taken", "run = taken: expected the folder of a run"),
    ("compare", "the following arguments are required: RUN"),
    ("ledger", "the following arguments are required: diff, A, B"),
    ("ledger diff a b", "expected a committed one (laptop"),
    ("ledger diff", "the following arguments are required: "),
    ("ledger diff taken", "the following arguments are required: "),
    ("data", "the following arguments are required: action"),
    ("data lst", "argument action: invalid choice: 'lst' (choose from"),
    ("data check mnist cifar10", "unrecognized arguments: cifar10"),
    ("data check --dir x", "unrecognized arguments: --dir"),
    # grids
    ("sweep C", "the following arguments are required: --grid"),
    ("sweep C --grid", "argument --grid: expected one argument"),
    ("sweep C --grid beta", "--grid beta: expected beta= and low:high:n"),
    ("sweep C --grid beta=", f"--grid beta=: an empty value; {FORMS}"),
    ("sweep C --grid beta=0.5,", f"an empty value; {FORMS}"),
    ("sweep C --grid beta=0.3:0.9", f"--grid beta=0.3:0.9: no range; {FORMS}"),
    ("sweep C --grid beta=0.3:0.9:", f"no range; {FORMS}"),
    ("sweep C --grid beta=0.3:0.9:7lin", f"no range; {FORMS}"),
    ("sweep C --grid beta=0.3:0.9:7.5", f"no range; {FORMS}"),
    ("sweep C --grid beta=0.3:0.9:7:2", f"no range; {FORMS}"),
    ("sweep C --grid beta=::", f"no range; {FORMS}"),
    ("sweep C --grid beta=0.3:0.9:1", f"n must be in [2, 10000]; {FORMS}"),
    ("sweep C --grid beta=0.3:0.9:-2", f"n must be in [2, 10000]; {FORMS}"),
    ("sweep C --grid beta=0.3:0.9:1000000000000", f"n must be in [2, 10000]; {FORMS}"),
    ("sweep C --grid beta=0.9:0.3:7", f"a range must rise from one finite number to another; {FORMS}"),
    ("sweep C --grid beta=0.3:inf:7", f"a range must rise from one finite number to another; {FORMS}"),
    ("sweep C --grid gamma=0:1:7log", "a log range must start above 0"),
    ("sweep C --grid beta=0.3:0.9:7 --grid alpha=0:2:3", f"alpha = 0.0: {ALPHA}"),
    ("sweep C --grid seeds=3:6:3", f"seeds = 4.5: {SEEDS}"),
    ("sweep C --grid beta=0.5,0.5", "0.5 stands twice, expected different values"),
    ("sweep C --grid beta=0.5,high", "beta = 'high': expected a number in [0.05, 10]"),
    ("sweep C --grid bета=0.5", "unknown parameter 'bета'"),
    ("sweep C --grid betta=0.5,1", "unknown parameter 'betta'; did you mean beta?"),
    (f"{SWEEP} --grid beta=2", "beta is given twice, expected once"),
    (f"{SWEEP} -p beta=2", "beta is given by -p and by --grid, expected one of them"),
    ("sweep C --grid beta=0.5:1:200 --grid gamma=1:2:200", "40000 points in all, expected at most 10000"),
    (f"{SWEEP} -p gama=2", "unknown parameter 'gama'; did you mean gamma?"),
    (f"{SWEEP} --preset big", "unknown preset 'big'"),
    (f"{SWEEP} --out taken", "this folder holds something else than a sweep"),
    (f"{SWEEP} --out file", "expected a folder"),
    (f"{SWEEP} --out file/below", "expected a folder"),
    (f"{SWEEP} --out {'x' * 300}", "out = "),
    (f"{SWEEP} --jobs 0", "jobs = '0': expected an integer in [1, 10000]"),
    (f"{SWEEP} --jobs two", "jobs = 'two': expected an integer in [1, 10000]"),
    (f"{SWEEP} --jobs 2.5", "jobs = '2.5': expected an integer in [1, 10000]"),
    (f"{SWEEP} --jobs ²", "jobs = '²': expected an integer in [1, 10000]"),
    (f"{SWEEP} --jobs 99999999999", "jobs = '99999999999': expected an integer"),
    (f"{SWEEP} --executor slrum", "executor = 'slrum': not installed; did you mean slurm?"),
    (f"{SWEEP} --executor slurm", "executor = 'slurm': expected sbatch on PATH"),
    (f"{SWEEP} --profile none", "profile = none: expected a folder with a Snakemake"),
    (f"{SWEEP} --profile taken", "profile = taken: expected a folder with a Snakemake"),
    (f"{SWEEP} --memory lots", "memory = 'lots': expected a size"),
    (f"{SWEEP} --memory 1M", "memory: this run would take about"),
    (f"{SWEEP} --speed 2", "unrecognized arguments: --speed 2"),
    ("sweep 77 --grid beta=0.5,1", "unknown chapter '77'"),
    ("sweep", "the following arguments are required: CHAPTER, --grid"),
]  # fmt: skip

# Words that no text split at blanks can hold.
AWKWARD = [
    (["run", "C", "-p", "alpha=1.5\n2"], r"alpha = '1.5\n2': expected"),
    (["run", "C", "-p", "al\npha"], "-p al pha: expected name=value"),
    (["run", "C", "--out", ""], "out = '': expected the path of a folder"),
    (["run", ""], "unknown chapter ''"),
    (["compare", ""], "run = : expected the folder of a run"),
    (["sweep", "C", "--grid", "beta=0.5, ,1"], f"an empty value; {FORMS}"),
    (["sweep", "C", "--grid", ""], "unknown parameter ''"),
    ([*SWEEP.split(), "--out", ""], "out = '': expected the path of a folder"),
    ([*SWEEP.split(), "--jobs", ""], "jobs = '': expected an integer"),
    ([*SWEEP.split(), "--executor", ""], "executor = '': not installed"),
    (["run", "C", "-p", "alpha=\udcff"], r"alpha = '\udcff': expected"),
]


def of_every_chapter() -> list[tuple[list[str], str]]:
    """For each parameter of each chapter: a value of a wrong type, and one on either side of its range."""
    found = []
    for notebook in chapters():
        cls = of_chapter(notebook.stem)
        for declared in fields(cls):
            low, high = declared.metadata["low"], declared.metadata["high"]
            bad = ["{1"] if declared.metadata["choices"] or low is not None else []
            bad += [] if low is None else [str(low - 1)]
            bad += [] if high in (None, math.inf) else [str(high * 2)]
            for value in bad:
                # A list's text is read before its elements are looked at.
                shown = value if get_origin(declared.type) is tuple and value != "{1" else repr(value)
                message = f"{declared.name} = {shown}: expected {allowed(cls, declared.name)}"
                found.append((["run", notebook.stem, "-p", f"{declared.name}={value}"], message))
                grid = ["sweep", str(notebook), "--preset", "ci", "--grid", f"{declared.name}={value}"]
                found.append((grid, message))
    return found


CASES = [(words.split(" "), message) for words, message in REFUSED] + AWKWARD + of_every_chapter()

FILES = {
    "taken/thesis.txt": "mine",
    "file": "mine",
    "torn.ipynb": '{"cells": [',
    "bare.ipynb": '{"cells": []}',
    "odd.ipynb": '{"cells": [1]}',
    "99_own.ipynb": '{"cells": [{"metadata": {"tags": ["parameters"]}, "source": [], "cell_type": "code"}]}',
}
BROKEN = {"broken": b"alpha: [1.5", "list": b"- alpha", "odd": b"beta: 0.5\n", "binary": b"\xff\xfe\x00"}

CALL = """\
import contextlib, io, json, sys
from lazyrich.__main__ import main
answers = []
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(words)
        except SystemExit as error:
            status = error.code
    answers.append([status, out.getvalue(), err.getvalue()])
loaded = [name for name in ("jax", "papermill", "nbclient", "snakemake", "matplotlib") if name in sys.modules]
json.dump({"answers": answers, "loaded": loaded}, sys.stdout)
"""


def tree(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Every case asked of one process: its answers, what it has imported, whether anything changed."""
    folder = tmp_path_factory.mktemp("refused")
    (folder / "taken").mkdir()
    (folder / "folder.ipynb").mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    chapter, broken = write_chapter(folder), write_chapter(folder / "broken")
    for name, content in BROKEN.items():
        (broken.parent / "presets" / broken.stem / f"{name}.yaml").write_bytes(content)
    results = lambda: sorted((repository() / "results").rglob("*"))
    before, results_before = tree(folder), results()
    stands_for = {"C": str(chapter), "D": str(broken)}
    questions = [[stands_for.get(word, word) for word in words] for words, _ in CASES]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("LAZYRICH_")} | {"PATH": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CALL], input=json.dumps(questions), cwd=folder, env=kept,
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout) | {"changed": (tree(folder), results()) != (before, results_before)}


def test_there_are_more_than_a_hundred_and_every_chapter_has_its_own():
    assert len(REFUSED) + len(AWKWARD) > 140
    asked_of = {Path(words[1]).stem for words, _ in of_every_chapter()}
    assert asked_of == {notebook.stem for notebook in chapters()}
    assert asked_of <= {folder.name for folder in presets_path().iterdir()}


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda k: repr(" ".join(CASES[k][0])[:60]))
def test_refused_in_one_clear_line(number, asked):
    status, out, err = asked["answers"][number]
    assert status == 2, err
    assert err.startswith("lazyrich: ")
    assert CASES[number][1] in err
    assert (err.count("\n"), err[-1]) == (1, "\n")
    assert not out


def test_nothing_started_and_nothing_was_written(asked):
    assert asked["loaded"] == []
    assert not asked["changed"]


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
WORD = TEXT.filter(lambda text: not text.startswith("-"))
NAME = st.sampled_from(["alpha", "beta", "gamma", "seeds", "seed0", "network_width"])


def is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


# No list of these holds a number that could be in range.
BAD_VALUE = st.one_of(
    TEXT.filter(lambda text: not any(map(is_number, text.split(",")))),
    st.floats(max_value=-1e-3, allow_nan=False).map(repr),
    st.floats(min_value=3e9).map(repr),
    st.lists(st.integers(), min_size=1).map(str),
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The tiny chapter, and a front that would tell of any start."""

    def start(*_):
        raise AssertionError("started")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(front, "_execute", start)
        patch.setattr(sweep, "_snakemake", start)
        folder = tmp_path_factory.mktemp("drawn")
        patch.chdir(folder)
        yield str(write_chapter(folder))


def refused(*words: str) -> str:
    """The one line with which a command line is refused, after `lazyrich: `."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(list(words))
        except SystemExit as error:
            status = error.code
    line = err.getvalue()
    assert (status, out.getvalue(), line.count("\n"), line[:10]) == (2, "", 1, "lazyrich: "), line
    return line[10:-1]


@settings(max_examples=150)
@given(name=NAME, value=BAD_VALUE)
def test_any_bad_value_is_refused_by_name(name, value, tiny):
    assert refused("run", tiny, "-p", f"{name}={value}").startswith(f"{name} = ")
    assert name in refused("sweep", tiny, "--grid", f"{name}={value}")


@settings(max_examples=100)
@given(name=WORD.filter(lambda text: text.partition("=")[0] not in names(Parameters)), value=TEXT)
def test_any_unknown_name_is_refused(name, value, tiny):
    assert "unknown parameter" in refused("run", tiny, "-p", f"{name}={value}")
    assert "unknown parameter" in refused("sweep", tiny, "--grid", f"{name}={value}")


@settings(max_examples=100)
@given(chapter=WORD.filter(lambda text: not text.isdecimal()), preset=WORD)
def test_any_unknown_chapter_or_preset_is_refused(chapter, preset, tiny):
    assert "chapter" in refused("run", chapter)
    if preset not in ("ci", "laptop"):
        assert "unknown preset" in refused("run", tiny, "--preset", preset)


@settings(max_examples=100)
@given(low=st.floats(-1, 12), high=st.floats(-1, 12), n=st.integers(-2, 9), log=st.sampled_from(["", "log"]))
def test_a_range_is_in_bounds_or_refused(low, high, n, log, tiny):
    text = f"beta={low}:{high}:{n}{log}"
    if 0.05 <= low < high <= 10 and n >= 2:
        with pytest.raises(AssertionError, match="started"):
            refused("sweep", tiny, "--grid", text, "--memory", "none", "--out", "drawn")
    else:
        assert "beta" in refused("sweep", tiny, "--grid", text)
