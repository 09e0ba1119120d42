"""Claims: what a chapter sets out to reproduce, declared in data/claims before it is measured."""

import difflib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType

import yaml

from lazyrich import files

PAPERS = ("FL", "DM", "GE", "FS", "ours")
RELATIONS = ("equals", "greater", "less", "between", "measured")
KINDS = ("seeds", "solver")
ID = re.compile(r"(fl|dm|ge|fs|ours|real|custom)(\.[A-Za-z0-9-]+)+")
FEWEST_SEEDS = 3
POWERS = "(YAML reads 1e5 and 1e-3 as text: write 1.0e+5 and 1.0e-3)"


@dataclass(frozen=True)
class Known:
    """A miss that is expected: the verdict that stands, and why."""

    verdict: str
    reason: str


@dataclass(frozen=True)
class Claim:
    """One claim of a paper: one number, what theory says of it, and what may excuse a difference."""

    id: str  # stable: rows of old and new runs are matched by it
    chapter: str  # stem of the chapter that measures it
    paper: str  # FL, DM, GE, FS, or "ours" where no paper states it
    statement: str  # the claim in one sentence
    quantity: str  # what is measured, with its sign convention
    relation: str  # equals, greater, less, between or measured
    kind: str  # "seeds": an interval over seeds; "solver": the change under resolution and window
    predicted: float | tuple[float, float] | None = None  # None where nothing is predicted
    theory: str | None = None  # formula of `predicted`, in the names of `at`
    at: Mapping[str, float] = field(default_factory=dict)  # the parameters at which the claim is measured
    place: str = "not located"  # where the paper states it
    window: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # fit windows, by variable
    allowance: float = 0.0  # absolute bias that is understood; widens the interval
    allowance_reason: str | None = None
    resolution: float | None = None  # largest half-width that still decides the claim
    needs: Mapping[str, float] = field(default_factory=dict)  # least sizes of a run that can decide it
    tolerance: float | None = None  # by how much two runs of this claim may differ; None is a rule
    known: Known | None = None

    def __post_init__(self):
        if self.relation == "equals" and self.resolution is None:
            object.__setattr__(self, "resolution", max(2 * self.allowance, 0.05 * abs(self.predicted)))


def load_claims(chapter: str | None = None, folder: Path | None = None) -> dict[str, Claim]:
    """The declared claims by id, in the order of the files; of one chapter, or of all.

    Args:
        chapter: the stem of a chapter, such as "01_scaling_laws".
        folder: where the files `<chapter>.yaml` lie; the package's own when None.

    Raises:
        ValueError: no claims for that chapter, or a bad claim; the message names file, claim, field, the
            value found and what is allowed.
    """
    folder = folder or files.data_path("claims")
    found = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    if chapter is not None and chapter not in found:
        raise ValueError(f"chapter {chapter!r} has no claims; claims exist for {', '.join(found) or 'none'}")
    claims: dict[str, Claim] = {}
    for path in found.values() if chapter is None else [found[chapter]]:
        for claim in read_claims(path):
            if claim.id in claims:
                raise _refusal(path, claim.id, "id", claim.id, "an id that no other claim has")
            claims[claim.id] = claim
    return claims


def read_claims(path: Path) -> list[Claim]:
    """The claims of one file: a list `claims`, and optional `defaults` that each of them inherits."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"claims/{path.name}: not a YAML file: {error}") from error
    if not isinstance(content, dict) or set(content) - {"defaults", "claims"} or "claims" not in content:
        raise ValueError(
            f"claims/{path.name}: must hold a list 'claims' and may hold 'defaults', nothing else"
        )
    defaults = content.get("defaults") or {}
    claims, seen = [], set()
    for entry in content["claims"] or []:
        if not isinstance(entry, dict) or "id" not in entry:
            raise ValueError(f"claims/{path.name}: every claim must be a mapping with an id, got {entry!r}")
        if entry["id"] in seen:
            raise _refusal(path, entry["id"], "id", entry["id"], "an id that no other claim has")
        seen.add(entry["id"])
        claims.append(_claim(path, defaults | entry))
    return claims


def _claim(path: Path, raw: dict) -> Claim:
    name = raw["id"]

    def need(holds: bool, which: str, allowed: str) -> None:
        if not holds:
            raise _refusal(path, name, which, raw.get(which), allowed)

    def number(value) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)

    def numbers(which: str) -> Mapping[str, float]:
        value = raw.get(which) or {}
        good = isinstance(value, dict) and all(isinstance(k, str) and number(v) for k, v in value.items())
        need(good, which, f"a mapping from names to numbers {POWERS}")
        return MappingProxyType(value)

    def pair(value) -> bool:
        return isinstance(value, list) and len(value) == 2 and all(map(number, value)) and value[0] < value[1]

    known_fields = {f.name for f in fields(Claim)} - {"chapter"}
    for which in raw:
        near = difflib.get_close_matches(str(which), known_fields, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        need(which in known_fields, which, f"one of the fields {', '.join(sorted(known_fields))}{hint}")
    for which in ("id", "paper", "statement", "quantity", "relation", "kind"):
        need(isinstance(raw.get(which), str) and raw[which].strip() != "", which, "a text")
    for which in ("theory", "place", "allowance_reason"):
        need(isinstance(raw.get(which, ""), str | None), which, "a text")
    need(
        ID.fullmatch(name) is not None and not name.startswith("custom."),
        "id",
        "fl, dm, ge, fs, ours or real, then words of letters, digits and hyphens, joined by dots",
    )
    need(raw["paper"] in PAPERS, "paper", f"one of {', '.join(PAPERS)}")
    need(raw["relation"] in RELATIONS, "relation", f"one of {', '.join(RELATIONS)}")
    need(raw["kind"] in KINDS, "kind", f"one of {', '.join(KINDS)}")

    relation, predicted = raw["relation"], raw.get("predicted")
    if relation == "measured":
        need(predicted is None, "predicted", "nothing: a measured claim has no theory")
    elif relation == "between":
        need(pair(predicted), "predicted", f"two numbers [low, high] with low < high {POWERS}")
        predicted = tuple(map(float, predicted))
    else:
        need(number(predicted), "predicted", f"a number {POWERS}")
        predicted = float(predicted)

    allowance = raw.get("allowance", 0)
    if isinstance(allowance, str) and (percent := re.fullmatch(r"([\d.]+) ?%", allowance)):
        need(relation == "equals", "allowance", "no percentage: it is taken of a predicted number")
        allowance = float(percent[1]) / 100 * abs(predicted)
    need(
        number(allowance) and allowance >= 0,
        "allowance",
        "a number of at least 0, or a percentage such as 5 %",
    )
    need(
        allowance == 0 or relation == "equals",
        "allowance",
        "0: an inequality must hold for the whole interval",
    )
    need(
        allowance == 0 or bool(raw.get("allowance_reason")), "allowance_reason", "the cause of the allowance"
    )

    resolution, tolerance = raw.get("resolution"), raw.get("tolerance")
    for which, value in (("resolution", resolution), ("tolerance", tolerance)):
        need(value is None or (number(value) and value > 0), which, "a number above 0, or nothing")
    need(
        resolution is not None or relation != "equals" or allowance > 0 or predicted != 0,
        "resolution",
        "a number above 0: theory 0 without allowance sets no scale of its own",
    )

    windows = raw.get("window") or {}
    need(
        isinstance(windows, dict) and all(map(pair, windows.values())),
        "window",
        f"a mapping from variables to [low, high] with low < high {POWERS}",
    )
    needs = numbers("needs")
    if raw["kind"] == "seeds":
        need(needs.get("seeds", 0) >= FEWEST_SEEDS, "needs", f"seeds of at least {FEWEST_SEEDS}")
    else:
        need("seeds" not in needs, "needs", "no seeds: the claim's kind is solver")

    known = raw.get("known")
    if known is not None:
        good = isinstance(known, dict) and set(known) == {"verdict", "reason"}
        need(
            good and known["verdict"] in ("differs", "inconclusive") and isinstance(known["reason"], str),
            "known",
            "a verdict (differs or inconclusive) and its reason",
        )
        known = Known(**known)

    return Claim(
        id=name, chapter=path.stem, paper=raw["paper"], statement=_line(raw["statement"]),
        quantity=_line(raw["quantity"]), relation=relation, kind=raw["kind"], predicted=predicted,
        theory=raw.get("theory"), at=numbers("at"), place=raw.get("place") or "not located",
        window=MappingProxyType({k: tuple(map(float, v)) for k, v in windows.items()}),
        allowance=float(allowance), allowance_reason=_line(raw.get("allowance_reason")),
        resolution=resolution, needs=needs, tolerance=tolerance, known=known,
    )  # fmt: skip


def _line(text: str | None) -> str | None:
    return text if text is None else " ".join(text.split())


def _refusal(path: Path, name: str, which: str, value, allowed: str) -> ValueError:
    return ValueError(f"claims/{path.name}: claim {name}: {which} = {value!r}, allowed: {allowed}")
