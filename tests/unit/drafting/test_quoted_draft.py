"""Drafts of quotations: every character is a source's or of a fixed list, and every figure is right."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given

from actors.platform.figures.figure_sentences import template_words
from actors.platform.llm.prompts import read_two_part_prompt
from actors.systems.drafting.draft import Draft, DraftBrief, Source
from actors.systems.drafting.drafter import Drafter
from actors.systems.drafting.markdown import render
from models.content.drafting import Finding
from models.errors import NothingToQuote
from tests.fakes.model.scripted import ScriptedCompletions
from tests.unit.drafting.research import site
from tests.unit.quoting.hostile import REPLIES, SOURCES, Embeddings, shown, stand_in, words

CONFIG = site()
PROMPTS = {
    "prompt": read_two_part_prompt(CONFIG.drafting.prompts_dir, "draft.md"),
    "choice_prompt": read_two_part_prompt(CONFIG.drafting.prompts_dir, "choose.md"),
}
HOSTILE = "Notes: of a <b>reader</b>”. The bank is insolvent. “Notes"
RATES = "The bank held its rate at 4.25 percent in June. Six members voted for the decision of the board."
_QUOTED = re.compile(r"[“„«»](.*?)[”“»«]\[\^(\d+)\]")
# A title in marks of one kind that it doesn't have itself.
_LEAD = re.compile(r"(?:“([^“”]*)”|«([^«»]*)»): ")
_NOTE = re.compile(
    r"\[\^(\d+)\]: .*\(resource (\d+)\), "
    r"(?:(?:characters|znaki|Zeichen) (\d+)–(\d+)|(?:rows|wiersze|Zeilen) ([\d, –]+))"
)


def text(content: str, name: str = "Minutes of the bank", number: int = 5) -> Source:
    """A text to quote from."""
    finding = Finding(kind="text", name=name, description=None, content=content, source="signoff")
    return Source(resource_id=number, finding=finding)


def table(*values: float, name: str = "Unemployment rate, Germany, percent", number: int = 6) -> Source:
    """A monthly series."""
    rows = tuple((f"{2025 + n // 12}-{n % 12 + 1:02}-01", value) for n, value in enumerate(values))
    finding = Finding(
        kind="table", name=name, description=None, columns=("date", "value"), rows=rows, source="sample"
    )
    return Source(resource_id=number, finding=finding)


MODEL = ScriptedCompletions()
LLM = CONFIG.drafting.llm.model_copy(update={"retry_delay": 0})
DRAFTER = Drafter(
    settings=CONFIG.drafting.model_copy(update={"llm": LLM}),
    breaker=CONFIG.outages.breaker,
    floor=0.2,
    embedding=CONFIG.embedding,
    embedder=Embeddings(),
    completions=MODEL,
    **PROMPTS,
)


def drafted(*sources: Source, replies: tuple[Any, ...] = ("x", "y"), query: str = "the rate") -> Draft:
    """A draft of quotations."""
    MODEL.script(*replies)
    brief = DraftBrief(topic="macro", query=query, topic_prompt="", tonality=None, sources=sources)
    return asyncio.run(DRAFTER.write(brief)).value


@given(SOURCES, SOURCES, REPLIES, REPLIES)
@pytest.mark.heavy
def test_every_character_is_from_a_source_or_a_fixed_list(
    first: str, second: str, reply: str, again: str
) -> None:
    sources = (text(first, "Minutes of the bank", 7), text(second, HOSTILE, 8))
    try:
        draft = drafted(*sources, replies=(reply, again))
    except NothingToQuote:
        return
    contents, titles = [first, second], [shown(source.finding.name) for source in sources]
    body, _, rest = render(draft, sources).partition("\n\n[^1]: ")
    places = {found[0]: found for found in _NOTE.findall(f"[^1]: {rest}")}
    for block in body.split("\n\n"):
        lead = _LEAD.match(block)
        assert lead is not None, block
        assert shown(lead[1] or lead[2]) in titles, block
        quotations = block[lead.end() :]
        assert _QUOTED.sub("", quotations).strip() == "", block
        for quoted, note in _QUOTED.findall(quotations):
            _, resource, start, end, _ = places.pop(note)
            source = contents[int(resource) - 7][int(start) : int(end)]
            assert stand_in(words(shown(quoted)), source), (quoted, source)
    assert places == {}
    assert any(stand_in(words(draft.headline), told) for told in (*contents, *titles))
    assert (draft.written, draft.chosen_by in ("model", "code")) == ("quotes", True)


def test_what_the_model_chooses_is_quoted_with_its_place() -> None:
    draft = drafted(text(RATES), replies=({"headline": 1, "sentences": [1, 2]},))
    assert render(draft, [text(RATES)]).split("\n\n[^1]: ")[0] == (
        "“Minutes of the bank”: “The bank held its rate at 4.25 percent in June.”[^1] "
        "“Six members voted for the decision of the board.”[^2]"
    )
    assert draft.headline == "Minutes of the bank"
    assert draft.chosen_by == "model"
    assert [RATES[s.place.start : s.place.end] for s in draft.statements if s.place] == [
        statement.text for statement in draft.statements
    ]


def test_figures_are_computed_and_say_their_rows() -> None:
    values = (3.4, 3.3, 3.5, 3.1)
    draft = drafted(table(*values), query="unemployment in Germany")
    told = render(draft, [table(*values)])
    assert (
        "“Unemployment rate, Germany, percent”: 3.1 percent in April 2025, down 0.4 percentage points" in told
    )
    assert "The highest value from January 2025 to April 2025 was 3.5 percent, in March 2025.[^2]" in told
    assert "[^2]: Unemployment rate, Germany, percent — source: sample (resource 6), rows 3\n" in told
    assert "3.33 percent on average from January 2025 to April 2025." in told
    assert draft.chosen_by == "code"
    allowed = {word.casefold() for word in (*template_words("en"), *words(table().finding.name))}
    for statement in draft.statements:
        assert {word.casefold() for word in words(statement.text) if not word.isdigit()} <= allowed


def test_a_table_tells_at_most_five_figures_and_all_tables_ten() -> None:
    year = [3 + month / 8 for month in range(13)]
    one = drafted(table(*year), query="unemployment in Germany")
    assert [statement.sources for statement in one.statements] == [(1,)] * 5
    three = drafted(*(table(*year, number=n) for n in (6, 7, 8)), query="unemployment in Germany")
    assert [statement.sources for statement in three.statements] == [(1,)] * 5 + [(2,)] * 5


@pytest.mark.parametrize(
    ("name", "shown_as"),
    [
        (
            "Rates: all”. The bank is insolvent. “Rates",
            "«Rates: all”. The bank is insolvent. “Rates»: ",
        ),
        ("A. The bank is insolvent. B", "“A. The bank is insolvent. B”: "),
        ('A” «B". The bank is insolvent.', "“A B. The bank is insolvent.”: "),
        ("", "“…”: "),
    ],
)
def test_no_words_of_a_source_s_name_stand_outside_of_quotation_marks(name: str, shown_as: str) -> None:
    source = text(RATES, name)
    draft = drafted(source, replies=({"headline": 1, "sentences": [1, 2]},))
    body = render(draft, [source]).split("\n\n[^1]: ")[0]
    assert body == (
        f"{shown_as}“The bank held its rate at 4.25 percent in June.”[^1] "
        "“Six members voted for the decision of the board.”[^2]"
    )


def test_sources_without_a_sentence_or_a_figure_are_refused_with_the_remedy() -> None:
    with pytest.raises(NothingToQuote, match=r"none of the 1 sources .*drafting.llm.writes to prose"):
        drafted(text("rates; held; why"))


BATTERIES = "The recycler sold 4,000 tonnes of batteries in its first year."
JOBS = "Unemployment in Germany rose to 3.4 percent. Economists had expected unemployment of 3.2 percent."


class Meanings:
    """Vectors of meanings: what is on work, on batteries, and of economists."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text."""
        return [
            [float(word in text.lower()) for word in ("unemployment", "batter", "economists")]
            for text in texts
        ]


def put_together(*sources: Source, headline: int, sentences: list[int]) -> Draft:
    """A draft on unemployment, as a model chooses it."""
    completions = ScriptedCompletions()
    completions.script({"headline": headline, "sentences": sentences})
    settings = CONFIG.drafting.model_copy(update={"llm": LLM})
    drafter = Drafter(
        settings=settings,
        breaker=CONFIG.outages.breaker,
        embedding=CONFIG.embedding,
        floor=0.2,
        embedder=Meanings(),
        completions=completions,
        **PROMPTS,
    )
    brief = DraftBrief(
        topic="macro",
        query="Write an article about unemployment in Germany",
        topic_prompt="",
        tonality=None,
        sources=sources,
    )
    return asyncio.run(drafter.write(brief)).value


def test_sentences_that_are_not_about_the_request_are_not_offered() -> None:
    mixed = text(f"{BATTERIES} {JOBS}", "A battery recycler counts its first year")
    draft = put_together(mixed, headline=1, sentences=[1, 2])
    assert [statement.text for statement in draft.statements] == [
        "Unemployment in Germany rose to 3.4 percent.",
        "Economists had expected unemployment of 3.2 percent.",
    ]


def test_a_headline_comes_from_what_the_text_says() -> None:
    mixed = text(f"{BATTERIES} {JOBS}", "A battery recycler counts its first year")
    draft = put_together(mixed, headline=1, sentences=[1, 2])
    assert draft.headline == "Unemployment in Germany rose to 3.4 percent"
    fitting = text(JOBS, "Unemployment in Germany")
    assert put_together(fitting, headline=1, sentences=[1, 2]).headline == "Unemployment in Germany"


def offered(query: str, *sources: Source) -> list[str]:
    """The sentences of a draft on a question, as code chooses them."""
    draft = drafted(*sources, query=query)
    return [statement.text for statement in draft.statements]


OF_THREE = (
    "Unemployment in Germany fell to 3.1 percent in May. Unemployment in Poland stood at 5.0 percent in May. "
    "Inflation in Germany eased to 2.1 percent in May. The rate is among the lowest of all in Europe."
)


@pytest.mark.parametrize(
    ("query", "left_out"),
    [
        ("Write an article about unemployment in Germany", ("Poland", "Inflation")),
        ("Write an article about unemployment in Poland", ("Germany", "Inflation")),
        ("Write an article about inflation in Germany", ("Unemployment",)),
        ("Schreibe einen Artikel über Inflation in Deutschland", ("Unemployment",)),
        ("Napisz artykuł o bezrobociu w Polsce", ("Germany", "Inflation")),
    ],
)
def test_sentences_on_another_measure_or_of_another_place_are_not_offered(
    query: str, left_out: tuple[str, ...]
) -> None:
    told = offered(query, text(OF_THREE, "Labour and prices"))
    assert told
    assert not [one for one in told if any(word in one for word in left_out)]


@pytest.mark.parametrize("title", ["Unemployment rate in Germany", "Inflation in Poland", "SAP in Germany"])
def test_a_title_that_names_something_else_is_no_headline(title: str) -> None:
    query = "Write an article about inflation in Germany"
    prices = "Inflation in Germany eased to 2.1 percent in May. The rate is the lowest in Germany since 2021."
    draft = drafted(text(prices, title), replies=({"headline": 1, "sentences": [1, 2]},), query=query)
    assert draft.headline != title
    assert draft.headline in prices


def test_a_sentence_of_another_language_has_a_floor_too() -> None:
    with pytest.raises(NothingToQuote):
        put_together(text(POLISH, "Recykling"), headline=1, sentences=[1])


POLISH = "Zakład w pierwszym roku przerobił cztery tysiące ton odpadów. Huta zatrudnia dziś trzystu ludzi."
