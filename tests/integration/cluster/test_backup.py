"""A site is backed up on one server and restored on another, whose transaction numbers are others: streams
and counters go on, and what is damaged or in the way is refused with everything left as it was.
"""

import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.postgres import server as embedded
from cluster.postgres.backup import MANIFEST, back_up
from cluster.postgres.restore import restore
from models.config import Config
from models.errors import ClusterProblem
from models.store import events
from models.store.people import tool_calls
from models.store.schema.migrate import migrate
from tests.integration.cluster.backup_sites import BOUNDS, call, connect, fill
from tests.integration.store.schemas import release


async def test_streams_and_counters_go_on_where_the_other_server_left_off(
    sites: tuple[Config, Config], tmp_path: Path
) -> None:
    one, two = sites
    await fill(one)
    file, said = tmp_path / "site.backup", list[str]()
    back_up(one, file, said.append)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    restore(two, file, said.append, replace=False)
    for word in ("digests are right", "as backed up", "each past", "streams go on after 6", "in no row"):
        assert [line for line in said if word in line], word
    async with await connect(two) as connection:
        assert await events.begin(connection, 6) == 6  # what was told there last is told here
        [next_] = await events.read(connection, after=6)
        assert next_.type == "not yet read"
        await events.append(connection, "new", None, {})
        [new] = await events.read(connection, after=next_.id)
        assert (new.type, new.id > next_.id) == ("new", True)
        await call(connection, "counted")
        counts = {each.labels[0]: each.times for each in await tool_calls.count(connection, BOUNDS)}
        assert counts == {"counted": 2, "not yet counted": 1}
    for name in ("memory", "articles"):
        assert (two.data_dir / name / "deep" / "a file.json").read_text() == name


async def test_what_is_in_the_way_is_refused_and_replaced_only_when_told(
    sites: tuple[Config, Config], tmp_path: Path
) -> None:
    one, two = sites
    await fill(one)
    file, said = tmp_path / "site.backup", list[str]()
    back_up(one, file, said.append)
    migrate(embedded.start(two.data_dir))
    async with await connect(two) as connection:
        await events.append(connection, "of the second", None, {})
        with pytest.raises(ClusterProblem, match=r"not empty.*--replace"):
            restore(two, file, said.append, replace=False)
        [there] = await events.read(connection, after=0)
        assert there.type == "of the second"
        await connection.execute(
            "INSERT INTO runners (id, name, node, pid, lease_until) "
            "VALUES ('r', 'r', 'n', 1, now() + interval '1 hour')"
        )
        with pytest.raises(ClusterProblem, match=r"1 runners are at work.*signoff down"):
            restore(two, file, said.append, replace=True)
        await connection.execute("DELETE FROM runners")
        restore(two, file, said.append, replace=True)
        assert len(await events.read(connection, after=0)) == 7
        cursor = await connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'before%%'")
        assert await cursor.fetchall() == []


def damage(source: Path, target: Path, *, manifest: Callable[[bytes], bytes], dump: bytes = b"") -> None:
    """A copy with another manifest, and with something at the end of the dump."""
    import io

    with tarfile.open(source) as old, tarfile.open(target, "w") as new:
        for entry in old.getmembers():
            content = old.extractfile(entry).read()  # type: ignore[union-attr]
            content = manifest(content) if entry.name == MANIFEST else content
            content += dump if entry.name.endswith(".dump") else b""
            entry.size = len(content)
            new.addfile(entry, io.BytesIO(content))


async def test_a_damaged_backup_changes_nothing(sites: tuple[Config, Config], tmp_path: Path) -> None:
    one, two = sites
    await fill(one)
    migrate(embedded.start(two.data_dir))
    good, bad = tmp_path / "good", tmp_path / "bad"
    manifest = back_up(one, good, lambda _: None)
    rows = f'"events": {manifest.inventory.rows["events"]}'.encode()
    async with await connect(two) as connection:
        await events.append(connection, "of the second", None, {})
        for change, dump, reason in [
            (lambda text: text, b"x", "database.dump is damaged"),
            (
                lambda text: text.replace(rows, b'"events": 99'),
                b"",
                "events: 6 rows were restored, 99 backed",
            ),
            (lambda text: text.replace(b'"memory/', b'"memory/../../'), b"", "has no place here"),
            (lambda text: b"{}", b"", "newer release"),
            (lambda text: text.replace(b'"database.dump"', b'"memory/else"'), b"", "lists no database.dump"),
            (
                lambda text: text.replace(b'"approval_numbers": 1', b'"approval_numbers": 7'),
                b"",
                "approval_numbers would go on at 1, not at 7",
            ),
            (lambda text: text.replace(b'"server_version": ', b'"server_version": 9'), b"", "not older"),
        ]:
            damage(good, bad, manifest=change, dump=dump)
            with pytest.raises(ClusterProblem, match=reason):
                restore(two, bad, lambda _: None, replace=True)
            [there] = await events.read(connection, after=0)
            assert there.type == "of the second"
        bad.write_bytes(good.read_bytes()[:3000])
        with pytest.raises(ClusterProblem, match=r"damaged|cut off"):
            restore(two, bad, lambda _: None, replace=True)


async def test_a_backup_of_the_last_schema_is_brought_to_this_one(
    sites: tuple[Config, Config], tmp_path: Path
) -> None:
    one, two = sites
    release(embedded.start(one.data_dir), "0.1.0")
    async with await connect(one) as connection:
        await connection.execute(
            "INSERT INTO events (type, data) SELECT 'old', '{}' FROM generate_series(1, 9)"
        )
    said: list[str] = []
    back_up(one, tmp_path / "old", said.append)
    restore(two, tmp_path / "old", said.append, replace=False)
    assert [line for line in said if "brought up to this release" in line]
    async with await connect(two) as connection:
        assert [event.id for event in await events.read(connection, after=0)] == list(range(1, 10))
        assert await events.newest_id(connection) == 9
