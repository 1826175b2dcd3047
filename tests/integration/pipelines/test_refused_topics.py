"""Files that are no topics: the batch reads on, and an article that the database holds stays as it is."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from actors.platform.runtime.settled_files import write_settled
from models.config import Config
from models.content.editorial import ArticleGenerationResult
from models.runtime.workflows import Workflow
from models.store.database import Connection, Database
from models.store.runtime import workflows
from pipelines import edit_articles
from pipelines.drafts import Drafting
from pipelines.pipeline import BatchOptions, Settled
from pipelines.summary import Summary
from pipelines.topics import TopicRow
from tests.fakes.rows import ListedRows
from tests.integration.runtime.again.retrying import execute, topic


def torn(path: str = "torn.json") -> TopicRow:
    """A file that says what it is about, and is no topic."""
    return TopicRow(path=path, topic=None, error=f"{path}: source_text: is required", channel="c", slug="s")


async def edit(database: Database, config: Config, *rows: TopicRow) -> list[dict[str, Any]]:
    """Submit the rows, of which none is a topic: what the summary says of each."""
    told: list[dict[str, Any]] = []

    def write(summaries: Sequence[Summary], path: Path, schema: pa.Schema) -> None:
        told.extend(summary.model_dump() for summary in summaries)

    options = BatchOptions(submitter="ann", force=False, at_once=4)
    rows_, nothing = ListedRows(rows), Drafting()
    code = await edit_articles.edit(
        rows_, config, database.url, options, nothing, allow_blocked=True, write=write
    )
    assert code == 1
    return told


async def edited(database: Database, config: Config, status: str) -> tuple[Workflow, Path]:
    """A workflow of the topic, and its canonical JSON."""
    async with database.transaction() as connection:
        workflow = await workflows.create(connection, topic("text"))
    await execute(
        database,
        "UPDATE workflows SET status = %s, error = 'no', finished_at = now() WHERE id = %s",
        status,
        workflow.id,
    )
    path = config.article_generation.editor.output.final_articles_dir / "c/s.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("the article")
    async with database.connection() as connection:
        return await workflows.get(connection, workflow.id), path


@pytest.mark.parametrize("status", ["queued", "running", "parked", "succeeded", "failed", "cancelled"])
async def test_a_broken_file_writes_nothing_over_an_article_that_the_database_knows(
    database: Database, configure: Callable[..., Config], status: str
) -> None:
    config = configure()
    _, path = await edited(database, config, status)
    [told] = await edit(database, config, torn())
    assert path.read_text() == "the article"
    assert (told["status"], told["error"]) == ("error", "torn.json: source_text: is required")
    own = Path(told["path"])
    assert (own.parent.name, own.name[:5]) == ("_unreadable", "torn-")
    assert json.loads(own.read_text())["error"] == told["error"]


async def test_nor_do_two_files_of_its_name(database: Database, configure: Callable[..., Config]) -> None:
    config = configure()
    _, path = await edited(database, config, "succeeded")
    told = await edit(database, config, torn("a.json"), torn("b.json"))
    assert path.read_text() == "the article"
    assert len({row["path"] for row in told}) == 2, "each has a file of its own"
    assert all(
        "give each topic its own" in json.loads(Path(row["path"]).read_text())["error"] for row in told
    )


async def test_a_broken_file_of_a_topic_that_was_never_begun_has_the_canonical_json(
    database: Database, configure: Callable[..., Config]
) -> None:
    config = configure()
    [told] = await edit(database, config, torn())
    assert told["path"] == str(config.article_generation.editor.output.final_articles_dir / "c/s.json")
    assert not json.loads(Path(told["path"]).read_text())["success"]


async def test_an_article_that_another_batch_files_meanwhile_stays(
    database: Database, configure: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configure()
    path = config.article_generation.editor.output.final_articles_dir / "c/s.json"

    async def latest(connection: Connection, key: str, *, lock: bool = True) -> None:
        """There was none when it was looked for; then it began, ended and was filed."""
        _, files = await edited(database, config, "failed")
        assert files == path
        async with database.connection() as other:
            [workflow] = await workflows.recent(other, limit=1)
        assert await write_settled(database, workflow, {path: "the article"})

    monkeypatch.setattr(workflows, "latest_of_key", latest)
    [told] = await edit(database, config, torn())
    assert path.read_text() == "the article"
    assert Path(told["path"]).parent.name == "_unreadable"


@pytest.mark.parametrize(
    "there", [None, b"{}", b"\xff\xfe", "same"], ids=["gone", "other", "no text", "same"]
)
@pytest.mark.parametrize("again", [False, True], ids=["as it was", "begun again"])
async def test_the_file_of_a_topic_that_has_succeeded_is_put_back(
    database: Database, configure: Callable[..., Config], there: bytes | str | None, again: bool
) -> None:
    """Unless it is no more what is settled: whoever wrote what is, wrote it to that place."""
    config = configure()
    workflow, path = await edited(database, config, "succeeded")
    filed = ArticleGenerationResult(success=True, error="ü\r\n")
    text = filed.model_dump_json(indent=2).encode()
    path.unlink() if there is None else path.write_bytes(text if isinstance(there, str) else there)
    before = path.stat().st_ino if path.exists() else None
    if again:
        await execute(database, "UPDATE workflows SET epoch = epoch + 1")
    settled = Settled(workflow=workflow, documents={"result": filed.model_dump()}, skipped=True, tokens=0)
    editing = edit_articles._TopicPipeline(
        ListedRows([]), config, database, "ann", None, Drafting(), allow_blocked=True
    )
    await editing.summarise(torn(), settled)
    if again or there == "same":
        assert (path.stat().st_ino if path.exists() else None) == before, "it is not written again"
    else:
        assert path.read_bytes() == text
    assert {one.name for one in path.parent.iterdir()} <= {path.name}


@pytest.mark.usefixtures("ray_cluster")
async def test_one_file_is_read_whatever_the_others_are_and_are_called(
    configure: Callable[..., Config], tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "good.json").write_text(json.dumps(topic("text").input))
    (folder / "digits.json").write_text(f'{{"source_text": {"1" * 5000}}}')
    (folder / "half.json").write_text('{"\\ud800": 1}')
    (folder / "line\nend.json").write_text("{}")
    (folder / "name\udcff.json").write_text("{}")
    rows = edit_articles._read("in", configure().article_generation, tmp_path)
    found = {Path(row.path).name[:4]: row async for row in rows.stream()}
    assert found["good"].topic is not None
    assert {name: (row.error or "").rpartition(": ")[2] for name, row in found.items() if row.error} == {
        "digi": "shorten it, or put it in quotation marks",
        "half": "holds a character that is no text (NUL or half a pair)",
        "line": "is required",
        "name": "rename it",
    }
    assert {row.path for row in found.values()} == {head.path for head in rows.heads()}
