"""Memory that a run will take, estimated from its parameters before it starts."""

import os
import re

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
    """Bytes that programs can still have on this machine, or in this container; infinite when unknown."""
    found = [float("inf")]
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            found += [int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable")]
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
            found += [int(value) for value in [file.read().strip()] if value != "max"]
    except FileNotFoundError:
        if len(found) == 1 and "SC_PHYS_PAGES" in os.sysconf_names:
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
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
