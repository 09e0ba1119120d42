"""Choices of parameters are literals, free of jax; the registries they stand for are held to them here."""

from dataclasses import fields

import pytest

from lazyrich.models import MODELS
from lazyrich.runs import parameters
from lazyrich.runs.chapters import chapters
from lazyrich.tasks import DATASETS

REGISTRIES = {"model": MODELS, "dataset": DATASETS}


@pytest.mark.parametrize("notebook", chapters(), ids=lambda path: path.stem)
def test_what_a_chapter_lets_choose_is_there(notebook):
    for declared in fields(parameters.of_chapter(notebook.stem)):
        choices = set(declared.metadata["choices"])
        assert choices <= set(REGISTRIES.get(declared.name, choices)), declared.name
