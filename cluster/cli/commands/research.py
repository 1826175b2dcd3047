"""`signoff research`: deep research is begun, followed, decided on, read and stopped, over the HTTP door."""

from typing import TYPE_CHECKING, Annotated, Any

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

    from cluster.cli.research.changes import AtResearchGate

ROOM = Room(
    name="research",
    noun="research",
    path="/api/v1/agent-workflows",
    kind="cluster.cli.research.kind:RESEARCH",
    stop="stop",
    stop_help="Stop one for good; what it had found stays.",
    result="a result",
)
Number = Annotated[int, number_of(ROOM)]
app = gated_app(
    ROOM, "Deep research: pages are found, you say which are read, and what they say is put together."
)


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
    request_id: RequestId = None,
    follow_it: FollowIt = True,
) -> None:
    """Begin a research, and follow it."""
    from cluster.cli.research.view import estimate
    from models.research.agent_workflows import StartRequest, StartResponse

    def told(begun: StartResponse) -> tuple[int, str]:
        where = f"{begun.workflow_id} in project {begun.project_id}"
        return begun.workflow_id, f"{where}: {begun.message} {estimate(begun)}"

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
        "request_id": request_id,
    }
    ROOM.begin(client, StartResponse, StartRequest, given, told, path="/start", follow=follow_it)


@app.command()
@by_a_person(ANALYST)
def decide(
    client: Client,
    number: Number,
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
    from cluster.cli.research.changes import given_answer, settings

    listed: dict[str, Any] = {
        "remove_urls": remove or (),
        "add_urls": add or (),
        "modify_config": settings(set_ or ()),
    }
    follow = ROOM.command(client, "follow", number)
    answer = given_answer(decision, notes, listed, change or (), follow=follow)

    def reply(at: "AtResearchGate") -> "tuple[BaseModel, str]":
        return answer(at, console()), f"{decision} this?"

    with ROOM.deciding(client, number) as deciding:
        if not deciding.decide(reply, digest=digest):
            raise typer.Exit(1)


@app.command("list")
@by_a_person(ANALYST)
def list_(
    client: Client,
    status: Status = None,
    project: Annotated[int | None, typer.Option(min=1, help="Of this project.")] = None,
    before: Before = None,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """List researches, the newest first."""
    from cluster.cli.research.view import table
    from models.research.following import ResearchList

    narrowed = {"status": status, "project_id": project, "limit": limit}
    ROOM.listed(client, ResearchList, table, as_json=as_json, before=before, **narrowed)


@app.command()
@by_a_person(ANALYST)
def result(
    client: Client,
    number: Number,
    as_json: AsJson = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="The sentences and their sources.")] = False,
) -> None:
    """Show what one has come to so far."""
    from cluster.cli.research.view import markdown, show_results
    from models.errors import InputInvalid
    from models.research.agent_workflows import ResearchStatusResponse
    from models.research.following import ResearchLineage, ResearchResults

    if as_json and as_markdown:
        raise InputInvalid("--json and --markdown: give one of them")
    path = f"/{number}/results"
    if not as_markdown:
        ROOM.present(client, ResearchResults, show_results, path, as_json=as_json)
        return
    with ROOM.work(client) as work:
        found = work.get(ResearchResults, path)
        way_back = work.get(ResearchLineage, f"/{number}/lineage")
        name = work.get(ResearchStatusResponse, f"/{number}").name
    typer.echo(markdown(name, found, way_back), nl=False)


@app.command()
@by_a_person(ANALYST)
def lineage(
    client: Client,
    number: Number,
    sentence: Annotated[int | None, typer.Option(metavar="N", min=1, help="Of this sentence alone.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the way back: from sentences to exact words, documents, and whoever let these in."""
    from cluster.cli.printing import print_json
    from cluster.cli.records import read
    from cluster.cli.research.view import show_lineage
    from models.errors import InputInvalid
    from models.research.following import ResearchLineage

    with ROOM.work(client) as work:
        told = work.told(f"/{number}/lineage")
    found = read(ResearchLineage, told)
    if sentence is not None:
        chosen = tuple(one for one in found.sentences if one.number == sentence)
        if not chosen:
            raise InputInvalid(f"--sentence {sentence}: research {number} has no such sentence")
        found = found.model_copy(update={"sentences": chosen})
    if as_json:
        print_json(told if sentence is None else found.model_dump(mode="json"))
    else:
        show_lineage(found, console())


@app.command()
@by_a_person(ANALYST)
def points(
    client: Client,
    number: Number,
    after: Annotated[int, typer.Option(metavar="ID", min=0, help="Only those after this one.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Show what it rests on, 100 points at once: exact words, documents, and whoever let these in."""
    from cluster.cli.printing import command_line
    from cluster.cli.research.view import show_points
    from models.research.following import ResearchPoints

    path = f"/{number}/points"
    found = ROOM.present(client, ResearchPoints, show_points, path, as_json=as_json, after=after)
    if found is not None and found.next_after is not None:
        more = ROOM.command(client, "points", number, "--after", found.next_after)
        command_line(console(), "more", more)
