"""Where a claim was measured: the chapter's cell that records it, as a target for links."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

from lazyrich.ledger import load_claims


def target(claim: str) -> str:
    """The label of the cell that records a claim.

    >>> target("fl.time.lazy.b050")
    'claim-fl-time-lazy-b050'
    """
    return "claim-" + re.sub(r"[^a-z0-9]+", "-", claim.lower())


@cache
def recording_cells(notebook: Path) -> dict[str, int]:
    """Claim → index of the first code cell that names it, in full or by an f-string."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    claims = list(load_claims(notebook.stem))
    found: dict[str, int] = {}
    for index, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            for pattern in patterns("".join(cell["source"])):
                found |= {claim: index for claim in filter(pattern.fullmatch, claims) if claim not in found}
    return found


def patterns(source: str) -> Iterator[re.Pattern]:
    """What a program's dotted names may be; of an f-string the start must be literal."""
    for node in ast.walk(ast.parse(source)):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        if all(isinstance(part, ast.Constant | ast.FormattedValue) for part in parts):
            texts = [part.value if isinstance(part, ast.Constant) else None for part in parts]
            if isinstance(texts[0], str) and re.match(r"\w+\.", texts[0]):
                yield re.compile("".join(r"[\w.-]+" if t is None else re.escape(t) for t in texts))


class RecordingCells(SphinxTransform):
    """Give each cell that records claims a target for each."""

    default_priority = 390

    def apply(self, **kwargs):
        source = Path(self.env.doc2path(self.env.docname))
        if source.suffix != ".ipynb" or source.parent.name != "chapters":
            return
        cells = {c["cell_index"]: c for c in self.document.findall(nodes.container) if "cell_index" in c}
        for claim, index in recording_cells(source).items():
            if index in cells:
                cells[index]["ids"].append(target(claim))


def setup(app):
    app.add_transform(RecordingCells)
