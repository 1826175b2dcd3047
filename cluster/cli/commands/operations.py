"""`signoff operations`: agents read systems and people sign off: begun, followed, decided on and read."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cluster.cli.commands.options import (
    ANALYST,
    Client,
    Digest,
    by_a_person,
    console,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cluster.cli.operations.following import Operations

app = typer.Typer(
    name="operations",
    help="Agents read mail, bills and customers by a plan that you approve, and so are their results.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
OperationArgument = Annotated[
    int, typer.Argument(metavar="ID", min=1, help="The operation: `signoff operations list`.")
]
AsJson = Annotated[bool, typer.Option("--json", help="For scripts: as the site tells it.")]


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
    request_id: Annotated[
        str | None, typer.Option(help="The same again is the same operation, never a second one.")
    ] = None,
    follow_it: Annotated[bool, typer.Option("--follow/--no-follow", help="Follow it.")] = True,
) -> None:
    """Begin an operation, and follow it."""
    import uuid

    from cluster.cli.printing import command_line, row
    from cluster.cli.records import checked
    from models.operations.operations import OperationRequest

    given = {
        "query": question,
        "topic": topic,
        "task_type": task_type,
        "request_id": request_id or uuid.uuid4().hex,
    }
    request = checked(OperationRequest, {name: value for name, value in given.items() if value is not None})
    with _operations(client, decides=True) as operations:
        begun = operations.start(request)
        row(console(), "operation", f"{begun.operation_id}: {begun.message}")
        if follow_it:
            _follow(operations, begun.operation_id, may_ask=client.may_ask)
        command_line(console(), "follow it", operations.command("follow", begun.operation_id))


@app.command()
@by_a_person(ANALYST)
def follow(
    client: Client,
    operation_id: OperationArgument,
) -> None:
    """Show how far one is until it ends, and what waits for you. Without a terminal nobody is asked.

    Exit code 0: done; 1: failed; 3: it waits for a person; 4: it ended without results; 130: Ctrl-C.
    """
    with _operations(client, decides=True) as operations:
        _follow(operations, operation_id, may_ask=client.may_ask)


@app.command()
@by_a_person(ANALYST)
def decide(
    client: Client,
    operation_id: OperationArgument,
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
    from cluster.cli.asking import asker
    from cluster.cli.operations.answers import Wish
    from cluster.cli.operations.gates import decide_wished

    wish = Wish(answer, feedback=feedback, again=agents, given=given or ())
    ask = asker(may_ask=client.may_ask)
    with _operations(client, decides=True) as operations:
        shown, changes = console(), change or ()
        if not decide_wished(operations, operation_id, wish, shown, changes=changes, digest=digest, ask=ask):
            raise typer.Exit(1)


@app.command("list")
@by_a_person(ANALYST)
def list_(
    client: Client,
    status: Annotated[str | None, typer.Option(help="Such as completed, or 'awaiting approval'.")] = None,
    mine: Annotated[bool, typer.Option("--mine", help="Only those that you asked for.")] = False,
    before: Annotated[int | None, typer.Option(metavar="ID", help="Older than this one.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, max=100, help="How many at most.")] = None,
    as_json: AsJson = False,
) -> None:
    """List operations, the newest first."""
    from cluster.cli.operations.view import table
    from cluster.cli.printing import command_line, print_json
    from cluster.cli.records import read
    from cluster.cli.typed import as_options
    from models.operations.following import OperationList

    wanted = None if status is None else status.replace(" ", "_")
    with _operations(client) as operations:
        told = operations.told("", status=wanted, mine=mine or None, before=before, limit=limit)
        if as_json:
            print_json(told)
            return
        found = read(OperationList, told)
        table(found, console())
        if found.next_before is not None:
            only = ("--mine",) if mine else ()
            older = as_options({"--status": status, "--limit": limit, "--before": found.next_before})
            command_line(console(), "older ones", operations.command("list", *only, *older))


@app.command()
@by_a_person(ANALYST)
def show(
    client: Client,
    operation_id: OperationArgument,
    as_json: AsJson = False,
) -> None:
    """Show where one stands, and all of what waits for a decision."""
    from cluster.cli.operations.gate_view import show_operation_gate
    from cluster.cli.operations.view import show_status
    from cluster.cli.printing import print_json
    from cluster.cli.records import read
    from models.operations.operations import OperationStatusResponse

    with _operations(client) as operations:
        told = operations.told(f"/{operation_id}")
    if as_json:
        print_json(told)
        return
    found = read(OperationStatusResponse, told)
    show_status(found, console())
    if found.approval is not None:
        show_operation_gate(found.approval, console())


@app.command()
@by_a_person(ANALYST)
def results(
    client: Client,
    operation_id: OperationArgument,
    iteration: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Default: the last that came to any.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what its agents found, what belongs together, what contradicts, and what is said of it."""
    from cluster.cli.operations.results_view import show_iteration
    from cluster.cli.printing import print_json
    from cluster.cli.records import read
    from models.operations.following import IterationResults

    with _operations(client) as operations:
        told = operations.told(f"/{operation_id}/results", iteration=iteration)
    if as_json:
        print_json(told)
        return
    show_iteration(read(IterationResults, told), console())


@app.command()
@by_a_person(ANALYST)
def history(
    client: Client,
    operation_id: OperationArgument,
    as_json: AsJson = False,
) -> None:
    """Show all that happened in one: plans, decisions and whose they are, and what each agent did."""
    from cluster.cli.operations.view import show_history
    from cluster.cli.printing import print_json
    from cluster.cli.records import read
    from models.operations.history import ExecutionContext

    with _operations(client) as operations:
        told = operations.told(f"/{operation_id}/history")
    if as_json:
        print_json(told)
        return
    show_history(read(ExecutionContext, told), console())


@app.command()
@by_a_person(ANALYST)
def compare(
    client: Client,
    operation_id: OperationArgument,
    left: Annotated[int, typer.Argument(metavar="LEFT", min=1, help="An iteration.")],
    right: Annotated[int, typer.Argument(metavar="RIGHT", min=1, help="The one that is told about.")],
    as_json: AsJson = False,
) -> None:
    """Show what is otherwise in one iteration than in another."""
    from cluster.cli.operations.results_view import show_comparison
    from cluster.cli.printing import print_json
    from cluster.cli.records import read
    from models.operations.following import IterationComparison

    with _operations(client) as operations:
        told = operations.told(f"/{operation_id}/compare", left=left, right=right)
    if as_json:
        print_json(told)
        return
    show_comparison(read(IterationComparison, told), console())


@app.command()
@by_a_person(ANALYST)
def export(
    client: Client,
    operation_id: OperationArgument,
    form: Annotated[str, typer.Option("--format", help="json, markdown, csv or pdf.")],
    output: Annotated[Path, typer.Option(metavar="FILE", help="Where it is written.")],
    force: Annotated[bool, typer.Option("--force", help="In place of a file that is there.")] = False,
) -> None:
    """Write the results that were approved to a file."""
    from typing import get_args

    from cluster.cli.printing import row
    from cluster.cli.saving import check_free, save
    from models.errors import InputInvalid
    from models.near_names import suggestion
    from models.operations.exports import ExportFormat

    forms: tuple[ExportFormat, ...] = get_args(ExportFormat)
    wanted = next((one for one in forms if one == form), None)
    if wanted is None:
        raise InputInvalid(f"--format: there is no {form!r}: {suggestion(form, forms)}")
    # Before anything is asked for: what is there is kept.
    check_free(output, replace=force)
    with _operations(client) as operations:
        content = operations.exported(operation_id, wanted)
    save(output, content, replace=force)
    row(console(), "written", f"{output}, {len(content)} bytes")


@app.command()
@by_a_person(ANALYST)
def cancel(
    client: Client,
    operation_id: OperationArgument,
    reason: Annotated[str | None, typer.Option(help="Why; it is kept with the operation.")] = None,
) -> None:
    """Cancel one for good; its history stays."""
    from cluster.cli.printing import row

    with _operations(client) as operations:
        row(console(), "operation", f"{operation_id}: {operations.cancel(operation_id, reason)}")


@contextmanager
def _operations(client: Client, *, decides: bool = False) -> "Iterator[Operations]":
    from cluster.cli.operations.following import Operations

    with client.door(decides=decides) as door:
        yield Operations(door, client.options)


def _follow(operations: "Operations", operation_id: int, *, may_ask: bool) -> None:
    """Exits with what following it ends with."""
    from cluster.cli.asking import asker
    from cluster.cli.chat import INTERRUPTED
    from cluster.cli.following import Following
    from cluster.cli.operations.following import FollowedOperation
    from cluster.cli.operations.gates import operation_settling
    from cluster.cli.printing import command_line, row

    shown, ask = console(), asker(may_ask=may_ask)
    followed = FollowedOperation(operations, operation_id, shown)
    settle = None if ask is None else operation_settling(operations, operation_id, shown, ask).settle
    try:
        code = Following(followed, shown, settle=settle, waits=followed.waits).run()
    except KeyboardInterrupt:
        row(shown, "", "what you did not confirm is not decided")
        command_line(shown, "follow it", operations.command("follow", operation_id))
        code = INTERRUPTED
    raise typer.Exit(code)
