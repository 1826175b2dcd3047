"""A specialist's verdict on a quotation as a choice: keep it or remove it, and which words are the reason.

Called by the specialists' judge where a topic is written in quotes. The model names a status and the number
of a reason, and code writes the verdict. Where it answers badly the quotation goes: unclear is not yes.
"""

from typing import Any, Literal

from actors.platform.llm.client import ModelClient, RejectedReply
from actors.platform.text.sentences.sentences import sentences
from actors.systems.editorial.briefs import ConcernBrief
from models.content.editorial import Verdict
from models.errors import ModelReplyInvalid
from models.llm import Answer
from models.record import Record

_KEPT = "The words are the source's, and by themselves they say what they say there."
_OTHERWISE = "The words are the source's, but by themselves they say something else."
_NOBODY = "No specialist gave a verdict that could be read; what is doubted is left out."
# Of the source before and after what is quoted, in sentences.
_AROUND = 2


class VerdictChoice(Record):
    """What a model answers. `reason` is a number, from 1."""

    reason: int
    status: Literal["KEEP", "REMOVE"]


def reasons(brief: ConcernBrief) -> list[str]:
    """What a verdict may rest on: two sentences of ours, and the source's own around what is quoted."""
    around, excerpt = sentences(brief.topic.source_text), brief.concern.excerpt
    # What is doubted may be several sentences.
    at = [n for n, one in enumerate(around) if excerpt in one.text or one.text in excerpt]
    near = around[max(0, at[0] - _AROUND) : at[-1] + _AROUND + 1] if at else ()
    return [_KEPT, _OTHERWISE, *(f"The source says: “{one.text}”" for one in near)]


async def choose_verdict(
    model: ModelClient, *, system: str, user: str, brief: ConcernBrief, offered: list[str]
) -> Answer[Verdict]:
    """The verdict that a model chooses among the reasons `offered`."""

    def verdict(status: Literal["KEEP", "REMOVE"], rationale: str) -> Verdict:
        removed = status == "REMOVE"
        return Verdict(
            concern_id=brief.concern.concern_id,
            misleading=removed,
            status=status,
            rationale=rationale,
            suggested_fix=f"Leave out: “{brief.concern.excerpt}”" if removed else None,
        )

    def accept(reply: VerdictChoice) -> Verdict:
        if not 1 <= reply.reason <= len(offered):
            raise RejectedReply(f"reason is {reply.reason}, and there is none of that number.")
        return verdict(reply.status, offered[reply.reason - 1])

    try:
        return await model.ask_record(
            system=system, user=user, reply=VerdictChoice, accept=accept, schema=_schema(len(offered))
        )
    except ModelReplyInvalid as refused:
        return Answer(value=verdict("REMOVE", _NOBODY), calls=refused.calls)


def _schema(offered: int) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "reason": {"type": "integer", "enum": list(range(1, offered + 1))},
            "status": {"type": "string", "enum": ["KEEP", "REMOVE"]},
        },
        "required": ["reason", "status"],
        "additionalProperties": False,
    }
