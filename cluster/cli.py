"""The `signoff` command. Every SignoffError is one line on stderr and exit code 1, never a traceback.

Imports are made in the commands, so that `signoff --help` is quick and what Ray reads from the
environment is set before Ray is imported.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from models.errors import SignoffError

if TYPE_CHECKING:
    from models.config import Config

DEFAULT_CONFIG = Path("configs/local.yaml")
ConfigPath = Annotated[Path, typer.Option("--config", help="The configuration file.")]


class OneLineErrors(TyperGroup):
    """Prints a SignoffError of any command."""

    def invoke(self, ctx: "typer.Context") -> object:  # type: ignore[override]  # typer brings its own click
        """Run the command."""
        try:
            return super().invoke(ctx)
        except SignoffError as error:
            typer.echo(f"signoff: {error}", err=True)
            raise typer.Exit(1) from error


app = typer.Typer(
    cls=OneLineErrors,
    name="signoff",
    help="Agents that do the work, and stop where a human must sign off.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.command()
def up(config: ConfigPath = DEFAULT_CONFIG) -> None:
    """Bring everything up; again: repair what is missing."""
    from rich.console import Console

    from cluster.up import up as bring_up

    bring_up(_load(config), Console(soft_wrap=True))


@app.command()
def down(config: ConfigPath = DEFAULT_CONFIG) -> None:
    """Stop what `up` started. The data stays."""
    from rich.console import Console

    from cluster.up import down as take_down

    take_down(_load(config), Console(soft_wrap=True))


@app.command()
def status(
    config: ConfigPath = DEFAULT_CONFIG,
    as_json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> None:
    """Show nodes, agents, models, the database and workflows. Exit code 1 if something is down."""
    from rich.console import Console

    from cluster.status import collect, show

    found = collect(_load(config))
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        show(found, Console(soft_wrap=True, highlight=False))
    if found.problems:
        raise typer.Exit(1)


@app.command()
def token(
    user: Annotated[str, typer.Option(help="Who the token is for.")],
    scopes: Annotated[str, typer.Option(help="Separated by commas, such as macro:analyst,global:reader.")],
    config: ConfigPath = DEFAULT_CONFIG,
) -> None:
    """Print a development JWT."""
    from datetime import UTC, datetime

    from cluster.tokens import mint_token

    wanted = [scope for scope in scopes.split(",") if scope]
    typer.echo(mint_token(_load(config).auth, user=user, scopes=wanted, now=datetime.now(UTC)))


@app.command(
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        # What follows NAME belongs to the pipeline, `--config` and `--help` too.
        "allow_interspersed_args": False,
    }
)
def submit(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="The pipeline: pipelines.NAME.")],
    config: Annotated[
        Path | None,
        typer.Option("--config", help="The cluster's configuration; default: the pipeline's own --config."),
    ] = None,
) -> None:
    """Run a pipeline as a Ray job and follow it. All that follows NAME is passed to it untouched."""
    from cluster.submit import submit as submit_job

    path = config or _config_among(ctx.args) or DEFAULT_CONFIG
    raise typer.Exit(submit_job(_load(path), name, ctx.args))


@app.command()
def demo(config: ConfigPath = DEFAULT_CONFIG) -> None:
    """Bring everything up, edit the sample topics, and say where to look. Exit code 1 on an error."""
    from rich.console import Console

    from cluster.demo import demo as show

    raise typer.Exit(show(_load(config), config, Console(soft_wrap=True)))


def main() -> None:
    """The console script."""
    app()


def _load(path: Path) -> "Config":
    from cluster.ray import prepare_environment
    from models.config import load

    config = load(path)
    prepare_environment(config)
    return config


def _config_among(arguments: list[str]) -> Path | None:
    """The value of the pipeline's own `--config`, if it is given."""
    for place, argument in enumerate(arguments):
        if argument.startswith("--config="):
            return Path(argument.removeprefix("--config="))
        if argument == "--config" and place + 1 < len(arguments):
            return Path(arguments[place + 1])
    return None


if __name__ == "__main__":
    main()
