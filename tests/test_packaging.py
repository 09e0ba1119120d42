"""What installs the project agrees with the lock."""

import os
import shutil
import subprocess
import tomllib

import pytest
import yaml

from lazyrich.files import repository

ROOT = repository()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture
def uv():
    """The uv that `make setup` has put into .tools, or one on PATH."""
    path = shutil.which("uv", path=f"{ROOT / '.tools' / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert path, "no uv in .tools or on PATH: run make setup"
    return path


def test_requirements_are_the_lock(uv):
    command = "export --locked --no-hashes --no-emit-project --no-annotate --no-header --extra book --quiet"
    done = subprocess.run([uv, *command.split()], cwd=ROOT, check=True, capture_output=True, text=True)
    assert (ROOT / "requirements.txt").read_text() == done.stdout


def test_environment_takes_them():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert environment["dependencies"][-1] == {"pip": ["-r requirements.txt", "-e ."]}
    assert environment["dependencies"][0] == "python=3.11"
    assert PROJECT["project"]["requires-python"].startswith(">=3.11")


def test_one_version():
    import lazyrich
    from lazyrich.device import versions

    assert lazyrich.__version__ == PROJECT["project"]["version"] == versions()["lazyrich"]
