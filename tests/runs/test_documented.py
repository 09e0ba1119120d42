"""Every command line of the front that the pages show is accepted, up to the start of its chapter."""

import shlex

import pytest

from lazyrich.__main__ import main, parser
from lazyrich.files import repository
from lazyrich.runs import front, sweep

ROOT = repository()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "book").rglob("*.md"))]
START = ".venv/bin/python -m lazyrich "
COMMANDS = [
    (path.name, line.strip().removeprefix(START))
    for path in PAGES for line in path.read_text(encoding="utf-8").splitlines()
    if line.strip().startswith(START) and "…" not in line
]  # fmt: skip
REFUSED = "run 01 -p beta=99"  # shown for its answer


class Started(Exception):
    pass


def start(*_):
    raise Started


def test_the_pages_show_commands():
    assert {"README.md", "run.md", "change.md", "sweep.md", "cluster.md", "gpu.md", "data.md"} <= {
        page for page, _ in COMMANDS
    }


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_a_documented_command_is_accepted(page, command, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(front, "_execute", start)
    monkeypatch.setattr(sweep, "_snakemake", start)
    monkeypatch.setattr(front, "repository", lambda: tmp_path)  # so that nothing lands in results/
    monkeypatch.setattr(sweep, "repository", lambda: tmp_path)
    monkeypatch.setitem(sweep.SUBMITS, "slurm", "sh")
    monkeypatch.chdir(tmp_path)
    for name in ("cifar10", "cifar5m"):
        (tmp_path / name).mkdir()
    profiles = tmp_path / "workflow" / "profiles"
    profiles.parent.mkdir()
    profiles.symlink_to(ROOT / "workflow" / "profiles")
    (tmp_path / "my-profile").symlink_to(ROOT / "workflow" / "profiles" / "slurm-gpu")
    words = shlex.split(command)
    if command == REFUSED:
        assert main(words) == 2
        said = capsys.readouterr().err
        assert said.strip() in " ".join((ROOT / "book" / "howto" / page).read_text().split())
    elif words[0] in ("run", "sweep"):
        with pytest.raises(Started):
            main([word.replace("/path/to", str(tmp_path)) for word in words] + ["--memory", "none"])
    else:
        parser().parse_args(words)
