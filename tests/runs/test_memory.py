"""The estimate before a run: what is too large is refused, with the parameter to lower."""

from dataclasses import dataclass

import pytest

from lazyrich.files import presets_path
from lazyrich.runs import presets, with_preset
from lazyrich.runs.memory import affordable, available, estimate, size
from lazyrich.runs.parameters import Checked, ParameterError, parameter


@dataclass(frozen=True)
class Sample(Checked):
    width: int = parameter(10, "a width", low=1)
    images: int = parameter(10, "images", low=1)

    def memory(self):
        return {"width": 8.0 * self.width**2, "images": 8.0 * self.images**2}


def test_the_largest_need_is_named():
    affordable(Sample(), "1G")
    with pytest.raises(ParameterError, match=r"about 7\.\d GiB, expected at most 1\.0 GiB; lower images"):
        affordable(Sample(images=30_000, width=10_000), "1G")
    affordable(Sample(images=30_000), "none")


def test_the_machine_s_own_memory_is_the_limit_unless_one_is_given():
    assert 2**28 < available() < 2**44
    with pytest.raises(ParameterError, match=r"lower width \(now 10000000\)"):
        affordable(Sample(width=10**7))


def test_a_gpu_s_memory_counts_where_there_is_one(tmp_path, monkeypatch):
    driver = tmp_path / "nvidia-smi"
    driver.write_text("#!/bin/sh\necho 1000\necho 81000\n")
    driver.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    assert available() == 81000 * 2**20
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert available() != 81000 * 2**20
    driver.write_text("#!/bin/sh\necho no driver >&2\nexit 9\n")
    monkeypatch.delenv("JAX_PLATFORMS")
    assert available() != 81000 * 2**20


def test_a_limit_below_what_every_run_takes_names_no_parameter():
    with pytest.raises(ParameterError, match="at most 1 MiB; set --memory"):
        affordable(Sample(), "1M")


@pytest.mark.parametrize("text", ["", "8", "G", "-1G", "8GB", "0G", "1e9", "many", "8g"])
def test_sizes(text):
    if text == "8":
        assert size(text) == 8
    else:
        with pytest.raises(
            ParameterError, match=r"memory = '.*': expected a size such as 8G or 500M, or none"
        ):
            size(text)


CHAPTERS = [folder.name for folder in sorted(presets_path().iterdir()) if folder.is_dir()]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_presets_fit_what_they_are_for(chapter):
    needs = {name: estimate(with_preset(chapter, name)) / 2**30 for name in presets(chapter)}
    assert max(needs["ci"], needs["laptop"]) < 4
    assert needs["record"] < 8
    assert needs["gpu"] < 80
    assert needs["ci"] <= needs["laptop"] <= needs["paper"]
