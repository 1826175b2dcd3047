"""What must hold after a run, whatever was done to it. Each check names what is wrong, in a line.

Here the rows are gathered; what is asked of them stands beside, in pure functions.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from models.people.scopes import read_scopes
from models.runtime.events import Event
from models.runtime.workflows import ENDED_STATUSES, Workflow
from models.store.runtime import documents, workflows
from tests.faults import ledger
from tests.faults.checks import (
    changes,
    connections,
    courses,
    decisions,
    files,
    knowledge,
    operated,
    press,
    researches,
    steps,
)
from tests.faults.checks.runs import Runs
from tests.faults.checks.streams import streams
from tests.faults.people import batches
from tests.faults.people.batches import Batch
from tests.faults.people.knowledge import KnowledgeBatch
from tests.faults.people.readers import Readers
from tests.faults.people.work import Work
from tests.faults.site.driver import exit_file
from tests.faults.site.world import World

_WATCHER = read_scopes(["global:admin"])
# Nothing came to anything for so long: it is stuck. However much goes on, a run is over some time.
_QUIET_SECONDS, _LONGEST_SECONDS = 120.0, 900.0
_READING_TRIES = 200


async def settle(world: World, work: Work, goes_on: Callable[[], Any]) -> list[str]:
    """Wait until everything that the run asked for has ended and its webhooks are out; what is stuck.

    A busy machine takes its time: what is stuck is what nothing comes of. `goes_on` is awaited again and
    again: people go on deciding.
    """
    came, since = 0, time.monotonic()
    try:
        async with asyncio.timeout(_LONGEST_SECONDS):
            await goes_on()
            while await _open(world, work) or await _unsent(world) or _driven(world, work):
                await goes_on()
                if (now := await _came_of_it(world)) != came:
                    came, since = now, time.monotonic()
                elif time.monotonic() > since + _QUIET_SECONDS:
                    raise TimeoutError
                await asyncio.sleep(0.2)  # of other processes the database tells
    except TimeoutError:
        found = await _open(world, work)
        stuck = [f"{w['kind']} {w['id']} is stuck: {w['status']} {w['parked_for'] or ''}" for w in found]
        stuck += [f"{name} does not end" for name in _driven(world, work)]
        return stuck or ["webhooks are not delivered"]
    return []


async def check(world: World, runs: Runs, readers: Readers) -> list[str]:
    """All that is wrong with a run that has settled, and with earlier ones of which something came since."""
    await _caught_up(world, readers)
    wrong: list[str] = []
    for work in await runs.to_look_at(world):
        late = "" if work is runs.works[-1] else f"late, of run {work.run}: "
        wrong += [late + odd for odd in await _of_run(world, work, readers)]
    odd = await _streams(world, readers)
    if odd:  # something happened since: what is missed or doubled stays so
        await _caught_up(world, readers)
        odd = await _streams(world, readers)
    wrong += odd
    wrong += await _delivered(world)
    wrong += await researches.only_what_was_let_in(world, runs)
    wrong += await operated.called_by_somebody(world, runs)
    wrong += await connections.check(world)
    for batch in runs.works[-1].batches:
        wrong += await batches.check(world, batch) or await _submitted_again(world, batch)
    wrong += knowledge.asked_for_by_somebody(world, runs)
    for read in runs.works[-1].knowledge:
        wrong += await knowledge.check(world, read) or await _read_again(world, read)
    await runs.looked(world)
    return wrong


async def _of_run(world: World, work: Work, readers: Readers) -> list[str]:
    async with world.database.connection() as connection:
        mine = {w.id: w for w in await workflows.get_many(connection, work.ids)}
    wrong = [f"{i} was acknowledged and is lost" for i in work.ids if i not in mine]
    kept = {i: await documents.get_all(world.database, i) for i in mine}
    told: dict[str, list[Event]] = {i: [] for i in mine}
    for event in readers.polled:
        if event.workflow_id in told:
            told[event.workflow_id].append(event)
    wrong += await _courses(world, work, mine, told, kept)
    wrong += await _steps(world, work, mine, told, kept)
    wrong += await asyncio.to_thread(lambda: list(_files(world, mine, kept)))
    wrong += await _press(world, work)
    wrong += await researches.check(world, work, mine)
    return wrong + await operated.check(world, work, mine, kept)


async def _courses(
    world: World,
    work: Work,
    mine: Mapping[str, Workflow],
    told: Mapping[str, list[Event]],
    kept: Mapping[str, dict[str, Any]],
) -> list[str]:
    asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in await world.rows(
        "SELECT id, workflow_id, kind, status, decided_by, content, digest, quorum, asked FROM approvals"
        " WHERE workflow_id = ANY(%s)",
        list(mine),
    ):
        asked[row["workflow_id"]].append(row)
    wrong: list[str] = []
    for i, workflow in mine.items():
        name = f"{workflow.kind} {i}"
        wrong += courses.verdict(workflow, was_stopped=i in work.cancelled)
        wrong += [f"{name} {odd}" for odd in courses.course([event.type for event in told[i]])]
        wrong += [f"{name}: {odd}" for odd in courses.claims_in_order(told[i])]
        if workflow.kind == "march":
            wrong += courses.march(workflow, told[i], asked[i], kept[i])
        if i in work.mended:
            wrong += courses.mended(i, work.mended[i], kept[i])
        for approval in asked[i]:
            said = [one for one in work.said if one.approval_id == approval["id"]]
            let_pass = approval["id"] in work.let_pass
            wrong += decisions.decided(approval, said, told[i], workflow, let_pass=let_pass)
            for one in said:
                if one.status == 200 and one.decision == "modify":
                    wrong += changes.made(one, approval)
    return wrong


async def _steps(
    world: World,
    work: Work,
    mine: Mapping[str, Workflow],
    told: Mapping[str, list[Event]],
    kept: Mapping[str, dict[str, Any]],
) -> list[str]:
    moves, keeps = await ledger.moves(world.rows, list(mine)), await ledger.keeps(world.rows, list(mine))
    begun, wrote = world.trace.read()
    begun = [entry for entry in begun if entry.workflow in mine]
    wrote = [one for one in wrote if one.workflow in mine]
    done = [(i, e.data["step"]) for i, those in told.items() for e in those if e.type == "step.done"]
    return [
        *steps.committed_once(keeps, done, kept),
        *steps.begun_for_a_reason(begun, keeps, moves, world.disturbances, work.mended),
        *steps.moves_are_allowed(moves),
        *steps.taken_under_a_lease(moves, world.disturbances),
        *files.written_when_settled(wrote, moves),
    ]


def _files(world: World, mine: Mapping[str, Workflow], kept: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    output = world.config.article_generation.editor.output
    for i, workflow in mine.items():
        if workflow.kind == "march":
            yield from files.of_march(workflow, kept[i])
        elif workflow.kind == "editorial":
            same = [w for w in mine.values() if workflow.key and w.key == workflow.key]
            newer = [w for w in same if (w.created_at, w.id) > (workflow.created_at, i)]
            yield from files.of_topic(output, workflow, kept[i], newer=newer)


async def _streams(world: World, readers: Readers) -> list[str]:
    visible = [event.id for event in readers.polled if event.visible_to("watcher", _WATCHER)]
    written = [row["id"] for row in await world.rows("SELECT id FROM events")]
    return list(streams(written, [event.id for event in readers.polled], visible, readers.streamed))


async def _caught_up(world: World, readers: Readers) -> None:
    """Wait until both readers have had time to see the last event; what they miss then is missed."""
    for _ in range(_READING_TRIES):
        # What has no place yet gets it by the next reading.
        coming = await world.rows("SELECT 1 FROM incoming_events LIMIT 1")
        written = {row["id"] for row in await world.rows("SELECT id FROM events")}
        if not coming and written <= {event.id for event in readers.polled}:
            break
        await asyncio.sleep(0.1)  # readers are asked again: what is missing then is a fault
    for _ in range(_READING_TRIES):
        if {e.id for e in readers.polled if e.visible_to("watcher", _WATCHER)} <= set(readers.streamed):
            break
        await asyncio.sleep(0.1)  # likewise


async def _open(world: World, work: Work) -> list[dict[str, Any]]:
    return await world.rows(
        "SELECT id, kind, status, parked_for FROM workflows WHERE id = ANY(%s)"
        " AND (NOT status = ANY(%s) OR projection_due)",
        work.ids,
        list(ENDED_STATUSES),
    )


def _driven(world: World, work: Work) -> list[str]:
    return [name for name in work.drivers if not world.is_over(name)]


async def _came_of_it(world: World) -> int:
    """What can't be undone any more: it grows as long as anything gets on."""
    [row] = await world.rows(
        """SELECT (SELECT count(*) FROM documents)
                  + (SELECT count(*) FROM workflows WHERE status = ANY(%s) AND NOT projection_due)
                  + (SELECT count(*) FROM approvals WHERE status <> 'pending')
                  + (SELECT count(*) FROM deliveries WHERE status <> 'pending') AS n""",
        list(ENDED_STATUSES),
    )
    return int(row["n"])


async def _unsent(world: World) -> list[dict[str, Any]]:
    return await world.rows("SELECT id FROM deliveries WHERE status = 'pending' LIMIT 1")


async def _press(world: World, work: Work) -> list[str]:
    """Articles, their messages, and researches."""
    wrong = []
    articles = await world.rows(
        """SELECT a.id, a.status, a.published_version, v.content AS text,
                  (SELECT count(*) FROM events e WHERE e.type = 'article.published'
                     AND e.data ->> 'article_id' = a.id::text) AS told
           FROM articles a LEFT JOIN article_versions v
                ON v.article_id = a.id AND v.version = a.published_version
           WHERE a.id = ANY(%s)""",
        work.articles,
    )
    there = {article["id"] for article in articles}
    wrong += [f"article {n} was acknowledged and is lost" for n in work.articles if n not in there]
    asked = await world.rows(
        "SELECT p.id, p.about, p.status, p.content, w.status AS ended"
        " FROM approvals p JOIN workflows w ON w.id = p.workflow_id WHERE p.about = ANY(%s)",
        [f"article:{number}" for number in work.articles],
    )
    sent = await world.rows(
        "SELECT id, event_type, body, body::jsonb #>> '{article,id}' AS article FROM deliveries"
    )
    for article in articles:
        approvals = [one for one in asked if one["about"] == f"article:{article['id']}"]
        messages = [row for row in sent if row["article"] == str(article["id"])]
        wrong += press.published(article, approvals, messages)
    # A request whose answer was lost may have begun a research too: nobody knew, so it was asked again.
    query = f"rates in run {work.run}"
    drafts = await world.rows("SELECT 1 FROM article_versions WHERE version = 1 AND headline = %s", query)
    begun = await world.rows("SELECT 1 FROM workflows WHERE input ->> 'query' = %s", query)
    if len(drafts) > len(begun):
        wrong.append(f"{len(begun)} researches made {len(drafts)} drafts")
    for task in work.researches:
        [row] = await world.rows("SELECT status, result FROM workflows WHERE id = %s", task)
        wrong += press.researched(task, row["status"], row["result"] or {})
    return wrong


async def _delivered(world: World) -> list[str]:
    """Every message of every run."""
    rows = await world.rows("SELECT id, status, body FROM deliveries")
    return list(press.delivered(rows, list(world.target.taken)))


async def _submitted_again(world: World, batch: Batch) -> list[str]:
    """A batch whose topics have all passed is finished before, and nothing of it is done again."""
    if exit_file(batch.topics).read_text(encoding="utf-8") != "0":
        return []
    before = await batches.trail(world, batch)
    world.submit(batch.name, batch.topics)
    if not await _is_over(world, batch.name):
        return [f"{batch.name}, submitted again, does not end"]
    after = await batches.trail(world, batch)
    wrong = await batches.check(world, batch)
    if before != after:
        wrong.append(f"{batch.name}, submitted again, did {after[len(before) :]}")
    return wrong


async def _read_again(world: World, batch: KnowledgeBatch) -> list[str]:
    """Pages that are known are not read, indexed or extracted again."""
    before = await knowledge.trail(world, batch)
    world.submit(batch.name, batch.folder, role="knowledge_driver")
    if not await _is_over(world, batch.name):
        return [f"{batch.name}, submitted again, does not end"]
    after = await knowledge.trail(world, batch)
    wrong = await knowledge.check(world, batch)
    if before != after:
        wrong.append(f"{batch.name}, submitted again, did {after} and not {before}")
    return wrong


async def _is_over(world: World, name: str) -> bool:
    """Wait until a driver has ended by itself."""
    try:
        async with asyncio.timeout(_QUIET_SECONDS):
            while not world.is_over(name):
                world.ensure()
                await asyncio.sleep(0.1)  # a process of its own
    except TimeoutError:
        return False
    return True
