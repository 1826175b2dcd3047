"""Numbers of a draft in prose that its source does not have are concerns of the fact checker."""

import asyncio

import pytest

from actors.systems.editorial.agents.article_review import ArticleReview
from actors.systems.editorial.agents.concern_mapping import ConcernMapper
from actors.systems.editorial.briefs import MappingBrief, ReviewBrief
from actors.systems.editorial.bullets import parse_bullets
from models.content.editorial import Concern
from tests.fakes.model.scripted import ScriptedCompletions
from tests.unit.editorial.desk import agent_settings, sample_draft, sample_topic


def reviewed(said: str, body: str) -> list[Concern]:
    """The concerns of a review in which the model said this about such a body."""
    agent = ArticleReview(settings=agent_settings(), completions=ScriptedCompletions(said))
    brief = ReviewBrief(topic=sample_topic(), draft=sample_draft(articleBody=body))
    return parse_bullets(asyncio.run(agent.review(brief)).value.markdown_bullets).concerns


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("The gauge rose by 4 millimetres a year.", []),
        ("The gauge rose by four millimetres a year.", []),
        ("The gauge rose by 7 millimetres a year, 41 percent more.", ["7", "41 percent"]),
        ("It rose by 4 millimetres.[^1]\n\n## Footnotes\n\n[^1]: 12 of 40 gauges. kb.md#1", []),
        ("It was measured on 1 March 2026.", []),
        ("It was measured in June.", ["June"]),
    ],
)
def test_code_finds_the_numbers_that_the_source_does_not_have(body: str, found: list[str]) -> None:
    assert [concern.excerpt for concern in reviewed("", body)] == found


def test_they_come_after_what_the_model_said_and_hide_no_unreadable_review() -> None:
    concerns = reviewed(
        '- "a record": the source says nothing of it\n', "It rose by 7 millimetres, a record."
    )
    assert [concern.excerpt for concern in concerns] == ["a record", "7"]
    agent = ArticleReview(settings=agent_settings(), completions=ScriptedCompletions("All is fine."))
    brief = ReviewBrief(topic=sample_topic(), draft=sample_draft(articleBody="It rose by 7."))
    assert asyncio.run(agent.review(brief)).value.markdown_bullets == "All is fine."


def test_they_are_the_fact_checker_s_whatever_the_model_says() -> None:
    concerns = reviewed('- "a record": unsupported\n', "It rose by 7 millimetres, a record.")
    said = [
        {
            "concern_id": number,
            "concern_type": "editorializing",
            "selected_agent": "style_review",
            "confidence": "low",
            "reason": "so",
        }
        for number in (1, 2)
    ]
    mapper = ConcernMapper(settings=agent_settings(), completions=ScriptedCompletions({"mappings": said}))
    brief = MappingBrief(topic=sample_topic(), draft=sample_draft(), concerns=concerns)
    first, second = asyncio.run(mapper.map(brief)).value.mappings
    assert (first.selected_agent, first.concern_type) == ("style_review", "editorializing")
    assert (second.selected_agent, second.concern_type) == ("fact_check", "unsupported_fact")
