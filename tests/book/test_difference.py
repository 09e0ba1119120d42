"""The page on the difference transform: its table of rules is complete, its code runs, its numbers hold."""

import re
import subprocess
import sys

import numpy as np
from lazyrich_book import differences

from book.conftest import ROOT
from lazyrich.models._increments import RULES
from lazyrich.models.centering import CALLS

PAGE = (ROOT / "book" / "difference.md").read_text(encoding="utf-8")


def test_every_rule_is_in_the_table():
    table = PAGE.split("## The rules")[1].split("## ")[0]
    shown = [name for row in re.findall(r"\|([^|]*)\|\n", table) for name in re.findall("`(.*?)`", row)]
    assert sorted(shown) == sorted([*RULES, *CALLS, "scan"])


def test_the_code_runs_and_learns():
    block = re.search(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
    command = [sys.executable, "-W", "error", "-c", block]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    losses = [float(line.split()[-1]) for line in done.stdout.splitlines()]
    assert len(losses) == 5
    assert losses[-1] < 0.5 * losses[0]


def test_the_numbers_say_what_the_page_says():
    small = np.array(differences.GAMMAS) <= 1e-5
    for activation, hump in (("relu", 1e-4), ("gelu", 1e-6)):
        found = {way: np.array(error) for way, error in differences.errors(activation).items()}
        assert found["difference32"].max() <= hump
        assert (found["difference32"][small] <= 1e-6).all()
        assert (found["naive32"][small] > 0.01).all()
        assert found["naive64"][-1] > 10 * found["difference32"][-1]
    assert 1 < differences.cost() < 2
