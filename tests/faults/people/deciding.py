"""How people decide: each looks at what waits, and answers that; some at once, some to something else."""

import asyncio
import random
from contextlib import suppress
from dataclasses import replace
from typing import Any

import httpx2

from models.runtime.approvals import content_digest
from tests.faults.people import deep, gates, operations
from tests.faults.people.gates import GateAnswer
from tests.faults.people.work import DECIDERS, People, Said, Work
from tests.faults.site.world import World

# How long at most until a march asks for its decision while all is well.
_ASKED_SECONDS = 6.0
_LET_PASS_SECONDS = 5.0
# Of something that nobody was shown.
_OTHER_DIGEST = content_digest({"plan": ["something else"]})


async def decide(
    people: People,
    work: Work,
    rng: random.Random,
    *,
    at_once: int = 1,
    only: str | None = None,
    begins: bool = False,
    yes: bool = False,
) -> bool:
    """Let people look at one of the run's approvals and decide it; several at once.

    Now and then somebody decides on something else than was shown, or asks for a change that can't be made:
    that must be refused.

    Args:
        only: one of this workflow.
        begins: where none waits a march is begun that asks for one.
        yes: they want it to get on.

    Returns:
        Whether a decision was taken.
    """
    if not (pending := await _pending(people.world, work, only)) and begins:
        await people.march(work, rng, gated=True, steps=1, step_seconds=0.05)
        with suppress(TimeoutError):
            async with asyncio.timeout(_ASKED_SECONDS):
                while not (pending := await _pending(people.world, work)):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
    if not pending:
        return False
    approval = rng.choice(pending)
    first = rng.randrange(len(DECIDERS))
    intents = [
        (DECIDERS[(first + number) % len(DECIDERS)], random.Random(rng.random()), rng.random() < 0.1)
        for number in range(at_once)
    ]
    path = f"/api/approvals/{approval['id']}"
    seen = await asyncio.gather(*(people.ask(who, "GET", path) for who, _, _ in intents))
    sends = [
        _say(people, work, approval, who, answer, chances, stale=stale, yes=yes)
        for (who, chances, stale), answer in zip(intents, seen, strict=True)
        if answer is not None
    ]
    return any(await asyncio.gather(*sends))


async def let_pass(people: People, work: Work, rng: random.Random) -> bool:
    """Let the time of a gate of a research or an operation pass; whether nobody decided it before."""
    kinds = gates.GATES | operations.DOORS.keys()
    found = [one for one in await _pending(people.world, work) if one["kind"] in kinds]
    if not found:
        return False
    approval_id = rng.choice(found)["id"]
    work.let_pass.add(approval_id)
    await people.world.rows(
        "UPDATE approvals SET expires_at = now() WHERE id = %s AND status = 'pending' RETURNING 1",
        approval_id,
    )
    status = "SELECT status FROM approvals WHERE id = %s"
    with suppress(TimeoutError):
        async with asyncio.timeout(_LET_PASS_SECONDS):
            while (await people.world.rows(status, approval_id))[0]["status"] == "pending":  # noqa: ASYNC110
                await asyncio.sleep(0.1)
    return bool((await people.world.rows(status, approval_id))[0]["status"] == "expired")


async def _say(
    people: People,
    work: Work,
    approval: dict[str, Any],
    who: str,
    seen: httpx2.Response,
    chances: random.Random,
    *,
    stale: bool,
    yes: bool,
) -> bool:
    approval_id = approval["id"]
    if seen.status_code != 200:
        work.said.append(Said(approval_id, who, "approve", seen.status_code, "", None))
        return False
    shown = seen.json()
    said = _answer(approval["kind"], shown["content"], chances, careless=not stale, yes=yes)
    digest = _OTHER_DIGEST if stale else shown["digest"]
    body: dict[str, Any] = {"decision": said.how, "digest": digest}
    path = f"/api/approvals/{approval_id}/decision"
    if approval["kind"] in gates.GATES:
        path = f"{deep.AT}/{approval['research']}/approve"
    if said.changes:
        body["modifications"] = said.changes
    if said.how == "reject":
        body["notes"] = "no"
    words = ""
    if approval["kind"] in operations.DOORS:
        [code] = [one.code for one in work.operations if one.number == approval["operation"]]
        words = operations.feedback(code, chances)
        path = f"{operations.AT}/{approval['operation']}/{operations.DOORS[approval['kind']]}"
        body = operations.body(approval["kind"], said, digest, words)
    # Noted before: whoever is cut off may have been heard.
    place = len(work.said)
    noted = Said(
        approval_id,
        who,
        said.how,
        None,
        digest,
        shown["content"],
        stale,
        changes=said.changes,
        possible=said.possible,
        feedback=words,
        own=approval["four_eyes"] and approval["requested_by"] == who and said.how == "approve",
    )
    work.said.append(noted)
    answer = await people.ask(who, "POST", path, body)
    if answer is None:
        return False
    work.said[place] = replace(noted, status=answer.status_code)
    return answer.status_code == 200


def _answer(
    kind: str, shown: dict[str, Any], chances: random.Random, *, careless: bool, yes: bool
) -> GateAnswer:
    if kind in gates.GATES:
        return gates.answer(kind, shown, chances, careless=careless)
    if kind in operations.DOORS:
        return operations.answer(kind, shown, chances, careless=careless, yes=yes)
    return GateAnswer(chances.choice(("approve", "approve", "approve", "reject")))


async def _pending(world: World, work: Work, only: str | None = None) -> list[dict[str, Any]]:
    return await world.rows(
        "SELECT p.id, p.kind, p.four_eyes, p.requested_by, a.id AS research, o.id AS operation"
        " FROM approvals p LEFT JOIN agent_workflows a USING (workflow_id)"
        " LEFT JOIN operations o USING (workflow_id)"
        " WHERE p.status = 'pending' AND p.workflow_id = ANY(%s) ORDER BY p.id",
        work.ids if only is None else [only],
    )
