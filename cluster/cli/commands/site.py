"""Commands for who runs the site: bring it up, look at it, submit to it, back it up."""

from pathlib import Path
from typing import Annotated

import typer

from cluster.cli.commands.options import DEFAULT_CONFIG, ConfigPath, config_option, site_config
from cluster.folders import ROOT
from cluster.plain_text import plain

File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup; only its owner can read it.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace what is there.")]


def up(config: ConfigPath = DEFAULT_CONFIG) -> None:
    """Bring everything up; again: repair what is missing."""
    from rich.console import Console

    from cluster.cli.typed import typed
    from cluster.up import up as bring_up

    stop = typed(["down"], config_option(config))
    bring_up(site_config(config), Console(soft_wrap=True), file=config, stop=stop)


def down(config: ConfigPath = DEFAULT_CONFIG) -> None:
    """Stop what `up` started. The data stays."""
    from rich.console import Console

    from cluster.up import down as take_down

    take_down(site_config(config), Console(soft_wrap=True))


def status(
    config: ConfigPath = DEFAULT_CONFIG,
    as_json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> None:
    """Show nodes, agents, models, the database and workflows. Exit code 1 if something is down."""
    from rich.console import Console

    from cluster.status import collect, show

    found = collect(site_config(config))
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        show(found, Console(soft_wrap=True, highlight=False))
    if found.problems:
        raise typer.Exit(1)


def token(
    user: Annotated[str, typer.Option(help="Who the token is for.")],
    scopes: Annotated[
        str | None,
        typer.Option(help="By commas, such as macro:analyst,global:reader; default: what they chose last."),
    ] = None,
    decide: Annotated[
        bool, typer.Option("--decide", help="To decide on approvals with: for a person, not an agent.")
    ] = False,
    config: ConfigPath = DEFAULT_CONFIG,
) -> None:
    """Print a development JWT, for a program unless it is to decide with."""
    from datetime import UTC, datetime

    from cluster.cli.remembered_scopes import chosen_scopes
    from cluster.cli.tokens import mint_token

    site = site_config(config)
    wanted = chosen_scopes(site.data_dir, user, scopes, default=None)
    typer.echo(mint_token(site.auth, user=user, scopes=wanted, now=datetime.now(UTC), decides=decide))


def submit(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="The pipeline: pipelines.NAME.")],
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            help="The cluster's configuration, for where it is; default: the pipeline's own --config, "
            "or configs/local.yaml here or in Signoff's folder.",
        ),
    ] = None,
) -> None:
    """Run a pipeline as a Ray job and follow it. All that follows NAME is passed to it untouched."""
    from cluster.submit import configurations
    from cluster.submit import submit as submit_job

    among = configurations(ctx.args)
    given = config or (among[-1] if among else None)
    ours = ROOT / DEFAULT_CONFIG
    elsewhere = given is None and not DEFAULT_CONFIG.exists() and ours.exists()
    file = ours if elsewhere else given or DEFAULT_CONFIG
    found = site_config(file, root=ROOT if elsewhere else None)
    raise typer.Exit(submit_job(found, name, ctx.args, config_file=file))


def demo(config: ConfigPath = DEFAULT_CONFIG) -> None:
    """Bring everything up, edit the sample topics, and say where to look. Exit code 1 on an error."""
    from rich.console import Console

    from cluster.demo import demo as show

    raise typer.Exit(show(site_config(config), config, Console(soft_wrap=True)))


def backup(file: File, config: ConfigPath = DEFAULT_CONFIG) -> None:
    """Write the database and what counts beside it into FILE; the site may be at work."""
    from cluster.ending import ending_in_order
    from cluster.postgres.backup import back_up

    with ending_in_order():
        back_up(site_config(config), file, _say)


def restore(file: File, replace: Replace = False, config: ConfigPath = DEFAULT_CONFIG) -> None:
    """Restore a backup into an empty database, check it, and say so line by line."""
    from cluster.ending import ending_in_order
    from cluster.postgres.restore import restore as put_back

    with ending_in_order():
        put_back(site_config(config), file, _say, replace=replace)


def _say(line: str) -> None:
    """A file's name may hold what is no text."""
    typer.echo(plain(line))
