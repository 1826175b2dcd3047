"""`python -m benchmarks [NAME…] [--quick] [--texts FOLDER]`: run benchmarks, show and keep what is found."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.harness.bench import bench
from benchmarks.harness.report import RESULTS, SECTIONS, Report, keep

# Each is a module here with `measure(bench) -> Report`; its docstring says what, against whom, to what aim.
NAMES = (
    "engine",
    "recovery",
    "editorial_batch",
    "agent_start",
    "search",
    "gateway",
    "verbatim",
    "main_text",
    "engine_choice",
    "scrape",
    "extract",
    "index",
    "support_check",
    "research_intents",
    "linkage",
    "mcp_conformance",
)
# Says little without `--texts`: left out of all, and not kept.
_OF_TEXTS = "verbatim"


def main(
    names: Annotated[
        list[str] | None,
        typer.Argument(help=f"Which: {', '.join(NAMES)}; all if none, but {_OF_TEXTS} with --texts alone."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Once, with small sizes, and without writing RESULTS.md.")
    ] = False,
    texts: Annotated[
        list[Path] | None,
        typer.Option(
            "--texts",
            help="For verbatim: a folder of topics, texts and tables; for main_text: a set of pages; for "
            "support_check: a checkout of WiCE; for linkage: a folder of checkouts.",
        ),
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
        for name in chosen(names or (), texts=bool(texts)):
            console.rule(name)
            report: Report = importlib.import_module(f"benchmarks.{name}").measure(here)
            report.show(console)
            missed += sum(not aim.met for aim in report.aims)
            if reason := why_not_kept(name, quick=quick, texts=bool(texts)):
                console.print(reason)
            elif not report.aims:  # a set was not among the texts, or npm is missing: the notes say so
                console.print(f"not written to RESULTS.md: {name} had nothing to be held to; see its notes")
            else:
                keep(report, order=SECTIONS)
                console.print(f"written to {RESULTS}")
    console.print(f"aims missed: {missed}" if missed else "every aim was met")


def chosen(names: Sequence[str], *, texts: bool) -> list[str]:
    """The benchmarks to run, in order: those named, else all; `verbatim` unnamed with further texts only."""
    return [name for name in NAMES if name in names or (not names and (texts or name != _OF_TEXTS))]


def why_not_kept(name: str, *, quick: bool, texts: bool) -> str | None:
    """Why a run is not written to RESULTS.md, for people; None where it is."""
    if quick:
        return "not written to RESULTS.md: --quick"
    if name == _OF_TEXTS and not texts:
        return f"not written to RESULTS.md: {name} of the samples alone; --texts names further texts"
    return None


if __name__ == "__main__":
    typer.run(main)
