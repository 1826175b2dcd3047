"""How documents are cut into passages, with MiniLM's real tokenizer."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from actors.platform.search.chunks import Chunker, _tokenizer_folder
from models.errors import KnowledgeBaseInvalid
from tests.examples import examples
from tests.fakes.knowledge_base import embedding_settings, knowledge_base_settings

FRANCE = "The capital of France is Paris. Its wine is known in all the world."


@pytest.fixture(scope="module")
def minilm() -> Tokenizer:
    """The tokenizer as the embedding server has it: nothing cut, special tokens counted."""
    tokenizer = Tokenizer.from_file(str(_tokenizer_folder("bundled") / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def chunker(size: int = 32, overlap: int = 8, **embedding: Any) -> Chunker:
    return Chunker(
        settings=knowledge_base_settings(chunk_size_tokens=size, chunk_overlap_tokens=overlap),
        embedding=embedding_settings(**embedding),
    )


def test_a_chunk_holds_as_many_tokens_as_configured_special_ones_included(minilm: Tokenizer) -> None:
    text = "the cat sat on a mat and " * 100
    passages = chunker(32, 8).split(text)
    assert {len(minilm.encode(passage).ids) for passage in passages[:-1]} == {32}
    step = 32 - 2 - 8
    words = text.split()
    assert [passage.split() for passage in passages[:3]] == [
        words[n * step : n * step + 30] for n in range(3)
    ]


def test_passages_begin_and_end_between_words() -> None:
    text = "antidisestablishmentarianism unfathomableness incomprehensibilities " * 20
    for passage in chunker(32, 8).split(text):
        assert set(passage.split()) <= set(text.split())


def test_a_text_that_fits_is_one_passage() -> None:
    assert chunker(256, 50).split(f"\n {FRANCE}\n") == [FRANCE]


TEXTS = st.lists(
    st.sampled_from(
        ["unbelievable", "GDP 3.14%", "naïve café", "\n\n", "  ", "経済成長", "x" * 150, "antidisestablish"]
    )
    | st.text(max_size=20),
    max_size=40,
).map(" ".join)


@examples(60)
@given(text=TEXTS, size=st.integers(6, 40), share=st.floats(0, 0.9))
@pytest.mark.heavy
def test_passages_are_slices_that_the_model_reads_whole_and_cover_the_text(
    minilm: Tokenizer, text: str, size: int, share: float
) -> None:
    overlap = int((size - 3) * share)
    done = 0
    for start, end in chunker(size, overlap).spans(text):
        assert text[start:end].strip()
        assert len(minilm.encode(text[start:end]).ids) <= size
        assert len(minilm.encode(text[start:done]).ids) <= overlap + 2
        # What lies between two passages has no token: spaces and control characters.
        assert len(minilm.encode(text[done:start]).ids) == 2
        assert end > done
        done = end
    assert len(minilm.encode(text[done:]).ids) == 2


def test_a_long_query_is_cut_where_the_model_stops_reading(minilm: Tokenizer) -> None:
    query = "unbelievably long questions " * 200
    clipped = chunker().clip(query)
    assert query.startswith(clipped)
    assert 250 < len(minilm.encode(clipped).ids) <= 256
    assert chunker().clip("short") == "short"


@pytest.mark.parametrize("size", [257, 512])
def test_a_chunk_larger_than_the_model_reads_is_refused_whatever_the_configuration_says(size: int) -> None:
    with pytest.raises(KnowledgeBaseInvalid, match=f"is {size}, but minilm reads 256 tokens"):
        chunker(size, max_input_tokens=512)


def test_an_overlap_that_leaves_no_progress_is_refused() -> None:
    with pytest.raises(KnowledgeBaseInvalid, match="the overlap must be smaller"):
        chunker(10, 8)


def test_a_tokenizer_folder_with_its_own_limit(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes((_tokenizer_folder("bundled") / "tokenizer.json").read_bytes())
    assert chunker(256, tokenizer=str(tmp_path)).split(FRANCE) == [FRANCE]
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 1e30}')
    assert chunker(256, tokenizer=str(tmp_path)).split(FRANCE) == [FRANCE]
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 128}')
    with pytest.raises(KnowledgeBaseInvalid, match="reads 128 tokens"):
        chunker(256, tokenizer=str(tmp_path))


@pytest.mark.parametrize("content", [None, "", "{}", "[]"])
def test_a_tokenizer_that_cannot_be_read_is_named(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(KnowledgeBaseInvalid, match=r"tokenizer\.json can't be read as a tokenizer"):
        chunker(tokenizer=str(tmp_path))
