"""A whole synthesis, section by section: drafted, read, and each sentence settled.

Called with agents behind the seams; a workflow that keeps each step calls `read_draft` and `SentenceVerifier`
itself. Where the writer fails, or writes nothing that cites a point, the section is its points' own
sentences, and says why: no section is lost to one bad answer. What is away goes through, and is waited for.
Pure over its seams.
"""

import asyncio
from collections.abc import Sequence

from actors.platform.text.language import Language
from actors.systems.research.synthesis.draft_reply import SectionReply, read_draft
from actors.systems.research.synthesis.ports import SectionWriter, SupportChecker
from actors.systems.research.synthesis.quoted import quoted_section
from actors.systems.research.synthesis.verification import PATIENCE, SentenceVerifier, asked
from models.llm import Answer, ModelCall
from models.research.synthesis import (
    DraftSentence,
    SectionOffer,
    SynthesisSection,
    SynthesisSentence,
)
from models.text import shortened

# Sentences of a section, and of one section looked at together.
MOST_SENTENCES = 12
_AT_ONCE = 4


async def written_section(
    offer: SectionOffer,
    *,
    writer: SectionWriter,
    checker: SupportChecker,
    language: Language,
    most: int = MOST_SENTENCES,
    patience: float = PATIENCE,
) -> Answer[SynthesisSection]:
    """A section as the writer drafts it, each of its sentences settled."""
    if not offer.points:
        return Answer(value=quoted_section(offer, most=most))
    calls: list[ModelCall] = []
    reply = await asked(lambda: writer.write(offer, language), calls, patience)
    if not isinstance(reply, SectionReply):
        quoted = quoted_section(offer, most=most)
        told = f"the writer failed: {shortened(str(reply))}"
        return Answer(value=quoted.model_copy(update={"fallback": told}), calls=tuple(calls))
    offered = [point.id for point in offer.points]
    draft = await asyncio.to_thread(read_draft, reply, offered, language=language, most=most)
    if not draft.sentences:
        quoted = quoted_section(offer, most=most)
        facts = {"refused": draft.refused, "fallback": "the writer wrote no sentence that cites a point"}
        return Answer(value=quoted.model_copy(update=facts), calls=tuple(calls))
    settler = SentenceVerifier(
        offer.points, writer=writer, checker=checker, language=language, patience=patience
    )
    answers = await _all_settled(settler, draft.sentences)
    section = SynthesisSection(
        node=offer.node,
        heading=offer.heading,
        sentences=_said_once([answer.value for answer in answers]),
        written="prose",
        refused=draft.refused,
    )
    calls += (call for answer in answers for call in answer.calls)
    return Answer(value=section, calls=tuple(calls))


async def _all_settled(
    settler: SentenceVerifier, drafts: Sequence[DraftSentence]
) -> list[Answer[SynthesisSentence]]:
    room = asyncio.Semaphore(_AT_ONCE)

    async def settled(draft: DraftSentence) -> Answer[SynthesisSentence]:
        async with room:
            return await settler.settle(draft)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(settled(draft)) for draft in drafts]
    except BaseExceptionGroup as several:  # one of them says what is away
        raise several.exceptions[0] from several
    return [task.result() for task in tasks]


def _said_once(sentences: Sequence[SynthesisSentence]) -> tuple[SynthesisSentence, ...]:
    """The sentences; what was rewritten as another one is dropped."""
    said: set[str] = set()
    found = []
    for one in sentences:
        if one.outcome != "dropped":
            if (key := one.text.casefold()) in said:
                told = {"outcome": "dropped", "reason": "another sentence says the same"}
                one = one.model_copy(update=told)
            said.add(key)
        found.append(one)
    return tuple(found)
