"""The `signoff` command. Every SignoffError is one line on stderr and exit code 1, never a traceback."""

import sys
from collections.abc import Callable

import typer
from typer.core import TyperGroup

from cluster.cli.commands import kinds, operations, people, research, site
from cluster.cli.commands.options import complain
from models.error_lines import print_trace
from models.errors import SignoffError


class OneLineErrors(TyperGroup):
    """Prints a SignoffError of any command."""

    def invoke(self, ctx: "typer.Context") -> object:  # type: ignore[override]  # typer brings its own click
        """Run the command."""
        sys.excepthook = print_trace  # here: typer sets its own before
        try:
            return super().invoke(ctx)
        except SignoffError as error:
            complain(error)
            raise typer.Exit(1) from error


app = typer.Typer(
    cls=OneLineErrors,
    name="signoff",
    help="Agents that do the work, and stop where a human must sign off.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

# Of `submit`, what follows NAME belongs to the pipeline, `--config` and `--help` too.
_PASSED_ON = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
}
_COMMANDS: tuple[Callable[..., None], ...] = (
    site.up,
    site.down,
    site.status,
    site.token,
    site.submit,
    site.demo,
    people.approvals,
    people.approve,
    people.reject,
    people.chat,
    people.workflows,
    kinds.kinds,
    kinds.kind,
    site.backup,
    site.restore,
)
for command in _COMMANDS:
    app.command(context_settings=_PASSED_ON if command is site.submit else None)(command)
app.add_typer(research.app)
app.add_typer(operations.app)


def main() -> None:
    """The console script."""
    app()


if __name__ == "__main__":
    main()
