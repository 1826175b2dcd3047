"""The writer, the reviewer, the mapper and the specialists, with a scripted model."""

import json
import re
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import xgrammar
from pydantic import ValidationError

from actors.platform.llm.client import bounded_schema
from actors.systems.editorial.agents.article_review import ArticleReview
from actors.systems.editorial.agents.concern_mapping import ConcernMapper, mapping_schema
from actors.systems.editorial.agents.verdicts import Specialist, verdict_schema
from actors.systems.editorial.agents.writer import Writer
from actors.systems.editorial.briefs import MappingBrief, ReviewBrief, RevisionBrief, WritingBrief
from models.config import SchemaLimits
from models.content.editorial import Concern, Verdict, WriterFeedback, WrittenArticle
from models.errors import ModelReplyInvalid, ModelUnavailable, PromptInvalid, TopicInvalid
from tests.fakes.model.scripted import Cut, ScriptedCompletions
from tests.unit.editorial.desk import (
    EMBEDDING,
    STYLES,
    agent_settings,
    fenced,
    outside_fences,
    sample_brief,
    sample_draft,
    sample_topic,
    verdict_reply,
)

DRAFT = sample_draft().model_dump()
FOOTNOTED = DRAFT | {
    "articleBody": "The gauge rose.[^1]\n\n## Footnotes\n\n[^1]: Rates differ. tides.txt, passage 2"
}


def make_writer(*replies: Any, **model: Any) -> tuple[Writer, ScriptedCompletions]:
    """A writer whose model gives these replies."""
    script = ScriptedCompletions(*replies)
    return Writer(settings=agent_settings(**model), embedding=EMBEDDING, completions=script), script


def revision_brief(**values: Any) -> RevisionBrief:
    """Feedback with one fix, one blocking verdict without a fix, and one suggestion."""
    verdicts = [
        Verdict(
            concern_id=1,
            misleading=True,
            status="REMOVE",
            rationale="No record.",
            suggested_fix="Drop the record.",
            evidence="Tables list higher rates.",
            citations=["tides.txt, passage 2"],
        ),
        Verdict(concern_id=2, misleading=True, status="REWRITE", rationale="Name Dr Osei."),
        Verdict(concern_id=3, misleading=False, status="KEEP", rationale="The tone is fine."),
    ]
    feedback = WriterFeedback(
        iteration=1,
        rating=7,
        passed=False,
        reasoning="Must change: Drop the record.",
        improvement_suggestions=["The tone is fine."],
        todo_list=["Drop the record."],
        verdicts=verdicts,
    )
    fields: dict[str, Any] = {
        "topic": sample_topic(),
        "draft": sample_draft(),
        "feedback": feedback,
        "citations": ["tides.txt, passage 2", "https://example.org/earlier"],
    }
    return RevisionBrief(**(fields | values))


async def test_the_writer_is_sent_the_whole_prompt_contract() -> None:
    writer, script = make_writer(DRAFT)
    answer = await writer.generate(WritingBrief(topic=sample_topic()))

    assert answer.value == WrittenArticle(**sample_draft().model_dump())
    assert len(answer.calls) == 1
    (asked,) = script.asked
    topic, data = sample_topic(), fenced(asked.user)
    assert data["source_text"] == topic.source_text
    assert json.loads(data["metadata"]) == topic.source_metadata.model_dump()
    assert data["angle"] == topic.optional_angle
    assert data["target_length_words"] == "300-400"
    assert "NATURE_NEWS: " + STYLES["NATURE_NEWS"] in asked.system
    assert list(asked.schema["properties"]) == list(DRAFT)


@pytest.mark.parametrize("angle", [None, "", "  "])
async def test_no_angle_leaves_no_trace(angle: str | None) -> None:
    writer, script = make_writer(DRAFT)
    await writer.generate(WritingBrief(topic=sample_topic(optional_angle=angle)))
    assert "angle" not in script.asked[0].user


async def test_a_style_that_is_not_allowed_is_named() -> None:
    writer, script = make_writer()
    with pytest.raises(TopicInvalid, match="'GOTHIC' is not one of allowed_styles: NATURE_NEWS"):
        await writer.generate(WritingBrief(topic=sample_topic(style_mode="GOTHIC")))
    assert not script.asked


def test_an_agent_without_its_prompt_is_not_made() -> None:
    with pytest.raises(PromptInvalid, match="'writer' was not given; there are: opinion"):
        Writer(
            settings=agent_settings().model_copy(update={"prompts": {"opinion": "…"}}), embedding=EMBEDDING
        )


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ("The sea climbs.", "Invalid JSON"),
        ({**DRAFT, "author": "me"}, "author: Extra inputs are not permitted"),
        ({**DRAFT, "headline": " \n"}, "headline is blank"),
        ({**DRAFT, "articleBody": ""}, "articleBody is blank"),
        ({**DRAFT, "articleBody": "The gauge rose.[^1]"}, r"\[\^1\]"),
        ({**DRAFT, "articleBody": "Up.\n\n## Footnotes\n\nINTRUDER"}, "INTRUDER"),
        ({**DRAFT, "articleBody": "See https://made.up/tides."}, "https://made.up/tides"),
        (Cut(text=json.dumps(DRAFT)), "cut at max_tokens"),
        ("<think>Let me see, the draft is", "never came out of its thinking"),
    ],
)
async def test_a_bad_draft_goes_back_with_its_fault(bad: Any, fault: str) -> None:
    writer, script = make_writer(bad, DRAFT)
    answer = await writer.generate(WritingBrief(topic=sample_topic()))

    assert answer.value == WrittenArticle(**sample_draft().model_dump())
    assert [bool(call.error) for call in answer.calls] == [True, False]
    first, second = script.asked
    assert second.messages[:2] == first.messages
    assert [message["role"] for message in second.messages[2:]] == ["assistant", "user"]
    mend = second.messages[-1]["content"]
    assert re.search(fault, fenced(mend)["fault"])
    assert not re.search(fault, outside_fences(mend))


async def test_a_draft_that_stays_bad_fails_after_max_retries() -> None:
    bad = DRAFT | {"articleBody": "See https://made.up/tides."}
    writer, script = make_writer(bad, bad, bad)
    with pytest.raises(ModelReplyInvalid, match=r"writer: .* in 3 tries: .*https://made\.up/tides"):
        await writer.generate(WritingBrief(topic=sample_topic()))
    assert len(script.asked) == 3


async def test_an_endpoint_that_is_away_is_not_asked_again_here() -> None:
    writer, script = make_writer(ModelUnavailable("writer: no answer"))
    with pytest.raises(ModelUnavailable):
        await writer.generate(WritingBrief(topic=sample_topic()))
    assert len(script.asked) == 1


async def test_thinking_and_a_code_fence_are_stripped() -> None:
    text = f"<think>{{not this}}</think>\n```json\n{json.dumps(DRAFT)}\n```"
    writer, _ = make_writer(text)
    assert (await writer.generate(WritingBrief(topic=sample_topic()))).value == WrittenArticle(
        **sample_draft().model_dump()
    )


async def test_a_revision_may_cite_what_verdicts_supplied_and_a_first_draft_may_not() -> None:
    writer, _ = make_writer(FOOTNOTED)
    revised = await writer.revise(revision_brief())
    assert revised.value.articleBody == FOOTNOTED["articleBody"]

    writer, _ = make_writer(FOOTNOTED, max_retries=0)
    with pytest.raises(ModelReplyInvalid):
        await writer.generate(WritingBrief(topic=sample_topic()))

    writer, _ = make_writer(FOOTNOTED, max_retries=0)
    with pytest.raises(ModelReplyInvalid):
        await writer.revise(revision_brief(citations=["another.txt, passage 1"]))


async def test_the_revision_is_told_what_to_change_and_what_it_may_cite() -> None:
    writer, script = make_writer(DRAFT)
    await writer.revise(revision_brief())
    data = fenced(script.asked[0].user)
    assert data["must_do"] == "- Drop the record.\n- REWRITE: Name Dr Osei."
    assert data["suggestions"] == "- The tone is fine."
    assert data["evidence"] == "- Tables list higher rates. (tides.txt, passage 2)"
    assert data["allowed_citations"] == "tides.txt, passage 2\nhttps://example.org/earlier"
    assert sample_draft().articleBody in data["draft"]
    assert data["source_text"] == sample_topic().source_text
    assert "No citations are allowed" not in script.asked[0].user


async def test_a_revision_without_citations_is_told_to_write_no_footnotes() -> None:
    writer, script = make_writer(DRAFT)
    await writer.revise(revision_brief(citations=[]))
    assert "No citations are allowed: write no footnotes." in outside_fences(script.asked[0].user)
    assert "allowed_citations" not in fenced(script.asked[0].user)


@pytest.mark.parametrize(
    ("reply", "bullets"),
    [
        ('- "a record": unsupported_fact: not there', '- "a record": unsupported_fact: not there'),
        ('<think>hm</think>```markdown\n- "a record": no\n```', '- "a record": no'),
        ("", ""),
        ("All is well.", "All is well."),
    ],
)
async def test_a_review_is_taken_as_it_is(reply: str, bullets: str) -> None:
    script = ScriptedCompletions(reply)
    agent = ArticleReview(settings=agent_settings(), completions=script)
    answer = await agent.review(ReviewBrief(topic=sample_topic(), draft=sample_draft()))
    assert answer.value.markdown_bullets == bullets
    assert script.asked[0].response_format is None


@pytest.mark.parametrize("bad", [Cut(text=""), "<think>I wonder"])
async def test_silence_that_is_no_answer_does_not_pass_for_an_empty_review(bad: Any) -> None:
    agent = ArticleReview(settings=agent_settings(max_retries=1), completions=ScriptedCompletions(bad, bad))
    with pytest.raises(ModelReplyInvalid):
        await agent.review(ReviewBrief(topic=sample_topic(), draft=sample_draft()))


def mapping(concern_id: int, agent: str = "opinion") -> dict[str, Any]:
    """A mapping as a model writes it."""
    return {
        "concern_id": concern_id,
        "concern_type": "editorializing",
        "selected_agent": agent,
        "confidence": "high",
        "reason": "It judges.",
    }


def mapping_brief() -> MappingBrief:
    """A brief with the concerns 1, 2 and 3."""
    concerns = [Concern(concern_id=n, excerpt=f"words {n}", review_note=f"- words {n}") for n in (1, 2, 3)]
    return MappingBrief(topic=sample_topic(), draft=sample_draft(), concerns=concerns)


async def test_mappings_come_back_in_the_order_of_their_concerns() -> None:
    script = ScriptedCompletions({"mappings": [mapping(3), mapping(1, "fact_check"), mapping(2)]})
    answer = await ConcernMapper(settings=agent_settings(), completions=script).map(mapping_brief())
    assert [m.concern_id for m in answer.value.mappings] == [1, 2, 3]
    assert answer.value.mappings[0].selected_agent == "fact_check"


@pytest.mark.parametrize(
    ("ids", "fault"),
    [
        ([1, 3], "concern_id 2: not mapped"),
        ([1, 2, 2, 3], "concern_id 2: mapped more than once"),
        ([1, 2, 3, 7], "concern_id 7: there is no such concern"),
        ([], "concern_id 1, 2, 3: not mapped"),
        ([1, 1, 4], "concern_id 2, 3: not mapped; concern_id 1: mapped more than once; concern_id 4: there"),
    ],
)
async def test_a_mapping_must_hold_every_concern_once(ids: list[int], fault: str) -> None:
    good = {"mappings": [mapping(n) for n in (1, 2, 3)]}
    script = ScriptedCompletions({"mappings": [mapping(n) for n in ids]}, good)
    answer = await ConcernMapper(settings=agent_settings(), completions=script).map(mapping_brief())
    assert [m.concern_id for m in answer.value.mappings] == [1, 2, 3]
    assert fault in script.asked[1].messages[-1]["content"]


def test_a_mapping_brief_without_concerns_is_refused() -> None:
    with pytest.raises(ValidationError):
        MappingBrief(topic=sample_topic(), draft=sample_draft(), concerns=[])


async def test_the_mapping_schema_has_one_place_per_concern() -> None:
    good = {"mappings": [mapping(n) for n in (1, 2, 3)]}
    script = ScriptedCompletions(good)
    await ConcernMapper(settings=agent_settings(), completions=script).map(mapping_brief())
    check = jsonschema.Draft202012Validator(script.asked[0].schema)
    assert check.is_valid(good)
    for ids in ([1, 2], [1, 2, 3, 3], [1, 3, 2], [1, 2, 4]):
        assert not check.is_valid({"mappings": [mapping(n) for n in ids]})


def matcher_accepts(schema: dict[str, Any], value: dict[str, Any]) -> bool:
    """Whether xgrammar's grammar for the schema lets these JSON bytes through to the end."""
    vocabulary = [bytes([byte]) for byte in range(256)] + [b"</s>"]
    info = xgrammar.TokenizerInfo(vocabulary, stop_token_ids=[256])
    grammar = xgrammar.GrammarCompiler(info).compile_json_schema(json.dumps(schema), any_whitespace=False)
    matcher = xgrammar.GrammarMatcher(grammar)
    return matcher.accept_string(json.dumps(value)) and matcher.accept_token(256)


def test_the_decoder_that_guides_the_model_keeps_to_the_narrowed_schemas() -> None:
    limits = SchemaLimits(strings=80)
    mappings = bounded_schema(mapping_schema([1, 2]), limits)
    assert matcher_accepts(mappings, {"mappings": [mapping(1), mapping(2)]})
    assert not matcher_accepts(mappings, {"mappings": [mapping(1), mapping(1)]})
    assert not matcher_accepts(mappings, {"mappings": [mapping(1)]})
    assert not matcher_accepts(mappings, {"mappings": [mapping(1) | {"reason": "x" * 81}, mapping(2)]})

    verdict = verdict_schema(3)
    assert matcher_accepts(verdict, verdict_reply(3))
    verdict = bounded_schema(verdict, limits)  # a bounded string can hold no escape, so no quotes
    assert matcher_accepts(verdict, verdict_reply(3, suggested_fix="Drop the record."))
    assert matcher_accepts(verdict, verdict_reply(3, suggested_fix=None, evidence=None))
    assert not matcher_accepts(verdict, verdict_reply(4))
    assert not matcher_accepts(verdict, verdict_reply(3, citations=["https://made.up"]))


@pytest.mark.parametrize("role", ["opinion", "attribution", "style_review"])
async def test_a_specialist_judges_the_concern_it_was_given(role: Any) -> None:
    script = ScriptedCompletions(verdict_reply(suggested_fix=None))
    agent = Specialist(role=role, settings=agent_settings(), completions=script)
    verdict = (await agent.evaluate(sample_brief())).value
    assert (verdict.concern_id, verdict.status, verdict.suggested_fix) == (3, "REMOVE", None)
    assert verdict.citations is None
    data = fenced(script.asked[0].user)
    assert data["excerpt"] == "a record for the coast"
    assert data["concern"] == sample_brief().concern.review_note
    assert data["source_text"] == sample_topic().source_text
    assert sample_draft().articleBody in data["draft"]


async def test_a_verdict_on_another_concern_is_refused() -> None:
    script = ScriptedCompletions(verdict_reply(9), verdict_reply(3))
    agent = Specialist(role="opinion", settings=agent_settings(), completions=script)
    assert (await agent.evaluate(sample_brief())).value.concern_id == 3
    assert "concern_id is 9, but must be 3" in script.asked[1].messages[-1]["content"]


async def test_citations_of_the_models_own_are_dropped_and_other_extras_refused() -> None:
    script = ScriptedCompletions(
        verdict_reply(source="memory"), verdict_reply(citations=["https://made.up/paper"])
    )
    agent = Specialist(role="attribution", settings=agent_settings(), completions=script)
    answer = await agent.evaluate(sample_brief())
    assert answer.value.citations is None
    assert "source: Extra inputs" in (answer.calls[0].error or "")
    assert "citations" not in script.asked[0].schema["properties"]
