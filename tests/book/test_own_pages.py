"""The pages "in your own project": their code runs as it stands."""

import re
import subprocess
import sys

import pytest

from book.conftest import ROOT

PAGES = sorted((ROOT / "book" / "own").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_code_runs_and_prints(page):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks
    command = [sys.executable, "-W", "error", "-c", "\n".join(blocks)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.split()) > 5
    assert "nan" not in done.stdout
