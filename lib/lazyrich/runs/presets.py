"""Preset files of a chapter, and the name that a set of parameters bears."""

from pathlib import Path

from lazyrich.files import presets_path, sha256

from .parameters import Checked, ParameterError, canonical, of_chapter, preset_values, read, suggest

LAPTOP = "laptop"


def presets(chapter: str | Path) -> dict[str, Path]:
    """Preset files by name, of a chapter's stem or notebook path.

    A notebook brings its own in `presets/<stem>` beside it; else the package's are taken.
    """
    chapter = Path(chapter)
    folder = chapter.parent / "presets" / chapter.stem
    if not (chapter.suffix == ".ipynb" and folder.is_dir()):
        folder = presets_path() / chapter.stem
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def with_preset(chapter: str | Path, preset: str, changes: dict | None = None) -> Checked:
    """The parameters of a preset with some of them changed.

    Raises ParameterError for an unknown preset or parameter, a wrong type or a value out of range.
    """
    kind = of_chapter(Path(chapter).stem)
    known = presets(chapter)
    if preset not in known:
        raise ParameterError(f"unknown preset {preset!r}{suggest(preset, known)}")
    return read(kind, preset_values(known[preset]) | (changes or {}), strict=True)


def preset_name(chapter: str | Path, parameters: Checked) -> str:
    """The preset that these parameters are, else `custom-` and a hash of all of them.

    >>> from .parameters.ch01 import Parameters
    >>> preset_name("01_scaling_laws", Parameters()), preset_name("01_scaling_laws", Parameters(seeds=5))[:7]
    ('laptop', 'custom-')
    """
    for name in presets(chapter):
        if with_preset(chapter, name) == parameters:
            return name
    return f"custom-{sha256(canonical(parameters).encode())[:8]}"
