"""A claim reads what it takes: not what is parked, what has ended, or what a dead runner's workflows hold."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from models.config import Config
from models.runtime.workflows import Claim
from models.store.database import Database
from models.store.runtime import claims, documents
from tests.fakes.barrier import Barrier
from tests.integration.rows_read import rows_read, statements_sent
from tests.integration.runtime.claims.claiming import claim, end, lease, outcome
from tests.integration.runtime.deciding import waiting
from tests.integration.runtime.journals.carrying import a_graph, carry
from tests.integration.workflows import begin

Configure = Callable[..., Config]
MANY = 3_000
ROWS = """
INSERT INTO workflows (id, kind, input, input_digest, requested_by, status, not_before, finished_at, epoch)
SELECT '{status}/' || n, 'steps', '{{}}', 'd', 'ann', '{status}', {due},
       CASE WHEN '{status}' = 'succeeded' THEN now() END, 1
FROM generate_series(1, {many}) AS n
"""


@pytest.fixture
async def one(database_url: str) -> AsyncIterator[Database]:
    """A pool of one connection."""
    async with Database(url=database_url, pool_size=1) as database:
        yield database


async def execute(database: Database, *statements: str) -> None:
    """Statements, each by itself."""
    async with database.connection() as connection:
        for statement in statements:
            await connection.execute(statement.encode())


def many(status: str, *, due: str = "NULL") -> str:
    """The statement that makes so many workflows."""
    return ROWS.format(status=status, due=due, many=MANY)


@pytest.mark.parametrize("statistics", ["none", "none, and a plan that is kept", "fresh"])
@pytest.mark.parametrize("suspects", [False, True])
@pytest.mark.parametrize(
    "there",
    [
        many("parked", due="now() + interval '1 hour'"),
        many("parked", due="'infinity'"),
        many("succeeded"),
        many("waiting"),
    ],
    ids=["parked", "waiting for another release", "ended", "waiting"],
)
async def test_a_claim_reads_nothing_of_what_it_may_not_take(
    one: Database, there: str, statistics: str, suspects: bool
) -> None:
    await lease(one, "r")
    if "kept" in statistics:
        for _ in range(15):  # of an empty table
            assert await claim(one, "r", suspects=suspects) == []
    await execute(one, there)
    if statistics == "fresh":
        await execute(one, "ANALYZE")
    async with rows_read(one) as read:
        for _ in range(10):
            assert await claim(one, "r", suspects=suspects) == []
    assert read["workflows"] <= 10
    assert read["documents"] + read["approvals"] + read["batch_workflows"] == 0


@pytest.mark.parametrize("there", [many("queued"), many("parked", due="now()")], ids=["queued", "due"])
async def test_a_claim_reads_about_as_many_as_it_takes(one: Database, there: str) -> None:
    await execute(one, there)
    await lease(one, "r")
    async with rows_read(one) as read:
        assert len(await claim(one, "r", 8)) == 8
    # Found, locked, and begun.
    assert read["workflows"] <= 8 * 4


@pytest.mark.parametrize("got_on", [False, True])
async def test_taking_over_does_not_count_what_was_kept(one: Database, got_on: bool) -> None:
    with Barrier() as barrier:
        made = [(await begin(one, barrier)).id for _ in range(3)]
    await lease(one, "r1")
    held = await claim(one, "r1")
    await execute(
        one,
        f"""INSERT INTO documents (workflow_id, key, value, first_of)
            SELECT w.id, 'step/' || n, '{{}}', CASE n WHEN 1 THEN 0 END
            FROM workflows w CROSS JOIN generate_series(1, {MANY}) AS n""",
        "ANALYZE",
    )
    if got_on:
        await documents.put(one, [outcome(each, "new") for each in held])
    await end(one, "r1")
    await lease(one, "r2")
    async with rows_read(one) as read:
        taken = await claim(one, "r2")
    assert {each.workflow_id for each in taken} == set(made)
    assert [each.deaths for each in taken] == [1, 1, 1]
    assert read["documents"] <= 4 * len(made)


async def test_a_lease_reads_only_what_its_runner_has(one: Database) -> None:
    await execute(one, many("queued"), many("parked", due="now()"), "ANALYZE")
    await lease(one, "r")
    taken = await claim(one, "r", 4)
    async with rows_read(one) as read, one.connection() as connection:
        held = await claims.held_by(connection, "r")
    assert {each.workflow_id for each in held} == {each.workflow_id for each in taken}
    assert read["workflows"] <= 2 * len(taken)


async def test_a_workflow_that_nobody_was_asked_about_asks_for_no_approvals(
    one: Database, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim, its steps, its end: nothing else is sent for it."""
    with Barrier() as barrier:
        await begin(one, barrier)
        with statements_sent(monkeypatch) as sent:
            await carry(one, configure(), a_graph("one", "two"))
    assert [text.split(" ")[0] for text in sent] == ["WITH"] * 5, sent  # its lease is the first
    async with rows_read(one) as read:
        await lease(one, "r")
    assert read["approvals"] == 0


async def test_one_that_people_were_asked_about_asks_once(
    one: Database, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Barrier() as barrier:
        workflow = await begin(one, barrier)
        await carry(one, configure(), a_graph("one", "gate:plan"))
        await waiting(one, workflow.id)
        await execute(one, "UPDATE workflows SET status = 'queued'")
        with statements_sent(monkeypatch) as sent:
            await carry(one, configure(), a_graph("one", "gate:plan"))
    looked = [text for text in sent if text.startswith("SELECT id, gate, status")]
    assert len(looked) == 1
    assert not any("approval_votes" in text and "a.workflow_id" in text for text in sent)


async def claimed(database: Database) -> Claim:
    """The claim of the one workflow there is."""
    await lease(database, "r")
    [found] = await claim(database, "r")
    return found


@pytest.mark.parametrize("asked", [False, True])
async def test_a_claim_tells_whether_anybody_was_asked(
    one: Database, configure: Configure, asked: bool
) -> None:
    with Barrier() as barrier:
        await begin(one, barrier)
        if asked:
            await carry(one, configure(), a_graph("gate:plan"))
            await execute(one, "UPDATE workflows SET status = 'queued'")
        assert (await claimed(one)).asked is asked


def explained(plan: dict[str, Any], inside: bool = False) -> list[str]:
    """The common tables that are read once for each row of something else."""
    loops = []
    children = plan.get("Plans", [])
    joined = [each for each in children if each["Parent Relationship"] in ("Outer", "Inner")]
    for each in children:
        again = inside or (
            plan["Node Type"] == "Nested Loop" and each in joined and each["Parent Relationship"] == "Inner"
        )
        loops += explained(each, again)
    if inside and plan["Node Type"] == "CTE Scan":
        loops.append(plan["CTE Name"])
    return loops


@pytest.mark.parametrize("statistics", [False, True])
async def test_what_a_group_keeps_is_not_joined_row_by_row(one: Database, statistics: bool) -> None:
    if statistics:
        await execute(one, many("running"), "ANALYZE")
    for statement in (documents._PUT, claims._FINISH):
        async with one.connection() as connection:
            cursor = await connection.execute(f"EXPLAIN (FORMAT JSON) {statement}".encode(), ("[]",))
            [row] = await cursor.fetchall()
        assert explained(row["QUERY PLAN"][0]["Plan"]) == []


@pytest.mark.parametrize("statistics", ["none", "none, and a plan that is kept"])
async def test_a_group_reads_its_own_workflows(one: Database, statistics: str) -> None:
    await lease(one, "r")
    if "kept" in statistics:
        for _ in range(15):
            await documents.put(one, [])
            await claims.finish(one, [])
    await execute(one, many("queued"), many("succeeded"))
    held = await claim(one, "r", 200)
    async with rows_read(one) as read:
        assert len(await documents.put(one, [outcome(each, "k") for each in held])) == 200
    assert read["workflows"] <= 4 * 200
    async with rows_read(one) as read:
        assert len(await claims.finish(one, [claims.Finish(each, "{}", False) for each in held])) == 200
    # Without statistics it may read the table through, but not for each of them.
    assert read["workflows"] <= 4 * 200 + 3 * MANY
