"""The `signoff` command. Every SignoffError is one line on stderr and exit code 1, never a traceback.

Imports are made in the commands, so that `signoff --help` is quick and what Ray reads from the
environment is set before Ray is imported.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from cluster.plain_text import plain
from models.errors import SignoffError

if TYPE_CHECKING:
    from rich.console import Console

    from cluster.approvals import Wish
    from cluster.chat_view import View
    from cluster.inbox import Inbox
    from models.config import Config

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


class OneLineErrors(TyperGroup):
    """Prints a SignoffError of any command."""

    def invoke(self, ctx: "typer.Context") -> object:  # type: ignore[override]  # typer brings its own click
        """Run the command."""
        try:
            return super().invoke(ctx)
        except SignoffError as error:
            _complain(error)
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

    from cluster.chosen import chosen_scopes
    from cluster.tokens import mint_token

    site = _load(config)
    wanted = chosen_scopes(site.data_dir, user, scopes, default=None)
    typer.echo(mint_token(site.auth, user=user, scopes=wanted, now=datetime.now(UTC), decides=decide))


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


@app.command()
def approvals(
    every: Annotated[bool, typer.Option("--all", help="Those that are decided, too.")] = False,
    kind: Annotated[str | None, typer.Option(help="Such as publish_article.")] = None,
    topic: Annotated[str | None, typer.Option(help="Such as macro.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
    config: ConfigPath = DEFAULT_CONFIG,
    url: Url = None,
    token_file: TokenFile = None,
    user: User = None,
    scopes: Scopes = None,
) -> None:
    """List what waits for a decision that you may take, or asked for."""
    import json
    from typing import get_args

    from cluster.approval_view import table
    from models.approvals import ApprovalStatus

    with _inbox(config, url, token_file, user, scopes) as inbox:
        statuses = get_args(ApprovalStatus) if every else ("pending",)
        found = inbox.listed(statuses=statuses, kind=kind, topic=topic)
    if as_json:
        typer.echo(json.dumps([approval.model_dump(mode="json") for approval in found], indent=2))
    elif found:
        table(found, _console(), with_status=every)
    else:
        typer.echo("there are no approvals" if every else "nothing waits for a decision")


@app.command()
def approve(
    approval_id: Id,
    notes: Annotated[str | None, typer.Option(help="For whoever asked.")] = None,
    digest: Digest = None,
    yes: Yes = False,
    wait: Wait = 5.0,
    config: ConfigPath = DEFAULT_CONFIG,
    url: Url = None,
    token_file: TokenFile = None,
    user: User = None,
    scopes: Scopes = None,
) -> None:
    """Show an approval and approve exactly that. Without a terminal it takes --yes or --digest."""
    from cluster.approvals import Wish

    wish = Wish(decision="approve", notes=notes, digest=digest, yes=yes)
    with _inbox(config, url, token_file, user, scopes, decides=True) as inbox:
        _decide(inbox, approval_id, wish, wait, may_ask=token_file != "-")


@app.command()
def reject(
    approval_id: Id,
    reason: Annotated[str, typer.Option(help="What should be different, for whoever asked.")],
    digest: Digest = None,
    yes: Yes = False,
    wait: Wait = 5.0,
    config: ConfigPath = DEFAULT_CONFIG,
    url: Url = None,
    token_file: TokenFile = None,
    user: User = None,
    scopes: Scopes = None,
) -> None:
    """Show an approval and reject it. Without a terminal it takes --yes or --digest."""
    from cluster.approvals import Wish

    wish = Wish(decision="reject", notes=reason, digest=digest, yes=yes)
    with _inbox(config, url, token_file, user, scopes, decides=True) as inbox:
        _decide(inbox, approval_id, wish, wait, may_ask=token_file != "-")


@app.command()
def chat(
    message: Annotated[
        str | None,
        typer.Argument(
            metavar="MESSAGE", help="What to ask, or - for all of stdin. Without it: a conversation."
        ),
    ] = None,
    topic: Annotated[str | None, typer.Option(help="What it is about, such as macro.")] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on with a conversation of yours.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For scripts: each answer a line of JSON.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Say yes to what it asks before it does it.")] = False,
    config: ConfigPath = DEFAULT_CONFIG,
    url: Url = None,
    token_file: TokenFile = None,
    user: User = None,
    scopes: ChatScopes = None,
) -> None:
    """Talk with the assistant. Answers come on stdout, what is said about them on stderr.

    A line of stdin is a message; /help lists the commands that can be typed instead. Ctrl-C stops an answer.
    """
    import sys

    from cluster.chat import DEFAULT_SCOPES, INTERRUPTED, Chat, converse, whole_of_stdin
    from cluster.chat_view import JsonView, TerminalView
    from cluster.door import Door
    from models.errors import ConfigInvalid

    if token_file == "-" and message in (None, "-"):
        raise ConfigInvalid("--token-file -: the token takes all of stdin: write the MESSAGE as an argument")
    where, token = _caller(config, url, token_file, user, scopes, DEFAULT_SCOPES)
    view: View = JsonView() if as_json else TerminalView(in_loop=message is None)
    with Door(where, token) as door:
        talk = Chat(door, view, topic=topic, conversation_id=conversation, says_yes=yes)
        if message is None:
            at_prompt = sys.stdin.isatty() and sys.stdout.isatty()
            raise typer.Exit(converse(talk, view, at_prompt=at_prompt, complain=_complain))
        try:
            if message == "-":
                talk.say(whole_of_stdin())
            else:
                talk.take(message)
        except KeyboardInterrupt:
            view.end("stopped")
            raise typer.Exit(INTERRUPTED) from None
        except SignoffError:
            view.end()
            raise


def main() -> None:
    """The console script."""
    app()


def _complain(error: SignoffError) -> None:
    typer.echo(f"signoff: {plain(str(error))}", err=True)


def _inbox(
    path: Path,
    url: str | None,
    token_file: str | None,
    user: str | None,
    scopes: str | None,
    *,
    decides: bool = False,
) -> "Inbox":
    from cluster.inbox import DEFAULT_SCOPES, Inbox

    return Inbox(*_caller(path, url, token_file, user, scopes, DEFAULT_SCOPES, decides=decides))


def _caller(
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
    from cluster.apps import base_url
    from cluster.inbox import development_token, read_token
    from models.config import load
    from models.errors import ConfigInvalid

    if token_file is None:
        config = load(path)
        token = development_token(config, user, scopes, default=default, decides=decides)
        return base_url(config) if url is None else url, token
    if user is not None or scopes is not None:
        raise ConfigInvalid("--token-file says who you are: leave out --user and --scopes")
    return base_url(load(path)) if url is None else url, read_token(token_file)


def _decide(inbox: "Inbox", approval_id: str, wish: "Wish", wait: float, *, may_ask: bool) -> None:
    """Exit code 1 if the person says no."""
    import sys

    from cluster.approvals import decide

    asks = may_ask and sys.stdin.isatty() and sys.stdout.isatty()
    ask = typer.confirm if asks else None
    if not decide(inbox, approval_id, wish, console=_console(), ask=ask, wait_seconds=wait):
        raise typer.Exit(1)


def _console() -> "Console":
    import sys

    from rich.console import Console

    # Whatever is printed here is text, whoever wrote it.
    width = None if sys.stdout.isatty() else 160
    return Console(width=width, markup=False, emoji=False, highlight=False)


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
