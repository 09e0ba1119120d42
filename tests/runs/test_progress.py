"""Progress: to the side file, to a terminal, else nowhere."""

import io

from lazyrich.runs.progress import VARIABLE, progress, shown


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_silent_without_terminal_or_side_file(capfd, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert list(progress(iter([1, 2]), "steps", total=2)) == [1, 2]
    assert capfd.readouterr() == ("", "")


def test_side_file_gets_the_bar_and_stderr_nothing(tmp_path, capfd, monkeypatch):
    side = tmp_path / "side"
    monkeypatch.setenv(VARIABLE, str(side))
    assert list(progress(range(3), "seeds")) == [0, 1, 2]
    assert capfd.readouterr() == ("", "")
    assert side.read_text().splitlines()[-1].startswith("seeds: 100%")
    assert side.read_text().endswith("\n")


def test_a_terminal_sees_passing_lines_and_a_log_only_finished_ones(tmp_path):
    seen = {}
    for terminal in (Terminal(), io.StringIO()):
        side = tmp_path / str(id(terminal))
        with shown(side, "01", terminal), side.open("a") as file:
            file.write("\rbar 10%\rbar 50%")
        with shown(side, "01", terminal), side.open("a") as file:
            file.write("\rbar 100%\n")
        seen[terminal.isatty()] = terminal.getvalue()
    assert "01: bar 50%" in seen[True]
    assert "01: bar 100%\n" in seen[True]
    assert seen[False] == "01: bar 100%\n"
