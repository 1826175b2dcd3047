"""A point's quote is shown in the sentence that it stands in."""

from actors.systems.research.tree_steps import standing
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
    found = standing(TEXT, spans)
    assert found.withheld == frozenset()
    assert found.passages == {
        1: "The harbour of Gdańsk was closed for nine days in March.",
        2: "The harbour of Gdańsk was closed for nine days in March.",
        3: "Ships that waited outside the breakwater were supplied by boat every morning.",
    }


def test_what_lies_across_two_sentences_that_stand_apart_has_none() -> None:
    across = "list of the ships.\n\nShips that waited"
    assert standing(TEXT, {1: _span(across)}).passages == {}
    assert standing("", {}).passages == {}


def test_a_quote_of_somebody_else_s_words_can_t_be_cited() -> None:
    theirs = "The works will be closed before the winter"
    wrong = "The works were sold for four million euros"
    table = "| pumps | four |"
    text = (
        f"The council met on Monday.\n\nAnn Example wrote:\n\n> {theirs}.\n\n{wrong}.\n\n{table}\n\n"
        f"Correction: The works were not sold for four million euros.\n\n“{theirs},” said Ann Example."
    )
    places = [text.index(theirs), text.index(wrong), text.index("four |"), text.rindex(theirs)]
    spans = {
        n: SourceSpan(start=start, end=start + 6, quote=text[start : start + 6])
        for n, start in enumerate(places)
    }
    found = standing(text, spans)
    assert found.withheld == {0, 1}
    assert found.passages == {3: f"“{theirs},” said Ann Example."}
