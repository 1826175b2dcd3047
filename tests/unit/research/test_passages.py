"""A point's quote is shown in the sentence that it stands in."""

from actors.research.synthesis.passages import passages
from models.knowledge.points import SourceSpan

TEXT = (
    "The harbour of Gdańsk was closed for nine days in March. The town council asked the port master for a "
    "list of the ships.\n\n"
    "Ships that waited outside the breakwater were supplied by boat every morning.\n"
)


def _span(words: str) -> SourceSpan:
    start = TEXT.index(words)
    return SourceSpan(start=start, end=start + len(words), quote=words)


def test_each_part_of_a_sentence_leads_to_the_sentence() -> None:
    spans = {
        3: _span("supplied by boat"),
        1: _span("closed for nine days"),
        2: _span("The harbour of Gdańsk"),
    }
    found = passages(TEXT, spans)
    assert found == {
        1: "The harbour of Gdańsk was closed for nine days in March.",
        2: "The harbour of Gdańsk was closed for nine days in March.",
        3: "Ships that waited outside the breakwater were supplied by boat every morning.",
    }


def test_what_lies_across_two_sentences_that_stand_apart_has_none() -> None:
    across = "list of the ships.\n\nShips that waited"
    assert passages(TEXT, {1: _span(across)}) == {}
    assert passages("", {}) == {}
