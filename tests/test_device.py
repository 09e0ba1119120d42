"""device: the policy holds in a fresh process, and asking for it imports no jax."""

import os
import subprocess
import sys

import pytest

from lazyrich import device


def fresh(code: str, **environment: str) -> str:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_", "TF_"))}
    done = subprocess.run(
        [sys.executable, "-c", code], env=kept | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_policy_reaches_jax():
    out = fresh(
        "from lazyrich import device; device.setup(); import jax;"
        "print(jax.local_device_count('cpu'), jax.config.jax_enable_x64);"
        "print(jax.config.jax_default_matmul_precision)"
    )
    assert out.split() == ["2", "True", "highest"]


def test_policy_reaches_a_jax_that_is_already_imported():
    out = fresh(
        "import jax; from lazyrich import device; device.setup();"
        "print(jax.local_device_count('cpu'), jax.config.jax_enable_x64)"
    )
    assert out.split() == ["2", "True"]


def test_other_flags_are_kept_and_the_count_replaced():
    code = "from lazyrich import device; device.setup(3); import os; print(os.environ['XLA_FLAGS'])"
    flags = "--xla_cpu_max_isa=SSE4_2 --xla_force_host_platform_device_count=7"
    assert fresh(code, XLA_FLAGS=flags).split() == [
        "--xla_cpu_max_isa=SSE4_2",
        "--xla_force_host_platform_device_count=3",
    ]


def test_importing_the_library_changes_nothing():
    fresh(
        "import os, sys; before = dict(os.environ); import lazyrich, lazyrich.device, lazyrich.files;"
        "assert 'jax' not in sys.modules and dict(os.environ) == before;"
        "lazyrich.device.setup(); assert 'jax' not in sys.modules"
    )


def test_a_reader_s_own_limits_stand():
    code = (
        "from lazyrich import device; device.setup(); import os;"
        "print(*(os.environ[name] for name in device.LIMITS), *device.limits().values())"
    )
    assert fresh(code, OPENBLAS_NUM_THREADS="3").split() == ["0.75", "3"] * 2
    own = {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.4", "OPENBLAS_NUM_THREADS": "1"}
    assert fresh(code, **own).split() == ["0.4", "1"] * 2


def test_too_late_is_an_error():
    fresh(
        "import jax; from lazyrich import device; device.setup(); jax.devices()\n"
        "try: device.setup(host_devices=5)\n"
        "except RuntimeError as error: assert 'host_devices = 5, but jax already runs with 2' in str(error)\n"
        "else: raise SystemExit('accepted')"
    )


def test_bad_count():
    with pytest.raises(ValueError, match="host_devices = 0: expected at least 1"):
        device.setup(host_devices=0)


def test_describe_names_what_ran():
    found = device.describe()
    assert found["host_devices"] == 2
    assert "matmul highest" in found["precision"]
    assert found["versions"]["jax"].count(".") == 2
