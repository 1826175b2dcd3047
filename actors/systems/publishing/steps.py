"""The side effects of publishing, each one transaction under its step's idempotency key."""

from dataclasses import dataclass

from actors.platform.runtime.run import Run
from models.record import Record
from models.store import approval_inbox
from models.store.content import publishing
from models.store.database import Connection

_REASONS = {
    "rejected": "rejected: {notes}",
    "expired": "the request expired before it was decided",
    "void": "the article was changed after publication was asked for",
}


class StepOutcome(Record):
    """What a step came to; it is kept so that the step is done once."""

    done: bool


@dataclass(frozen=True)
class PublishingSteps:
    """The context of the publish graph's nodes."""

    run: Run
    approval_id: str

    @classmethod
    async def load(cls, run: Run) -> "PublishingSteps":
        """The steps of a publication: its approval was written together with it."""
        return await run.database.read(lambda connection: cls.load_in(connection, run))

    @classmethod
    async def load_in(cls, connection: Connection, run: Run) -> "PublishingSteps":
        """The same, in the caller's transaction."""
        [approval] = await approval_inbox.of_workflow(connection, run.workflow_id)
        return cls(run=run, approval_id=approval.id)

    @property
    def article_id(self) -> int:
        """The article that is to be published."""
        return int(self.run.input["article_id"])

    async def publish(self) -> None:
        """Publish exactly what was approved.

        Raises:
            ArticleConflict: the article is not that any more.
        """

        async def act(connection: Connection) -> StepOutcome:
            await publishing.publish(
                connection, self.article_id, self.approval_id, settings=self.run.config.publishing
            )
            return StepOutcome(done=True)

        await self.run.effect("publish", StepOutcome, act)

    async def give_back(self, decision: str) -> None:
        """Return the article to its editor, saying why."""

        async def act(connection: Connection) -> StepOutcome:
            approval = await approval_inbox.get(connection, self.approval_id)
            reason = _REASONS[decision].format(notes=approval.notes)
            return StepOutcome(done=await self._give_back(connection, reason))

        await self.run.effect("give_back", StepOutcome, act)

    async def fail(self, connection: Connection, reason: str) -> None:
        """Return the article to its editor, because it can't be published though it was approved."""
        if await self._give_back(connection, reason):
            await publishing.notify_people(connection, self.article_id, self.approval_id, stopped=reason)

    async def notify(self) -> None:
        """Tell whoever asked, and the author, what became of it."""

        async def act(connection: Connection) -> StepOutcome:
            await publishing.notify_people(connection, self.article_id, self.approval_id)
            return StepOutcome(done=True)

        await self.run.effect("notify", StepOutcome, act)

    async def _give_back(self, connection: Connection, reason: str) -> bool:
        return await publishing.give_back(
            connection, self.article_id, self.approval_id, reason=reason, settings=self.run.config.publishing
        )
