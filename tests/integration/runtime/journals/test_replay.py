"""Killed after each of its answered calls to Postgres, every graph comes to what it comes to undisturbed."""

import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from actors.platform import systems
from actors.platform.runtime.workflow_graph import WorkflowGraph, load_graph
from models.config import Config
from models.runtime.workflows import WorkflowRequest
from models.store import webhooks
from models.store.database import Database
from models.store.runtime import workflows
from models.webhooks.records import NewWebhook
from tests.fakes import graphs
from tests.fakes.barrier import Barrier
from tests.fakes.cast import Cast
from tests.integration.editorial.desk import Desk
from tests.integration.editorial.newsroom import SOURCE
from tests.integration.runtime.journals.replaying import Stage, outcome, wipe

Configure = Callable[..., Config]
Begin = Callable[[Database, Config, str], Awaitable[None]]
_MOST_LIVES = 60


@dataclass(frozen=True)
class Play:
    """A workflow of `kind`, how it is begun, how its gates are decided, and how it ends."""

    kind: str
    begin: Begin
    answer: dict[str, Any] = field(default_factory=lambda: {"decision": "approve"})
    status: str = "succeeded"
    unreadable: str = ""


def small(kind: str, status: str = "succeeded", answer: dict[str, Any] | None = None, **more: Any) -> Play:
    """A workflow of one of the small kinds."""

    async def begin(database: Database, config: Config, barrier: str) -> None:
        async with database.transaction() as connection:
            request = WorkflowRequest(
                kind=kind, input={"barrier": barrier, **more}, input_digest="d", requested_by="ann"
            )
            await workflows.create(connection, request)

    return Play(kind, begin, answer or {"decision": "approve"}, status)


def topic(slug: str) -> Begin:
    """A topic for the editorial desk."""

    async def begin(database: Database, config: Config, barrier: str) -> None:
        source = dict.fromkeys(("source_file", "channel_name", "video_id", "video_title"), "mill")
        given = {
            "source_text": SOURCE,
            "source_metadata": {**source, "publish_date": None, "topic_slug": slug, "topic_title": slug},
            "style_mode": "SCIAM_MAGAZINE",
            "target_length_words": "900-1200",
        }
        async with database.transaction() as connection:
            request = WorkflowRequest(kind="editorial", input=given, input_digest="d", requested_by="ann")
            await workflows.create(connection, request)

    return begin


def research(query: str) -> Begin:
    """A research that an analyst asks for."""

    async def begin(database: Database, config: Config, barrier: str) -> None:
        desk = Desk(database, config)
        ann = await desk.person("ann", "macro:analyst")
        await desk.call(ann, "research_article", topic="macro", query=query)

    return begin


async def publication(database: Database, config: Config, barrier: str) -> None:
    """An article that an editor wants published, and webhooks that want to know."""
    async with database.transaction() as connection:
        for event in ("article_published", "article_rejected"):
            new = NewWebhook(name=event, event_type=event, url="https://hooks.example.com/x")
            await webhooks.create(connection, new, secret="x" * 32, created_by="root")
    desk = Desk(database, config)
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)


NO = {"decision": "reject", "notes": "no"}
PLAYS = {
    "steps": small("steps"),
    "steps, failing": small("steps", "failed", fail="three"),
    "gated, approved": small("gated"),
    "gated, rejected": small("gated", answer=NO),
    "two gates": small("gates"),
    "fan": small("fan"),
    "asking": small("asking", question="what will be?"),
    "editorial": Play("editorial", topic("mill")),
    "editorial, failing": Play("editorial", topic("weir"), status="failed", unreadable="weir"),
    "research": Play("research_article", research("rates in June")),
    "research, nothing found": Play("research_article", research("nothing at all")),
    "publishing, approved": Play("publish_article", publication),
    "publishing, rejected": Play("publish_article", publication, NO),
}


def kind_of(name: str) -> WorkflowGraph:
    """A kind, of the product or of the tests."""
    return load_graph(systems.graphs().get(name) or graphs.KINDS[name])


@pytest.fixture
def barrier() -> Iterator[Barrier]:
    """Where the small kinds' steps report; all pass."""
    with Barrier() as barrier:
        yield barrier


@dataclass
class Theatre:
    """Sets a stage on an empty database, as often as asked."""

    database: Database
    configure: Configure
    folder: Path
    barrier: Barrier

    @asynccontextmanager
    async def stage(self, play: Play) -> AsyncIterator[tuple[Stage, Callable[[], dict[str, Any]]]]:
        """The stage, the play begun, and a function that tells what it has come to."""
        files = self.folder / "output"
        output = "article_generation.editor.output"
        config = self.configure(
            {
                f"{output}.final_articles_dir": str(files / "articles"),
                f"{output}.run_artifacts_dir": str(files / "runs"),
                # Here many die in a row; that too many end a workflow is tried elsewhere (test_claims).
                "runners.max_attempts": _MOST_LIVES,
            }
        )
        shutil.rmtree(files, ignore_errors=True)
        wipe(self.database.url)
        await play.begin(self.database, config, self.barrier.address)
        cast = Cast(config, unreadable=play.unreadable)
        stage = Stage(self.database, config, kind_of(play.kind), cast)
        yield stage, lambda: outcome(self.database.url, files)


@pytest.fixture
async def theatre(
    database_url: str, configure: Configure, tmp_path: Path, barrier: Barrier
) -> AsyncIterator[Theatre]:
    """A theatre of the test's own."""
    async with Database(url=database_url, pool_size=6) as database:
        yield Theatre(database, configure, tmp_path, barrier)


async def to_the_end(stage: Stage, play: Play) -> None:
    """Let processes live, and people decide, until nothing is to do."""
    lives = 0
    while await stage.live() or await stage.decide(play.answer):
        lives += 1
        assert lives <= _MOST_LIVES, "it does not get on"


@pytest.mark.parametrize("name", PLAYS)
async def test_killed_at_any_point_a_workflow_comes_to_the_same(theatre: Theatre, name: str) -> None:
    play = PLAYS[name]
    async with theatre.stage(play) as (stage, look):
        await to_the_end(stage, play)
        undisturbed, made = look(), stage.made
        assert [row[1] for row in undisturbed["workflows"]] == [play.status], undisturbed["workflows"]
        assert len(made) == len(set(made))
    cut, died = 0, True
    while died:
        cut += 1
        async with theatre.stage(play) as (stage, look):
            died = await die_once(stage, play, after=cut)
            kept, before = await stage.kept(), len(stage.made)
            await to_the_end(stage, play)
            assert kept.isdisjoint(stage.made[before:]), f"call {cut}: made again what was kept"
            assert json.dumps(look(), indent=1) == json.dumps(undisturbed, indent=1), f"killed after {cut}"
    assert cut > 2, "nobody was killed"


async def die_once(stage: Stage, play: Play, *, after: int) -> bool:
    """Carry it on until a process has died after so many calls over all lives; False if it ended before."""
    while stage.answered < after:
        worked = await stage.live(calls=after - stage.answered)
        if stage.answered < after and not await stage.decide(play.answer) and not worked:
            return False
    return True


@pytest.mark.parametrize("name", PLAYS)
async def test_killed_again_and_again_a_workflow_gets_on_and_comes_to_the_same(
    theatre: Theatre, name: str
) -> None:
    """Each process lives a few calls longer than the last, from one on, until one lives long enough."""
    play = PLAYS[name]
    async with theatre.stage(play) as (stage, look):
        await to_the_end(stage, play)
        undisturbed = look()
    async with theatre.stage(play) as (stage, look):
        for calls in range(1, _MOST_LIVES):
            if not await stage.live(calls=calls) and not await stage.decide(play.answer):
                break
        assert json.dumps(look(), indent=1) == json.dumps(undisturbed, indent=1)
