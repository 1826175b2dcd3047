"""Record what a release leaves in the database of workflows under way, as test data for later releases.

    python -m tests.record_journals

writes `tests/journals/RELEASE/*.json`, under the name in `models.release`, and its schema beside them. Run it
once for each release, when its schema is settled; the files of earlier releases stay as they are. Each holds
the rows of one workflow whose runner was ended inside a step or at its gate, the revision of the schema, what
is to be decided, and how it must end when it is gone on with. `test_recorded_journals.py` lets this release
go on with all of them.

It runs the release's own runner with agents that are played, on a Postgres of its own.
"""

import argparse
import asyncio
import json
import os
import shutil
import tempfile
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from actors.platform import systems
from actors.platform.runtime.runner import Runner
from actors.platform.systems import load
from cluster.postgres import server as embedded
from cluster.postgres.tools import Tools
from models.config import Config
from models.release import RELEASE
from models.runtime.workflows import WorkflowRequest
from models.store.database import Database
from models.store.runtime import workflows
from models.store.schema.migrate import migrate
from tests.fakes.cast import Cast
from tests.integration.editorial.desk import Desk
from tests.profile import local_profile, write_yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests/journals"
# In the order in which they can be filled again.
TABLES = {
    "users": "id",
    "articles": "id",
    "article_versions": "article_id, version",
    "resources": "id",
    "article_resources": "article_id, version, place",
    "workflows": "id",
    "documents": "key",
    "approvals": "id",
    "approval_votes": "voter",
}
_SECONDS = 300.0


@dataclass(frozen=True)
class Point:
    """Where a workflow is left: inside the call of an agent, or when it waits or is queued (None)."""

    name: str
    begin: Callable[[Database, Config], Awaitable[None]]
    inside: str | None
    decide: str | None = None
    ends: str = "succeeded"


async def topic(database: Database, config: Config) -> None:
    """A topic for the editorial desk."""
    source = dict.fromkeys(("source_file", "channel_name", "video_id", "video_title"), "mill")
    given = {
        "source_text": "The mill at Orra was rebuilt in 1911. It grinds rye for four villages.",
        "source_metadata": {**source, "publish_date": None, "topic_slug": "mill", "topic_title": "Mill"},
        "style_mode": "SCIAM_MAGAZINE",
        "target_length_words": "900-1200",
    }
    async with database.transaction() as connection:
        request = WorkflowRequest(kind="editorial", input=given, input_digest="d", requested_by="ann")
        await workflows.create(connection, request)


async def research(database: Database, config: Config) -> None:
    """A research that an analyst asks for."""
    desk = Desk(database, config)
    ann = await desk.person("ann", "macro:analyst")
    await desk.call(ann, "research_article", topic="macro", query="rates in June")


async def publication(database: Database, config: Config) -> None:
    """An article that an editor wants published."""
    desk = Desk(database, config)
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)


def decided(decision: str) -> Callable[[Database, Config], Awaitable[None]]:
    """The same, decided while no runner was there."""

    async def begin(database: Database, config: Config) -> None:
        await publication(database, config)
        desk = Desk(database, config)
        bob = await desk.person("bob", "macro:editor")
        more = {"notes": "no"} if decision == "reject" else {}
        await desk.decide(bob, await desk.approval(1), decision, **more)

    return begin


POINTS = (
    Point("editorial-drafting", topic, "writer.generate"),
    Point("editorial-reviewing", topic, "article_review.review"),
    Point("editorial-consulting", topic, "style_review.evaluate"),
    Point("editorial-revising", topic, "writer.revise"),
    Point("research-searching", research, "data_download.find"),
    Point("research-selecting", research, "research.select"),
    Point("research-writing", research, "analyst.write"),
    Point("publication-waiting", publication, None, decide="approve"),
    Point("publication-waiting-for-a-no", publication, None, decide="reject"),
    Point("publication-approved", decided("approve"), ""),
    Point("publication-rejected", decided("reject"), ""),
)


class _Halting(Cast):
    """A cast one of whose players never answers."""

    def __init__(self, config: Config, inside: str | None) -> None:
        super().__init__(config)
        self.halted = asyncio.Event()
        self._inside = inside

    def agent(self, role: str) -> Any:
        """The player of a role, or the one who never answers."""
        player = super().agent(role)
        if not self._inside or not self._inside.startswith(f"{role}."):
            return player
        halting = self

        class Silent:
            def __getattr__(self, verb: str) -> Any:
                async def call(*_: Any) -> Any:
                    halting.halted.set()
                    await asyncio.Event().wait()

                return call if f"{role}.{verb}" == halting._inside else getattr(player, verb)

        return Silent()


def _record(url: str, config: Config, point: Point, file: Path) -> None:
    """Record a point in a process of its own, which ends as a killed one does."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            asyncio.run(_leave(url, config, point, file))
            code = 0
        except BaseException:  # noqa: BLE001  # told, and by the code
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    assert status == 0, f"{point.name} could not be recorded"


async def _leave(url: str, config: Config, point: Point, file: Path) -> None:
    """Bring a workflow to its point, write down its rows, and end at once."""
    database = await Database(url=url, pool_size=6).__aenter__()
    await point.begin(database, config)
    if point.inside != "":
        cast = _Halting(config, point.inside)
        runner = Runner(name="r", config=config, database=database, directory=cast, kinds=systems.graphs())  # type: ignore[arg-type]
        running = asyncio.create_task(runner.run())
        async with asyncio.timeout(_SECONDS):
            if point.inside:
                await cast.halted.wait()
            await _is_quiet(database, waiting=point.inside is None)
        assert not running.done()
    file.write_text(json.dumps(await _rows(database)), encoding="utf-8")
    os._exit(0)


async def _is_quiet(database: Database, *, waiting: bool) -> None:
    """Wait until it waits for its decision; or until its other branches have kept what they found."""
    before = -1
    while True:
        async with database.connection() as connection:
            cursor = await connection.execute(
                "SELECT (SELECT count(*) FROM documents) AS kept, status FROM workflows"
            )
            row = await cursor.fetchone()
        assert row is not None
        if (row["status"] == "waiting") if waiting else (row["kept"] == before):
            return
        before = row["kept"]
        await asyncio.sleep(0.3)


async def _rows(database: Database) -> dict[str, Any]:
    found = {}
    async with database.connection() as connection:
        for table, order in TABLES.items():
            query = f"SELECT to_jsonb(t) - 'search' AS row FROM {table} t ORDER BY {order}"
            found[table] = [r["row"] for r in await (await connection.execute(query.encode())).fetchall()]
    return found


def _config(folder: Path) -> Config:
    raw = local_profile()
    editor = raw["article_generation"]["editor"]
    editor["prompts"]["root_dir"] = str(ROOT / "configs/prompts/editorial")
    raw["publishing"]["prompts_dir"] = str(ROOT / "configs/prompts")
    path = folder / "config.yaml"
    write_yaml(path, raw)
    return load(path, root=folder)


def main() -> None:
    """Record every point."""
    parser = argparse.ArgumentParser(prog="python -m tests.record_journals", description=__doc__)
    parser.add_argument("--release", default=RELEASE, help="what this release is called: %(default)s")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    told = parser.parse_args()
    target = told.folder / told.release
    target.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="signoff-record-", dir="/tmp"))
    try:
        root = embedded.start(folder)
        for point in POINTS:
            name = point.name.replace("-", "_")
            with psycopg.connect(root, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}".encode())
            url = root.replace("/signoff?", f"/{name}?")
            migrate(url)
            _record(url, _config(folder), point, folder / "rows.json")
            rows = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
            with psycopg.connect(url) as connection:
                [(revision,)] = connection.execute("SELECT version_num FROM alembic_version").fetchall()
            record = {
                "release": told.release,
                "schema": revision,
                "left": f"inside {point.inside}" if point.inside else "waiting or queued",
                "decide": point.decide,
                "ends": point.ends,
                "tables": rows,
            }
            text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False)
            (target / f"{point.name}.json").write_text(text + "\n", encoding="utf-8")
            print(f"{told.release}/{point.name}: {len(rows['documents'])} documents")  # noqa: T201
        arguments = ["--schema-only", "--no-owner", "--no-privileges", f"--file={target / 'schema.sql'}"]
        Tools(_config(folder), server_version=0).run("pg_dump", url, arguments)
    finally:
        embedded.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
