"""Preset names are derived from the parameters."""

import re
from dataclasses import replace

import pytest

from lazyrich.runs import ParameterError, preset_name, presets, with_preset
from lazyrich.runs.parameters.ch01 import Parameters


def test_equal_parameters_bear_the_preset_s_name(chapter):
    assert list(presets(chapter)) == ["ci", "laptop"]
    assert preset_name(chapter, Parameters()) == "laptop"
    assert preset_name(chapter, with_preset(chapter, "ci")) == "ci"
    assert preset_name(chapter, with_preset(chapter, "ci", {"seed0": "0"})) == "laptop"


def test_other_parameters_get_a_name_of_their_own(chapter):
    names = {preset_name(chapter, replace(Parameters(), beta=0.5 + k * 1e-12)) for k in range(1, 20)}
    assert len(names) == 19
    assert all(re.fullmatch("custom-[0-9a-f]{8}", name) for name in names)


def test_unknown_preset(chapter):
    with pytest.raises(ParameterError, match=r"unknown preset 'nope'\. Known: ci, laptop"):
        with_preset(chapter, "nope")
