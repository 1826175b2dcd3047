"""Answers in words: which of them are a yes. Seed 003 (Clarification Response, Property 11). Pure.

Only a whole answer that says yes and nothing else is one. "ok but redo CRM" is what is to be done again, and
"no change needed" is no yes either: a person is asked again rather than taken at a word.
"""

from typing import Literal

from actors.platform.text.lexicon import phrases_of_all
from models.errors import InputInvalid

_YES = phrases_of_all("confirmation", "answers")
_AROUND = " \t\r\n.!…✓✅👍\"'“”„"


def is_yes(answer: str) -> bool:
    """Whether a whole answer is a yes, whatever its case and the marks around it."""
    plain = " ".join(answer.strip(_AROUND).casefold().split())
    return plain in _YES


def read_answer(answer: str, is_approval: bool | None) -> Literal["approve", "revise"]:
    """What an answer means, and whether its sender says the same.

    Raises:
        InputInvalid: they contradict each other.
    """
    said = is_yes(answer)
    if is_approval is None or is_approval == said:
        return "approve" if said else "revise"
    if is_approval:
        raise InputInvalid(
            "answer: is_approval is true, and the text says more than OK: send OK alone, or "
            "is_approval: false"
        )
    raise InputInvalid(
        "answer: is_approval is false, and the text is a yes: say what is to be done otherwise"
    )
