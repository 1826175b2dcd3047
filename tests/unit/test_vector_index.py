"""The knowledge base's index: MiniLM's real tokenizer, a fake embedder for vectors, real files."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from actors.runtime.chunks import Chunker, _tokenizer_folder
from actors.runtime.embedder import OpenAIEmbedder
from actors.runtime.vector_index import VectorIndex
from models.config import EmbeddingConfig, KnowledgeBaseConfig
from models.errors import KnowledgeBaseInvalid, ModelReplyInvalid, ModelUnavailable
from tests.fakes.model_replies import embed
from tests.fakes.model_server import ModelServer, Rule

FRANCE = "The capital of France is Paris. Its wine is known in all the world."
NORWAY = "Norway has fjords, oil and salmon. Its capital is Oslo."


class FakeEmbedder:
    """Vectors from the words of a text; `gate` holds its answers back until it is set."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.gate: asyncio.Event | None = None
        self.asked = asyncio.Event()
        self.fault: Exception | None = None

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.batches.append(list(texts))
        self.asked.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        return [[3 * value for value in embed(text, 64)] for text in texts]


class Site:
    """A knowledge base's folders, and the indexes made from them."""

    def __init__(self, root: Path) -> None:
        self.data = root / "data"
        self.index_dir = root / "index"
        self.embedder = FakeEmbedder()
        self.data.mkdir()
        self.write("france.md", FRANCE)
        self.write("north/norway.txt", NORWAY)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def settings(self, *, embedding: dict[str, Any] | None = None, **changes: Any) -> KnowledgeBaseConfig:
        folders = {"data_dir": self.data, "index_dir": self.index_dir}
        return knowledge_base_settings(embedding, **(folders | changes))

    def index(self, **changes: Any) -> VectorIndex:
        return VectorIndex(settings=self.settings(**changes), embedder=self.embedder)

    def saved(self) -> list[str]:
        return sorted(path.name for path in self.index_dir.iterdir() if path.is_dir())

    def current(self) -> str:
        return (self.index_dir / "CURRENT").read_text()


def knowledge_base_settings(embedding: dict[str, Any] | None = None, **changes: Any) -> KnowledgeBaseConfig:
    values: dict[str, Any] = {
        "data_dir": "data",
        "index_dir": "index",
        "chunk_size_tokens": 32,
        "chunk_overlap_tokens": 8,
        "top_k": 2,
        "min_score": 0.0,
        "timeout_seconds": 60,
        "embedding": {
            "provider": "openai_compatible",
            "model_name": "minilm",
            "api_base": "http://127.0.0.1:9/v1",
            "api_key": "secret-key",
            "tokenizer": "bundled",
            "max_input_tokens": 256,
            "batch_size": 2,
            "timeout_seconds": 60,
            **(embedding or {}),
        },
    }
    return KnowledgeBaseConfig.model_validate(values | changes)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


# Building, loading and searching


async def test_a_search_finds_the_passage_and_names_it(site: Site) -> None:
    [best, other] = await site.index().search("salmon and fjords", 2)
    assert (best.citation, best.text) == ("north/norway.txt#1", NORWAY)
    assert other.citation == "france.md#1"
    assert 1 >= best.score > other.score >= -1


async def test_scores_are_cosines(site: Site) -> None:
    [best] = await site.index().search(NORWAY, 1)
    assert best.score == pytest.approx(1.0, abs=1e-6)


async def test_more_passages_than_there_are_gives_all(site: Site) -> None:
    assert len(await site.index().search("capital", 50)) == 2


@pytest.mark.parametrize(("query", "top_k"), [("", 3), (" \n\t", 3), ("capital", 0), ("capital", -1)])
async def test_nothing_asked_is_nothing_found(site: Site, query: str, top_k: int) -> None:
    assert await site.index().search(query, top_k) == []


async def test_passages_are_numbered_from_one_in_each_document(site: Site) -> None:
    site.write("long.md", " ".join(f"Sentence {n} is about nothing." for n in range(40)))
    found = await site.index().search("sentence", 100)
    numbers = sorted(int(p.citation.partition("#")[2]) for p in found if p.citation.startswith("long.md#"))
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 5


async def test_hidden_and_other_files_are_left_out(site: Site) -> None:
    for name in (".draft.md", ".git/notes.md", "table.csv", "notes.md.bak"):
        site.write(name, "\xff".encode("latin-1"))
    site.write("EMPTY.MD", "")
    found = await site.index().search("capital", 10)
    assert {passage.citation for passage in found} == {"france.md#1", "north/norway.txt#1"}


async def test_a_byte_order_mark_is_no_text(site: Site) -> None:
    site.write("france.md", b"\xef\xbb\xbf" + FRANCE.encode())
    assert (await site.index().search("Paris wine", 1))[0].text == FRANCE


async def test_unchanged_means_loaded_not_built(site: Site) -> None:
    version = await site.index().refresh()
    expected = await site.index().search("fjords", 2)
    site.embedder.batches.clear()
    again = site.index()
    assert await again.refresh() == version == await again.version() == site.current()
    assert site.embedder.batches == []
    assert await again.search("fjords", 2) == expected
    assert site.embedder.batches == [["fjords"]]


async def test_the_same_files_elsewhere_have_the_same_version(site: Site, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Site(tmp_path / "other")
    assert await site.index().refresh() == await other.index().refresh()


CHANGES: dict[str, Callable[[Site], object]] = {
    "a changed file": lambda site: site.write("france.md", FRANCE + "!"),
    "a new file": lambda site: site.write("new.md", "New."),
    "a file renamed": lambda site: (site.data / "france.md").rename(site.data / "f.md"),
    "a file gone": lambda site: (site.data / "france.md").unlink(),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_other_files_make_another_version(site: Site, change: str) -> None:
    index = site.index()
    before = await index.refresh()
    CHANGES[change](site)
    after = await index.refresh()
    assert after != before
    assert await index.version() == after == site.current()
    assert site.saved() == sorted([before, after])


@pytest.mark.parametrize(
    "change",
    [
        {"embedding": {"model_name": "other"}},
        {"embedding": {"max_input_tokens": 128}},
        {"chunk_size_tokens": 31},
        {"chunk_overlap_tokens": 7},
    ],
)
async def test_other_settings_make_another_version(site: Site, change: dict[str, Any]) -> None:
    assert await site.index().refresh() != await site.index(**change).refresh()


@pytest.mark.parametrize(
    "change", [{"embedding": {"batch_size": 7, "timeout_seconds": 1}}, {"top_k": 9, "min_score": 0.5}]
)
async def test_settings_that_do_not_shape_the_index_do_not(site: Site, change: dict[str, Any]) -> None:
    assert await site.index().refresh() == await site.index(**change).refresh()


async def test_the_version_before_is_kept_and_older_ones_go(site: Site) -> None:
    index = site.index()
    versions = [await index.refresh()]
    for n in range(3):
        site.write("france.md", f"{FRANCE} {n}")
        versions.append(await index.refresh())
    assert site.saved() == sorted(versions[-2:])
    # Back to the one before: it is loaded.
    site.write("france.md", f"{FRANCE} 1")
    site.embedder.batches.clear()
    assert await index.refresh() == versions[-2] == site.current()
    assert site.embedder.batches == []


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [Path.unlink, _truncate, _flip, lambda path: path.write_bytes(b"")])
@pytest.mark.parametrize("name", ["index.faiss", "passages.jsonl", "manifest.json"])
async def test_a_damaged_index_is_built_again(site: Site, name: str, damage: Callable[[Path], Any]) -> None:
    version = await site.index().refresh()
    expected = await site.index().search("fjords", 2)
    damage(site.index_dir / version / name)
    assert await site.index().search("fjords", 2) == expected
    assert [len(batch) for batch in site.embedder.batches] == [2, 1, 2, 1]
    site.embedder.batches.clear()
    await site.index().refresh()
    assert site.embedder.batches == []


async def test_a_writer_that_died_leaves_nothing_behind_for_long(site: Site) -> None:
    draft = site.index_dir / ".draft-0123"
    draft.mkdir(parents=True)
    (draft / "index.faiss").write_bytes(b"half")
    version = await site.index().refresh()
    assert site.saved() == [version]


async def test_a_failed_build_leaves_the_old_index_in_use(site: Site) -> None:
    index = site.index()
    before = await index.refresh()
    site.write("france.md", "Changed.")
    site.embedder.fault = ModelUnavailable("away")
    with pytest.raises(ModelUnavailable, match="away"):
        await index.refresh()
    site.embedder.fault = None
    assert await index.version() == before == site.current()
    assert len(await index.search("Paris", 2)) == 2
    assert await index.refresh() != before


# Many callers


async def test_callers_at_once_build_once(site: Site) -> None:
    index = site.index()
    found, versions = await asyncio.gather(
        asyncio.gather(*(index.search("fjords", 1) for _ in range(5))),
        asyncio.gather(index.version(), index.refresh(), index.version(), index.refresh()),
    )
    assert [len(passages) for passages in found] == [1] * 5
    assert set(versions) == {site.current()}
    assert sum(len(batch) > 1 for batch in site.embedder.batches) == 1


async def test_a_search_goes_on_in_the_old_index_while_a_new_one_is_built(site: Site) -> None:
    index = site.index()
    before = await index.refresh()
    site.write("france.md", "Nothing about wine here.")
    gate = site.embedder.gate = asyncio.Event()
    site.embedder.asked.clear()
    refresh = asyncio.create_task(index.refresh())
    await site.embedder.asked.wait()
    site.embedder.gate = None  # for the query, not for those that wait already
    [best] = await index.search("capital of France wine", 1)
    assert best.text == FRANCE
    assert await index.version() == before
    assert not refresh.done()
    gate.set()
    assert await refresh == await index.version() != before


async def test_a_file_changed_during_a_refresh_is_seen_by_the_next_one(site: Site) -> None:
    index = site.index()
    gate = site.embedder.gate = asyncio.Event()
    first = asyncio.create_task(index.refresh())
    await site.embedder.asked.wait()
    site.write("france.md", "Changed meanwhile.")
    others = [asyncio.create_task(index.refresh()) for _ in range(3)]
    gate.set()
    versions = await asyncio.gather(*others)
    assert len(set(versions)) == 1
    assert versions[0] != await first
    assert len(site.embedder.batches) == 2


async def test_a_caller_who_leaves_does_not_stop_the_build(site: Site) -> None:
    index = site.index()
    gate = site.embedder.gate = asyncio.Event()
    impatient = asyncio.create_task(index.search("fjords", 1))
    await site.embedder.asked.wait()
    patient = asyncio.create_task(index.version())
    impatient.cancel()
    with pytest.raises(asyncio.CancelledError):
        await impatient
    gate.set()
    assert await patient == site.current()
    assert len(site.embedder.batches) == 1


async def test_two_indexes_over_one_folder_do_not_get_in_each_others_way(site: Site) -> None:
    one, other = site.index(), site.index()
    assert len(set(await asyncio.gather(one.refresh(), other.refresh()))) == 1
    assert await one.search("fjords", 2) == await other.search("fjords", 2)


# Faults


async def test_a_folder_that_is_not_there(site: Site) -> None:
    gone = site.data / "gone"
    with pytest.raises(KnowledgeBaseInvalid, match="No such file") as raised:
        await site.index(data_dir=gone).version()
    assert str(gone) in str(raised.value)


async def test_a_folder_without_documents(site: Site) -> None:
    empty = site.data / "empty"
    empty.mkdir()
    with pytest.raises(KnowledgeBaseInvalid, match=r"holds no \.txt or \.md file"):
        await site.index(data_dir=empty).version()


async def test_documents_without_text(site: Site) -> None:
    (site.data / "blank").mkdir()
    (site.data / "blank" / "a.md").write_text(" \n\n")
    with pytest.raises(KnowledgeBaseInvalid, match="holds any text"):
        await site.index(data_dir=site.data / "blank").version()


@pytest.mark.parametrize("name", ["bad.md", b"bad\xff.md"])
async def test_a_file_that_is_not_utf8_is_named(site: Site, name: str | bytes) -> None:
    path = os.fsencode(site.data) + b"/" + os.fsencode(name)
    Path(os.fsdecode(path)).write_bytes(b"\xff\xfe" if isinstance(name, str) else b"fine")
    with pytest.raises(KnowledgeBaseInvalid, match=r"bad.*\.md is not UTF-8"):
        await site.index().version()


async def test_a_file_that_cannot_be_read_is_named(site: Site) -> None:
    (site.data / "broken.md").symlink_to(site.data / "gone")
    with pytest.raises(KnowledgeBaseInvalid, match=r"broken\.md can't be read"):
        await site.index().version()


async def test_an_index_folder_that_cannot_be_written_is_named(site: Site) -> None:
    site.index_dir.write_text("a file in the folder's place")
    with pytest.raises(KnowledgeBaseInvalid, match=r"knowledge_base\.index_dir: .*index.* can't be used"):
        await site.index().version()


async def test_no_vector_in_time_names_the_setting(site: Site) -> None:
    index = site.index(timeout_seconds=0.05)
    await index.refresh()
    site.embedder.gate = asyncio.Event()
    with pytest.raises(ModelUnavailable, match=r"knowledge_base\.timeout_seconds \(0\.05 s\)"):
        await index.search("fjords", 1)


@pytest.mark.parametrize(
    ("vector", "reason"),
    [([1.0] * 63, "gave 63 numbers, but the index has 64"), ([float("nan")] * 64, "NaN")],
)
async def test_a_vector_that_does_not_fit_is_refused(
    site: Site, monkeypatch: pytest.MonkeyPatch, vector: list[float], reason: str
) -> None:
    index = site.index()
    await index.refresh()

    async def other(texts: Sequence[str]) -> list[list[float]]:
        return [vector for _ in texts]

    monkeypatch.setattr(site.embedder, "embed", other)
    with pytest.raises(ModelReplyInvalid, match=reason):
        await index.search("fjords", 1)


# Chunks


@pytest.fixture(scope="module")
def minilm() -> Tokenizer:
    """The tokenizer as the embedding server has it: nothing cut, special tokens counted."""
    tokenizer = Tokenizer.from_file(str(_tokenizer_folder("bundled") / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def chunker(size: int = 32, overlap: int = 8, **embedding: Any) -> Chunker:
    return Chunker(
        settings=knowledge_base_settings(embedding, chunk_size_tokens=size, chunk_overlap_tokens=overlap)
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


def test_a_text_that_fits_is_one_passage() -> None:
    assert chunker(256, 50).split(f"\n {FRANCE}\n") == [FRANCE]


TEXTS = st.lists(
    st.sampled_from(
        ["unbelievable", "GDP 3.14%", "naïve café", "\n\n", "  ", "経済成長", "x" * 150, "antidisestablish"]
    )
    | st.text(max_size=20),
    max_size=40,
).map(" ".join)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS, size=st.integers(6, 40), share=st.floats(0, 0.9))
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


# The embedder over HTTP


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.reset()
    return running


def over_http(server: ModelServer, **changes: Any) -> OpenAIEmbedder:
    values = knowledge_base_settings().embedding.model_dump() | {"api_base": server.base_url} | changes
    return OpenAIEmbedder(settings=EmbeddingConfig.model_validate(values))


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


@pytest.mark.parametrize("status", [400, 401, 404, 422])
async def test_a_refusal_names_the_endpoint_and_is_not_tried_again(server: ModelServer, status: int) -> None:
    server.script(Rule(status=status))
    with pytest.raises(ModelUnavailable, match="minilm at http://127") as raised:
        await over_http(server).embed(["a"])
    assert "knowledge_base.embedding" in str(raised.value)
    assert "secret-key" not in str(raised.value)
    assert len(server.calls()) == 1


@pytest.mark.parametrize(
    "rule",
    [
        Rule(raw="<html>Log in</html>"),
        Rule(raw="{", raw_type="application/json"),
        Rule(raw='{"data": []}', raw_type="application/json"),
        Rule(raw='{"data": [{"index": 1, "embedding": [1.0]}]}', raw_type="application/json"),
    ],
)
async def test_a_reply_that_is_not_one_vector_per_text_is_refused(server: ModelServer, rule: Rule) -> None:
    server.script(rule)
    with pytest.raises(ModelReplyInvalid, match="minilm at http://127"):
        await over_http(server).embed(["a"])


async def test_no_answer_in_time_names_the_embeddings_setting(server: ModelServer) -> None:
    server.script(Rule(hold=True))
    with pytest.raises(ModelUnavailable, match=r"embedding\.timeout_seconds \(0\.2 s\)"):
        await over_http(server, timeout_seconds=0.2).embed(["a"])


async def test_the_whole_over_http(server: ModelServer, site: Site) -> None:
    index = VectorIndex(settings=site.settings(embedding={"api_base": server.base_url}))
    assert [passage.citation for passage in await index.search("salmon and fjords", 1)] == [
        "north/norway.txt#1"
    ]


def test_the_module_is_light_to_import() -> None:
    heavy = "{'faiss', 'numpy', 'tokenizers', 'openai', 'torch', 'ray', 'langgraph'}"
    code = f"import sys, actors.runtime.vector_index; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
