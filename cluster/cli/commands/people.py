"""Commands for who works with the site, over its HTTP door: decide, chat, look after workflows."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cluster.cli.commands.options import (
    ANALYST,
    EDITOR,
    Client,
    Digest,
    Id,
    Wait,
    Yes,
    by_a_person,
    complain,
    console,
)
from models.errors import SignoffError

if TYPE_CHECKING:
    from cluster.cli.chat_view import View


@by_a_person(EDITOR)
def approvals(
    client: Client,
    every: Annotated[bool, typer.Option("--all", help="Those that are decided, too.")] = False,
    kind: Annotated[str | None, typer.Option(help="Such as publish_article.")] = None,
    topic: Annotated[str | None, typer.Option(help="Such as macro.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> None:
    """List what waits for a decision that you may take, or asked for."""
    import json
    from typing import get_args

    from cluster.cli.approval_view import table
    from cluster.cli.inbox import Inbox
    from models.runtime.approvals import ApprovalStatus

    with Inbox(client.door()) as inbox:
        statuses = get_args(ApprovalStatus) if every else ("pending",)
        found = inbox.listed(statuses=statuses, kind=kind, topic=topic)
    if as_json:
        typer.echo(json.dumps([approval.model_dump(mode="json") for approval in found], indent=2))
    elif found:
        table(found, console(), with_status=every)
    else:
        typer.echo("there are no approvals" if every else "nothing waits for a decision")


@by_a_person(EDITOR)
def approve(
    client: Client,
    approval_id: Id,
    notes: Annotated[str | None, typer.Option(help="For whoever asked.")] = None,
    digest: Digest = None,
    yes: Yes = False,
    wait: Wait = 5.0,
) -> None:
    """Show an approval and approve exactly that. Without a terminal it takes --yes or --digest."""
    _decide(client, approval_id, "approve", notes, digest, yes=yes, wait=wait)


@by_a_person(EDITOR)
def reject(
    client: Client,
    approval_id: Id,
    reason: Annotated[str, typer.Option(help="What should be different, for whoever asked.")],
    digest: Digest = None,
    yes: Yes = False,
    wait: Wait = 5.0,
) -> None:
    """Show an approval and reject it. Without a terminal it takes --yes or --digest."""
    _decide(client, approval_id, "reject", reason, digest, yes=yes, wait=wait)


@by_a_person(ANALYST)
def chat(
    client: Client,
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
    answers: Annotated[
        int | None, typer.Option(metavar="ID", help="The question of that conversation that this answers.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For scripts: each answer a line of JSON.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Say yes to what it asks before it does it.")] = False,
) -> None:
    """Talk with the assistant. Answers come on stdout, what is said about them on stderr.

    A line of stdin is a message; /help lists the commands that can be typed instead. Ctrl-C stops an answer.
    """
    import sys

    from cluster.cli.chat import INTERRUPTED, Chat, converse, whole_of_stdin
    from cluster.cli.chat_view import JsonView, TerminalView
    from models.errors import ConfigInvalid

    if not client.may_ask and message in (None, "-"):
        raise ConfigInvalid("--token-file -: the token takes all of stdin: write the MESSAGE as an argument")
    view: View = JsonView() if as_json else TerminalView(in_loop=message is None)
    with client.door() as door:
        talk = Chat(door, view, topic=topic, conversation_id=conversation, answers=answers, says_yes=yes)
        if message is None:
            at_prompt = sys.stdin.isatty() and sys.stdout.isatty()
            raise typer.Exit(converse(talk, view, at_prompt=at_prompt, complain=complain))
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
    raise typer.Exit(int(talk.failed))


@by_a_person(EDITOR)
def workflows(
    client: Client,
    verb: Annotated[str, typer.Argument(metavar="[retry|cancel]", help="What to do; nothing: list.")] = "",
    workflow_id: Annotated[str, typer.Argument(metavar="ID", help="The workflow.")] = "",
    reason: Annotated[str, typer.Option(help="Why it is stopped.")] = "stopped from the command line",
    status: Annotated[
        list[str] | None, typer.Option(help="List those of this status, such as parked; may be repeated.")
    ] = None,
    before: Annotated[
        str | None, typer.Option(metavar="ID", help="List those that are older than this one.")
    ] = None,
) -> None:
    """List workflows, begin a failed one again from its last step (retry), or stop one (cancel)."""
    from cluster.cli.workflows import run

    with client.door() as door:
        listed = status or ()
        run(door, verb, workflow_id, reason=reason, console=console(), statuses=listed, before=before)


def _decide(
    client: Client,
    approval_id: str,
    decision: Literal["approve", "reject"],
    notes: str | None,
    digest: str | None,
    *,
    yes: bool,
    wait: float,
) -> None:
    """Exit code 1 if the person says no."""
    import sys

    from cluster.cli.approvals import GivenDecision, decide
    from cluster.cli.inbox import Inbox

    wish = GivenDecision(decision=decision, notes=notes, digest=digest, yes=yes)
    ask = typer.confirm if client.may_ask and sys.stdin.isatty() and sys.stdout.isatty() else None
    with Inbox(client.door(decides=True)) as inbox:
        if not decide(inbox, approval_id, wish, console=console(), ask=ask, wait_seconds=wait):
            raise typer.Exit(1)
