"""The claim ledger: what theory says, what a run measured, and whether the two agree."""

from lazyrich.ledger.claims import Claim, Known, load_claims
from lazyrich.ledger.compare import Agreement, Comparison, compare, failures
from lazyrich.ledger.page import (
    Markdown,
    counts,
    example_rows,
    interval_text,
    markdown_table,
    summary,
    theory_text,
)
from lazyrich.ledger.record import Ledger
from lazyrich.ledger.rows import dump_rows, load_rows, read_ledger, write_ledger
from lazyrich.ledger.verdict import VERDICTS, judge, worst

__all__ = [
    "VERDICTS",
    "Agreement",
    "Claim",
    "Comparison",
    "Known",
    "Ledger",
    "Markdown",
    "compare",
    "counts",
    "dump_rows",
    "example_rows",
    "failures",
    "interval_text",
    "judge",
    "load_claims",
    "load_rows",
    "markdown_table",
    "read_ledger",
    "summary",
    "theory_text",
    "worst",
    "write_ledger",
]
