"""What a research's states, gates and counts are called on a terminal: in words, never in names of code."""

from collections.abc import Mapping, Sequence

from cluster.cli.printing import in_words
from models.research.results import ResearchResult
from models.text import how_many

# What is decided on at each gate, by its kind; and the gate that a research ended at, by its name.
GATE_WORDS: Mapping[str, str] = {
    "research_urls": "the addresses",
    "research_unreadable": "the pages that can't be read",
    "research_tree": "the tree's categories",
    "research_result": "the result",
}
_ENDED_AT: Mapping[str, str] = {
    "urls": "the list of addresses",
    "tree": "the tree's categories",
    "result": "the result",
}


def standing(status: str, outcome: str | None) -> str:
    """Where a research stands; of one that is completed, how it ended."""
    return in_words(status if outcome is None else f"{status}: {outcome}")


def cited(points: Sequence[int]) -> str:
    """The points that a sentence cites, by their numbers."""
    return f"point{'' if len(points) == 1 else 's'} {', '.join(map(str, points))}"


def counted(result: ResearchResult) -> str:
    """How much a research came to."""
    return ", ".join(
        (
            how_many(result.pages, "page"),
            how_many(result.points, "point"),
            how_many(result.sentences, "sentence"),
        )
    )


def came_to(result: ResearchResult, ended_by: str | None) -> str:
    """How a research ended, where, and who said no."""
    told = f"{in_words(result.outcome)}: {counted(result)}"
    if result.ended_at is None:
        return told
    where = _ENDED_AT.get(result.ended_at, result.ended_at)
    if result.outcome == "expired":
        return f"{told}; nobody decided on {where} in time"
    return f"{told}; {ended_by or 'a person'} rejected {where}"
