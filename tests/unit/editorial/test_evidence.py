"""The two providers of evidence: the outside one over real HTTP, the other over a fake knowledge base."""

import asyncio
import json
import pickle
from typing import Any

import pytest

from actors.systems.editorial.agents.evidence import KnowledgeBaseProvider, SearchModelProvider
from actors.systems.editorial.agents.ports import EvidenceProvider
from models.config import BreakerConfig, OutsideEvidence
from models.content.editorial import Passage, ProviderEvidence
from models.errors import EvidenceRefused, EvidenceUnavailable
from tests.fakes.model.model_server import ModelServer, Rule

QUERY = "Did growth reach 3 % in 2014?"
ANSWER = "It did [1]. See https://made-up.example/from-the-text."


def provider(server: ModelServer, **changes: Any) -> SearchModelProvider:
    values = {
        "provider": "openai_compatible",
        "api_base": server.base_url,
        "api_key": "secret-key",
        "model": "sonar",
        "timeout_seconds": 60,
    }
    return SearchModelProvider(settings=OutsideEvidence.model_validate(values | changes))


def body(message: dict[str, Any], **extra: Any) -> Rule:
    """A reply given whole."""
    return Rule(raw=json.dumps({"choices": [{"message": message}], **extra}), raw_type="application/json")


async def test_the_query_is_the_whole_message(server: ModelServer) -> None:
    server.script(Rule(reply=ANSWER))
    asked = provider(server)
    await asked.search(QUERY)
    [call] = server.calls()
    assert call.messages == [{"role": "user", "content": QUERY}]
    assert call.body["model"] == "sonar"
    assert asked.name == "sonar"
    assert await asked.version() == ""


@pytest.mark.parametrize(
    ("extra", "citations"),
    [
        ({}, []),
        ({"citations": None, "search_results": None}, []),
        (
            {"citations": ["https://a.example", "https://b.example"]},
            ["https://a.example", "https://b.example"],
        ),
        ({"citations": [{"url": "https://a.example"}]}, ["https://a.example"]),
        (
            {"search_results": [{"title": "A", "url": "https://a.example", "date": "2014-01-01"}]},
            ["https://a.example"],
        ),
        (
            {
                "citations": ["https://b.example", " https://a.example ", "", "https://b.example"],
                "search_results": [{"title": "A", "url": "https://a.example"}, {"url": "https://c.example"}],
            },
            ["https://b.example", "https://a.example", "https://c.example"],
        ),
    ],
)
async def test_citations_come_from_the_replys_fields_and_never_from_its_text(
    server: ModelServer, extra: dict[str, Any], citations: list[str]
) -> None:
    server.script(Rule(reply=ANSWER, extra=extra))
    assert await provider(server).search(QUERY) == ProviderEvidence(response=ANSWER, citations=citations)


async def test_openais_annotations_are_citations_too(server: ModelServer) -> None:
    notes = [
        {
            "type": "url_citation",
            "url_citation": {"url": "https://a.example", "title": "A", "start_index": 0},
        },
        {"type": "file_citation"},
        {"type": "url_citation", "url_citation": {"url": "https://a.example"}},
    ]
    server.script(body({"role": "assistant", "content": "Yes.", "annotations": notes}))
    assert await provider(server).search(QUERY) == ProviderEvidence(
        response="Yes.", citations=["https://a.example"]
    )


async def test_thinking_is_no_part_of_the_answer(server: ModelServer) -> None:
    server.script(Rule(reply="<think>Who knows?</think>\nIt did."))
    assert (await provider(server).search(QUERY)).response == "It did."


async def test_a_blank_query_is_not_sent(server: ModelServer) -> None:
    assert await provider(server).search(" \n") == ProviderEvidence(response="", citations=[])
    assert server.calls() == []


@pytest.mark.parametrize(
    ("rule", "remedy"),
    [
        (Rule(status=401), "api_base, model and api_key"),
        (Rule(status=429), "check that it is up"),
        (Rule(status=503), "check that it is up"),
        (Rule(drop=True), "check that it is up"),
        (Rule(raw="<html>Log in</html>"), "evidence.api_base"),
        (Rule(raw="{", raw_type="application/json"), "evidence.api_base"),
        (Rule(raw="[]", raw_type="application/json"), "evidence.api_base"),
        (Rule(raw='{"choices": []}', raw_type="application/json"), "evidence.api_base"),
        (Rule(reply=ANSWER, extra={"citations": "https://a.example"}), "citations"),
    ],
)
async def test_a_fault_names_the_endpoint_and_the_remedy_after_one_try(
    server: ModelServer, rule: Rule, remedy: str
) -> None:
    server.script(rule)
    with pytest.raises(EvidenceUnavailable, match=remedy) as raised:
        await provider(server).search(QUERY)
    assert f"sonar at {server.base_url}" in str(raised.value)
    assert raised.value.facts["waits_for"] == f"search model sonar at {server.base_url}"
    assert "secret-key" not in str(raised.value)
    assert len(server.calls()) == 1


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        (Rule(status=400), "Error code: 400"),
        (Rule(reply=" "), "holds no text"),
        (body({"content": None}), "holds no text"),
    ],
)
async def test_what_is_wrong_with_the_query_alone_is_no_outage(
    server: ModelServer, rule: Rule, what: str
) -> None:
    server.script(rule)
    with pytest.raises(EvidenceRefused, match=what) as raised:
        await provider(server).search(QUERY)
    assert not raised.value.outage


async def test_an_endpoint_that_is_not_there(server: ModelServer) -> None:
    with pytest.raises(EvidenceUnavailable, match="check that it is up"):
        await provider(server, api_base="http://127.0.0.1:9/v1").search(QUERY)


async def test_no_answer_in_time_names_the_setting(server: ModelServer) -> None:
    server.script(Rule(hold=True))
    with pytest.raises(EvidenceUnavailable, match=r"evidence.timeout_seconds \(0.2 s\)"):
        await provider(server, timeout_seconds=0.2).search(QUERY)


async def test_a_hang_is_an_outage_for_every_query_under_way(server: ModelServer) -> None:
    server.script(Rule(contains="the last answer", reply="well"), Rule(hold=True))
    breaker = BreakerConfig(faults=9, pause_seconds=60, longest_pause_seconds=60)
    names = {"provider": "openai_compatible", "api_base": server.base_url, "api_key": "k", "model": "hanging"}
    settings = OutsideEvidence.model_validate({**names, "timeout_seconds": 1.0})
    asked = SearchModelProvider(settings=settings, breaker=breaker)
    asking = [asyncio.create_task(asked.search(f"query {n}")) for n in range(3)]
    await server.await_calls(3, state="held")
    await asked.search("the last answer")
    errors = await asyncio.gather(*asking, asked.search("the newest"), return_exceptions=True)
    assert [type(error) for error in errors] == [EvidenceUnavailable] * 4


async def test_no_proxy_is_taken_from_the_environment(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.script(Rule(reply=ANSWER))
    assert (await provider(server).search(QUERY)).response == ANSWER


def test_a_provider_can_be_sent_to_its_actor_also_after_use(server: ModelServer) -> None:
    server.script(Rule(reply=ANSWER))
    used = provider(server)
    asyncio.run(used.search(QUERY))
    again: SearchModelProvider = pickle.loads(pickle.dumps(used))
    assert asyncio.run(again.search(QUERY)).response == ANSWER


class FakeKnowledgeBase:
    """Three passages, whatever is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    async def version(self) -> str:
        return "0123456789abcdef"

    async def search(self, query: str, top_k: int) -> list[Passage]:
        self.asked.append((query, top_k))
        return [
            Passage(citation="fr.md#3", text="France grew.", score=0.8),
            Passage(citation="de.md#1", text="Germany grew.", score=0.5),
            Passage(citation="it.md#2", text="Italy is a country.", score=0.49),
        ][:top_k]


async def test_the_knowledge_base_gives_its_passages_under_their_citations() -> None:
    knowledge_base = FakeKnowledgeBase()
    asked: EvidenceProvider = KnowledgeBaseProvider(knowledge_base=knowledge_base, top_k=3, min_score=0.5)
    assert await asked.search(QUERY) == ProviderEvidence(
        response="fr.md#3\nFrance grew.\n\nde.md#1\nGermany grew.", citations=["fr.md#3", "de.md#1"]
    )
    assert knowledge_base.asked == [(QUERY, 3)]
    assert asked.name == "knowledge_base"
    assert await asked.version() == "0123456789abcdef"


async def test_nothing_near_enough_is_nothing_found() -> None:
    asked = KnowledgeBaseProvider(knowledge_base=FakeKnowledgeBase(), top_k=3, min_score=0.9)
    assert await asked.search(QUERY) == ProviderEvidence(response="", citations=[])
