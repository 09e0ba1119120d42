"""The book's sources against the repository, and its extension's parts."""

import json
from base64 import b64encode
from importlib import import_module
from pkgutil import iter_modules, walk_packages

import pytest
from lazyrich_book import docstrings, figures, offline, repository, results, tables
from lazyrich_book import pages as generated
from sphinx.util.inventory import InventoryFile

import lazyrich
from book.conftest import ROOT, pages

PNG = b"\x89PNG\r\n\x1a\n"


def test_every_page_and_chapter_is_in_the_table_of_contents():
    prose = {str(p.relative_to(ROOT).with_suffix("")) for p in (ROOT / "book").rglob("[!_]*.md")}
    chapters = {f"chapters/{p.stem}" for p in (ROOT / "chapters").glob("*.ipynb")}
    assert prose | chapters == set(pages())


def public_names():
    """What the packages export; where one exports nothing, its modules."""
    for found in walk_packages(lazyrich.__path__, "lazyrich."):
        if found.ispkg:
            package = import_module(found.name)
            modules = [m.name for m in iter_modules(package.__path__) if not m.name.startswith("_")]
            yield from (f"{found.name}.{name}" for name in getattr(package, "__all__", modules))


def test_every_public_name_is_on_an_api_page(html):
    with (html / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, uri: uri)
    documented = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    public = set(public_names())
    assert "lazyrich.fits.exponent" in public
    assert not sorted(public - documented)


def test_figure_metadata_is_found_by_the_image_s_bytes(tmp_path):
    shown = {"alt": "A curve.", "caption": "Slope $-1$.", "name": "curve"}
    output = {"data": {"image/png": b64encode(PNG).decode() + "\n"}, "metadata": {"image/png": shown}}
    notebook = tmp_path / "c.ipynb"
    notebook.write_text(json.dumps({"cells": [{"outputs": [output]}, {"source": "text"}]}))
    hash_of_bytes = "4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6"
    assert figures.figure_metadata(notebook) == {hash_of_bytes: shown}
    assert [type(n).__name__ for n in figures.inline("Slope $-1$.")] == ["Text", "math", "Text"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|u|² and w*", r"\|u\|² and w\*"),
        ("$x^*$ of ``a|b``", ":math:`x^*` of ``a|b``"),
        ("a:\n\n$$x\n= 1$$\n", "a:\n\n\n\n.. math:: x = 1\n\n\n"),
        (">>> 2 * 3\n6", ">>> 2 * 3\n6"),
        (":math:`|u|`", ":math:`|u|`"),
        (".. math:: |u|\n\n   |v|\n\n|w|", ".. math:: |u|\n\n   |v|\n\n\\|w\\|"),
        ("of `times` and `w*`", "of ``times`` and ``w*``"),
    ],
)
def test_docstrings_become_restructured_text(text, expected):
    assert docstrings.restructured(text) == expected


def test_buttons_follow_the_one_place_that_names_the_repository(tmp_path):
    project = '[project]\nname = "x"\n[project.urls]\nRepository = "https://example.org/x"\n'
    (tmp_path / "pyproject.toml").write_text(project)
    deep = tmp_path / "_build" / "book-src"
    deep.mkdir(parents=True)
    options = repository.theme_options(repository.repository_url(deep))
    assert options["repository_url"] == "https://example.org/x"
    assert options["use_repository_button"]
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n')
    assert repository.theme_options(repository.repository_url(deep)) == {}


def test_runs_of_a_staging_tree_come_before_the_committed_ledger(tmp_path):
    folder = tmp_path / "runs" / "01_x"
    folder.mkdir(parents=True)
    (folder / "claims.json").write_text('[{"id": "a", "verdict": "differs"}]')
    (folder / "run.json").write_text('{"preset": "ci"}')
    first = results.read_runs(tmp_path)[0]
    assert (first.chapter, first.origin, first.record["preset"]) == ("01_x", "this build", "ci")
    assert results.with_verdict([first], "differs", "inconclusive") == first.rows
    assert "this build" not in [run.origin for run in results.read_runs(tmp_path / "elsewhere")]


def test_verdicts_are_words_with_a_class():
    assert tables.badge("not supported by this preset")["classes"] == ["verdict", "verdict-not"]
    assert tables.table(["a", "b"], [["1", [tables.badge("differs")]]], "ledger").astext().split() == [
        "a",
        "b",
        "1",
        "differs",
    ]
    assert generated.commit("0123456789abcdef and changes") == "0123456789 and changes"
    assert generated.commit(None) == "–"


def test_no_script_of_thebe_stays():
    class Script:
        def __init__(self, filename, body=""):
            self.filename, self.attributes = filename, {"body": body}

    context = {
        "script_files": [Script("sphinx-thebe.js"), Script(None, "const THEBE_JS_URL"), Script("a.js")]
    }
    offline.drop_thebe(None, "p", "t", context, None)
    assert [script.filename for script in context["script_files"]] == ["a.js"]


def test_a_chapter_s_summary_is_its_first_paragraph(tmp_path):
    cells = [{"cell_type": "markdown", "source": ["# Title\n", "\n", "What it\n", "shows.\n", "\n", "More."]}]
    notebook = tmp_path / "c.ipynb"
    notebook.write_text(json.dumps({"cells": cells}))
    assert generated.first_paragraph(notebook) == "What it shows."
