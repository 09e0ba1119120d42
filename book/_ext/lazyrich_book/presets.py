"""What each preset of each chapter takes: memory and time as measured, else as estimated."""

from pathlib import Path

from docutils import nodes

from lazyrich.runs import memory, presets, with_preset

from .pages import Generated
from .results import local
from .tables import markdown, table

TIME = "Time: "


class PresetCosts(Generated):
    """A line a chapter and preset, of the chapters that the book has."""

    def run(self):
        known = self.runs
        measured = {(run.chapter, run.record["preset"]): run.record for run in [*local(known), *known]}
        pages = sorted(doc for doc in self.env.found_docs if doc.startswith("chapters/"))
        stems = [page.removeprefix("chapters/") for page in pages]
        rows = []
        for stem in stems:
            for name, path in presets(stem).items():
                about, time = comments(path)
                needed = memory.text(memory.estimate(with_preset(stem, name)))
                took = cost(measured.get((stem, name)), time)
                named = [self.cell(self.link(stem)), [nodes.literal("", name)], self.cell(markdown(about))]
                rows.append([*named, needed, *took])
        header = ["chapter", "preset", "what it is for", "memory, estimated", "memory, measured", "time"]
        return [table(header, rows, "status")]


def comments(path: Path) -> tuple[str, str]:
    """The sentence that a preset file opens with, and its estimate of the time."""
    text = path.read_text(encoding="utf-8")
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("#")]
    times = [line.removeprefix(TIME) for line in lines if line.startswith(TIME)]
    return next(iter(lines), "–"), f"{times[0]} (estimated)" if times else "–"


def cost(record: dict | None, estimated: str) -> list[str]:
    """Peak memory and time of a run; its estimates where there is none."""
    if record is None:
        return ["–", estimated]
    return [memory.text(record["peak_memory"]), f"{record['seconds']:.0f} s on {record['device']}"]


def setup(app):
    app.add_directive("preset-costs", PresetCosts)
