"""The one place that decides how numbers are computed: precision, matmul precision, host devices.

`setup` is called before jax computes anything, by every chapter, by the tests and by nothing at
import; it works through the environment, so it does not import jax either.
"""

import os
import platform
import re
import sys
from dataclasses import dataclass
from importlib import metadata

DEVICE_COUNT = "--xla_force_host_platform_device_count"
# How much a process may take, for variables that the reader has not set: the share of a GPU's memory that
# jax claims at once, and the threads of a matrix product outside XLA. Two BLAS threads on small matrices
# wait for one another when a core is busy: 40 times slower was seen. BLAS reads it when NumPy is loaded.
LIMITS = {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.75", "OPENBLAS_NUM_THREADS": "1"}
PACKAGES = ("lazyrich", "jax", "jaxlib", "flax", "optax", "numpy", "scipy")


@dataclass(frozen=True)
class Policy:
    """How every process of the book computes.

    x64 makes float64 available, to the theory; training names float32 itself. A matmul precision
    below "highest" would mean TF32 on GPUs. The number of host devices is fixed, not the machine's,
    because it decides in which order sums over seeds are taken.
    """

    x64: bool = True
    matmul: str = "highest"
    host_devices: int = 2

    def __str__(self) -> str:
        wide = "training in float32, theory in float64" if self.x64 else "float32"
        return f"{wide}; matmul precision {self.matmul}; {self.host_devices} host devices"


def setup(host_devices: int = 2) -> Policy:
    """Set this process's policy; call it before jax computes.

    Raises ValueError for fewer than one host device, RuntimeError when jax is already running with
    another number of them.

    >>> print(setup())
    training in float32, theory in float64; matmul precision highest; 2 host devices
    """
    if host_devices < 1:
        raise ValueError(f"host_devices = {host_devices}: expected at least 1")
    policy = Policy(host_devices=host_devices)
    os.environ["JAX_ENABLE_X64"] = "1" if policy.x64 else "0"
    os.environ["JAX_DEFAULT_MATMUL_PRECISION"] = policy.matmul
    # XLA's C++ lines would end up in the notebooks: ipykernel stores what reaches file descriptor 2.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ |= limits()
    flags = re.sub(rf"\s*{DEVICE_COUNT}=\d+", "", os.environ.get("XLA_FLAGS", ""))
    os.environ["XLA_FLAGS"] = f"{flags} {DEVICE_COUNT}={host_devices}".strip()
    if "jax" in sys.modules:  # it has read its part of the environment already
        import jax

        jax.config.update("jax_enable_x64", policy.x64)
        jax.config.update("jax_default_matmul_precision", policy.matmul)
        found = jax.local_device_count("cpu")
        if found != host_devices:
            raise RuntimeError(
                f"host_devices = {host_devices}, but jax already runs with {found}: "
                "call lazyrich.device.setup() before the first computation"
            )
    return policy


def describe() -> dict:
    """What this process computes on and with, for the record of a run. Imports jax."""
    import jax

    first = jax.devices()[0]
    return {
        "device": "cpu" if first.platform == "cpu" else f"{first.platform} ({first.device_kind})",
        "devices": jax.local_device_count(),
        "host_devices": jax.local_device_count("cpu"),
        "machine": machine(),
        "limits": limits(),
        "precision": f"float32, matmul {jax.config.jax_default_matmul_precision or 'default'}; "
        f"theory float64; x64 {'on' if jax.config.jax_enable_x64 else 'off'}",
        "versions": versions(),
    }


def limits() -> dict[str, str]:
    """How much a process takes of GPU memory and processors, by the variable that says so."""
    return {name: os.environ.get(name, value) for name, value in LIMITS.items()}


def machine() -> str:
    """The machine, in words that name neither it nor its owner."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"


def versions() -> dict[str, str]:
    """Python's version and those of the packages that results depend on."""
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in PACKAGES}
