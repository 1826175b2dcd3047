"""How long a step of an operation waits for servers that are away.

Part of `actors.systems.operations.steps`. It is counted from when one was first found away at this step: what
else was waited for before, as an agent or the model, is none of it.
"""

from actors.platform.runtime.run import Run
from models.errors import McpServerAway, NotSent
from models.llm import Answer
from models.runtime.steps import StepKept


class AwayTimeout:
    """One step's patience, of `operations.away_seconds`. Made before anything of the step is kept."""

    def __init__(self, run: Run, step: str) -> None:
        self._run = run
        self._key = f"away/{step}"
        self._begun = run.kept(self._key, StepKept) is not None

    @property
    def over(self) -> bool:
        """Whether a server that is away now has been waited for as long as it may take."""
        return self._begun and self._run.waited_seconds >= self._run.config.operations.away_seconds

    async def wait(self, away: McpServerAway | NotSent) -> None:
        """Raise it, for it is waited for; where this was the first look, time begins now."""

        async def begin() -> Answer[StepKept]:
            return Answer(value=StepKept())

        await self._run.once(self._key, StepKept, begin)
        raise away
