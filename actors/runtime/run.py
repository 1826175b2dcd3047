"""One claim being run: the workflow's input, its documents, and the agents it may call.

Nodes reach it through their context. `once` is how a step's outcome becomes durable: what is kept
under a key is never made again, whatever dies meanwhile.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel

from actors.runtime.directory import Directory
from models.config import Config
from models.llm import Answer, ModelCall
from models.store import approval_inbox, documents
from models.store.database import Connection, Database
from models.workflows import Claim

R = TypeVar("R", bound=BaseModel)


class Run:
    """A claimed workflow under way. Writes raise Fenced once the claim is over."""

    def __init__(
        self,
        *,
        claim: Claim,
        config: Config,
        database: Database,
        directory: Directory,
        kept: dict[str, Any],
    ) -> None:
        self.config = config
        self.directory = directory
        self._claim = claim
        self._database = database
        self._kept = kept

    @classmethod
    async def open(cls, *, claim: Claim, config: Config, database: Database, directory: Directory) -> "Run":
        """A run with the documents that earlier runs of the workflow left."""
        kept: dict[str, Any] = {}
        if claim.epoch > 1:
            kept = await database.steadily(lambda: documents.get_all(database, claim.workflow_id))
        return cls(claim=claim, config=config, database=database, directory=directory, kept=kept)

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
    def database(self) -> Database:
        """The runner's pool: for reading; what is written goes through `keep` and `effect`."""
        return self._database

    async def once(self, key: str, type_: type[R], make: Callable[[], Awaitable[Answer[R]]]) -> R:
        """What is kept under `key`; made and kept first, with its model calls, if nothing is.

        Raises:
            Fenced: the workflow was cancelled or taken over; nothing was kept.
        """
        if key not in self._kept:
            answer = await make()
            await self.keep(key, answer.value, calls=answer.calls)
        return type_.model_validate(self._kept[key])

    async def keep(self, key: str, value: BaseModel, *, calls: Sequence[ModelCall] = ()) -> None:
        """Keep a document under `key`, where nothing was kept before."""
        data = value.model_dump(mode="json")
        await self._database.steadily(
            lambda: documents.put(self._database, self._claim, key=key, value=data, calls=calls)
        )
        self._kept[key] = data

    async def effect(self, key: str, type_: type[R], act: Callable[[Connection], Awaitable[R]]) -> R:
        """Do `act` in one transaction with keeping its outcome under `key`: once, whatever dies.

        Raises:
            Fenced: the workflow was cancelled or taken over; nothing was done.
        """

        async def attempt() -> Any:
            return await documents.effect(self._database, self._claim, key=key, act=act)

        if key not in self._kept:
            self._kept[key] = await self._database.steadily(attempt)
        return type_.model_validate(self._kept[key])

    async def asked_for(self) -> str:
        """The id of the approval that was written together with this workflow."""

        async def look() -> str:
            async with self._database.connection() as connection:
                [approval] = await approval_inbox.of_workflow(connection, self._claim.workflow_id)
                return approval.id

        return await self._database.steadily(look)

    def kept(self, key: str, type_: type[R]) -> R | None:
        """What is kept under `key`, or None."""
        return type_.model_validate(self._kept[key]) if key in self._kept else None
