"""From points to a tree that people have looked at, and to sentences that cite its points.

Called by the steps. The tree that is kept is the one that was approved; each sentence cites points that are
kept with the words that they rest on. A section that fails, or that a limit leaves no room for, is left, and
the rest goes on. Seed 002 §5 (nodes 7 to 9).
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from actors.platform.extractive.quotable import OwnWords
from actors.platform.runtime.run import Run
from actors.platform.text.language import language_of
from actors.systems.research.agents.organizer import GrownTree
from actors.systems.research.limits import ResearchMeter, own_failure
from actors.systems.research.synthesis.quoted import quoted_section
from actors.systems.research.synthesis.writing import written_section
from actors.systems.research.tree.assign_points import empty_tree
from actors.systems.research.tree.naming import NameReply, named
from models.knowledge.points import SourceSpan
from models.llm import Answer
from models.research.agent_workflows import AgentWorkflow, ResearchOptions, ResearchTask
from models.research.evidence import ResearchPoint
from models.research.following import ResearchLineage
from models.research.limits import LeftUndone, Limit
from models.research.results import ResearchReview, ReviewSource, TreeKept, TreeReview
from models.research.synthesis import SectionOffer, Synthesis, SynthesisSection
from models.research.trees import Tree, TreeNode
from models.runtime.approvals import GateDecision
from models.store import approval_inbox
from models.store.database import Connection
from models.store.knowledge import points as knowledge_points
from models.store.knowledge.points import TextToRead
from models.store.research import evidence, lineage, progress, sentences, trees
from models.text import how_many

# Points that a section may cite, the best of its node's, and texts that a person is shown of a node.
_MOST_POINTS = 40
_SHOWN = 3
_ANEW = "the points are laid out anew in what it is now"


class QuotePlaces(NamedTuple):
    """Points by their ids: the passage of each, and those that are not their source's own words."""

    passages: dict[int, str]
    withheld: frozenset[int]


def numbered(key: str, layout: int) -> str:
    """A key of the layout of a tree: the first has no number."""
    return key if layout == 1 else f"{key}/{layout}"


@dataclass(frozen=True)
class TreeSteps:
    """The organizing of one research."""

    run: Run
    research: AgentWorkflow
    task: ResearchTask
    meter: ResearchMeter

    async def points(self) -> list[ResearchPoint]:
        """What it rests on; it does not change any more."""
        return await self.run.database.read(lambda connection: evidence.get_all(connection, self.research.id))

    async def tree(self, options: ResearchOptions, layout: int) -> Tree:
        """The points as a tree, in the one that was asked for or in a new one, with names.

        Args:
            layout: 1; one more each time that others changed the tree before this one was kept.
        """
        began = await self._begun(options.category_id, layout)

        async def grow() -> Answer[GrownTree]:
            found = await self.points()
            grown: GrownTree = await self.run.agent("organizer").grow(
                began, [point.in_tree() for point in found]
            )
            return Answer(value=grown)

        grown = await self.run.once(numbered("tree/grown", layout), GrownTree, grow)
        replies: dict[str, str] = {}
        language = language_of(self.task.user_query)
        for request in grown.requests:

            async def name(request: object = request) -> Answer[NameReply]:
                if await self.meter.used_up():  # the node keeps the name that code gave it
                    return Answer(value=NameReply(name=""))
                answer: Answer[NameReply] = await self.run.agent("organizer").name(request, language)
                return answer

            reply = await self.run.once(numbered(f"tree/name/{request.node}", layout), NameReply, name)
            replies[request.node] = reply.name
        return named(grown.tree, replies)

    async def _begun(self, tree_id: int | None, layout: int) -> Tree:
        """The tree that this one grows from, as it was when it was laid out."""

        async def start() -> Answer[Tree]:
            if tree_id is None:
                return Answer(value=empty_tree(self.task.user_query))
            async with self.run.database.connection() as connection:
                return Answer(value=await trees.get(connection, self.research.project_id, tree_id))

        return await self.run.once(numbered("tree/start", layout), Tree, start)

    async def review(self, tree: Tree, layout: int) -> TreeReview:
        """What a person decides on: the tree, and some of what is in each of its nodes."""
        said = {point.point_id: point.shown for point in await self.points()}
        examples = {
            node.id: tuple(said[point] for point in node.points if point in said)[:_SHOWN]
            for node in tree.nodes
        }
        notes = () if layout == 1 else (f"tree {tree.id} was changed by others meanwhile: {_ANEW}",)
        return TreeReview(question=self.task.user_query, tree=tree, examples=examples, notes=notes)

    async def keep_tree(self, tree: Tree, decision: GateDecision | None, layout: int) -> Tree | None:
        """Keep the tree that was approved, as it was approved.

        None where the tree that it grows from is not what it was when this one was laid out: what others made
        of it since would be lost, and what was approved would not be what is kept.
        """
        began = await self._begun(tree.id, layout)

        async def act(connection: Connection) -> TreeKept:
            if began.id is not None:
                now = await trees.get(connection, self.research.project_id, began.id, lock=True)
                if now != began:
                    await progress.say(
                        connection,
                        self.research.id,
                        agent="organizer",
                        step="build_tree",
                        content=f"tree {began.id} was changed by others meanwhile, and is left so",
                        reasoning=_ANEW,
                    )
                    return TreeKept(tree=None)
            approved = tree
            if decision is not None:
                approval = await approval_inbox.get(connection, decision.approval_id)
                approved = TreeReview.model_validate(approval.subject).tree
                said = {"decision": decision.status}
                await progress.finish(connection, self.research.id, "await_category_review", result=said)
            kept = await trees.put(connection, self.research.project_id, self.research.id, approved)
            await progress.say(
                connection,
                self.research.id,
                agent="organizer",
                step="build_tree",
                content=f"the tree has {how_many(kept.metadata.nodes, 'category', 'categories')} and "
                f"{how_many(kept.metadata.points, 'point')}",
                reasoning="points of like meaning are together; a person's names and moves stand",
            )
            await progress.finish(connection, self.research.id, "build_tree", result={"tree_id": kept.id})
            return TreeKept(tree=kept)

        return (await self.run.effect(numbered("tree/kept", layout), TreeKept, act)).tree

    async def synthesis(self, tree: Tree) -> Synthesis:
        """A section about each node at the top; each of its sentences was looked at, or is a quotation."""
        found = {point.point_id: point for point in await self.points()}
        below = tree.points_below
        sections = [
            await self._section(node, _best(found[id_] for id_ in below[node.id] if id_ in found))
            for node in tree.children.get(None, ())
        ]
        made = Synthesis.of(sections)
        left = [section.left for section in sections if section.left is not None]

        async def act(connection: Connection) -> Synthesis:
            await sentences.put(connection, self.research.id, made)
            counts = made.counts
            await progress.say(
                connection,
                self.research.id,
                agent="organizer",
                step="synthesize_results",
                content=f"{how_many(counts.all, 'sentence was', 'sentences were')} written about "
                f"{len(sections) - len(left)} of {how_many(len(sections), 'category', 'categories')}",
                reasoning="; ".join(
                    (
                        f"kept {counts.kept}, rewritten {counts.rewritten}, dropped {counts.dropped}, "
                        f"unverified {counts.unverified}",
                        *(f"{one.name} was left: {one.reason}" for one in left),
                    )
                ),
                metadata=counts.model_dump(),
            )
            await progress.finish(
                connection, self.research.id, "synthesize_results", result=counts.model_dump()
            )
            return made

        return await self.run.effect("synthesis", Synthesis, act)

    async def final_review(self, tree: Tree, made: Synthesis) -> ResearchReview:
        """What a person decides on at the end: the sentences, and the documents that they rest on."""

        async def look() -> Answer[ResearchReview]:
            async with self.run.database.connection() as connection:
                way_back = await lineage.of_research(connection, self.research)
            sources = _sources(way_back)
            return Answer(
                value=ResearchReview(
                    question=self.task.user_query, tree_id=tree.id, synthesis=made, sources=sources
                )
            )

        # Kept, as other researches may let in the same documents while people look at it.
        return await self.run.once("result/shown", ResearchReview, look)

    async def _section(self, node: TreeNode, points: Sequence[ResearchPoint]) -> SynthesisSection:
        key = f"section/{node.id}"

        async def write() -> Answer[SynthesisSection]:
            if (stop := await self.meter.stops(key)) is not None:
                return Answer(value=_left(node, stop.reason, stop.limit))
            try:
                return await self._written(node, points)
            except Exception as error:  # noqa: BLE001  # what is no fault of the section goes on
                reason = own_failure(error, f"section {node.id} of research {self.research.id}")
                return Answer(value=_left(node, reason), calls=getattr(error, "calls", ()))

        section = await self.run.once(key, SynthesisSection, write)
        self.meter.tell(key, section.left.limit if section.left else None)
        return section

    async def _written(self, node: TreeNode, points: Sequence[ResearchPoint]) -> Answer[SynthesisSection]:
        settings = self.run.config.research.synthesis
        language = language_of(self.task.user_query)
        offer = await self._offer(node, points)
        if settings.llm.writes == "quotes":
            return Answer(value=await asyncio.to_thread(quoted_section, offer, most=settings.most_sentences))
        return await written_section(
            offer,
            writer=self.run.agent("organizer"),
            checker=self.run.agent("support_judge"),
            language=language,
            most=settings.most_sentences,
        )

    async def _offer(self, node: TreeNode, points: Sequence[ResearchPoint]) -> SectionOffer:
        """The points that may be cited, each with the sentence that it stands in; none of another's words."""
        passages: dict[int, str] = {}
        withheld: set[int] = set()
        by_source: dict[int, list[ResearchPoint]] = defaultdict(list)
        for point in points:
            if point.source_id is not None:
                by_source[point.source_id].append(point)
        for source_id, its in by_source.items():
            text = await self._text(source_id)
            # A source that was read again has other places: then the quote stands for itself.
            if text is None:
                continue
            spans = {one.point_id: one.span for one in its if one.text_sha256 == text.text_sha256}
            if spans:
                found = await asyncio.to_thread(standing, text.text, spans)
                passages |= found.passages
                withheld |= found.withheld
        citable = [
            point.citable(passages.get(point.point_id)) for point in points if point.point_id not in withheld
        ]
        return SectionOffer(
            node=node.id, heading=node.name, points=tuple(one for one in citable if one is not None)
        )

    async def _text(self, source_id: int) -> TextToRead | None:
        return await self.run.database.read(
            lambda connection: knowledge_points.text_of(connection, source_id)
        )


def _best(points: Iterable[ResearchPoint]) -> list[ResearchPoint]:
    """The best of a node's points, in the order of the sources."""
    best = sorted(points, key=lambda point: (point.kind == "entity", -point.score, point.point_id))
    return sorted(best[:_MOST_POINTS], key=_place)


def _sources(way_back: ResearchLineage) -> tuple[ReviewSource, ...]:
    """The documents that sentences rest on, in the order of the way back."""
    return tuple(
        ReviewSource(
            url=source.final_url or source.url,
            title=source.title,
            points=tuple(point.point_id for point in way_back.points if point.source == place),
            let_in_by=source.let_in.by if source.let_in else None,
            approval_id=source.let_in.approval_id if source.let_in else None,
            given_by=source.let_in.given_by if source.let_in else None,
        )
        for place, source in enumerate(way_back.sources)
    )


def _left(node: TreeNode, reason: str, limit: Limit | None = None) -> SynthesisSection:
    """What stands for a section that was not written."""
    left = LeftUndone(what="section", id=node.id, name=node.name, limit=limit, reason=reason)
    return SynthesisSection(node=node.id, heading=node.name, sentences=(), written="quotes", left=left)


def _place(point: ResearchPoint) -> tuple[int, ...]:
    return (point.source_id or 0, point.start, point.point_id)


def standing(text: str, spans: Mapping[int, SourceSpan]) -> QuotePlaces:
    """For each point, by its id, the sentence or run of sentences of `text` that holds all of its span.

    Points whose span lies in no sentence that can be quoted by itself have none: a cell of a table, a
    heading, or more than one sentence. What isn't the source's own words can't be cited at all.
    """
    found: dict[int, str] = {}
    own = OwnWords(text, language_of(text))
    waiting: Sequence[tuple[int, SourceSpan]] = sorted(spans.items(), key=lambda item: item[1].start)
    at = 0
    for point_id, span in waiting:
        while at < len(own.quotable) and own.quotable[at].end < span.end:
            at += 1
        if at < len(own.quotable) and own.quotable[at].start <= span.start:
            found[point_id] = own.quotable[at].text
    withheld = frozenset(
        ident for ident, span in spans.items() if ident not in found and own.are_withheld(span.start)
    )
    return QuotePlaces(found, withheld)
