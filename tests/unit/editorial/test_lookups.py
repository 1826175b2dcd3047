"""The fact checker and the evidence finder: what they look up, cite, remember and use again."""

from pathlib import Path
from typing import Any

import pytest

from actors.systems.editorial.agents.evidence_finding import EvidenceFinder
from actors.systems.editorial.agents.fact_check import FactChecker
from actors.systems.editorial.agents.memory import InstitutionalMemory, normalize_query
from models.content.editorial import Passage, ProviderEvidence
from models.errors import ModelReplyInvalid
from tests.fakes.model.scripted import ScriptedCompletions
from tests.unit.editorial.desk import (
    ScriptedKnowledgeBase,
    ScriptedProvider,
    agent_settings,
    fenced,
    outside_fences,
    sample_brief,
    verdict_reply,
)

NEAR = Passage(citation="tides.txt, passage 2", text="Northpoint rose by 9 millimetres a year.", score=0.8)
NEAR_TOO = Passage(citation="tides.txt, passage 2", text="The same place, told again.", score=0.6)
EDGE = Passage(citation="gauges.md, passage 1", text="Gauges are read hourly.", score=0.25)
FAR = Passage(citation="bread.txt, passage 4", text="Rye bread needs a sour dough.", score=0.1)
FOUND = ProviderEvidence(
    response="Two tables list higher rates.",
    citations=["https://example.org/a", "https://example.org/b", "https://example.org/a"],
)


@pytest.fixture
def memory(tmp_path: Path) -> InstitutionalMemory:
    return InstitutionalMemory(
        root=tmp_path, fact_checking_subdir="facts", evidence_finding_subdir="evidence"
    )


def make_checker(
    memory: InstitutionalMemory, *replies: Any, kb: ScriptedKnowledgeBase, model: str = "test-model"
) -> tuple[FactChecker, ScriptedCompletions]:
    """A fact checker whose model gives these replies."""
    script = ScriptedCompletions(*replies)
    checker = FactChecker(
        settings=agent_settings(model=model, max_retries=0),
        knowledge_base=kb,
        top_k=4,
        min_score=0.25,
        memory=memory,
        completions=script,
    )
    return checker, script


def make_finder(
    memory: InstitutionalMemory, *replies: Any, provider: ScriptedProvider
) -> tuple[EvidenceFinder, ScriptedCompletions]:
    """An evidence finder whose model gives these replies."""
    script = ScriptedCompletions(*replies)
    settings = agent_settings(max_retries=0)
    return EvidenceFinder(settings=settings, provider=provider, memory=memory, completions=script), script


async def test_a_fact_check_shows_and_cites_the_near_passages_only(memory: InstitutionalMemory) -> None:
    kb = ScriptedKnowledgeBase(NEAR, NEAR_TOO, EDGE, FAR)
    checker, script = make_checker(memory, verdict_reply(citations=["https://made.up"]), kb=kb)
    verdict = (await checker.evaluate(sample_brief())).value

    assert kb.queries == [("a record for the coast", 4)]
    assert verdict.citations == ["tides.txt, passage 2", "gauges.md, passage 1"]
    assert verdict.evidence == "The tables list higher rates."
    user = script.asked[0].user
    for passage in (NEAR, NEAR_TOO, EDGE):
        assert passage.text in user
        assert passage.text not in outside_fences(user)
    assert "bread" not in user


@pytest.mark.parametrize("excerpt", ["", " ", "…"])
async def test_an_excerpt_without_words_is_no_query(memory: InstitutionalMemory, excerpt: str) -> None:
    kb = ScriptedKnowledgeBase(NEAR)
    checker, _ = make_checker(memory, verdict_reply(), kb=kb)
    await checker.evaluate(sample_brief(excerpt=excerpt))
    assert kb.queries == [(sample_brief(excerpt=excerpt).concern.review_note, 4)]


@pytest.mark.parametrize("passages", [[], [FAR]])
async def test_a_knowledge_base_that_holds_nothing_is_said_so(
    memory: InstitutionalMemory, passages: list[Passage]
) -> None:
    checker, script = make_checker(memory, verdict_reply(), kb=ScriptedKnowledgeBase(*passages))
    assert (await checker.evaluate(sample_brief())).value.citations is None
    assert "The knowledge base holds nothing on this." in outside_fences(script.asked[0].user)


async def test_a_fact_check_is_remembered_whole(memory: InstitutionalMemory) -> None:
    checker, script = make_checker(memory, verdict_reply(), kb=ScriptedKnowledgeBase(NEAR))
    verdict = (await checker.evaluate(sample_brief())).value
    record = memory.recall_fact_check(
        query="a record for the coast", model_name="test-model", kb_index_version="kb-1"
    )
    assert record is not None
    assert record.verdict == verdict
    assert (record.article_id, record.concern_id) == ("harbour/tides", 3)
    assert record.normalized_query == normalize_query("a record for the coast")
    assert NEAR.text in record.kb_response
    assert script.asked[0].user in record.prompt
    assert script.asked[0].system in record.prompt


async def test_a_fact_in_memory_is_used_again_under_the_present_concern_id(
    memory: InstitutionalMemory,
) -> None:
    kb = ScriptedKnowledgeBase(NEAR)
    checker, _ = make_checker(memory, verdict_reply(3), kb=kb)
    first = (await checker.evaluate(sample_brief(concern_id=3))).value

    unasked, script = make_checker(memory, kb=kb)
    again = await unasked.evaluate(sample_brief(concern_id=8))
    assert again.value == first.model_copy(update={"concern_id": 8})
    assert again.calls == ()
    assert script.asked == []
    assert len(kb.queries) == 1


@pytest.mark.parametrize(
    "change", [{"version": "kb-2"}, {"model": "another-model"}, {"excerpt": "another excerpt"}]
)
async def test_another_index_model_or_query_is_checked_anew(
    memory: InstitutionalMemory, change: dict[str, str]
) -> None:
    checker, _ = make_checker(memory, verdict_reply(), kb=ScriptedKnowledgeBase(NEAR))
    await checker.evaluate(sample_brief())

    kb = ScriptedKnowledgeBase(NEAR, version=change.get("version", "kb-1"))
    checker, script = make_checker(memory, verdict_reply(), kb=kb, model=change.get("model", "test-model"))
    await checker.evaluate(sample_brief(excerpt=change.get("excerpt", "a record for the coast")))
    assert len(script.asked) == len(kb.queries) == 1


async def test_a_fact_check_that_failed_is_not_remembered(memory: InstitutionalMemory) -> None:
    kb = ScriptedKnowledgeBase(NEAR)
    checker, _ = make_checker(memory, "no JSON", kb=kb)
    with pytest.raises(ModelReplyInvalid):
        await checker.evaluate(sample_brief())
    checker, script = make_checker(memory, verdict_reply(), kb=kb)
    await checker.evaluate(sample_brief())
    assert len(script.asked) == 1


@pytest.mark.parametrize(("version", "judged_by"), [("", "sonar"), ("kb-1", "test-model")])
async def test_evidence_is_shown_cited_and_remembered(
    memory: InstitutionalMemory, version: str, judged_by: str
) -> None:
    provider = ScriptedProvider(FOUND, version=version)
    finder, script = make_finder(memory, verdict_reply(citations=["https://made.up"]), provider=provider)
    verdict = (await finder.evaluate(sample_brief())).value

    assert provider.queries == ["a record for the coast"]
    assert verdict.citations == ["https://example.org/a", "https://example.org/b"]
    data = fenced(script.asked[0].user)
    assert data["finding"] == FOUND.response
    assert data["citations"] == "https://example.org/a\nhttps://example.org/b"

    record = memory.recall_evidence(
        query="a record for the coast", model_name=judged_by, kb_index_version=version
    )
    assert record is not None
    assert record.verdict == verdict
    assert record.perplexity_response == FOUND.response
    assert record.citations == verdict.citations

    unasked, script = make_finder(memory, provider=provider)
    again = await unasked.evaluate(sample_brief(concern_id=11))
    assert again.value == verdict.model_copy(update={"concern_id": 11})
    assert script.asked == []
    assert len(provider.queries) == 1


async def test_another_provider_or_index_is_searched_anew(memory: InstitutionalMemory) -> None:
    for name, version in [
        ("sonar", ""),
        ("other", ""),
        ("knowledge_base", "kb-1"),
        ("knowledge_base", "kb-2"),
    ]:
        provider = ScriptedProvider(FOUND, name=name, version=version)
        finder, script = make_finder(memory, verdict_reply(), provider=provider)
        await finder.evaluate(sample_brief())
        assert len(script.asked) == len(provider.queries) == 1


async def test_a_search_that_found_nothing_is_said_so(memory: InstitutionalMemory) -> None:
    provider = ScriptedProvider(ProviderEvidence(response=" ", citations=[]))
    finder, script = make_finder(memory, verdict_reply(), provider=provider)
    assert (await finder.evaluate(sample_brief())).value.citations is None
    assert "The search found nothing on this." in outside_fences(script.asked[0].user)
    assert "citations" not in fenced(script.asked[0].user)
