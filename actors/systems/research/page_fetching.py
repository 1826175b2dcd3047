"""Reading of approved addresses: each is fetched once, and what came of it is kept with its source.

Called by the steps. No other page is ever asked for: the scraper is given the place of each page, and goes
nowhere else. Hosts are asked for their robots.txt, and followed where they redirect that, as RFC 9309 has it.
What a project holds is not fetched again. Seed 002 §5, §7.2 (ScraperAgent).
"""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from actors.platform.runtime.run import Run
from actors.platform.web.page_urls import page_url
from actors.systems.knowledge.parsing.page_reading import PageReading, UnreadablePage
from actors.systems.research.limits import ResearchMeter, own_failure
from models.errors import PageFailed
from models.knowledge.page_keys import page_key
from models.knowledge.pages import PageText, ScrapedPage
from models.knowledge.reach import PageReach
from models.knowledge.sources import KnowledgeSource
from models.record import Record
from models.research.agent_workflows import AgentWorkflow
from models.research.limits import ReachedLimit
from models.research.url_lists import ApprovedUrl, PageOutcome, PastedText
from models.store.database import Connection
from models.store.knowledge import sources
from models.store.research import candidates, progress
from models.store.runtime import batches


class ReadingBatch(Record):
    """Under which id the addresses of a research are claimed."""

    batch_id: str


@dataclass(frozen=True)
class PageReadings:
    """The readings of one research."""

    run: Run
    research: AgentWorkflow
    meter: ResearchMeter

    async def begin(self) -> ReadingBatch:
        """Get an id to claim addresses under: each is claimed and settled in one transaction."""

        async def act(connection: Connection) -> ReadingBatch:
            batch_id = await batches.begin_in(
                connection, requested_by=self.research.requested_by, lease_seconds=0
            )
            return ReadingBatch(batch_id=batch_id)

        return await self.run.effect("reading", ReadingBatch, act)

    async def read(self, url: ApprovedUrl, *, whose: str) -> PageOutcome:
        """Fetch an address, unless the project holds it; what came of it. Where a limit is reached, neither.

        Args:
            whose: the person who let it in.

        Raises:
            Fenced: the research was stopped; nothing was kept.
        """
        key = f"page/{url.number}"
        if (kept := self.run.kept(key, PageOutcome)) is not None:
            self.meter.tell(key, kept.limit)
            return kept
        batch = await self.begin()
        if (stop := await self.meter.stops(key)) is not None:
            return await self._left(url, stop)
        held = await self._held(url.url)
        began = time.monotonic()
        page = None
        # A text that somebody gave under an address is not what stands there.
        if held is None or held.text is None or held.engine is None:
            page = await self._scraped(url.url)
        seconds = time.monotonic() - began

        async def act(connection: Connection) -> PageOutcome:
            source = await self._kept(connection, batch, url.url, page)
            outcome = _outcome(url, source, page)
            await candidates.settle(connection, self.research.id, outcome, text_sha256=_digest(source))
            await progress.tell_tool(
                connection,
                self.research.id,
                tool="scrape_urls",
                agent="scraper",
                given={"url": url.url, "approved_by": whose},
                answer={"source_id": outcome.source_id, "known_before": page is None},
                error=None if outcome.fault is None else f"{outcome.fault}: {outcome.reason}",
                seconds=seconds,
            )
            return outcome

        return await self.run.effect(key, PageOutcome, act)

    async def _left(self, url: ApprovedUrl, stop: ReachedLimit) -> PageOutcome:
        async def act(connection: Connection) -> PageOutcome:
            outcome = PageOutcome(number=url.number, url=url.url, fault=stop.limit, reason=stop.reason)
            await candidates.settle(connection, self.research.id, outcome, text_sha256=None)
            return outcome

        return await self.run.effect(f"page/{url.number}", PageOutcome, act)

    async def keep_pasted(self, url: ApprovedUrl, text: PastedText, *, round_: int, by: str) -> PageOutcome:
        """Keep a text that a person gave in place of an address, without its personal data, as a source.

        What a person has taken the trouble to give is taken, whatever else was used up. One that can't be
        read, or holds nothing, leaves the address as one that can't be read.

        Args:
            round_: of the gate at which it was given; `by`: who gave it.
        """
        key, number = f"pasted/{url.number}/{round_}", url.number
        self.meter.tell(key, None)
        if (kept := self.run.kept(key, PageOutcome)) is not None:
            return kept
        batch = await self.begin()
        began = time.monotonic()
        digest = hashlib.sha256(text.text.encode()).hexdigest()
        page = await self._read_pasted(text, f"urn:sha256:{digest}", by)
        seconds = time.monotonic() - began

        async def act(connection: Connection) -> PageOutcome:
            source = await self._kept(connection, batch, page.url, page) if page.fault is None else None
            outcome = _outcome(ApprovedUrl(number=number, url=page.url), source, page)
            if outcome.source_id is None:  # the address is as unread as it was
                outcome = outcome.model_copy(update={"url": url.url})
            else:
                await candidates.settle(
                    connection, self.research.id, outcome, text_sha256=_digest(source), pasted_by=by
                )
            await progress.tell_tool(
                connection,
                self.research.id,
                tool="save_to_database",
                agent="scraper",
                given={"number": number, "pasted_by": by, "sha256": digest},
                answer={"source_id": outcome.source_id},
                error=None if outcome.fault is None else f"{outcome.fault}: {outcome.reason}",
                seconds=seconds,
            )
            return outcome

        return await self.run.effect(key, PageOutcome, act)

    async def _read_pasted(self, text: PastedText, url: str, by: str) -> ScrapedPage:
        given = PageText(text=text.text, title=text.title, author=by, date=None, language=None, links=())
        try:
            reading: PageReading = await self.run.agent("scraper").read_text(given)
        except UnreadablePage as failed:
            return ScrapedPage(url=url, fault=failed.fault, reason=f"the text that was pasted: {failed}")
        except Exception as error:  # noqa: BLE001  # what is no fault of the text goes on
            return ScrapedPage(url=url, fault="error", reason=own_failure(error, "a text that was pasted"))
        if not reading.text.strip():
            return ScrapedPage(
                url=url, fault="no_text", reason="the text that was pasted: there is nothing in it"
            )
        return ScrapedPage(
            url=url,
            fetched_at=datetime.now(UTC),
            sha256=url.removeprefix("urn:sha256:"),
            bytes=len(text.text.encode()),
            page=reading.page,
            redacted=reading.redacted,
        )

    def one_form(self, text: str) -> str:
        """An address as it is kept and asked for; one that is none as it was written: reading it says why."""
        try:
            return page_url(text, allow_internal=self.run.config.outgoing.allow_internal)
        except PageFailed:
            return text

    async def _scraped(self, url: str) -> ScrapedPage:
        try:
            place = page_url(url, allow_internal=self.run.config.outgoing.allow_internal)
            reach = await self._reach(place)
        except PageFailed as failed:
            return ScrapedPage(url=url, fault=failed.facts["fault"], reason=str(failed))
        try:
            page: ScrapedPage = await self.run.agent("scraper").scrape(url, "auto", reach)
        except Exception as error:  # noqa: BLE001  # what is no fault of the page goes on
            return ScrapedPage(url=url, fault="error", reason=own_failure(error, f"page {url}"))
        return page

    async def _reach(self, place: str) -> PageReach:
        """Its host, but for what a person has kept out there, and not let in in other words."""

        async def look(connection: Connection) -> tuple[frozenset[str], frozenset[str]]:
            return (
                await candidates.kept_out(connection, self.research.id),
                await candidates.let_in(connection, self.research.id),
            )

        kept_out, let_in = await self.run.database.read(look)
        approved = [self.one_form(url) for url in let_in]
        known = {page_key(url) for url in approved}
        left_out = [url for url in kept_out if page_key(url) not in known]
        return PageReach.of([place], left_out=left_out, approved=approved)

    async def _held(self, url: str) -> KnowledgeSource | None:
        async def look(connection: Connection) -> KnowledgeSource | None:
            return (await sources.by_urls(connection, self.research.project_id, [url])).get(url)

        return await self.run.database.read(look)

    async def _kept(
        self, connection: Connection, batch: ReadingBatch, url: str, page: ScrapedPage | None
    ) -> KnowledgeSource | None:
        """The source that the project has of an address now; None while a batch is fetching it."""
        project_id = self.research.project_id
        if page is not None:
            claims = await sources.claim(
                connection, project_id=project_id, urls=[url], batch_id=batch.batch_id, again=True
            )
            if claims.ours:
                await sources.settle(connection, project_id=project_id, batch_id=batch.batch_id, pages=[page])
        source = (await sources.by_urls(connection, project_id, [url])).get(url)
        return source if source is not None and (source.text or source.fault) else None


def _digest(source: KnowledgeSource | None) -> str | None:
    return None if source is None else source.text_sha256


def _outcome(url: ApprovedUrl, source: KnowledgeSource | None, page: ScrapedPage | None) -> PageOutcome:
    if source is not None and source.text:
        told = source.coverage.told if source.coverage is not None else None
        return PageOutcome(number=url.number, url=url.url, source_id=source.id, reason=told)
    if page is not None and page.fault is not None:
        return PageOutcome(number=url.number, url=url.url, fault=page.fault, reason=page.reason)
    if source is None:
        reason = "a batch is fetching it: try again later"
        return PageOutcome(number=url.number, url=url.url, fault="later", reason=reason)
    return PageOutcome(number=url.number, url=url.url, fault="no_text", reason="there is no text on the page")


def read_ones(outcomes: Sequence[PageOutcome]) -> list[PageOutcome]:
    """Those that there is a source of."""
    return [outcome for outcome in outcomes if outcome.source_id is not None]
