"""Memory that a run will take, estimated from its parameters before it starts."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from .parameters import Checked, ParameterError

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
BASE = 0.7 * 2**30  # Python, jax and matplotlib with their compiled programs


def estimate(parameters: Checked) -> float:
    """Bytes at the peak: what every run takes, and the largest of the chapter's own needs."""
    return BASE + max(parameters.memory().values(), default=0.0)


def affordable(parameters: Checked, limit: str | None = None) -> None:
    """Refuse a run that would take more than `limit`, by default what this machine has available.

    The estimate is good to a factor of about two. A limit of "none" switches it off.
    Raises ParameterError that names the parameter to lower.
    """
    if limit == "none":
        return
    most = available() if limit is None else size(limit)
    needed = estimate(parameters)
    if needed > most:
        needs = parameters.memory()
        name = max(needs, key=needs.get) if needs else None
        lower = f"lower {name} (now {getattr(parameters, name)}), or " if name and needs[name] > BASE else ""
        raise ParameterError(
            f"memory: this run would take about {text(needed)}, expected at most {text(most)}; "
            f"{lower}set --memory to allow more, --memory none not to ask"
        )


def available() -> float:
    """Bytes that a run can have: of the largest free GPU where there is one, else of this machine."""
    return max(_on_gpus(), default=0.0) or _on_host()


def _on_gpus() -> list[float]:
    """Free memory of each NVIDIA GPU, asked of the driver, because asking jax would start it."""
    if os.environ.get("JAX_PLATFORMS") == "cpu" or not shutil.which("nvidia-smi"):
        return []
    command = ["nvidia-smi", "--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [float(line) * 2**20 for line in done.stdout.split() if line.isdigit()]


def _on_host() -> float:
    """What programs can still have on this machine, or in this container; infinite when unknown."""
    found = [float("inf")]
    if (meminfo := Path("/proc/meminfo")).is_file():
        lines = meminfo.read_text(encoding="ascii").splitlines()
        found += [float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
    elif "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")))
    if (group := Path("/sys/fs/cgroup/memory.max")).is_file():
        found += [float(value) for value in group.read_text(encoding="ascii").split() if value != "max"]
    return min(found)


def size(limit: str) -> float:
    """Bytes of a text such as 8G or 500M.

    >>> size("1.5K")
    1536.0
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)", limit)
    if not match or float(match[1]) == 0:
        raise ParameterError(f"memory = {limit!r}: expected a size such as 8G or 500M, or none")
    return float(match[1]) * UNITS[match[2]]


def text(size: float) -> str:
    """A size for readers.

    >>> text(3.2 * 2**30)
    '3.2 GiB'
    """
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"
