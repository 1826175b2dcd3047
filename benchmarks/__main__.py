"""`python -m benchmarks [NAME…] [--quick]`: run benchmarks, show what they found, keep it in RESULTS.md."""

import importlib
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.harness.bench import bench
from benchmarks.harness.report import RESULTS, SECTIONS, Report, keep

# Each is a module here with `measure(bench) -> Report`; its docstring says what, against whom, to what aim.
NAMES = ("engine", "recovery", "editorial_batch", "agent_start", "search", "gateway")


def main(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Which: {', '.join(NAMES)}; all if none.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Once, with small sizes, and without writing RESULTS.md.")
    ] = False,
) -> None:
    """Measure Signoff against its aims and its peers."""
    console = Console(width=None if Console().is_terminal else 140)
    if unknown := set(names or ()) - set(NAMES):
        raise typer.BadParameter(f"{', '.join(sorted(unknown))}: there are {', '.join(NAMES)}")
    missed = 0
    with bench(quick=quick) as here:
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
