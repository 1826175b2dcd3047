"""What commands have in common: their options, who calls, and where their answers go."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cluster.plain_text import plain

if TYPE_CHECKING:
    from rich.console import Console

    from models.config import Config
    from models.errors import SignoffError

DEFAULT_CONFIG = Path("configs/local.yaml")
ConfigPath = Annotated[Path, typer.Option("--config", help="The configuration file.")]
Url = Annotated[
    str | None,
    typer.Option("--url", help="Where Signoff answers; default: the configuration's http.host and port."),
]
TokenFile = Annotated[
    str | None,
    typer.Option(
        "--token-file",
        help="A file with your token (JWT), or - for stdin. The token itself is never an argument: "
        "it would show in the list of processes.",
    ),
]
User = Annotated[
    str | None,
    typer.Option(
        "--user", help="Without --token-file: who you are, for a development token; your login name."
    ),
]
Scopes = Annotated[
    str | None,
    typer.Option(
        "--scopes", help="Of that token, by commas; default: what you chose last, or global:editor."
    ),
]
ChatScopes = Annotated[
    str | None,
    typer.Option(
        "--scopes", help="Of that token, by commas; default: what you chose last, or global:analyst."
    ),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="The approval, as `signoff approvals` lists it.")]
Digest = Annotated[
    str | None,
    typer.Option("--digest", help="Decide only on what has this digest; its first 12 characters will do."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask; what is decided on is shown all the same.")]
Wait = Annotated[
    float, typer.Option("--wait", min=0, help="Seconds to wait for what comes of it, such as publication.")
]


def caller(
    path: Path,
    url: str | None,
    token_file: str | None,
    user: str | None,
    scopes: str | None,
    default: str,
    *,
    decides: bool = False,
) -> tuple[str, str]:
    """Where, and with which token. With --url and --token-file no configuration is needed."""
    from actors.platform.systems import load
    from cluster.cli.inbox import development_token, read_token
    from cluster.parts.apps import base_url
    from models.errors import ConfigInvalid

    if token_file is None:
        config = load(path)
        token = development_token(config, user, scopes, default=default, decides=decides)
        return base_url(config) if url is None else url, token
    if user is not None or scopes is not None:
        raise ConfigInvalid("--token-file says who you are: leave out --user and --scopes")
    return base_url(load(path)) if url is None else url, read_token(token_file)


def given_options(
    path: Path, url: str | None, token_file: str | None, user: str | None, scopes: str | None
) -> tuple[str, ...]:
    """The options with which the person called, for commands that they are told to type next."""
    from cluster.cli.typed import as_options

    return as_options(
        {
            "--config": None if path == DEFAULT_CONFIG else path,
            "--url": url,
            "--token-file": token_file,
            "--user": user,
            "--scopes": scopes,
        }
    )


def console() -> "Console":
    """For records, whose words are text whoever wrote them."""
    import sys

    from rich.console import Console

    width = None if sys.stdout.isatty() else 160
    return Console(width=width, markup=False, emoji=False, highlight=False)


def site_config(path: Path, root: Path | None = None) -> "Config":
    """The configuration, and what Ray reads from the environment set by it."""
    from actors.platform.systems import load
    from cluster.ray import prepare_environment

    config = load(path, root=root)
    prepare_environment(config)
    return config


def complain(error: "SignoffError") -> None:
    """Say on stderr what went wrong, in one line."""
    typer.echo(f"signoff: {plain(str(error))}", err=True)
