"""What must hold after a run, whatever was done to it. Each check names what is wrong, in a line."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from actors.editorial.artifacts import article_path
from actors.editorial.files import settled_result
from models.editorial import TopicInput
from models.scopes import read_scopes
from models.store import documents, workflows
from models.store.database import Database
from models.workflows import ENDED_STATUSES, Workflow
from tests.faults import batches
from tests.faults.batches import Batch
from tests.faults.driver import exit_file
from tests.faults.kinds import ACTED, BROKEN, Begun, file_of, told
from tests.faults.readers import Readers
from tests.faults.work import Work
from tests.faults.world import Disturbance, World

_WATCHER = read_scopes(["global:admin"])
_QUIET_SECONDS = 180.0
_READING_TRIES = 200
_STARTS_ANEW = {"workflow.running", "step.done"}
_ENDS = {"workflow.succeeded", "workflow.failed", "workflow.cancelled"}
_AGAIN = "workflow.queued"


async def settle(world: World, work: Work, goes_on: Callable[[], Any]) -> list[str]:
    """Wait until everything that the run asked for has ended and its webhooks are out; what has not, in time.

    `goes_on` is awaited again and again: people go on deciding.
    """
    try:
        async with asyncio.timeout(_QUIET_SECONDS):
            await goes_on()
            while await _open(world, work) or await _unsent(world) or _driven(world, work):
                await goes_on()
                await asyncio.sleep(0.2)
    except TimeoutError:
        found = await _open(world, work)
        stuck = [f"{w['kind']} {w['id']} is stuck: {w['status']} {w['parked_for'] or ''}" for w in found]
        stuck += [f"{name} does not end" for name in _driven(world, work)]
        return stuck or ["webhooks are not delivered"]
    return []


async def check(world: World, work: Work, readers: Readers) -> list[str]:
    """All that is wrong with a run that has settled."""
    await _caught_up(world, readers)
    mine = await _look(world.database, work.ids)
    wrong = [f"{i} was acknowledged and is lost" for i in work.ids if i not in mine]
    keys = Counter(workflow.key for workflow in mine.values() if workflow.key)
    for workflow in mine.values():
        kept = await documents.get_all(world.database, workflow.id)
        wrong += _verdict(workflow, work)
        was = work.mended.get(workflow.id, {})
        if made_again := [key for key, document in was.items() if kept.get(key) != document]:
            wrong.append(f"{made_again} of march {workflow.id} were made again when it was begun again")
        # Of a topic that was stopped and begun anew, the file is the newer one's.
        if workflow.status != "cancelled" or keys[workflow.key or ""] < 2:
            wrong += await asyncio.to_thread(lambda w=workflow, k=kept: list(_files(world, w, k)))
    wrong += _events(readers, mine, work)
    streams = list(_streams(readers, await world.rows("SELECT id FROM events")))
    if streams:  # something happened since: what is missed or doubled stays so
        await _caught_up(world, readers)
        streams = list(_streams(readers, await world.rows("SELECT id FROM events")))
    wrong += streams
    wrong += _steps(world, mine, readers, work)
    wrong += await _approvals(world, work, mine)
    wrong += await _articles(world, work)
    wrong += await _webhooks(world)
    for batch in work.batches:
        wrong += await batches.check(world, batch) or await _submitted_again(world, batch)
    return wrong


async def _look(database: Database, ids: list[str]) -> dict[str, Workflow]:
    async with database.connection() as connection:
        return {w.id: w for w in await workflows.get_many(connection, ids)}


async def _open(world: World, work: Work) -> list[dict[str, Any]]:
    return await world.rows(
        "SELECT id, kind, status, parked_for FROM workflows WHERE id = ANY(%s)"
        " AND (NOT status = ANY(%s) OR projection_due)",
        work.ids,
        list(ENDED_STATUSES),
    )


def _driven(world: World, work: Work) -> list[str]:
    return [batch.name for batch in work.batches if not world.is_over(batch.name)]


async def _unsent(world: World) -> list[dict[str, Any]]:
    return await world.rows("SELECT id FROM deliveries WHERE status = 'pending' LIMIT 1")


async def _caught_up(world: World, readers: Readers) -> None:
    """Wait until both readers have had time to see the last event; what they miss then is missed."""
    for _ in range(_READING_TRIES):
        # What has no place yet gets it by the next reading.
        coming = await world.rows("SELECT 1 FROM incoming_events LIMIT 1")
        written = {row["id"] for row in await world.rows("SELECT id FROM events")}
        if not coming and written <= {event.id for event in readers.polled}:
            break
        await asyncio.sleep(0.1)
    for _ in range(_READING_TRIES):
        if {e.id for e in readers.polled if e.visible_to("watcher", _WATCHER)} <= set(readers.streamed):
            break
        await asyncio.sleep(0.1)


def _verdict(workflow: Workflow, work: Work) -> Iterator[str]:
    """Nothing acknowledged is lost, and nothing fails by an outage."""
    name = f"{workflow.kind} {workflow.id}"
    # The answer to a stop may have been lost; but somebody must have asked for it.
    if workflow.status == "cancelled" and not (workflow.error or "").startswith("cancelled"):
        yield f"{name} was stopped by nobody: {workflow.error}"
    if workflow.id in work.cancelled and workflow.status != "cancelled":
        yield f"{name} was stopped, and is {workflow.status}"
    if workflow.status == "failed" and workflow.kind != "editorial":
        yield f"{name} failed: {workflow.error}"
    if workflow.status == "failed" and "reply" not in (workflow.error or ""):
        yield f"{name} failed for no fault of its own: {workflow.error}"


def _files(world: World, workflow: Workflow, kept: dict[str, Any]) -> Iterator[str]:
    """Files say what is settled, and nothing else."""
    if workflow.kind == "march":
        path, expected = file_of(workflow.input, workflow.id), told(workflow, kept)
    elif workflow.kind == "editorial":
        output = world.config.article_generation.editor.output
        source = TopicInput.model_validate(workflow.input).source_metadata
        path = article_path(output, channel_name=source.channel_name, topic_slug=source.topic_slug)
        if workflow.status == "cancelled":
            if path.exists():
                yield f"{path.name} was written though {workflow.id} was stopped"
            return
        expected = settled_result(output, workflow, kept).model_dump_json(indent=2)
    else:
        return
    if not path.exists():
        yield f"the file of {workflow.kind} {workflow.id} is missing"
    elif (text := path.read_text(encoding="utf-8")) != expected:
        yield f"the file of {workflow.kind} {workflow.id} ({workflow.status}) says {text[:60]!r}"


def _events(readers: Readers, mine: dict[str, Workflow], work: Work) -> Iterator[str]:
    """Each settling is told once, each effect is done once, and nothing moves after the end."""
    by: dict[str, list[str]] = {i: [] for i in mine}
    for event in readers.polled:
        if event.workflow_id in by:
            by[event.workflow_id].append(event.type)
    for workflow_id, types in by.items():
        workflow = mine[workflow_id]
        yield from (f"{workflow.kind} {workflow_id} {odd}" for odd in _course(types))
        acted = types.count(ACTED)
        if acted > 1:
            yield f"march {workflow_id} acted {acted} times"
        if workflow.kind == "march" and workflow.status == "succeeded":
            decision = (workflow.result or {}).get("decision")
            if acted != (decision in (None, "approved")):
                yield f"march {workflow_id} acted {acted} times, decision {decision}"


def _course(types: list[str]) -> Iterator[str]:
    """It ends, once, and nothing moves after that; unless it has failed and was begun again."""
    end: str | None = None
    for number, name in enumerate(types):
        if name == _AGAIN and end == "workflow.failed":
            end = None
        elif name in _ENDS and end is not None:
            yield f"ended twice: {types}"
        elif name in _ENDS:
            end = name
        elif name in _STARTS_ANEW and end not in (None, "workflow.cancelled"):
            yield f"went on after its end: {types[number:]}"
    if end is None:
        yield f"was not told to have ended: {types}"


def _streams(readers: Readers, rows: list[dict[str, Any]]) -> Iterator[str]:
    """No gap, nothing twice, one order."""
    polled = [event.id for event in readers.polled]
    if twice := [i for i, n in Counter(polled).items() if n > 1]:
        yield f"the polling reader was told twice of {twice[:5]}"
    if missing := {row["id"] for row in rows} - set(polled):
        yield f"the polling reader was not told of {sorted(missing)[:5]}"
    expected = [event.id for event in readers.polled if event.visible_to("watcher", _WATCHER)]
    if readers.streamed != expected:
        told_twice = [i for i, n in Counter(readers.streamed).items() if n > 1]
        missed = sorted(set(expected) - set(readers.streamed))
        yield f"the stream differs from what was to see: missed {missed[:5]}, twice {told_twice[:5]}"


def _steps(world: World, mine: dict[str, Workflow], readers: Readers, work: Work) -> Iterator[str]:
    """A step is begun again only where its process was disturbed, or it was parked, in between."""
    parks = Counter(e.workflow_id for e in readers.polled if e.type == "workflow.parked")
    begun: dict[tuple[str, str], list[Begun]] = {}
    for entry in world.trace.read():
        if entry.workflow in mine:
            begun.setdefault((entry.workflow, entry.step), []).append(entry)
    for (workflow_id, step), entries in begun.items():
        again = [pair for pair in pairwise(entries) if not is_excused(world.disturbances, *pair)]
        # The step that failed is begun once more; what was kept by then is not.
        if len(again) > parks[workflow_id] + (step == BROKEN and workflow_id in work.mended):
            pids = [entry.pid for entry in entries]
            yield f"{step} of march {workflow_id} was begun {len(entries)} times, by {pids}, for no reason"


def is_excused(disturbances: Sequence[Disturbance], first: Begun, second: Begun) -> bool:
    """Whether something was done between two beginnings of a step, to all or to one of their processes."""
    return any(
        d.start <= second.at and d.end >= first.at and d.pid in (None, first.pid, second.pid)
        for d in disturbances
    )


async def _approvals(world: World, work: Work, mine: dict[str, Workflow]) -> list[str]:
    """Each decision counts once, and is what was answered."""
    wrong = []
    found = await world.rows(
        "SELECT id, workflow_id, status FROM approvals WHERE workflow_id = ANY(%s)", work.ids
    )
    for approval in found:
        said = [s for s in work.said if s.approval_id == approval["id"]]
        taken = [s for s in said if s.status == 200]
        name = f"approval {approval['id']} ({approval['status']})"
        if len(taken) > 1:
            wrong.append(f"{name}: {len(taken)} decisions were taken")
        if taken and approval["status"] != {"approve": "approved", "reject": "rejected"}[taken[0].decision]:
            wrong.append(f"{name}: {taken[0].who} was told that it is {taken[0].decision}d")
        if odd := [s for s in said if s.status not in (200, 409, None)]:
            wrong.append(f"{name}: {odd[0].who} got {odd[0].status}")
        workflow = mine[approval["workflow_id"]]
        done = (workflow.result or {}).get("decision")
        if workflow.status == "succeeded" and done != approval["status"]:
            wrong.append(f"{name}: its workflow took it for {done}")
    return wrong


async def _articles(world: World, work: Work) -> list[str]:
    """An article is published once, exactly if that was approved; a research makes one draft."""
    wrong = []
    rows = await world.rows(
        """SELECT a.id, a.status, a.published_version, p.status AS decision, w.status AS ended,
                  (SELECT count(*) FROM events e WHERE e.type = 'article.published'
                     AND e.data ->> 'article_id' = a.id::text) AS told,
                  (SELECT count(*) FROM deliveries d WHERE d.event_type = 'article_published'
                     AND (d.body::jsonb ->> 'article_id') = a.id::text) AS messages
           FROM articles a JOIN approvals p ON p.about = 'article:' || a.id
           JOIN workflows w ON w.id = p.workflow_id WHERE a.id = ANY(%s)""",
        work.articles,
    )
    for row in rows:
        approved = row["decision"] == "approved" and row["ended"] == "succeeded"
        if (row["status"] == "published") != approved or row["told"] != approved:
            wrong.append(f"article {row['id']} is {row['status']}, told {row['told']} times: {dict(row)}")
        if row["messages"] > 1:
            wrong.append(f"{row['messages']} messages tell that article {row['id']} was published")
    # A request whose answer was lost may have begun a research too: nobody knew, so it was asked again.
    query = f"rates in run {work.run}"
    drafts = await world.rows("SELECT 1 FROM article_versions WHERE version = 1 AND headline = %s", query)
    asked = await world.rows("SELECT 1 FROM workflows WHERE input ->> 'query' = %s", query)
    if len(drafts) > len(asked):
        wrong.append(f"{len(asked)} researches made {len(drafts)} drafts")
    for task in work.researches:
        [row] = await world.rows("SELECT status, result FROM workflows WHERE id = %s", task)
        if row["status"] == "succeeded" and (row["result"] or {}).get("status") != "completed":
            wrong.append(f"research {task} came to {row['result']}")
        resources = (row["result"] or {}).get("resources_created", [])
        if len(set(resources)) != len(resources):
            wrong.append(f"research {task} made resources twice: {resources}")
    return wrong


async def _submitted_again(world: World, batch: Batch) -> list[str]:
    """A batch whose topics have all passed is finished before, and nothing of it is done again."""
    if exit_file(batch.topics).read_text(encoding="utf-8") != "0":
        return []
    before = await batches.trail(world, batch)
    world.submit(batch.name, batch.topics)
    try:
        async with asyncio.timeout(_QUIET_SECONDS):
            while not world.is_over(batch.name):
                world.ensure()
                await asyncio.sleep(0.1)
    except TimeoutError:
        return [f"{batch.name}, submitted again, does not end"]
    after = await batches.trail(world, batch)
    wrong = await batches.check(world, batch)
    if before != after:
        wrong.append(f"{batch.name}, submitted again, did {after[len(before) :]}")
    return wrong


async def _webhooks(world: World) -> list[str]:
    """What is to be sent arrives at least once, always under the same id."""
    rows = await world.rows("SELECT id, status, body FROM deliveries")
    got = {request.headers["webhook-id"]: request.body for request in world.receiver.got}
    wrong = [f"delivery {row['id']} is {row['status']}" for row in rows if row["status"] != "delivered"]
    wrong += [f"delivery {row['id']} never arrived" for row in rows if row["id"] not in got]
    known = {row["id"] for row in rows}
    wrong += [f"something arrived under the unknown id {i}" for i in got if i not in known]
    return wrong
