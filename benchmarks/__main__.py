"""Run every benchmark, each in a process of its own: python -m benchmarks."""

import subprocess
import sys
from pathlib import Path

for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
    print(f"== {path.stem}", flush=True)
    subprocess.run([sys.executable, str(path)], check=True)
