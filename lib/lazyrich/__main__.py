"""`python -m lazyrich`: run or sweep a chapter, compare a run, refresh what is committed.

Exit status: 0 done, 1 a run failed or a comparison found a difference, 2 a request was refused.
"""

import argparse
import sys


def main(arguments: list[str] | None = None) -> int:
    """Carry out one command line and return its exit status. Imports no jax."""
    from lazyrich.runs.parameters import ParameterError
    from lazyrich.runs.records import RunFailed

    options = parser().parse_args(arguments)
    try:
        return options.command(options)
    except ParameterError as error:
        return _told(error, 2)
    except RunFailed as error:
        return _told(error, 1)
    except OSError as error:  # a full disk, a folder that went away
        return _told(f"{error.filename or 'input or output'}: {error.strerror or error}", 1)


def _told(message, status: int) -> int:
    """One line on stderr, whatever the message quotes."""
    print(f"lazyrich: {' '.join(str(message).split())}", file=sys.stderr)
    return status


class Parser(argparse.ArgumentParser):
    """One line on a bad command line, as on every other refusal, and no guess at a shortened option."""

    def __init__(self, **words):
        super().__init__(allow_abbrev=False, **words)

    def error(self, message):
        self.exit(_told(f"{message} (see python -m lazyrich --help)", 2))


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = Parser(prog="python -m lazyrich", description="Run the chapters of the book, strictly.")
    top.set_defaults(command=lambda options: top.print_help() or 0)
    commands = top.add_subparsers(metavar="COMMAND")

    one = commands.add_parser("run", help="run a chapter with checked parameters")
    _add_parameters(one)
    one.add_argument("--out", metavar="PATH", help="folder of the run (results/<preset>/<chapter>)")
    one.add_argument("--once", action="store_true", help="keep a folder that holds just this run")
    one.set_defaults(command=_run)

    one = commands.add_parser("sweep", help="run a chapter at every point of a grid")
    _add_parameters(one)
    one.add_argument(
        "--grid",
        metavar="name=VALUES",
        action="append",
        required=True,
        help="low:high:n, low:high:nlog or a,b,c; may be repeated for other parameters",
    )
    one.add_argument("--out", metavar="PATH", help="folder of the sweep (results/sweeps/<chapter>/<hash>)")
    one.add_argument("--executor", metavar="E", help="local (the default), slurm or another of Snakemake's")
    one.add_argument("--jobs", metavar="N", help="points at a time (1 here, 16 on a cluster)")
    one.add_argument("--profile", metavar="PATH", help="a Snakemake profile: partition, account, time, …")
    one.set_defaults(command=_sweep)

    one = commands.add_parser("data", help="list, check or fetch data sets")
    one.add_argument("action", choices=["list", "check", "fetch"])
    one.add_argument("name", nargs="?", default="", metavar="NAME", help="a data set of the list")
    one.add_argument("--folder", default="", metavar="PATH", help="where its files lie or go")
    one.set_defaults(command=_data)

    one = commands.add_parser("compare", help="say how a run agrees with the committed ledger")
    one.add_argument("run", metavar="RUN", help="folder of a run, with its claims.json")
    one.set_defaults(command=_compare)

    one = commands.add_parser("ledger", help="compare two ledgers: of presets, runs, releases")
    one.add_argument("action", choices=["diff"], metavar="diff")
    one.add_argument("before", metavar="A", help="laptop, record, a preset with results, a folder or file")
    one.add_argument("after", metavar="B", help="the same")
    one.set_defaults(command=_ledger)

    one = commands.add_parser("refresh", help="commit the outputs and ledgers of the last laptop runs")
    one.set_defaults(command=_refresh)

    one = commands.add_parser("record", help="commit the ledger of a chapter's last record run")
    one.add_argument("chapter", metavar="CHAPTER")
    one.set_defaults(command=_record)
    return top


def _add_parameters(command: argparse.ArgumentParser) -> None:
    command.add_argument("chapter", metavar="CHAPTER", help="number, stem or path of the notebook")
    command.add_argument("--preset", metavar="P", help="ci, laptop (the default), record, gpu or paper")
    command.add_argument(
        "-p",
        dest="changes",
        metavar="name=value",
        action="append",
        default=[],
        help="change a parameter of the preset; may be repeated",
    )
    command.add_argument(
        "--memory", metavar="SIZE", help="most that a run may take: 8G, none, … (what is free)"
    )


def _run(options) -> int:
    from lazyrich.runs import front

    changes = _changes(options.changes)
    folder = front.run(
        options.chapter, options.preset, changes, options.out, once=options.once, memory=options.memory
    )
    print(f"results: {folder}")
    return 0


def _sweep(options) -> int:
    from lazyrich.runs import summary, sweep

    how = sweep.scheduling(options.executor, options.jobs, options.profile)
    what = sweep.plan(
        options.chapter,
        options.preset,
        _changes(options.changes),
        options.grid,
        options.out,
        options.memory,
        elsewhere=how.executor != "local",
    )
    print(f"sweep: {len(what.points)} points of {what.notebook.stem} in {what.folder}", flush=True)
    sweep.run(what, how)
    points = summary.collect(what.folder, sweep.manifest(what.folder))
    _summarise(what.folder, points, sweep.changed_since(what))
    print(f"summary: {what.folder / 'summary.md'}")
    failed = [point for point in points if point.failure is not None]
    for point in failed:
        at = ", ".join(f"{name} = {value}" for name, value in point.values.items())
        _told(f"failed: {at} ({point.name}): {point.failure}", 1)
    if failed:
        _told(f"{len(failed)} of {len(points)} points failed; run the same command again to retry them", 1)
    return 1 if failed else 0


def _summarise(folder, points, changed: bool) -> None:
    """Write the tables of a sweep, and the plot where there is something to plot."""
    import io

    from lazyrich.files import write_atomic
    from lazyrich.runs import summary, sweep

    manifest = sweep.manifest(folder)
    write_atomic(folder / "summary.csv", summary.table(points))
    write_atomic(folder / "summary.md", summary.page(points, manifest, changed))
    if quantities := summary.varying(points):
        import matplotlib

        matplotlib.use("agg")
        from lazyrich.plots import swept

        pairs = {name: [(point.values, row) for point, row in some] for name, some in quantities.items()}
        png = io.BytesIO()
        swept.figure(manifest["grid"], pairs).savefig(png, format="png")
        write_atomic(folder / "summary.png", png.getvalue())


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


def _data(options) -> int:
    from lazyrich.tasks.command import data

    return data(options)


def _compare(options) -> int:
    from lazyrich.runs import committed

    comparison = committed.agreement(options.run)
    print(comparison)
    return 0 if comparison.agrees else 1


def _ledger(options) -> int:
    from lazyrich.runs import ledgers

    comparison, text = ledgers.diff(options.before, options.after)
    print(text)
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
