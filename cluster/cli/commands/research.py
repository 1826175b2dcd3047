"""`signoff research`: deep research is begun, followed, decided on, read and stopped, over the HTTP door."""

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

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

    from cluster.cli.research.following import Researches

app = typer.Typer(
    name="research",
    help="Deep research: pages are found, you say which are read, and what they say is put together.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
Number = Annotated[int, typer.Argument(metavar="ID", min=1, help="The research: `signoff research list`.")]
AsJson = Annotated[bool, typer.Option("--json", help="For scripts: as the site tells it.")]


@app.command()
@by_a_person(ANALYST)
def start(
    client: Client,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is to be found out.")],
    topic: Annotated[
        str | None,
        typer.Option(
            help="Such as macro. Without --project it is for the project there that is named after it."
        ),
    ] = None,
    project: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The project that it is for, by its number: what this project has read before is used, "
            "and what is found is kept there. `signoff research list` shows the numbers.",
        ),
    ] = None,
    task_type: Annotated[
        str | None, typer.Option(help="research, scrape, analyze or full_pipeline; default: as it reads.")
    ] = None,
    page: Annotated[
        list[str] | None, typer.Option(metavar="URL", help="An address of your own; may be repeated.")
    ] = None,
    max_urls: Annotated[int | None, typer.Option(help="How many pages at most, up to 200.")] = None,
    language: Annotated[str | None, typer.Option(help="Such as en, or any.")] = None,
    date_range: Annotated[str | None, typer.Option(help="day, week, month, year or any.")] = None,
    no_approval: Annotated[bool, typer.Option("--no-approval", help="Ask nobody which are read.")] = False,
    request_id: Annotated[
        str | None, typer.Option(help="The same again is the same research, never a second one.")
    ] = None,
    follow_it: Annotated[bool, typer.Option("--follow/--no-follow", help="Follow it.")] = True,
) -> None:
    """Begin a research, and follow it."""
    import uuid

    from cluster.cli.printing import command_line, row
    from cluster.cli.records import checked
    from cluster.cli.research.view import estimate
    from models.research.agent_workflows import StartRequest

    options = {
        "max_urls": max_urls,
        "language": language,
        "date_range": date_range,
        "require_approval": False if no_approval else None,
    }
    given = {
        "user_query": question,
        "topic": topic,
        "project_id": project,
        "task_type": task_type,
        "urls": page or None,
        "config": {name: value for name, value in options.items() if value is not None} or None,
        "request_id": request_id or uuid.uuid4().hex,
    }
    request = checked(StartRequest, {name: value for name, value in given.items() if value is not None})
    with _researches(client, decides=True) as researches:
        begun = researches.start(request)
        row(
            console(),
            "research",
            f"{begun.workflow_id} in project {begun.project_id}: {begun.message} {estimate(begun)}",
        )
        if follow_it:
            _follow(researches, begun.workflow_id, may_ask=client.may_ask)
        command_line(console(), "follow it", researches.command("follow", begun.workflow_id))


@app.command()
@by_a_person(ANALYST)
def follow(
    client: Client,
    research_id: Number,
) -> None:
    """Show how far one is until it ends, and what waits for you. Without a terminal nobody is asked.

    Exit code 0: done; 1: failed; 3: it waits for a person; 4: it ended without a result; 130: Ctrl-C.
    """
    with _researches(client, decides=True) as researches:
        _follow(researches, research_id, may_ask=client.may_ask)


@app.command()
@by_a_person(ANALYST)
def decide(
    client: Client,
    research_id: Number,
    decision: Annotated[str, typer.Argument(metavar="approve|reject|modify", help="Your answer.")],
    digest: Digest = None,
    remove: Annotated[
        list[int] | None, typer.Option(metavar="NUMBER", help="Do not read this page; may be repeated.")
    ] = None,
    add: Annotated[
        list[str] | None, typer.Option(metavar="URL", help="Read this page, too; may be repeated.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Such as language=en.")
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORDS",
            help="Any change, in the words that `follow` takes: 'rename n1 Mills', 'merge n1 n2', "
            "'move n3 top', 'drop n4', 'url 3 https://…', 'paste 4 page.txt', 'title 4 The mill'; "
            "may be repeated, in order.",
        ),
    ] = None,
    notes: Annotated[str | None, typer.Option(help="Why; a rejection needs it.")] = None,
) -> None:
    """Show what waits, and decide on exactly that. Without a terminal it takes --digest."""
    from cluster.cli.asking import asker
    from cluster.cli.records import checked
    from cluster.cli.research.changes import settings
    from cluster.cli.research.gates import decide_given
    from models.research.gate_decisions import ApproveRequest

    changes: dict[str, Any] = {
        "remove_urls": remove or (),
        "add_urls": add or (),
        "modify_config": settings(set_ or ()),
    }
    given = {
        "decision": decision,
        "notes": notes,
        "modifications": changes if any(changes.values()) else None,
    }
    answer = checked(ApproveRequest, {name: value for name, value in given.items() if value is not None})
    ask = asker(may_ask=client.may_ask)
    with _researches(client, decides=True) as researches:
        shown = console()
        if not decide_given(
            researches, research_id, answer, shown, more=change or (), digest=digest, ask=ask
        ):
            raise typer.Exit(1)


@app.command("list")
@by_a_person(ANALYST)
def list_(
    client: Client,
    status: Annotated[str | None, typer.Option(help="Such as completed, or 'awaiting approval'.")] = None,
    project: Annotated[int | None, typer.Option(min=1, help="Of this project.")] = None,
    before: Annotated[int | None, typer.Option(metavar="ID", help="Older than this one.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, max=100, help="How many at most.")] = None,
    as_json: AsJson = False,
) -> None:
    """List researches, the newest first."""
    from cluster.cli.printing import command_line, print_json
    from cluster.cli.records import read
    from cluster.cli.research.view import table
    from cluster.cli.typed import as_options
    from models.research.following import ResearchList

    wanted = None if status is None else status.replace(" ", "_")
    with _researches(client) as researches:
        told = researches.told("", status=wanted, project_id=project, before=before, limit=limit)
        if as_json:
            print_json(told)
            return
        found = read(ResearchList, told)
        table(found, console())
        if found.next_before is not None:
            narrowed = {"--status": status, "--project": project, "--limit": limit}
            older = as_options({**narrowed, "--before": found.next_before})
            command_line(console(), "older ones", researches.command("list", *older))


@app.command()
@by_a_person(ANALYST)
def show(
    client: Client,
    research_id: Number,
    as_json: AsJson = False,
) -> None:
    """Show where one stands, and all of what waits for a decision."""
    from cluster.cli.printing import print_json
    from cluster.cli.records import read
    from cluster.cli.research.gate_view import show_gate
    from cluster.cli.research.view import show_status
    from models.research.agent_workflows import ResearchStatusResponse

    with _researches(client) as researches:
        told = researches.told(f"/{research_id}")
    if as_json:
        print_json(told)
        return
    found = read(ResearchStatusResponse, told)
    show_status(found, console())
    if found.approval is not None:
        show_gate(found.approval, console())


@app.command()
@by_a_person(ANALYST)
def result(
    client: Client,
    research_id: Number,
    as_json: AsJson = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="The sentences and their sources.")] = False,
) -> None:
    """Show what one has come to so far."""
    from cluster.cli.printing import print_json
    from cluster.cli.records import read
    from cluster.cli.research.view import markdown, show_results
    from models.errors import InputInvalid
    from models.research.following import ResearchLineage, ResearchResults

    if as_json and as_markdown:
        raise InputInvalid("--json and --markdown: give one of them")
    with _researches(client) as researches:
        told = researches.told(f"/{research_id}/results")
        if as_json:
            print_json(told)
        elif as_markdown:
            way_back = read(ResearchLineage, researches.told(f"/{research_id}/lineage"))
            name = researches.status(research_id).name
            typer.echo(markdown(name, read(ResearchResults, told), way_back), nl=False)
        else:
            show_results(read(ResearchResults, told), console())


@app.command()
@by_a_person(ANALYST)
def lineage(
    client: Client,
    research_id: Number,
    sentence: Annotated[int | None, typer.Option(metavar="N", min=1, help="Of this sentence alone.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the way back: from sentences to exact words, documents, and whoever let these in."""
    from cluster.cli.printing import print_json
    from cluster.cli.records import read
    from cluster.cli.research.view import show_lineage
    from models.errors import InputInvalid
    from models.research.following import ResearchLineage

    with _researches(client) as researches:
        told = researches.told(f"/{research_id}/lineage")
    found = read(ResearchLineage, told)
    if sentence is not None:
        chosen = tuple(one for one in found.sentences if one.number == sentence)
        if not chosen:
            raise InputInvalid(f"--sentence {sentence}: research {research_id} has no such sentence")
        found = found.model_copy(update={"sentences": chosen})
    if as_json:
        print_json(told if sentence is None else found.model_dump(mode="json"))
    else:
        show_lineage(found, console())


@app.command()
@by_a_person(ANALYST)
def points(
    client: Client,
    research_id: Number,
    after: Annotated[int, typer.Option(metavar="ID", min=0, help="Only those after this one.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Show what it rests on, 100 points at once: exact words, documents, and whoever let these in."""
    from cluster.cli.printing import command_line, print_json
    from cluster.cli.records import read
    from cluster.cli.research.view import show_points
    from models.research.following import ResearchPoints

    with _researches(client) as researches:
        told = researches.told(f"/{research_id}/points", after=after)
        if as_json:
            print_json(told)
            return
        found = read(ResearchPoints, told)
        show_points(found, console())
        if found.next_after is not None:
            more = researches.command("points", research_id, "--after", found.next_after)
            command_line(console(), "more", more)


@app.command()
@by_a_person(ANALYST)
def stop(
    client: Client,
    research_id: Number,
    reason: Annotated[str | None, typer.Option(help="Why; it is kept with the research.")] = None,
) -> None:
    """Stop one for good; what it had found stays."""
    from cluster.cli.printing import row

    with _researches(client) as researches:
        row(console(), "research", f"{research_id} is {researches.stop(research_id, reason)}")


@contextmanager
def _researches(client: Client, *, decides: bool = False) -> "Iterator[Researches]":
    from cluster.cli.research.following import Researches

    with client.door(decides=decides) as door:
        yield Researches(door, client.options)


def _follow(researches: "Researches", research_id: int, *, may_ask: bool) -> None:
    """Exits with what following it ends with."""
    from cluster.cli.asking import asker
    from cluster.cli.chat import INTERRUPTED
    from cluster.cli.following import Following
    from cluster.cli.printing import command_line, row
    from cluster.cli.research.following import FollowedResearch
    from cluster.cli.research.gates import settling

    shown, ask = console(), asker(may_ask=may_ask)
    followed = FollowedResearch(researches, research_id, shown)
    settle = None if ask is None else settling(researches, research_id, shown, ask).settle
    try:
        code = Following(followed, shown, settle=settle, waits=followed.waits).run()
    except KeyboardInterrupt:
        row(shown, "", "what you did not confirm is not decided")
        command_line(shown, "follow it", researches.command("follow", research_id))
        code = INTERRUPTED
    raise typer.Exit(code)
