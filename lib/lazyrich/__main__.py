"""`python -m lazyrich`: run a chapter, compare a run, refresh what is committed.

Exit status: 0 done, 1 a run failed or a comparison found a difference, 2 a request was refused.
"""

import argparse
import sys


def main(arguments: list[str] | None = None) -> int:
    """Carry out one command line and return its exit status. Imports no jax."""
    from lazyrich.runs.front import RunFailed
    from lazyrich.runs.parameters import ParameterError

    options = parser().parse_args(arguments)
    try:
        return options.command(options)
    except ParameterError as error:
        print(f"lazyrich: {error}", file=sys.stderr)
        return 2
    except RunFailed as error:
        print(f"lazyrich: {error}", file=sys.stderr)
        return 1


class Parser(argparse.ArgumentParser):
    """One line on a bad command line, as on every other refusal; the usage is under --help."""

    def error(self, message):
        self.exit(2, f"lazyrich: {message} (see python -m lazyrich --help)\n")


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = Parser(prog="python -m lazyrich", description="Run the chapters of the book, strictly.")
    top.set_defaults(command=lambda options: top.print_help() or 0)
    commands = top.add_subparsers(metavar="COMMAND")

    one = commands.add_parser("run", help="run a chapter with checked parameters")
    one.add_argument("chapter", metavar="CHAPTER", help="number, stem or path of the notebook")
    one.add_argument("--preset", metavar="P", help="ci, laptop (the default), record, gpu or paper")
    one.add_argument(
        "-p",
        dest="changes",
        metavar="name=value",
        action="append",
        default=[],
        help="change a parameter of the preset; may be repeated",
    )
    one.add_argument("--out", metavar="PATH", help="folder of the run (results/<preset>/<chapter>)")
    one.set_defaults(command=_run)

    one = commands.add_parser("compare", help="say how a run agrees with the committed ledger")
    one.add_argument("run", metavar="RUN", help="folder of a run, with its claims.json")
    one.set_defaults(command=_compare)

    one = commands.add_parser("refresh", help="commit the outputs and ledgers of the last laptop runs")
    one.set_defaults(command=_refresh)

    one = commands.add_parser("record", help="commit the ledger of a chapter's last record run")
    one.add_argument("chapter", metavar="CHAPTER")
    one.set_defaults(command=_record)
    return top


def _run(options) -> int:
    from lazyrich.runs import front

    print(f"results: {front.run(options.chapter, options.preset, _changes(options.changes), options.out)}")
    return 0


def _changes(texts: list[str]) -> dict[str, str]:
    from lazyrich.runs.parameters import ParameterError

    changes = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise ParameterError(f"-p {text}: expected name=value")
        if name in changes:
            raise ParameterError(f"-p {text}: {name} is given twice")
        changes[name] = value
    return changes


def _compare(options) -> int:
    from lazyrich.runs import committed

    comparison = committed.agreement(options.run)
    print(comparison)
    return 0 if comparison.agrees else 1


def _refresh(options) -> int:
    from lazyrich.runs import committed

    for path in committed.refresh():
        print(f"written: {path}")
    return 0


def _record(options) -> int:
    from lazyrich.runs import committed

    print(f"written: {committed.record(options.chapter)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
