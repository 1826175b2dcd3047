"""The rows of a run's deep researches, and the log of the site that they read, for the checks of them."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from models.runtime.workflows import Workflow
from tests.faults import ledger
from tests.faults.checks import deep, pasted, trees
from tests.faults.checks.deep import Deep
from tests.faults.checks.runs import Runs
from tests.faults.people.deep import DeepResearch
from tests.faults.people.work import Work
from tests.faults.site.pages import timed
from tests.faults.site.world import World

_SOURCES = (
    "SELECT id, url, text, author FROM sources WHERE project_id = %s AND url LIKE 'urn:%%' AND text <> ''"
)


async def check(world: World, work: Work, mine: Mapping[str, Workflow]) -> list[str]:
    """All that is wrong with the researches of a run that has settled."""
    numbers = [research.number for research in work.deep]
    writes = await ledger.writes(world.rows, numbers)
    wrong = list(deep.written(writes))
    # What was told of before is not looked at.
    found = [
        await _gathered(world, one, mine[one.workflow_id]) for one in work.deep if one.workflow_id in mine
    ]
    for one in found:
        its = [write for write in writes if write.research == one.number]
        wrong += deep.ended(one, its)
        if one.workflow.input["task_type"] == "analyze":
            wrong += deep.nothing_was_fetched(one, its)
    grown = {one.grows for one in found if one.grows} | {tree for one in found for tree in one.trees}
    versions = [v for v in await ledger.versions(world.rows, list(grown)) if v.was or (v.now or {})["nodes"]]
    wrong += trees.kept_as_approved(found, versions, writes)
    projects: dict[int, list[Deep]] = defaultdict(list)
    for one in found:
        projects[one.workflow.input["project_id"]].append(one)
    for project, its_researches in projects.items():
        wrong += pasted.kept_once(its_researches, await world.rows(_SOURCES, project), writes)
    begun = await world.rows(
        "SELECT id FROM agent_workflows WHERE request_id LIKE %s ORDER BY id", f"run-{work.run}-%"
    )
    if (known := sorted(set(numbers))) != (there := [row["id"] for row in begun]):
        wrong.append(f"the researches {known} were asked for, and there are {there}")
    hits = timed(list(world.pages.hits))
    for stopped in work.stopped:
        [one] = [one for one in found if one.workflow.id == stopped.workflow_id]
        since = min(one.let_in.values(), default=0.0)
        taken = await ledger.moves(world.rows, [stopped.workflow_id])
        claims = sum(move.after == "running" and move.at >= since for move in taken)
        wrong += deep.read_after_its_stop(hits, stopped.pages, stopped.at, claims)
    return wrong


async def only_what_was_let_in(world: World, runs: Runs) -> list[str]:
    """What was asked for since it was looked at last, by all that anybody has ever let in, in any run."""
    hits = timed(runs.since("hits let in", list(world.pages.hits)))
    rows = await world.rows(
        "SELECT kind, status, content, extract(epoch FROM decided_at)::float8 AS at FROM approvals"
        " WHERE kind = ANY(%s) AND status = 'approved'",
        list(deep.ADDRESSES),
    )
    never = runs.since("hits of a host that is never read", list(world.never.hits))
    wrong = [f"{hit.path} was asked for at a host that is never read" for hit in never]
    return wrong + list(deep.only_what_was_let_in(hits, deep.let_in(rows), world.pages.origin))


async def _gathered(world: World, research: DeepResearch, workflow: Workflow) -> Deep:
    approvals = await world.rows(
        "SELECT kind, status, content, asked, decided_by, extract(epoch FROM decided_at)::float8 AS at"
        " FROM approvals WHERE workflow_id = %s ORDER BY created_at",
        workflow.id,
    )

    async def of(table: str) -> list[dict[str, Any]]:
        return await world.rows(f"SELECT * FROM {table} WHERE research_id = %s", research.number)

    return Deep(
        number=research.number,
        workflow=workflow,
        approvals=approvals,
        candidates=await of("url_candidates"),
        tasks=await of("research_tasks"),
        sentences=len(await of("research_sentences")),
        trees=[row["id"] for row in await of("knowledge_trees")],
        grows=research.grows,
    )
