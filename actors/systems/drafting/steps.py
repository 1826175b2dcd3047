"""Drafting under way: what each node of its graph does.

Every outcome is kept under its step's name before the graph moves on, and each side effect is one
transaction with its step, done as the person who asked.
"""

import logging
from dataclasses import InitVar, dataclass
from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel

from actors.platform.runtime import outage
from actors.platform.runtime.run import Run
from actors.platform.text.relevance import subject_words
from actors.systems.drafting.desk_notes import NOTHING_TO_QUOTE, Searched, desk_notes
from actors.systems.drafting.draft import Draft, DraftBrief, DraftPossible, Source
from actors.systems.drafting.markdown import render
from actors.systems.drafting.requester import Requester
from actors.systems.drafting.selection import Selection, select, storable_finding, usable
from actors.systems.drafting.subject import SubjectBrief
from models.content.drafting import (
    NAMED,
    Branch,
    DraftingResult,
    Finding,
    Findings,
    MissingBranch,
    SearchBrief,
)
from models.error_lines import logged
from models.errors import Fenced
from models.llm import Answer
from models.record import Record
from models.store.content import articles, prompts
from models.store.database import Connection
from models.text import one_line, shortened

R = TypeVar("R", bound=BaseModel)

BRANCHES: tuple[Branch, ...] = get_args(Branch)
_log = logging.getLogger(__name__)
_HEADLINE = 120
_KEYWORDS = 1000
_PREVIEW = 300
_REASON = 300


class Gathered(Record):
    """The draft that is to be written, at `version`, and the resources to write it from, in their order.

    `attached` are those that the draft did not have before.
    """

    article_id: int
    version: int
    resource_ids: tuple[int, ...]
    created: tuple[int, ...]
    attached: tuple[int, ...] = ()


class Filed(Record):
    """The version that was written."""

    version: int


class RequesterNotified(Record):
    """The requester was told."""

    outcome: str


@dataclass  # as LangGraph wants a context to be
class DraftingSteps:
    """The context of the graph's nodes."""

    run: InitVar[Run]

    def __post_init__(self, run: Run) -> None:
        self._run = run
        self.topic = str(run.input["topic"])
        self.query = str(run.input["query"])
        self._requester = Requester(run=run, topic=self.topic)

    async def search(self, branch: Branch) -> None:
        """One branch's findings, or why it failed: that ends the branch, and not the work.

        An outage of the site is neither: it is raised, and the search is done when it is over.
        """
        brief = await self._brief()

        async def look() -> Answer[Searched]:
            try:
                findings: Findings = await self._run.agent(branch).find(brief)
                note = one_line(findings.note or "") or None
                found = await self._requester.shareable(
                    tuple(storable_finding(each) for each in findings.found)
                )
                return Answer(value=Searched(branch=branch, found=found, note=note))
            except Fenced:
                raise
            except Exception as error:  # whatever it was, it is told in the draft
                if outage.waits_for(error) is not None:
                    raise
                why = logged(error, _log, f"the branch {branch} of workflow {self._run.workflow_id}")
                return Answer(value=Searched(branch=branch, failure=shortened(why, _REASON)))

        await self._run.once(f"search/{branch}", Searched, look)

    async def gather(self) -> int | None:
        """The draft with its resources, made in one go: its number; None where nothing was found."""
        await self._brief()
        findings = tuple(Findings(branch=s.branch, found=s.found, note=s.note) for s in self._searched())

        async def chosen() -> Answer[Selection]:
            kept, off = await self._on_subject(usable(findings))
            most = self._run.config.drafting.max_resources
            return Answer(value=select(kept, most=most, off_subject=off))

        selection = await self._run.once("selection", Selection, chosen)
        if not selection.chosen or not await self._enough(selection):
            return None

        async def act(connection: Connection) -> Gathered:
            return await self._gather(connection, selection.chosen)

        return (await self._run.effect("gathered", Gathered, act)).article_id

    async def write(self) -> None:
        """The text, by the drafter; asked for once."""
        await self._brief()
        brief = await self._draft_brief(self._sources())
        await self._run.once("draft", Draft, lambda: self._run.agent("drafter").write(brief))

    async def file(self) -> DraftingResult:
        """The text as a new version of the draft, unless somebody has worked on it meanwhile.

        Raises:
            ArticleConflict: somebody has; what they wrote stays.
        """
        gathered, draft = self._kept("gathered", Gathered), self._kept("draft", Draft)

        async def act(connection: Connection) -> Filed:
            return await self._file(connection, gathered, draft)

        await self._run.effect("filed", Filed, act)
        told = shortened(" ".join(statement.text for statement in draft.statements), _PREVIEW)
        return self._outcome(
            "completed",
            gathered.article_id,
            created=gathered.created,
            preview=told,
            notes=self._desk_notes(draft),
        )

    async def give_up(self) -> DraftingResult:
        """There is not enough to write from: say so, and write nothing."""
        article_id = self._asked_article()

        async def act(connection: Connection) -> RequesterNotified:
            await self._requester.tell(
                connection, "not_enough", headline=self._headline(), article_id=article_id
            )
            return RequesterNotified(outcome="not_enough")

        await self._run.effect("not_enough", RequesterNotified, act)
        return self._outcome("not_enough", article_id, notes=self._desk_notes(None))

    async def fail(self, connection: Connection, reason: str) -> None:
        """Tell whoever asked that it ended in an error; the draft keeps the resources it has."""
        gathered = self._run.kept("gathered", Gathered)
        article_id = gathered.article_id if gathered else self._asked_article()
        await self._requester.tell(
            connection, "failed", headline=self._headline(), article_id=article_id, reason=reason
        )

    async def _on_subject(
        self, findings: tuple[Findings, ...]
    ) -> tuple[tuple[Findings, ...], tuple[str, ...]]:
        """What is about the question, and the names of what is not.

        What the data branch has, the question named itself: a series, or the address of a document.
        """
        searched = [one for branch in findings if branch.branch != NAMED for one in branch.found]
        if not searched:
            return findings, ()
        brief = SubjectBrief(query=self.query, findings=tuple(searched))
        about = iter((await self._run.agent("drafter").on_subject(brief)).value.about)
        kept, off = [], []
        for branch in findings:
            found = [(one, branch.branch == NAMED or next(about)) for one in branch.found]
            kept.append(branch.model_copy(update={"found": tuple(one for one, yes in found if yes)}))
            off += [one_line(one.name) for one, yes in found if not yes]
        return tuple(kept), tuple(off)

    async def _enough(self, selection: Selection) -> bool:
        """Whether a draft can be made of what was chosen: otherwise none is begun."""
        kept = self._run.kept
        if kept("enough", DraftPossible) is None and kept("gathered", Gathered) is not None:
            return True  # by a release that did not ask
        sources = tuple(Source(resource_id=one.resource_id or 0, finding=one) for one in selection.chosen)
        brief = await self._draft_brief(sources)
        return (
            await self._run.once("enough", DraftPossible, lambda: self._run.agent("drafter").enough(brief))
        ).to_write_from

    async def _draft_brief(self, sources: tuple[Source, ...]) -> DraftBrief:
        return DraftBrief(
            topic=self.topic,
            query=self.query,
            topic_prompt=await self._topic_prompt(),
            tonality=self._run.input.get("tonality"),
            sources=sources,
        )

    async def _gather(self, connection: Connection, chosen: tuple[Finding, ...]) -> Gathered:
        await self._requester.caller_in(connection)
        article_id = self._asked_article()
        if article_id is None:
            made = await self._requester.call(
                connection,
                "create_draft_article",
                topic=self.topic,
                headline=self._headline(),
                # Whatever the writer makes of it, it is found by what was asked for.
                keywords=shortened(", ".join(subject_words(self.query)), _KEYWORDS) or None,
            )
            article_id = int(made.article_id)
        else:
            await self._requester.lock_draft(connection, article_id)
        had = await self._attached_to(connection, article_id)
        resource_ids = [await self._attach(connection, article_id, finding) for finding in chosen]
        article = await articles.get(connection, article_id)
        new = [
            number for number, finding in zip(resource_ids, chosen, strict=True) if not finding.resource_id
        ]
        return Gathered(
            article_id=article_id,
            version=article.version,
            resource_ids=tuple(resource_ids),
            created=tuple(new),
            attached=tuple(number for number in dict.fromkeys(resource_ids) if number not in had),
        )

    @staticmethod
    async def _attached_to(connection: Connection, article_id: int) -> frozenset[int]:
        article = await articles.get(connection, article_id)
        version = await articles.get_version(connection, article_id, article.version)
        return frozenset(resource.id for resource in version.resources)

    async def _attach(self, connection: Connection, article_id: int, finding: Finding) -> int:
        """Attach what was found: a stored resource as it is, anything else as a new one."""
        if finding.resource_id is not None:
            stored = finding.resource_id
            await self._requester.call(
                connection, "attach_resource", resource_id=stored, article_id=article_id
            )
            return stored
        body: dict[str, Any] = {"content": finding.content}
        if finding.kind == "table":
            body = {"columns": list(finding.columns or ()), "rows": [list(row) for row in finding.rows or ()]}
        made = await self._requester.call(
            connection,
            f"create_{finding.kind}_resource",
            name=finding.name,
            description=finding.description,
            article_id=article_id,
            **body,
        )
        return int(made.resource_id)

    async def _file(self, connection: Connection, gathered: Gathered, draft: Draft) -> Filed:
        await self._requester.caller_in(connection)
        await self._requester.lock_draft(connection, gathered.article_id, version=gathered.version)
        version = await self._detach(connection, gathered, draft)
        # A draft that there was before keeps its headline.
        headline = {"headline": draft.headline} if self._asked_article() is None else {}
        written = await self._requester.call(
            connection,
            "write_article_content",
            article_id=gathered.article_id,
            content=render(draft, self._sources()),
            expected_version=version,
            **headline,
        )
        await articles.note_drafted(
            connection,
            gathered.article_id,
            written.version,
            written=draft.written,
            desk_notes=self._desk_notes(draft),
        )
        await self._requester.tell(
            connection, "completed", headline=draft.headline, article_id=gathered.article_id
        )
        return Filed(version=written.version)

    async def _detach(self, connection: Connection, gathered: Gathered, draft: Draft) -> int:
        """Take off what the text names in no footnote: it would be published with it. The draft's version."""
        named = {gathered.resource_ids[number - 1] for number in draft.named}
        version = gathered.version
        for number in gathered.attached:
            if number not in named:
                left = await self._requester.call(
                    connection, "detach_resource", resource_id=number, article_id=gathered.article_id
                )
                version = left.version
        return version

    async def _brief(self) -> SearchBrief:
        """What the agents are told, if whoever asked may still ask for it."""
        caller = await self._requester.caller()
        return SearchBrief(caller=caller, topic=self.topic, query=self.query)

    async def _topic_prompt(self) -> str:
        folder = self._run.config.publishing.prompts_dir / "topics"

        async def look(connection: Connection) -> str:
            return (await prompts.topic_prompt(connection, self.topic, folder)).text

        return await self._run.database.read(look)

    def _outcome(
        self,
        status: Literal["completed", "not_enough"],
        article_id: int | None,
        *,
        created: tuple[int, ...] = (),
        preview: str = "",
        notes: tuple[str, ...] = (),
    ) -> DraftingResult:
        searched = self._searched()
        failed = [MissingBranch(branch=s.branch, reason=s.failure) for s in searched if s.failure is not None]
        empty = [
            MissingBranch(branch=s.branch, reason=shortened(s.note or "nothing found", _REASON))
            for s in searched
            if s.failure is None and not s.found
        ]
        return DraftingResult(
            status=status,
            article_id=article_id,
            resources_created=created,
            content_preview=preview,
            failed_branches=tuple(failed),
            empty_branches=tuple(empty),
            desk_notes=notes,
        )

    def _desk_notes(self, draft: Draft | None) -> tuple[str, ...]:
        off_subject = self._kept("selection", Selection).off_subject
        sources = self._sources() if draft is not None else ()
        enough = self._run.kept("enough", DraftPossible)
        wanting = (NOTHING_TO_QUOTE,) if enough is not None and not enough.to_write_from else ()
        return (*wanting, *desk_notes(draft, sources, self._searched(), off_subject))

    def _searched(self) -> list[Searched]:
        return [self._kept(f"search/{branch}", Searched) for branch in BRANCHES]

    def _sources(self) -> tuple[Source, ...]:
        chosen = self._kept("selection", Selection).chosen
        numbers = self._kept("gathered", Gathered).resource_ids
        pairs = zip(numbers, chosen, strict=True)
        return tuple(Source(resource_id=number, finding=finding) for number, finding in pairs)

    def _headline(self) -> str:
        return shortened(self.query, _HEADLINE)

    def _asked_article(self) -> int | None:
        number = self._run.input.get("article_id")
        return None if number is None else int(number)

    def _kept(self, key: str, type_: type[R]) -> R:
        found = self._run.kept(key, type_)
        assert found is not None, f"step {key} has been passed but left no document"
        return found
