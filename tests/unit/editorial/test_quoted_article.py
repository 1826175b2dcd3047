"""Articles of quotations: no character is the model's, whatever it answers and whatever the source says."""

import asyncio
import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.extractive.sections import headings
from actors.platform.text.language import Language
from actors.platform.text.lexicon import languages
from actors.platform.text.quotation_marks import quoted
from actors.systems.editorial.agents.quotation_review import QuotationReview, sorted_concerns
from actors.systems.editorial.agents.quoted_article import quotations_of, said_on
from actors.systems.editorial.agents.verdict_choices import reasons
from actors.systems.editorial.agents.verdicts import Specialist
from actors.systems.editorial.agents.writer import Writer
from actors.systems.editorial.briefs import ConcernBrief, ReviewBrief, RevisionBrief, WritingBrief
from actors.systems.editorial.bullets import parse_bullets
from actors.systems.editorial.rounds import compile_feedback
from models.content.editorial import ArticleResponse, TopicInput, WrittenArticle
from models.errors import NothingToQuote
from tests.fakes.model.scripted import ScriptedCompletions
from tests.unit.editorial.desk import EMBEDDING, agent_settings, sample_topic
from tests.unit.quoting.hostile import REPLIES, SOURCES, Embeddings, shown, stand_in, words

SETTINGS, ONE_TRY = agent_settings(max_retries=1), agent_settings(max_retries=0)
BANK = (
    "The Board kept its policy rate at 4.25 percent today. Six members voted for the decision.\n\n"
    "Consumer prices rose 3.1 percent in the year to January. Energy prices have fallen since the autumn."
    "\n\nOutput grew 0.3 percent in the fourth quarter. Exports of machinery weakened. We expect no more."
)
_DAYS: dict[Language, str] = {"en": "1 March 2026", "pl": "1 marca 2026", "de": "1. März 2026"}
_QUOTED = re.compile(r"[“„«»](.*?)[”“»«]\[\^(\d+)\]")
_NOTE = re.compile(r"\[\^(\d+)\]: (.+), (?:characters|znaki|Zeichen) (\d+)–(\d+)")


def topic(source: str, **more: Any) -> TopicInput:
    """A topic with this source."""
    return sample_topic(source_text=source, target_length_words="30-60", **more)


MODEL = ScriptedCompletions()
WRITER = Writer(settings=SETTINGS, embedding=EMBEDDING, embedder=Embeddings(), completions=MODEL)


def writer(*replies: Any) -> Writer:
    """A writer whose model says these."""
    MODEL.script(*replies)
    return WRITER


def written(source: str, *replies: Any) -> WrittenArticle:
    """An article of quotations."""
    brief = WritingBrief(topic=topic(source), writes="quotes")
    return asyncio.run(writer(*replies).generate(brief)).value


def sources_of(about: TopicInput) -> list[str]:
    """How a topic's source is named, in each language."""
    title = about.source_metadata.video_title
    return [f"{quoted(title, language)}, {day}" for language, day in _DAYS.items()]


def check(article: ArticleResponse, about: TopicInput) -> None:
    """Hold every character of an article to its source, a title of it or a fixed list."""
    source, metadata = about.source_text, about.source_metadata
    body, _, notes = article.articleBody.partition("## Footnotes\n\n")
    places = {}
    for note in notes.split("\n\n"):
        found = _NOTE.fullmatch(note)
        assert found is not None, note
        assert shown(found[2]) in sources_of(about)
        places[found[1]] = (int(found[3]), int(found[4]))
    for number, block in enumerate(block for block in body.split("\n\n") if block):
        if block.startswith("## "):
            assert block[3:] in {heading for each in languages() for heading in headings(each).values()}
            continue
        lead = next((f"{told}: " for told in sources_of(about) if shown(block).startswith(f"{told}: ")), "")
        rest = block[block.index(": ") + 2 :] if lead else block
        assert _QUOTED.sub("", rest).strip() == "", (number, rest)
        for text, note in _QUOTED.findall(rest):
            start, end = places.pop(note)
            assert stand_in(words(shown(text)), source[start:end]), (text, source[start:end])
    assert places == {}
    for title in (article.headline, article.alternativeHeadline):
        told = (metadata.topic_title, metadata.video_title)
        assert title in told or stand_in(words(title), source), title
    assert stand_in(words(article.description), source)


@given(SOURCES, REPLIES, REPLIES)
def test_every_character_is_from_the_source_or_a_fixed_list(source: str, first: str, second: str) -> None:
    try:
        article = written(f"{source} ", first, second)
    except (NothingToQuote, ValueError):
        return  # nothing there can be quoted, or it is no topic
    check(article, topic(f"{source} "))


def test_a_choice_is_followed_and_its_length_kept() -> None:
    article = written(BANK, {"headline": 1, "sentences": [2, 3, 4]})
    check(article, topic(BANK))
    assert article.headline == "Tides and towns"
    assert 30 <= sum(len(one.text.split()) for one in quotations_of(article, topic(BANK))) <= 60


def test_a_source_without_a_sentence_is_refused_with_the_remedy() -> None:
    with pytest.raises(
        NothingToQuote, match=r"topics/tides.json: source_text holds no sentence .*writer_llm.writes"
    ):
        written("# Only a heading\n\n- one\n- two\n")


def test_what_a_verdict_is_against_is_left_out_of_the_next_draft() -> None:
    first = written(BANK, {"headline": 1, "sentences": [1, 2, 3]})
    about = topic(BANK)
    gone = quotations_of(first, about)[0].text
    brief = RevisionBrief(
        topic=about,
        draft=first,
        feedback=compile_feedback(iteration=1, verdicts=[]),
        citations=[],
        objections=(gone,),
        writes="quotes",
    )
    second = asyncio.run(writer({"headline": 1, "sentences": [1, 2, 3]}).revise(brief)).value
    check(second, about)
    assert gone not in [one.text for one in quotations_of(second, about)]
    everything = (*(one.text for one in quotations_of(first, about)), "e")
    assert asyncio.run(writer().revise(brief.model_copy(update={"objections": everything}))).value == first


def reviewed(article: ArticleResponse, about: TopicInput, *replies: Any, day: str = "2026-03-02") -> str:
    """The review of an article of quotations."""
    review = QuotationReview(settings=SETTINGS, completions=ScriptedCompletions(*replies))
    brief = ReviewBrief(topic=about, draft=article, writes="quotes", day=day)
    return asyncio.run(review.review(brief)).value.markdown_bullets


ALL = {"headline": 1, "sentences": [1, 2, 3, 4]}
_DRAFT = written(BANK, ALL, ALL)


def test_doubts_are_found_by_code_and_the_model_says_which_count() -> None:
    about = topic(BANK)
    long = about.model_copy(update={"target_length_words": "100"})
    article = asyncio.run(writer("x", "y").generate(WritingBrief(topic=long, writes="quotes"))).value
    old = reviewed(article, about, {"concerns": [1]}, day="2027-06-01")
    [concern] = parse_bullets(old).concerns
    assert concern.excerpt == "The Board kept its policy rate at 4.25 percent today."
    assert "stale: it says “today”, and the source is of 2026-03-01" in concern.review_note
    [mapping] = sorted_concerns([concern]).mappings
    assert (mapping.concern_type, mapping.selected_agent) == ("certainty_inflation", "opinion")
    assert reviewed(article, about, {"concerns": []}, day="2027-06-01") == ""
    # Where the model answers badly every doubt counts.
    assert (
        len(parse_bullets(reviewed(article, about, "x", {"concerns": [9]}, day="2027-06-01")).concerns) == 2
    )


def test_where_code_has_no_doubt_no_model_is_asked() -> None:
    assert reviewed(written(BANK.replace(" today", ""), ALL, ALL), topic(BANK.replace(" today", ""))) == ""


@given(st.one_of(REPLIES, st.builds(lambda n: {"reason": n, "status": "KEEP"}, st.integers(-2, 9))))
def test_a_verdict_is_of_closed_lists_and_an_unclear_one_is_against(reply: Any) -> None:
    about, article = topic(BANK), _DRAFT
    note = "“The Board kept its policy rate at 4.25 percent today.”: undated: it says “today”"
    [concern] = parse_bullets(f"- {note}\n").concerns
    brief = ConcernBrief(article_id="a", topic=about, draft=article, concern=concern, writes="quotes")
    judge = Specialist(
        role="attribution",
        settings=ONE_TRY,
        completions=ScriptedCompletions(reply),
    )
    verdict = asyncio.run(judge.evaluate(brief)).value
    fine = isinstance(reply, dict) and 1 <= reply["reason"] <= 5
    assert verdict.status == ("KEEP" if fine else "REMOVE")
    told = re.sub(r"^The source says: “(.*)”$", r"\1", verdict.rationale)
    assert stand_in(words(told), BANK) or verdict.rationale.startswith(("The words are", "No specialist"))


def test_a_quotation_of_two_sentences_is_judged_by_what_stands_around_it() -> None:
    about = topic(
        "The bank cut its rate. It gave no reason. Exports fell in June. Nobody had hoped for that."
    )
    [concern] = parse_bullets(
        "- “The bank cut its rate. It gave no reason.”: undated: it has no date\n"
    ).concerns
    brief = ConcernBrief(article_id="a", topic=about, draft=_DRAFT, concern=concern, writes="quotes")
    assert reasons(brief)[2:] == [
        f"The source says: “{one}.”"
        for one in (
            "The bank cut its rate",
            "It gave no reason",
            "Exports fell in June",
            "Nobody had hoped for that",
        )
    ]
    reply = {"reason": 5, "status": "REMOVE"}
    judge = Specialist(role="attribution", settings=ONE_TRY, completions=ScriptedCompletions(reply))
    verdict = asyncio.run(judge.evaluate(brief)).value
    assert (verdict.status, verdict.misleading) == ("REMOVE", True)
    assert verdict.rationale == "The source says: “Exports fell in June.”"
    assert verdict.suggested_fix == "Leave out: “The bank cut its rate. It gave no reason.”"


@pytest.mark.parametrize("title", ["Minutes ## Footnotes", "## Footnotes of a report", "A “b” «c» d"])
def test_no_title_hides_quotations_from_the_review(title: str) -> None:
    about = topic(BANK)
    named = about.source_metadata.model_copy(update={"video_title": title, "topic_title": title})
    about = about.model_copy(update={"source_metadata": named, "target_length_words": "100"})
    article = asyncio.run(writer("x", "y").generate(WritingBrief(topic=about, writes="quotes"))).value
    assert len(quotations_of(article, about)) >= 4
    assert reviewed(article, about, {"concerns": [1]}, day="2027-06-01") != ""


def test_it_is_kept_who_chose() -> None:
    assert [written(BANK, ALL, ALL).chosen_by, written(BANK, "x", "y").chosen_by] == ["model", "code"]


def test_the_date_of_a_source_is_read_where_it_is_one() -> None:
    metadata = sample_topic().source_metadata
    assert said_on(metadata) == date(2026, 3, 1)
    for told in (None, "spring", "2026-13-01"):
        assert said_on(metadata.model_copy(update={"publish_date": told})) is None
