"""`python -m benchmarks [NAME…] [--quick]`: run benchmarks, show what they found, keep it in RESULTS.md."""

import importlib
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.harness.bench import bench
from benchmarks.harness.report import RESULTS, SECTIONS, Report, keep

# Each is a module here with `measure(bench) -> Report`; its docstring says what, against whom, to what aim.
NAMES = ("engine", "recovery", "editorial_batch", "agent_start", "search", "gateway", "verbatim")


def main(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Which: {', '.join(NAMES)}; all if none.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Once, with small sizes, and without writing RESULTS.md.")
    ] = False,
    texts: Annotated[
        list[Path] | None,
        typer.Option("--texts", help="For verbatim: a folder of further topics, texts and tables."),
    ] = None,
) -> None:
    """Measure Signoff against its aims and its peers."""
    console = Console(width=None if Console().is_terminal else 140)
    if unknown := set(names or ()) - set(NAMES):
        raise typer.BadParameter(f"{', '.join(sorted(unknown))}: there are {', '.join(NAMES)}")
    for folder in texts or ():
        if not folder.is_dir():
            raise typer.BadParameter(f"--texts: {folder} is no folder: give one of topics, texts or tables")
    missed = 0
    with bench(quick=quick, texts=texts or ()) as here:
        for name in [n for n in NAMES if n in (names or NAMES)]:
            console.rule(name)
            report: Report = importlib.import_module(f"benchmarks.{name}").measure(here)
            report.show(console)
            missed += sum(not aim.met for aim in report.aims)
            if not quick:
                keep(report, order=SECTIONS)
                console.print(f"written to {RESULTS}")
    console.print(f"aims missed: {missed}" if missed else "every aim was met")


if __name__ == "__main__":
    typer.run(main)
