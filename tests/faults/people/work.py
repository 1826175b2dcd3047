"""What a run of the campaign asks the site for, and the people who decide: over HTTP, as people do.

What was answered with 2xx is written down; the checks hold the site to it.
"""

import asyncio
import json
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any, Literal

import httpx2

from cluster.cli.tokens import mint_token
from models.errors import ApprovalConflict, WorkflowEnded
from models.people.scopes import read_scopes
from models.runtime.approvals import Approval
from models.runtime.workflows import ENDED_STATUSES, WorkflowRequest
from models.store import approvals, decisions
from models.store.database import GONE
from models.store.runtime import documents, workflows
from tests.faults.people import batches, deep, knowledge, operations
from tests.faults.people.batches import Batch, topic_of
from tests.faults.people.deep import DeepResearch
from tests.faults.people.gates import How
from tests.faults.people.knowledge import KnowledgeBatch
from tests.faults.people.operations import BegunOperation
from tests.faults.site.kinds import GATE, plan
from tests.faults.site.world import World
from tests.integration.chat.sites.chat_site import events_of

DECIDERS = ("bob", "cleo", "dan")
_SCOPES: dict[str, tuple[str, ...]] = {
    "ann": ("macro:analyst",),
    "eve": ("macro:editor",),
    "root": ("global:admin",),
}
# A gate of a research is shown to those of its topic; what was written is published by any editor.
_SCOPES |= dict.fromkeys(DECIDERS, ("global:editor", "macro:analyst"))
_EDITOR = read_scopes(["global:editor"])
_STEPS = 12
# About how long a march takes, and how long at most until one asks for its decision while all is well.
_MARCH_SECONDS = 2.5
_BETWEEN_STOPS = 0.03
_ASKED_SECONDS = 6.0
_NOT_THERE = ("queued", "running")


@dataclass(frozen=True)
class Said:
    """A decision that was sent, and its answer's status; None: no answer came.

    `digest` was sent; `shown` is the content that the person had been shown before. A `stale` one was sent
    for something else than was shown. `changes` went with it; such as can't be made are not `possible`.
    `feedback` are the words that went with it, which nobody else said; empty: none. `own`: a yes to what he
    asked for himself, and others are to approve.
    """

    approval_id: str
    who: str
    decision: How
    status: int | None
    digest: str
    shown: dict[str, Any] | None
    stale: bool = False
    changes: dict[str, Any] = field(default_factory=dict)
    possible: bool = True
    feedback: str = ""
    own: bool = False


@dataclass(frozen=True)
class Stopped:
    """A research that was stopped while it read: its pages, and when the answer to that came."""

    workflow_id: str
    pages: frozenset[str]
    at: float


@dataclass
class Work:
    """What a run has asked for. `cancelled`: stopped with a 2xx; `mended`: failed with these documents, and
    begun again; `let_pass`: approvals whose time was let pass; `cancelled_at`: when that of an operation was
    answered; `numbers` tell its batches apart."""

    run: int
    ids: list[str] = field(default_factory=list)
    articles: list[int] = field(default_factory=list)
    researches: list[str] = field(default_factory=list)
    deep: list[DeepResearch] = field(default_factory=list)
    operations: list[BegunOperation] = field(default_factory=list)
    operations_asked: int = 0
    cancelled: set[str] = field(default_factory=set)
    cancelled_at: dict[str, float] = field(default_factory=dict)
    stopped: list[Stopped] = field(default_factory=list)
    let_pass: set[str] = field(default_factory=set)
    said: list[Said] = field(default_factory=list)
    mended: dict[str, dict[str, Any]] = field(default_factory=dict)
    batches: list[Batch] = field(default_factory=list)
    knowledge: list[KnowledgeBatch] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)

    @property
    def drivers(self) -> list[str]:
        """The names of the drivers of its batches."""
        return [batch.name for batch in (*self.batches, *self.knowledge)]


class People:
    """Those who use the site. Nobody gives up because a replica is away."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._http = httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{world.port}", trust_env=False, timeout=httpx2.Timeout(8.0)
        )

    async def close(self) -> None:
        """Hang up."""
        await self._http.aclose()

    async def ask(self, who: str, method: str, path: str, body: Any = None) -> httpx2.Response | None:
        """One request; None if no answer came, or the site said that it is away, or asked too much."""
        headers = {"Authorization": f"Bearer {self._token(who)}"}
        try:
            answer = await self._http.request(method, path, json=body, headers=headers)
        except httpx2.TransportError:
            return None
        return None if answer.status_code >= 500 or answer.status_code == 429 else answer

    async def chat(self, who: str, body: dict[str, Any], *, stream: bool) -> tuple[int | None, Any]:
        """One message to the chat: the status of its answer, and what was told; None if it was cut off."""
        headers = {"Authorization": f"Bearer {self._token(who)}"}
        try:
            if not stream:
                answer = await self._http.post("/api/chat", json=body, headers=headers)
                return answer.status_code, answer.json()
            body = {**body, "stream": True}
            async with self._http.stream("POST", "/api/chat", json=body, headers=headers) as answer:
                if answer.status_code != 200:
                    return answer.status_code, json.loads(await answer.aread())
                async for name, told in events_of(answer):
                    if name in ("done", "error"):
                        return 200 if name == "done" else told["status"], told
        except httpx2.TransportError:
            pass
        return None, None

    def _token(self, who: str) -> str:
        scopes = _SCOPES.get(who, ("global:editor",))
        return mint_token(
            self.world.config.auth, user=who, scopes=scopes, now=datetime.now(UTC), decides=True
        )

    async def insist(
        self, who: str, path: str, body: Any = None, *, method: Literal["GET", "POST"] = "POST"
    ) -> httpx2.Response:
        """The same request until it is answered."""
        while True:
            if (answer := await self.ask(who, method, path, body)) is not None:
                return answer
            await asyncio.sleep(0.2)

    async def march(self, work: Work, rng: random.Random, **more: Any) -> str:
        """Begin a march; its id."""
        return await self._begin(work, self._march(work, rng, **more))

    async def asked_march(self, work: Work, rng: random.Random) -> bool:
        """Begin a march together with its approval, and decide at once, perhaps before its gate; or just when
        it stands there, and its runner may not have heard yet that it does.

        Returns:
            Whether the decision was taken.
        """
        request = self._march(
            work, rng, gated=True, asked=True, steps=1, step_seconds=0.02, after_seconds=1.2
        ).model_copy(update={"requested_by": "ann"})
        database = self.world.database
        asked = plan(request.input)

        async def begin() -> tuple[str, Approval]:
            async with database.transaction() as connection:
                workflow = await workflows.create(connection, request)
                return workflow.id, await approvals.ask(
                    connection, workflow.id, GATE, asked, requested_by="ann"
                )

        # Where the answer is lost it is begun once more: only what was acknowledged is looked at.
        workflow_id, approval = await database.steadily(begin)
        work.ids.append(workflow_id)
        if rng.random() < 0.5:
            await self._stands(workflow_id)
        else:
            await asyncio.sleep(rng.uniform(0, 0.15))
        answer = {"decision": "approve", "digest": approval.digest}
        status = None
        try:
            await decisions.decide(
                database, approval_id=approval.id, answer=answer, decided_by="bob", scopes=_EDITOR
            )
            status = 200
        except ApprovalConflict:
            status = 409
        except GONE:
            pass
        work.said.append(Said(approval.id, "bob", "approve", status, approval.digest, approval.content))
        return status == 200

    async def _stands(self, workflow_id: str) -> None:
        """Wait until a workflow stands at its gate; not for long, as anything may be away."""
        status = "SELECT status FROM workflows WHERE id = %s"
        with suppress(TimeoutError):
            async with asyncio.timeout(_ASKED_SECONDS):
                while (await self.world.rows(status, workflow_id))[0]["status"] in _NOT_THERE:  # noqa: ASYNC110
                    await asyncio.sleep(0.005)

    def _march(self, work: Work, rng: random.Random, **more: Any) -> WorkflowRequest:
        given = {
            "name": f"march {len(work.ids)} of run {work.run}, {rng.randrange(10**9)}",
            "trace": str(self.world.trace.path),
            "folder": str(self.world.output),
            "steps": _STEPS,
            "step_seconds": round(rng.uniform(0.05, 0.4), 3),
            "after_seconds": 0.1,
            "act_seconds": 0.0,
            "gated": False,
            "quorum": 1,
            "asked": False,
            "asks": False,
            "readers": 0,
            "fails_until": "",
            **more,
        }
        # One of them decides, too: on what others asked for.
        asks = rng.choice(("ann", "ann", DECIDERS[0]))
        return WorkflowRequest(kind="march", input=given, input_digest="d", requested_by=asks)

    async def topic(self, work: Work, number: int) -> str:
        """Begin an editorial topic; its workflow's id."""
        given = topic_of(f"topic-{work.run}-{number}")
        request = WorkflowRequest(kind="editorial", input=given, input_digest="d", requested_by="ann")
        return await self._begin(work, request)

    async def batch(self, work: Work, name: str, topics: int) -> Batch:
        """Submit a batch of topics."""
        slugs = [f"{name}-{number}" for number in range(topics)]
        batch = await asyncio.to_thread(batches.submit, self.world, name, slugs)
        work.batches.append(batch)
        return batch

    async def knowledge(self, work: Work) -> KnowledgeBatch:
        """Submit pages to be scraped, indexed and extracted."""
        batch = await asyncio.to_thread(knowledge.submit, self.world, work.run, next(work.numbers))
        work.knowledge.append(batch)
        return batch

    async def look_up(self, work: Work) -> None:
        """Take note of what was begun by others in the name of the run."""
        for batch in work.batches:
            found = await batches.workflows_of(self.world, batch)
            work.ids += [w["id"] for w in found if w["id"] not in work.ids]
        query = "SELECT w.id FROM workflows w JOIN sources s ON w.key = 'extraction:' || s.id"
        query += " WHERE s.url = ANY(%s)"
        found = await self.world.rows(query, [url for batch in work.knowledge for url in batch.urls])
        work.ids += [w["id"] for w in found if w["id"] not in work.ids]
        query = "SELECT workflow_id FROM approvals WHERE about = ANY(%s)"
        found = await self.world.rows(query, [f"article:{number}" for number in work.articles])
        work.ids += [a["workflow_id"] for a in found if a["workflow_id"] not in work.ids]

    async def research(self, work: Work) -> None:
        """Ask for a research."""
        body = {"topic": "macro", "query": f"rates in run {work.run}"}
        answer = await self.insist("ann", "/api/tools/research/article", body)
        assert answer.status_code == 200, answer.text
        work.researches.append(answer.json()["task_id"])
        work.ids.append(answer.json()["task_id"])

    async def publication(self, work: Work) -> None:
        """Write an article, and ask for its publication."""
        number = await self.article(work, "tools")
        await self.insist("eve", f"/api/tools/articles/{number}/publish", {})
        [row] = await self.world.rows("SELECT workflow_id FROM articles WHERE id = %s", number)
        assert row["workflow_id"], f"article {number} was not put up for publication"
        work.ids.append(row["workflow_id"])

    async def article(self, work: Work, by: str) -> int:
        """Write an article, and hand it to its editors; its number."""
        given = {"topic": "macro", "headline": f"Run {work.run}, by {by}"}
        number: int = (await self.insist("ann", "/api/tools/articles/create", given)).json()["article_id"]
        path = f"/api/tools/articles/{number}"
        await self.insist("ann", f"{path}/write", {"content": f"The Fed held rates, in run {work.run}."})
        # A request whose answer was lost has been done; the next one is told so with 409.
        await self.insist("ann", f"{path}/submit", {})
        work.articles.append(number)
        return number

    async def broken_march(self, work: Work, rng: random.Random) -> None:
        """Begin a march, one step of which fails; mend what was wrong, and begin it again from there."""
        mended = self.world.folder / f"mended-{work.run}"
        workflow_id = await self.march(work, rng, fails_until=str(mended), step_seconds=0.05)
        status = "SELECT status FROM workflows WHERE id = %s"
        while (await self.world.rows(status, workflow_id))[0]["status"] not in ENDED_STATUSES:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        database = self.world.database
        kept = await database.steadily(lambda: documents.get_all(database, workflow_id))
        mended.touch()
        # 409: it was stopped before it failed, or the answer to the first request was lost.
        await self.insist("root", f"/api/workflows/{workflow_id}/retry")
        work.mended[workflow_id] = kept

    async def cancel(self, work: Work, rng: random.Random) -> bool:
        """Stop a workflow that is under way, or one that was just begun; whether that was acknowledged."""
        found = await self.world.rows(
            "SELECT id, kind FROM workflows WHERE id = ANY(%s) AND NOT status = ANY(%s) ORDER BY created_at",
            work.ids,
            list(ENDED_STATUSES),
        )
        if found:
            chosen = rng.choice(found)
        else:
            chosen = {"id": await self.march(work, rng, gated=rng.random() < 0.3), "kind": "march"}
            await asyncio.sleep(rng.uniform(0, _MARCH_SECONDS))
        # A march is nobody's task: whoever looks after workflows stops it.
        who, path, body = "root", f"/api/tasks/{chosen['id']}/cancel", {}
        if chosen["kind"] == "march":
            path, body = f"/api/workflows/{chosen['id']}/cancel", {"reason": "cancelled"}
        elif chosen["kind"] == "research":
            [number] = [one.number for one in work.deep if one.workflow_id == chosen["id"]]
            who, path, body = "ann", f"{deep.AT}/{number}/stop", {"reason": "cancelled"}
        elif chosen["kind"] == "operation":
            [number] = [one.number for one in work.operations if one.workflow_id == chosen["id"]]
            who, path, body = "ann", f"{operations.AT}/{number}/cancel", {"reason": "cancelled"}
        answer = await self.ask(who, "POST", path, body)
        if answer is None or answer.status_code != 200:
            return False
        work.cancelled.add(chosen["id"])
        work.cancelled_at[chosen["id"]] = time.time()
        return True

    async def stop_march(self, work: Work, march: str) -> bool:
        """Stop a march; whether that was acknowledged, and not too late."""
        answer = await self.ask("root", "POST", f"/api/workflows/{march}/cancel", {"reason": "cancelled"})
        if answer is None or answer.status_code != 200:
            return False
        work.cancelled.add(march)
        return True

    async def stop_all(self, work: Work, rng: random.Random, marches: Sequence[str]) -> bool:
        """Stop marches one after the other, past the door and its limits; whether one was not over."""
        stopped = False
        for march in marches:
            with suppress(WorkflowEnded, *GONE):
                async with self.world.database.transaction() as connection:
                    await workflows.cancel(connection, march, reason="cancelled by root")
                work.cancelled.add(march)
                stopped = True
            await asyncio.sleep(rng.uniform(0, _BETWEEN_STOPS))  # its runner hears of each
        return stopped

    async def _begin(self, work: Work, request: WorkflowRequest) -> str:
        async def begin() -> str:
            async with self.world.database.transaction() as connection:
                return (await workflows.create(connection, request)).id

        workflow_id = await self.world.database.steadily(begin)
        work.ids.append(workflow_id)
        return workflow_id


async def begin(people: People, work: Work, rng: random.Random) -> None:
    """A handful of everything."""
    for number in range(6):
        await people.march(work, rng, gated=number < 2, quorum=1 + number % 2, asks=number in (2, 3))
    await people.batch(work, f"batch-{work.run}", 2)
    await people.topic(work, 0)
    await asyncio.gather(people.research(work), people.publication(work))
