"""One claim being run: the workflow's input, its documents, and the agents it may call.

Nodes reach it through their context. `once` is how a step's outcome becomes durable: what is kept under a
key is never made again, whatever dies meanwhile. A graph is run from its start each time, so what decides
its way besides its state (a read of the database, time, chance) goes through `once` too.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from actors.platform import sending, tracing
from actors.platform.runtime.directory import Directory
from actors.platform.runtime.group_commit import JournalWriter
from actors.platform.runtime.replay import Replay
from models.config import Config
from models.errors import JournalMismatch
from models.llm import Answer, ModelCall
from models.runtime.workflows import Claim
from models.store.database import Connection, Database
from models.store.runtime import documents

R = TypeVar("R", bound=BaseModel)


class Passed(BaseModel):
    """A gate that a workflow has come by; its decision stands in its approval."""


class Run:
    """A claimed workflow under way. Writes raise Fenced once the claim is over."""

    def __init__(
        self,
        *,
        claim: Claim,
        config: Config,
        database: Database,
        directory: Directory,
        journal: JournalWriter,
        kept: Mapping[str, Any],
        forgotten: frozenset[str],
        added: frozenset[str],
    ) -> None:
        self.config = config
        self._directory = directory
        self._claim = claim
        self._database = database
        self._journal = journal
        self._kept = dict(kept)
        self.replay = Replay(kept.keys() - forgotten)
        self._added = added
        self._making: dict[str, asyncio.Lock] = {}
        # What it kept, and when (monotonic).
        self._kept_at: dict[str, float] = {}
        self._opened = sending.now()

    @classmethod
    async def open(
        cls,
        *,
        claim: Claim,
        config: Config,
        database: Database,
        directory: Directory,
        journal: JournalWriter,
        forgotten: frozenset[str],
        added: frozenset[str],
    ) -> "Run":
        """A run with the documents that earlier runs of the workflow left.

        Args:
            forgotten: keys of documents that the graph may leave alone.
            added: keys of documents that may be made before all that was kept is asked for.
        """
        kept: dict[str, Any] = {}
        if claim.epoch > 1:
            kept = await database.steadily(lambda: documents.get_all(database, claim.workflow_id))
        return cls(
            claim=claim,
            config=config,
            database=database,
            directory=directory,
            journal=journal,
            kept=kept,
            forgotten=forgotten,
            added=added,
        )

    @property
    def workflow_id(self) -> str:
        """The workflow's id."""
        return self._claim.workflow_id

    @property
    def input(self) -> dict[str, Any]:
        """What the workflow was asked to work on (JSON)."""
        return self._claim.input

    @property
    def created_at(self) -> datetime:
        """When the workflow was asked for."""
        return self._claim.created_at

    @property
    def requested_by(self) -> str:
        """Who asked for it."""
        return self._claim.requested_by

    @property
    def waited_seconds(self) -> float:
        """How long it was tried in vain before this run, pauses included; 0 once this run has got on."""
        return 0.0 if self.got_on else self._claim.waited_seconds

    @property
    def database(self) -> Database:
        """The runner's pool: for reading; what is written goes through `keep` and `effect`."""
        return self._database

    def agent(self, role: str) -> Any:
        """A stand-in for an agent: its verbs are awaited."""
        return self._directory.agent(role)

    @property
    def asked(self) -> bool:
        """Whether people were asked for anything in it: before the claim, or at a gate that is kept."""
        return self._claim.asked or any(key.startswith(documents.GATE_PREFIX) for key in self._kept)

    @property
    def kept_at(self) -> float | None:
        """When it kept something last that still stands (monotonic)."""
        return max(self._kept_at.values(), default=None)

    @property
    def got_on(self) -> bool:
        """Whether it has kept something that earlier runs had not."""
        return bool(self._kept_at)

    async def once(self, key: str, type_: type[R], make: Callable[[], Awaitable[Answer[R]]]) -> R:
        """What is kept under `key`; made and kept first, with its model calls, if nothing is.

        Raises:
            Fenced: the workflow was stopped or taken over; nothing was kept.
            JournalMismatch: what is kept is not of this type, or the graph passes over what was kept.
        """
        if key not in self._kept:
            await self._come_to_what_is_new(key)
            # Two nodes of one superstep may ask for the same step.
            async with self._making.setdefault(key, asyncio.Lock()):
                if key not in self._kept:
                    begun = time.monotonic()
                    with tracing.span("step", {"signoff.step": key}):
                        answer = await make()
                        tracing.tell_calls(answer.calls)
                    took = time.monotonic() - begun
                    await self.keep(key, answer.value, calls=answer.calls, seconds=took)
        return self._read(key, type_)

    async def keep(
        self, key: str, value: BaseModel, *, calls: Sequence[ModelCall] = (), seconds: float | None = None
    ) -> None:
        """Keep a document under `key`, where nothing was kept before, by `documents.put`.

        Args:
            seconds: how long it took to make, where that is to be counted.

        Raises:
            Fenced: the workflow was stopped or taken over; nothing was kept.
        """
        text = value.model_dump_json()
        told = json.dumps([call.model_dump() for call in calls]) if calls else None
        await self._journal.put(
            documents.NewDocument(
                claim=self._claim, key=key, value=text, calls=told, seconds=seconds, first=not self.got_on
            )
        )
        self._kept[key] = json.loads(text)
        self._kept_at[key] = time.monotonic()

    async def effect(self, key: str, type_: type[R], act: Callable[[Connection], Awaitable[R]]) -> R:
        """Do `act` in one transaction with keeping its outcome under `key`: once, whatever dies.

        Raises:
            Fenced: the workflow was stopped or taken over; nothing was done.
            JournalMismatch: what is kept is not of this type, or the graph passes over what was kept.
        """

        async def attempt() -> Any:
            return await documents.effect(
                self._database, self._claim, key=key, act=act, first=not self.got_on
            )

        if key not in self._kept:
            await self._come_to_what_is_new(key)
            with tracing.span("step", {"signoff.step": key}):
                self._kept[key] = await self._database.steadily(attempt)
            self._kept_at[key] = time.monotonic()
        return self._read(key, type_)

    async def take_back(self, key: str, act: Callable[[Connection], Awaitable[None]]) -> None:
        """Do `act` in one transaction with taking back what is kept under `key`: it did not come to be.

        For a note that something is about to be sent, once the process that was to send it has said that it
        did not: no more has been got on by it. Raises Fenced.
        """

        async def attempt() -> None:
            await documents.take_back(self._database, self._claim, key=key, act=act)

        await self._database.steadily(attempt)
        del self._kept[key], self._kept_at[key]

    async def outlast_senders(self) -> None:
        """Wait until nothing can go out any more that was sent under claims before this one."""
        await asyncio.sleep(max(0.0, self._opened + sending.SECONDS - sending.now()))

    async def pass_gate(self, gate: str) -> None:
        """Keep that the graph has come by a gate and been given its decision."""
        if (key := f"{documents.GATE_PREFIX}{gate}") not in self._kept:
            await self.keep(key, Passed())

    def kept(self, key: str, type_: type[R]) -> R | None:
        """What is kept under `key`, or None. Raises JournalMismatch where it is not of this type."""
        return self._read(key, type_) if key in self._kept else None

    async def _come_to_what_is_new(self, key: str) -> None:
        """Wait until the graph has asked for all that earlier runs left; nodes do so side by side.

        Raises:
            JournalMismatch: it does not, so nothing new may be done.
        """
        patient = True
        while not self.replay.over and key not in self._added:
            if await self.replay.moves():
                continue
            if not patient:
                self.replay.check()
            # A node that reads while Postgres is away is late, and has passed over nothing.
            await self._database.steadily(self._database.ping)
            patient = False

    def _read(self, key: str, type_: type[R]) -> R:
        self.replay.read(key)
        try:
            return type_.model_validate(self._kept[key])
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in fault["loc"]) or "document"
            raise JournalMismatch(
                f"step {key} was kept as something else than this release's {type_.__name__} "
                f"({where}: {fault['msg']}): run the release that began the workflow, or stop it"
            ) from error
