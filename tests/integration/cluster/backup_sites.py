"""Two sites, one filled, that are backed up and restored."""

from collections.abc import Callable
from pathlib import Path

import psycopg
from psycopg.rows import dict_row

from cluster.postgres import server as embedded
from models.config import Config
from models.runtime.workflows import WorkflowRequest
from models.store import events
from models.store.database import Connection
from models.store.people import tool_calls
from models.store.runtime import workflows
from models.store.schema.migrate import migrate

Configure = Callable[..., Config]
BOUNDS = [0.1, 1.0]


def site(configure: Configure, folder: Path) -> Config:
    """A site whose data are all in the folder."""
    return configure(
        {
            "data_dir": str(folder),
            "article_generation.institutional_memory.data_dir": str(folder / "memory"),
            "article_generation.editor.output.final_articles_dir": str(folder / "articles"),
        }
    )


async def connect(config: Config) -> Connection:
    """A connection to a site's database, as readers have one."""
    url = embedded.url(config.data_dir)
    assert url is not None
    return await psycopg.AsyncConnection.connect(url, autocommit=True, row_factory=dict_row)


async def call(connection: Connection, tool: str) -> None:
    """Record a call."""
    facts = {"person": "ann", "tool": tool, "door": "rest", "topic": None, "about": None}
    await tool_calls.record(connection, **facts, input_digest="d", status="ok", error=None, seconds=0.5)


async def fill(config: Config) -> None:
    """Some work, told events, events that nobody has read yet, calls counted and not yet counted."""
    request = WorkflowRequest(kind="k", key="k:1", input={}, input_digest="d", requested_by="ann")
    async with await connect(config) as connection:
        row = await (await connection.execute("SELECT pg_current_xact_id()::text::bigint AS n")).fetchone()
        assert row is not None
        assert row["n"] > 20_000_000_000
        await workflows.create(connection, request)
        for n in range(5):
            await events.append(connection, "told", "w", {"n": n})
        assert len(await events.read(connection, after=0)) == 6
        await events.append(connection, "not yet read", "w", {})
        await call(connection, "counted")
        await tool_calls.count(connection, BOUNDS)
        await call(connection, "not yet counted")
    for name in ("memory", "articles"):
        path = config.data_dir / name / "deep" / "a file.json"
        path.parent.mkdir(parents=True)
        path.write_text(name)


Sites = tuple[Config, Config]


def no_word(_: str) -> None:
    """Say nothing."""


async def second(two: Config) -> None:
    """What is on the second site before."""
    migrate(embedded.start(two.data_dir))
    async with await connect(two) as connection:
        await events.append(connection, "of the second", None, {})
    for name in ("memory", "articles"):
        (two.data_dir / name).mkdir()
        (two.data_dir / name / "own.json").write_text("of the second")


async def as_it_was(two: Config) -> None:
    async with await connect(two) as connection:
        [there] = await events.read(connection, after=0)
        assert there.type == "of the second"
    for name in ("memory", "articles"):
        assert [path.name for path in (two.data_dir / name).iterdir()] == ["own.json"]
    hidden = [path.name for path in two.data_dir.iterdir() if path.name.startswith((".memory", ".articles"))]
    assert hidden == []
