"""The embedder over real HTTP: what it sends, what it tries again, and how it says no."""

import json
from pathlib import Path
from typing import Any

import pytest

from actors.platform.search.embedder import OpenAIEmbedder
from actors.platform.search.knowledge_base import VectorIndex
from models.errors import ModelRefused, ModelReplyInvalid, ModelUnavailable, SignoffError
from tests.fakes.knowledge_base import embedding_settings, knowledge_base_settings
from tests.fakes.model.model_replies import embed
from tests.fakes.model.model_server import ModelServer, Rule


def over_http(server: ModelServer, **changes: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder(settings=embedding_settings(**{"api_base": server.base_url} | changes))


async def test_texts_are_sent_in_batches_and_come_back_in_order(server: ModelServer) -> None:
    texts = [f"text {n}" for n in range(5)]
    vectors = await over_http(server).embed(texts)
    assert vectors == [pytest.approx(embed(text, 384)) for text in texts]
    assert [call.body["input"] for call in server.calls()] == [texts[:2], texts[2:4], texts[4:]]
    assert {(call.body["model"], call.body["encoding_format"]) for call in server.calls()} == {
        ("minilm", "float")
    }


async def test_vectors_are_put_in_the_order_of_their_texts(server: ModelServer) -> None:
    entry = {"object": "embedding"}
    data = [{**entry, "index": 1, "embedding": [1.0]}, {**entry, "index": 0, "embedding": [0.0]}]
    server.script(Rule(raw=json.dumps({"data": data}), raw_type="application/json"))
    assert await over_http(server).embed(["a", "b"]) == [[0.0], [1.0]]


@pytest.mark.parametrize("fault", [Rule(status=503, times=1), Rule(drop=True, times=1)])
async def test_a_passing_fault_is_tried_again(server: ModelServer, fault: Rule) -> None:
    server.script(fault)
    assert len(await over_http(server).embed(["a"])) == 1
    assert len(server.calls()) == 2


@pytest.mark.parametrize(
    ("status", "refusal"),
    [(400, ModelRefused), (422, ModelRefused), (401, ModelUnavailable), (404, ModelUnavailable)],
)
async def test_a_refusal_names_the_endpoint_and_is_not_tried_again(
    server: ModelServer, status: int, refusal: type[SignoffError]
) -> None:
    server.script(Rule(status=status))
    with pytest.raises(refusal, match="minilm at http://127") as raised:
        await over_http(server).embed(["a"])
    assert "what is set under embedding" in str(raised.value)
    assert "secret-key" not in str(raised.value)
    assert len(server.calls()) == 1


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        (Rule(raw="<html>Log in</html>"), ModelUnavailable),
        (Rule(raw="{", raw_type="application/json"), ModelUnavailable),
        (Rule(raw='{"data": []}', raw_type="application/json"), ModelReplyInvalid),
        (
            Rule(raw='{"data": [{"index": 1, "embedding": [1.0]}]}', raw_type="application/json"),
            ModelReplyInvalid,
        ),
    ],
)
async def test_a_reply_that_is_not_one_vector_per_text_is_refused(
    server: ModelServer, rule: Rule, error: type[SignoffError]
) -> None:
    server.script(rule)
    with pytest.raises(error, match="minilm at http://127"):
        await over_http(server).embed(["a"])


async def test_no_answer_in_time_names_the_embeddings_setting(server: ModelServer) -> None:
    server.script(Rule(hold=True))
    with pytest.raises(ModelUnavailable, match=r"embedding\.timeout_seconds \(0\.2 s\)"):
        await over_http(server, timeout_seconds=0.2).embed(["a"])


async def test_no_proxy_is_taken_from_the_environment(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert len(await over_http(server).embed(["a"])) == 1


async def test_an_index_over_http(server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "norway.txt").write_text("Norway has fjords, oil and salmon.")
    (tmp_path / "france.md").write_text("France has wine.")
    settings = knowledge_base_settings(data_dir=tmp_path, index_dir=tmp_path / "index")
    index = VectorIndex(settings=settings, embedding=embedding_settings(api_base=server.base_url))
    [passage] = await index.search("salmon and fjords", 1)
    assert passage.citation == "norway.txt#1"
