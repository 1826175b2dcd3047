"""The examples' embeddings on disk: kept, found again, made anew, and never trusted blindly."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from actors.chat.example_vectors import example_vectors
from models.errors import ModelReplyInvalid
from tests.unit.chat import routers
from tests.unit.chat.routers import CountingEmbedder, turn

TEXTS = ["one text", "another text", "a third"]


async def made(
    embedder: CountingEmbedder, folder: Path | None, *, model: str = "m", texts: object = TEXTS
) -> object:
    assert isinstance(texts, list)
    return await example_vectors(texts, embedder=embedder, model_name=model, folder=folder)


async def test_they_are_made_once(tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    first = await made(embedder, tmp_path / "new")
    again = await made(embedder, tmp_path / "new")
    assert len(embedder.batches) == 1
    assert np.allclose(first, again)
    assert np.allclose(np.linalg.norm(first, axis=1), 1)


async def test_other_texts_or_another_model_get_a_file_of_their_own_and_old_ones_go(tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    await made(embedder, tmp_path)
    await made(embedder, tmp_path, model="other")
    await made(embedder, tmp_path, model="other", texts=[*TEXTS, "more"])
    assert len(embedder.batches) == 3
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("broken", [b"", b"nonsense", b"\x93NUMPY\x01\x00\x76", None])
async def test_a_broken_file_is_made_anew(
    tmp_path: Path, broken: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = CountingEmbedder()
    first = await made(embedder, tmp_path)
    [path] = tmp_path.iterdir()
    if broken is None:
        np.save(path, np.full((3, 64), np.nan, dtype=np.float32))
    else:
        path.write_bytes(broken)
    assert np.allclose(first, await made(embedder, tmp_path))
    assert len(embedder.batches) == 2
    assert "made anew" in caplog.text
    await made(embedder, tmp_path)
    assert len(embedder.batches) == 2


async def test_a_folder_that_cannot_be_written_costs_time_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert await made(CountingEmbedder(), tmp_path / "file" / "folder") is not None
    assert "can't be kept" in caplog.text


class Odd:
    """An embedder whose vectors are what it was told."""

    def __init__(self, vectors: list[list[float]]) -> None:
        self._vectors = vectors

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return self._vectors


@pytest.mark.parametrize(
    "vectors",
    [
        [],
        [[1.0]],
        [[1.0], [1.0], [float("nan")]],
        [[1.0], [1.0, 2.0], [1.0]],
        [[], [], []],
        [None, None, None],
    ],
)
async def test_vectors_that_are_none_are_refused(vectors: list[list[float]]) -> None:
    with pytest.raises(ModelReplyInvalid, match="embedding model"):
        await example_vectors(TEXTS, embedder=Odd(vectors), model_name="m", folder=None)


async def test_a_restarted_router_embeds_messages_only(tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    for _ in range(2):
        router = routers.router(embedder, vectors_dir=tmp_path, embedding_model="m")
        assert await router.warm()
    assert len(embedder.batches) == 1
    assert (await router.route(turn("please publish the article 7"))).by == "similarity"


class Growing(CountingEmbedder):
    """Its vectors get longer after the first batch, as when another model is served under the old name."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        vectors = await super().embed(texts)
        return vectors if len(self.batches) == 1 else [[*vector, 1.0] for vector in vectors]


async def test_a_vector_of_another_length_is_not_used(caplog: pytest.LogCaptureFixture) -> None:
    router = routers.router(Growing())
    await router.warm()
    route = await router.route(turn("please publish the article 7"))
    assert (route.intent, route.by) == ("publish", "best_guess")
    assert "65 numbers, each example 64" in caplog.text
