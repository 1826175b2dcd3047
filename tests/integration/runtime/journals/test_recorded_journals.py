"""What releases left under way goes on under this one: to its right end, and nothing is done again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from actors.platform import systems
from actors.platform.runtime.workflow_graph import load_graph
from models.config import Config
from models.store.database import Database
from models.store.schema.migrate import migrate
from tests.fakes.cast import Cast
from tests.integration.runtime.journals.replaying import Stage, outcome
from tests.integration.store.schemas import release
from tests.record_journals import FOLDER, TABLES

Configure = Callable[..., Config]
FILES = sorted(FOLDER.glob("*/*.json"))
_MOST_LIVES = 10


def test_there_are_journals_of_the_last_release_and_of_this_one() -> None:
    assert len({path.parent.name for path in FILES}) >= 2


@pytest.fixture
def empty_url(postgres: str, request: pytest.FixtureRequest) -> str:
    """The URL of a database without any tables."""
    name = "recorded_" + "".join(c if c.isalnum() else "_" for c in request.node.name.rpartition("[")[2])[:50]
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return postgres.replace("/signoff?", f"/{name}?")


def fill(url: str, tables: dict[str, list[dict[str, Any]]]) -> None:
    """Write recorded rows, and let the next numbers come after theirs."""
    with psycopg.connect(url) as connection:
        for table in TABLES:
            rows = tables[table]
            if not rows:
                continue
            columns = ", ".join(rows[0].keys() - {"words"})
            connection.execute(
                f"INSERT INTO {table} ({columns}) SELECT {columns} "
                f"FROM jsonb_populate_recordset(NULL::{table}, %s)".encode(),
                (Jsonb(rows),),
            )
        for table in ("users", "articles", "resources"):
            connection.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), "
                f"coalesce((SELECT max(id) FROM {table}), 0) + 1, false)".encode()
            )
        connection.execute("SELECT setval('approval_numbers', 1000)")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
async def test_a_journal_of_another_release_goes_on(
    path: Path, empty_url: str, configure: Configure, tmp_path: Path
) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))
    # What is not out yet has no other schema than this tree's.
    if (path.parent / "schema.sql").exists():
        release(empty_url, path.parent.name)
    else:
        migrate(empty_url)
    fill(empty_url, record["tables"])
    migrate(empty_url)
    [begun] = record["tables"]["workflows"]
    kept = {row["key"]: row["value"] for row in record["tables"]["documents"]}
    files = tmp_path / "output"
    output = "article_generation.editor.output"
    config = configure(
        {
            f"{output}.final_articles_dir": str(files / "articles"),
            f"{output}.run_artifacts_dir": str(files / "runs"),
            "publishing.prompts_dir": str(FOLDER.parents[1] / "configs/prompts"),
        }
    )
    async with Database(url=empty_url, pool_size=4) as database:
        stage = Stage(database, config, load_graph(systems.graphs()[begun["kind"]]), Cast(config))
        for _ in range(_MOST_LIVES):
            worked = await stage.live()
            answer = {"decision": record["decide"], "notes": "no" if record["decide"] == "reject" else None}
            if not worked and not (record["decide"] and await stage.decide(answer)):
                break
        come_to = outcome(empty_url, files)
        [workflow] = come_to["workflows"]
        kind, status, result, error, parked_for, due = workflow
        assert (kind, status, due) == (begun["kind"], record["ends"], False), error or parked_for
        assert result is not None
        assert set(stage.made).isdisjoint(kept), "what was kept was made again"
        async with database.connection() as connection:
            cursor = await connection.execute("SELECT key, value FROM documents")
            now = {row["key"]: row["value"] for row in await cursor.fetchall()}
        assert {key: now[key] for key in kept} == kept
        _check(kind, come_to, record)


def _check(kind: str, come_to: dict[str, Any], record: dict[str, Any]) -> None:
    """What a workflow of a kind is for was done, once."""
    if kind == "editorial":
        assert "articles/mill/mill.json" in come_to["files"]
    if kind == "research_article":
        assert [row[2] for row in come_to["articles"]] == ["draft"]
        assert [row[2] for row in come_to["resources"]] == sorted(
            f"Found by {branch}" for branch in ("web_search", "data_download", "resource_query")
        ) or len(come_to["resources"]) == 3
    if kind == "publish_article":
        [approval] = come_to["approvals"]
        published = [row for row in come_to["events"] if row[0] == "article.published"]
        assert len(published) == (approval[3] == "approved")
        assert [row[2] for row in come_to["articles"]] == ["published" if published else "editor"]
