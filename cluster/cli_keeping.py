"""`signoff backup` and `signoff restore`, as commands."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from models.config import Config

File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup; only its owner can read it.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace what is there.")]


def add_to(app: typer.Typer, *, load: "Callable[[Path], Config]", default_config: Path) -> None:
    """Add the two commands."""
    ConfigPath = Annotated[Path, typer.Option("--config", help="The configuration file.")]

    @app.command()
    def backup(file: File, config: ConfigPath = default_config) -> None:
        """Write the database and what counts beside it into FILE; the site may be at work."""
        from cluster.backup import back_up

        back_up(load(config), file, typer.echo)

    @app.command()
    def restore(file: File, replace: Replace = False, config: ConfigPath = default_config) -> None:
        """Restore a backup into an empty database, check it, and say so line by line."""
        from cluster.restore import restore as put_back

        put_back(load(config), file, typer.echo, replace=replace)
