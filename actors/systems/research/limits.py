"""Limits of a research: looked at when it begins, and before each call of a tool. Seed 002 §10.1.

The steps ask the meter before a page is fetched, a source is read for knowledge, or a section is written.
What it answers is kept with that piece of work, so that a research that is resumed has decided the same; the
meter is told of what was kept. A call that is under way counts as one; its tokens and seconds, once kept.
"""

import logging

from actors.platform.runtime.outage import waits_for
from actors.platform.runtime.run import Run
from models.config import PlanLimits
from models.error_lines import logged
from models.errors import Fenced, InputInvalid, JournalMismatch
from models.research.agent_workflows import AgentWorkflow, StartRequest
from models.research.limits import Limit, ReachedLimit, SpentSoFar
from models.store.research import spending

_log = logging.getLogger(__name__)
_PAGE = "page/"


def check_asked(request: StartRequest, limits: PlanLimits) -> None:
    """Whether a request asks for no more addresses than its topic's plan allows.

    One that does not say how many gets as many as there are by default, or as the plan allows.

    Raises:
        InputInvalid: it asks for more.
    """
    most = limits.max_urls
    if "max_urls" in request.config.model_fields_set and request.config.max_urls > most:
        raise InputInvalid(
            f"config.max_urls: {request.config.max_urls} are asked for, and this topic's plan allows {most}: "
            f"ask for {most} or fewer"
        )
    if (own := len(set(request.urls))) > most:
        raise InputInvalid(
            f"urls: {own} are given, and this topic's plan allows {most} (config.max_urls): give {most} or "
            "fewer"
        )


def reached(
    limits: PlanLimits, spent: SpentSoFar, *, calls: int, pages: int | None = None
) -> ReachedLimit | None:
    """The first limit that leaves no room for one more call.

    Args:
        calls: of tools, so far.
        pages: addresses that were asked for so far, where the call is for one.
    """
    used: list[tuple[Limit, float, float]] = [
        ("max_tool_calls", calls, limits.max_tool_calls),
        ("max_llm_tokens", spent.tokens, limits.max_llm_tokens),
        ("max_duration_seconds", spent.seconds, limits.max_duration_seconds),
    ]
    if pages is not None:
        used.insert(0, ("max_urls", pages, limits.max_urls))
    for limit, so_far, most in used:
        if so_far >= most:
            return ReachedLimit(limit=limit, reason=f"{limit} is used up: {so_far:.10g} of {most:.10g}")
    return None


class ResearchMeter:
    """What one research has used, and which limit it came to first (`limit`). For one run."""

    def __init__(self, run: Run, research: AgentWorkflow) -> None:
        self._run = run
        self._research = research
        self._calls: set[str] = set()
        self.limit: Limit | None = None

    @property
    def limits(self) -> PlanLimits:
        """Those of the topic's plan."""
        return self._run.config.research.limits.of(self._research.topic)

    async def stops(self, key: str) -> ReachedLimit | None:
        """The limit that leaves no room for the call under `key`; it counts, where there is room."""
        spent = await self.spent()
        # No more waiting from here on: of several that ask at once, each counts those before it.
        stop = reached(
            self.limits,
            spent,
            calls=len(self._calls - {key}),
            pages=sum(one.startswith(_PAGE) for one in self._calls - {key})
            if key.startswith(_PAGE)
            else None,
        )
        self.tell(key, stop.limit if stop else None)
        return stop

    def tell(self, key: str, limit: Limit | None) -> None:
        """What was decided on the call under `key`, now or in an earlier run."""
        if limit is None:
            self._calls.add(key)
        elif self.limit is None:
            self.limit = limit

    async def used_up(self) -> bool:
        """Whether a limit is reached, for what is no call of a tool but costs tokens."""
        return reached(self.limits, await self.spent(), calls=len(self._calls)) is not None

    async def spent(self) -> SpentSoFar:
        """What is kept so far."""
        return await self._run.database.read(lambda connection: spending.so_far(connection, self._research))


def own_failure(error: Exception, what: str) -> str:
    """Why a piece of work failed by itself, in words for people: the rest goes on without it.

    Raises:
        Exception: that error, where the work is not at fault: something is away, or it was stopped.
    """
    if isinstance(error, Fenced | JournalMismatch) or waits_for(error) is not None:
        raise error
    return logged(error, _log, what)
