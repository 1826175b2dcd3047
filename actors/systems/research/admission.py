"""Which addresses may be read, by whose word, and their reading. Seed 002 §5 (nodes 3 to 5), §8.2.

Called by the graph. What was approved is read, as it was approved, and nothing else; a person may give
something in place of what can't be read.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from actors.platform.runtime.concurrency import gather_all
from actors.platform.runtime.run import Run
from actors.systems.research.limits import ResearchMeter
from actors.systems.research.page_fetching import PageReadings, read_ones
from models.record import Record
from models.research.agent_workflows import AgentWorkflow, ResearchOptions, Step
from models.research.url_lists import (
    ApprovedUrl,
    ApprovedUrls,
    GivenInstead,
    PageOutcome,
    UnreadableList,
    UrlList,
)
from models.runtime.approvals import GateDecision
from models.runtime.steps import StepKept
from models.store import approval_inbox
from models.store.database import Connection
from models.store.research import candidates, progress
from models.text import how_many

_PAGES_AT_ONCE = 4
# Gates that don't stand where a person said at that of addresses that no more is to be asked.
_LATER_GATES: tuple[Step, ...] = (
    "await_unreadable_review",
    "await_category_review",
    "await_final_review",
)


class InsteadKept(Record):
    """What was let in in place of addresses that can't be read, and who gave it where that is not said."""

    approved: ApprovedUrls
    given_by: str


@dataclass(frozen=True)
class UrlAdmission:
    """The addresses of one research."""

    run: Run
    research: AgentWorkflow
    meter: ResearchMeter

    @cached_property
    def _readings(self) -> PageReadings:
        return PageReadings(run=self.run, research=self.research, meter=self.meter)

    async def admit(self, shown: UrlList, decision: GateDecision | None) -> ApprovedUrls:
        """Keep which addresses may be read: those that were approved, as they were approved, and no others.

        Args:
            decision: None where no gate stands: then all may.
        """

        async def act(connection: Connection) -> ApprovedUrls:
            approved = shown
            if decision is not None:
                approval = await approval_inbox.get(connection, decision.approval_id)
                # What is read is what the digest of the decision covers.
                approved = UrlList.model_validate(approval.subject)
                await candidates.put(connection, self.research.id, approved.urls)
            is_yes = decision is None or decision.status == "approved"
            urls = tuple(ApprovedUrl(number=url.number, url=url.url) for url in approved.urls if is_yes)
            await candidates.decide(
                connection,
                self.research.id,
                urls,
                decided_by=None if decision is None else decision.decided_by,
                approval_id=None if decision is None else decision.approval_id,
            )
            if not approved.config.require_approval:
                await progress.skip(connection, self.research.id, _LATER_GATES)
            if decision is not None:
                await progress.finish(
                    connection,
                    self.research.id,
                    "await_user_review",
                    result={"decision": decision.status, "approved": len(urls)},
                )
            return ApprovedUrls(
                urls=urls,
                config=approved.config,
                approval_id=None if decision is None else decision.approval_id,
                decided_by=None if decision is None else decision.decided_by,
            )

        return await self.run.effect("approved", ApprovedUrls, act)

    async def scrape(self, approved: ApprovedUrls) -> tuple[PageOutcome, ...]:
        """Read all approved addresses, some at a time; one that fails holds up no other."""
        if approved.urls:
            await self._readings.begin()
        outcomes = await self._read_all(approved, approved.decided_by or self.research.requested_by)

        async def act(connection: Connection) -> StepKept:
            count = len(read_ones(outcomes))
            pages = how_many(len(outcomes), "page")
            await progress.say(
                connection,
                self.research.id,
                agent="scraper",
                step="scrape_urls",
                content=f"{count} of {pages} {'was' if count == 1 else 'were'} read",
                reasoning="; ".join(f"{one.url}: {one.fault}" for one in outcomes if one.fault)
                or "none was refused",
            )
            await progress.finish(connection, self.research.id, "scrape_urls", result={"read": count})
            return StepKept(count=count)

        await self.run.effect("scraped", StepKept, act)
        return tuple(outcomes)

    async def _read_all(self, approved: ApprovedUrls, whose: str) -> list[PageOutcome]:
        room = asyncio.Semaphore(_PAGES_AT_ONCE if approved.config.scrape_parallel else 1)

        async def one(url: ApprovedUrl) -> PageOutcome:
            async with room:
                return await self._readings.read(url, whose=whose)

        return await gather_all(one(url) for url in approved.urls)

    async def replace(
        self, decision: GateDecision, round_: int, options: ResearchOptions
    ) -> tuple[PageOutcome, ...]:
        """Take what a person gave in place of addresses that could not be read; what came of it.

        Whatever else was decided, the work goes on without them. Under four eyes one person gives them, and
        another lets them in.
        """
        by = decision.decided_by or self.research.requested_by
        instead: tuple[GivenInstead, ...] = ()
        addresses: Mapping[int, str] = {}
        if decision.status == "approved" and decision.amended is not None:
            given = UnreadableList.model_validate(decision.amended)
            instead, addresses = given.instead, {one.number: one.url for one in given.unreadable}

        async def act(connection: Connection) -> InsteadKept:
            approval = await approval_inbox.get(connection, decision.approval_id)
            urls = await candidates.put_instead(
                connection,
                self.research.id,
                [(one.number, self._readings.one_form(one.url)) for one in instead if one.url is not None],
                decided_by=by,
                approval_id=decision.approval_id,
            )
            approved = ApprovedUrls(urls=urls, config=options, approval_id=approval.id, decided_by=by)
            return InsteadKept(approved=approved, given_by=approval.amended_by or by)

        kept = await self.run.effect(f"instead/{round_}", InsteadKept, act)
        texts = await gather_all(
            self._readings.keep_pasted(
                ApprovedUrl(number=one.number, url=addresses[one.number]),
                one.pasted,
                round_=round_,
                by=one.by or kept.given_by,
            )
            for one in instead
            if one.pasted is not None
        )
        read = await self._read_all(kept.approved, by)
        return (*texts, *read)
