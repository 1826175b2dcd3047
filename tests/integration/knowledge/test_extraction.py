"""Extraction: sources are read once, what is known goes with them, and entities are one with a reason."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pyarrow.parquet
import pytest

from actors.platform import systems
from actors.platform.runtime.runner import Runner
from actors.systems.knowledge.agents.knowledge_extractor import KnowledgeExtractor
from models.config import Config
from models.store.database import Database
from models.store.knowledge import entities, merges, points
from models.store.knowledge import sources as stored
from pipelines.extract_knowledge import extract
from pipelines.pipeline import BatchOptions
from tests.fakes.model.model_server import ModelServer, Rule
from tests.integration.conftest import ROOT
from tests.integration.drafting.research_site import configured
from tests.integration.knowledge.test_sources import batch, claim, project, read, settle

A, B = "https://example.org/a", "https://example.org/b"
MILL = (
    "The Mill Company runs nine mills in Łódź 🏭. Jan Nowak leads The Mill Company. It was founded in 1871."
)
BANK = "The Mill Company Ltd owes the bank 4 million. Jan Nowak signed. The bank is in Łódź."


def said(**lists: list[dict[str, Any]]) -> str:
    """An answer of the model."""
    empty = {key: [] for key in ("entities", "relationships", "facts", "categories", "insights")}
    return json.dumps(empty | lists)


def entity(name: str, kind: str, sentence: int, *aliases: str, score: float = 0.9) -> dict[str, Any]:
    return {"name": name, "type": kind, "aliases": list(aliases), "sentence": sentence, "score": score}


ABOUT_MILL = said(
    entities=[
        entity("The Mill Company", "organization", 1),
        entity("Jan Nowak", "person", 2),
        entity("Łódź", "location", 1, score=0.3),
    ],
    relationships=[
        {
            "subject": "Jan Nowak",
            "predicate": "leads",
            "object": "The Mill Company",
            "quote": "Jan Nowak leads The Mill Company",
            "sentence": 2,
            "score": 0.9,
        }
    ],
    facts=[
        {
            "statement": "It has nine mills.",
            "quote": "runs nine mills in Łódź 🏭",
            "sentence": 1,
            "score": 0.8,
        },
        {"statement": "Made up.", "quote": "runs ten mills", "sentence": 1, "score": 0.9},
    ],
)
ABOUT_BANK = said(
    entities=[entity("The Mill Company Ltd", "organization", 1), entity("Jan Nowak", "person", 2)],
    relationships=[
        {
            "subject": "Jan Nowak",
            "predicate": "Leads",
            "object": "The Mill Company Ltd",
            "quote": "Jan Nowak signed",
            "sentence": 2,
            "score": 0.8,
        }
    ],
)


class Site:
    """A runner whose `extractor` asks the scripted model, and batches."""

    def __init__(self, config: Config, database: Database) -> None:
        self.config, self.database, self.database_url = config, database, database.url
        _, arguments = systems.roles()["extractor"]
        self.extractor = KnowledgeExtractor(**arguments(config, self))

    def agent(self, role: str, *, shard: str | None = None) -> Any:
        """The one agent."""
        return self.extractor if role == "extractor" else None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """A runner that works."""
        runner = Runner(
            name="r", config=self.config, database=self.database, directory=self, kinds=systems.graphs()
        )
        task = asyncio.create_task(runner.run())
        try:
            yield
        finally:
            runner.stop()
            await asyncio.wait_for(task, 20)

    async def extract(self, number: int, *, force: bool = False, **more: Any) -> int:
        """A batch; its exit code."""
        options = BatchOptions(submitter="ann", force=force, at_once=2)
        async with asyncio.timeout(60):
            return await extract(
                self.config, self.database.url, options, self, project=str(number), topic=None, **more
            )

    def outcomes(self) -> dict[str, tuple[str, int, int, int]]:
        """Of the newest batch, by address: status, points, entities, dropped."""
        folder = self.config.data_dir / "output" / "extraction"
        newest = max(folder.glob("*.parquet"), key=lambda path: path.stat().st_mtime_ns)
        rows = pyarrow.parquet.read_table(newest).to_pylist()
        return {r["url"]: (r["status"], r["points"], r["entities"], r["dropped"]) for r in rows}


@pytest.fixture
def site(database: Database, configure: Callable[..., Config], model: ModelServer) -> Site:
    """Its model knows two pages."""
    asked = configured(model.base_url)["drafting.llm"]
    del asked["writes"]
    changes = {
        "knowledge.extraction.llm": asked,
        "knowledge.extraction.prompts_dir": str(ROOT / "configs/prompts/knowledge"),
        "embedding.api_base": model.base_url,
        "embedding.api_key": "x",
        "runners.lease_seconds": 2,
    }
    model.script(
        Rule(contains="founded in 1871", reply=ABOUT_MILL),
        Rule(contains="owes the bank", reply=ABOUT_BANK),
    )
    return Site(configure(changes), database)


async def filled(database: Database, *pages: tuple[str, str]) -> int:
    """A project with some pages."""
    number = await project(database)
    await fetch(database, number, *pages)
    return number


async def fetch(database: Database, number: int, *pages: tuple[str, str]) -> None:
    """Fetch pages anew."""
    batch_id = await batch(database)
    await claim(database, number, batch_id, [url for url, _ in pages], again=True)
    await settle(database, number, batch_id, *(read(url, text) for url, text in pages))


async def ids(database: Database, number: int) -> dict[str, int]:
    """The sources of a project by their addresses."""
    async with database.connection() as connection:
        return {url: s.id for url, s in (await stored.by_urls(connection, number, [A, B])).items()}


async def count(database: Database, table: str) -> int:
    async with database.connection() as connection:
        cursor = await connection.execute(f"SELECT count(*) AS n FROM {table}".encode())
        row = await cursor.fetchone()
    assert row is not None
    return int(row["n"])


def readings(model: ModelServer) -> list[str]:
    """What the extractor has shown the model."""
    return [call.prompt for call in model.calls() if "Extract as one JSON object" in call.prompt]


def asked(model: ModelServer) -> int:
    return len(readings(model))


async def test_every_point_rests_on_its_span_and_is_read_once(
    site: Site, database: Database, model: ModelServer
) -> None:
    number = await filled(database, (A, MILL), (B, BANK))
    async with site.running():
        assert await site.extract(number) == 0
        assert site.outcomes() == {A: ("kept", 4, 2, 2), B: ("kept", 3, 2, 0)}
        assert asked(model) == 2
        # What was read is not read again; with --force it is.
        assert await site.extract(number) == 0
        assert (site.outcomes(), asked(model)) == ({}, 2)
        assert await site.extract(number, force=True, limit=1) == 0
        assert asked(model) == 3
    known = await ids(database, number)
    async with database.connection() as connection:
        found = await points.of_source(connection, known[A])
    assert {(p.kind, p.said, p.subject, p.object) for p in found} == {
        ("entity", "The Mill Company", None, None),
        ("fact", "It has nine mills.", None, None),
        ("relationship", "leads", "Jan Nowak", "The Mill Company"),
        ("entity", "Jan Nowak", None, None),
    }
    assert all(MILL[p.start : p.end] == p.quote for p in found)


async def test_entities_are_one_across_sources_with_the_reason_and_can_be_two_again(
    site: Site, database: Database
) -> None:
    number = await filled(database, (A, MILL), (B, BANK))
    async with site.running():
        assert await site.extract(number) == 0
    known = await ids(database, number)
    async with database.connection() as connection:
        [mill] = await entities.find(connection, number, name="mill company", limit=9)
        [relation] = await entities.relations(
            connection, await entities.group_of(connection, number, [mill.id]), limit=9
        )
    assert mill.sources == (known[A], known[B])
    [merge] = mill.merges
    assert (merge.reason, {mill.name, merge.name}) == (
        "same_name",
        {"The Mill Company", "The Mill Company Ltd"},
    )
    # A relation keeps all its sources.
    assert {point.source_id for point in relation.points} == {known[A], known[B]}

    async with database.transaction() as connection:
        await merges.undo(connection, number, merge.id, by="ann")
    await site.extractor.merge_entities(number)  # as after the next batch
    async with database.connection() as connection:
        assert len(await entities.find(connection, number, name="mill company", limit=9)) == 2


async def test_a_source_that_goes_takes_exactly_its_own(site: Site, database: Database) -> None:
    number = await filled(database, (A, MILL), (B, BANK))
    async with site.running():
        assert await site.extract(number) == 0
        known = await ids(database, number)
        async with database.connection() as connection:
            kept = await points.of_source(connection, known[B])
        async with database.transaction() as connection:
            await stored.delete(connection, number, known[A])
        tables = ("knowledge_points", "knowledge_entities", "knowledge_chunks", "entity_merges")
        assert [await count(database, table) for table in tables] == [3, 2, 1, 0]
        async with database.connection() as connection:
            assert await points.of_source(connection, known[B]) == kept

        # Fetched anew with the same text it keeps what is known; with another text that goes.
        await fetch(database, number, (B, BANK))
        assert await count(database, "knowledge_points") == 3
        await fetch(database, number, (B, f"{BANK} So be it."))
        assert [await count(database, table) for table in tables] == [0, 0, 0, 0]
        assert await site.extract(number) == 0
        assert await count(database, "knowledge_points") == 3


async def test_what_is_fetched_anew_meanwhile_is_read_next_time(
    site: Site, database: Database, model: ModelServer
) -> None:
    number = await filled(database, (A, MILL))
    model.reset()
    model.script(Rule(contains="founded in 1871", hold=True, reply=ABOUT_MILL))
    async with site.running(), asyncio.TaskGroup() as group:
        batch_ = group.create_task(site.extract(number))
        await model.await_calls(1, state="held")
        await fetch(database, number, (A, BANK))
        model.script(Rule(contains="owes the bank", reply=ABOUT_BANK))
        model.release()
        assert await batch_ == 0
        assert site.outcomes() == {A: ("changed", 0, 0, 0)}
        assert await count(database, "knowledge_points") == 0
        assert await site.extract(number) == 0
        assert site.outcomes() == {A: ("kept", 3, 2, 0)}
    known = await ids(database, number)
    async with database.connection() as connection:
        assert all(BANK[p.start : p.end] == p.quote for p in await points.of_source(connection, known[A]))


async def test_a_long_source_is_covered_to_its_end(
    site: Site, database: Database, model: ModelServer
) -> None:
    sentences = [f"Mill number {number} turns {number} times a day in Łódź." for number in range(600)]
    number = await filled(database, (A, " ".join(sentences)))
    model.reset()
    async with site.running():
        assert await site.extract(number) == 0
    shown = "\n".join(readings(model))
    assert set(re.findall(r"Mill number \d+ turns", shown)) == {s[: s.index(" turns") + 6] for s in sentences}
