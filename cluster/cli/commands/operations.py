"""`signoff operations`: agents read systems and people sign off: begun, followed, decided on and read."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cluster.cli.commands.gated import (
    AsJson,
    Before,
    FollowIt,
    Limit,
    RequestId,
    Room,
    Status,
    gated_app,
    number_of,
)
from cluster.cli.commands.options import ANALYST, Client, Digest, by_a_person, console

if TYPE_CHECKING:
    from pydantic import BaseModel

    from cluster.cli.operations.answers import AtOperationGate

ROOM = Room(
    name="operations",
    noun="operation",
    path="/api/operations",
    kind="cluster.cli.operations.kind:OPERATIONS",
    stop="cancel",
    stop_help="Cancel one for good; its history stays.",
    result="results",
)
_MEDIA_TYPES = {
    "json": "application/json",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "pdf": "application/pdf",
}
Number = Annotated[int, number_of(ROOM)]
app = gated_app(
    ROOM, "Agents read mail, bills and customers by a plan that you approve, and so are their results."
)


@app.command()
@by_a_person(ANALYST)
def start(
    client: Client,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")],
    topic: Annotated[str, typer.Option(help="Such as macro: its analysts see it.")],
    task_type: Annotated[
        str | None,
        typer.Option("--type", help="Which gates stand, as the site names it; default: comprehensive."),
    ] = None,
    request_id: RequestId = None,
    follow_it: FollowIt = True,
) -> None:
    """Begin an operation, and follow it."""
    from models.operations.operations import OperationBegun, OperationRequest

    def told(begun: OperationBegun) -> tuple[int, str]:
        return begun.operation_id, f"{begun.operation_id}: {begun.message}"

    given = {"query": question, "topic": topic, "task_type": task_type, "request_id": request_id}
    ROOM.begin(client, OperationBegun, OperationRequest, given, told, follow=follow_it)


@app.command()
@by_a_person(ANALYST)
def decide(
    client: Client,
    number: Number,
    answer: Annotated[
        str,
        typer.Argument(
            metavar="ANSWER",
            help="To a plan approve or reject; to results approve or revise; about an agent retry, skip, "
            "answer, decline, accept or revise.",
        ),
    ],
    digest: Digest = None,
    feedback: Annotated[
        str | None, typer.Option(help="Why, and what to do otherwise; reject and revise need it.")
    ] = None,
    agents: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT,...",
            help="With revise, of results: gmail,crm have these read again; analysis has what was found "
            "compared again; full has another plan made.",
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="With answer: what its server asks for; may be repeated."),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORDS",
            help="With approve, of a plan: 'skip crm', 'order accounts_payable gmail analysis', "
            "'tell gmail look at June', 'side-by-side on'; may be repeated, in order.",
        ),
    ] = None,
) -> None:
    """Show what waits, and decide on exactly that. Without a terminal it takes --digest."""
    from cluster.cli.gated.kind import Wish
    from cluster.cli.operations.answers import check_wish, with_changes

    wish, changes = Wish(answer, feedback=feedback, again=agents, given=given or ()), change or ()

    def check(at: "AtOperationGate") -> None:
        check_wish(at, wish, changes)

    def reply(at: "AtOperationGate") -> "tuple[BaseModel, str]":
        edit = at.nothing
        if changes:
            edit = with_changes(at, changes)
            at.show_changed(edit, console())
        made = at.reply(wish, edit)
        at.explain(made, console())
        return made, at.question(wish, changed=bool(changes))

    with ROOM.deciding(client, number) as deciding:
        if not deciding.decide(reply, digest=digest, check=check):
            raise typer.Exit(1)


@app.command("list")
@by_a_person(ANALYST)
def list_(
    client: Client,
    status: Status = None,
    mine: Annotated[bool, typer.Option("--mine", help="Only those that you asked for.")] = False,
    before: Before = None,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """List operations, the newest first."""
    from cluster.cli.operations.view import table
    from models.operations.following import OperationList

    narrowed = {"mine": mine or None, "status": status, "limit": limit}
    ROOM.listed(client, OperationList, table, as_json=as_json, before=before, **narrowed)


@app.command()
@by_a_person(ANALYST)
def results(
    client: Client,
    number: Number,
    iteration: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Default: the last that came to any.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what its agents found, what belongs together, what contradicts, and what is said of it."""
    from cluster.cli.operations.results_view import show_iteration
    from models.operations.following import IterationResults

    path = f"/{number}/results"
    ROOM.present(client, IterationResults, show_iteration, path, as_json=as_json, iteration=iteration)


@app.command()
@by_a_person(ANALYST)
def history(client: Client, number: Number, as_json: AsJson = False) -> None:
    """Show all that happened in one: plans, decisions and whose they are, and what each agent did."""
    from cluster.cli.operations.view import show_history
    from models.operations.history import ExecutionContext

    ROOM.present(client, ExecutionContext, show_history, f"/{number}/history", as_json=as_json)


@app.command()
@by_a_person(ANALYST)
def compare(
    client: Client,
    number: Number,
    left: Annotated[int, typer.Argument(metavar="LEFT", min=1, help="An iteration.")],
    right: Annotated[int, typer.Argument(metavar="RIGHT", min=1, help="The one that is told about.")],
    as_json: AsJson = False,
) -> None:
    """Show what is otherwise in one iteration than in another."""
    from cluster.cli.operations.results_view import show_comparison
    from models.operations.following import IterationComparison

    path, both = f"/{number}/compare", {"left": left, "right": right}
    ROOM.present(client, IterationComparison, show_comparison, path, as_json=as_json, **both)


@app.command()
@by_a_person(ANALYST)
def export(
    client: Client,
    number: Number,
    form: Annotated[str, typer.Option("--format", help="json, markdown, csv or pdf.")],
    output: Annotated[Path, typer.Option(metavar="FILE", help="Where it is written.")],
    force: Annotated[bool, typer.Option("--force", help="In place of a file that is there.")] = False,
) -> None:
    """Write the results that were approved to a file."""
    from cluster.cli.printing import row
    from cluster.cli.saving import check_free, save
    from models.errors import InputInvalid
    from models.near_names import suggestion

    if form not in _MEDIA_TYPES:
        raise InputInvalid(f"--format: there is no {form!r}: {suggestion(form, tuple(_MEDIA_TYPES))}")
    # Before anything is asked for: what is there is kept.
    check_free(output, replace=force)
    with ROOM.work(client) as work:
        content = work.file(f"/{number}/export", media_type=_MEDIA_TYPES[form], format=form)
    save(output, content, replace=force)
    row(console(), "written", f"{output}, {len(content)} bytes")
