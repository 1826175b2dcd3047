"""What commands have in common: their options, who calls, and where their answers go."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cluster.plain_text import plain

if TYPE_CHECKING:
    from rich.console import Console

    from cluster.cli.door import Door
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
# What development tokens hold unless `--scopes` says otherwise: to decide, and to ask the assistant for all
# that it can do. Publishing takes another person all the same.
EDITOR, ANALYST = "global:editor", "global:analyst"
Id = Annotated[str, typer.Argument(metavar="ID", help="The approval, as `signoff approvals` lists it.")]
Digest = Annotated[
    str | None,
    typer.Option("--digest", help="Decide only on what has this digest; its first 12 characters will do."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask; what is decided on is shown all the same.")]
Wait = Annotated[
    float, typer.Option("--wait", min=0, help="Seconds to wait for what comes of it, such as publication.")
]


@dataclass(frozen=True)
class Client:
    """Who calls, and where the site is. With `url` and `token_file` no configuration is needed.

    `default` are the scopes of a development token of whoever has chosen none.
    """

    config: Path
    url: str | None
    token_file: str | None
    user: str | None
    scopes: str | None
    default: str

    @property
    def may_ask(self) -> bool:
        """Whether stdin is the person's: a token may come from there instead."""
        return self.token_file != "-"

    @property
    def options(self) -> tuple[str, ...]:
        """The options with which the person called, for commands that they are told to type next."""
        from cluster.cli.typed import as_options

        given = {"--url": self.url, "--token-file": self.token_file}
        given |= {"--user": self.user, "--scopes": self.scopes}
        return (*config_option(self.config), *as_options(given))

    def door(self, *, decides: bool = False) -> "Door":
        """The site, for this person; `decides`: with a token that approvals are decided on with."""
        from actors.platform.systems import load
        from cluster.cli.door import Door
        from cluster.cli.inbox import development_token, read_token
        from cluster.cli.typed import typed
        from cluster.parts.apps import base_url
        from models.errors import ConfigInvalid

        if self.token_file is None:
            config = load(self.config)
            token = development_token(config, self.user, self.scopes, default=self.default, decides=decides)
            url = base_url(config) if self.url is None else self.url
        elif self.user is not None or self.scopes is not None:
            raise ConfigInvalid("--token-file says who you are: leave out --user and --scopes")
        else:
            url = base_url(load(self.config)) if self.url is None else self.url
            token = read_token(self.token_file)
        return Door(url, token, up=typed(["up"], config_option(self.config)))


def by_a_person(default: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a Client, in place of its first parameter."""
    chosen = typer.Option(
        "--scopes", help=f"Of that token, by commas; default: what you chose last, or {default}."
    )
    options: dict[str, Any] = {
        "config": (ConfigPath, DEFAULT_CONFIG),
        "url": (Url, None),
        "token_file": (TokenFile, None),
        "user": (User, None),
        "scopes": (Annotated[str | None, chosen], None),
    }

    def with_options(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            who = {name: given.pop(name) for name in options}
            command(Client(**who, default=default), **given)

        [_, *own] = inspect.signature(command).parameters.values()
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=form, default=otherwise)
            for name, (form, otherwise) in options.items()
        ]
        run.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
        return run

    return with_options


def config_option(path: Path) -> tuple[str, ...]:
    """How the configuration is named in commands that are told; the default one is not."""
    return () if path == DEFAULT_CONFIG else ("--config", str(path))


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
