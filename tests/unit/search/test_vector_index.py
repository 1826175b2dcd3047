"""The knowledge base's index: MiniLM's real tokenizer, real files, a scripted embedder."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from models.errors import ModelUnavailable
from tests.unit.search.index_site import FRANCE, NORWAY, Site
from tests.unit.search.index_site import site as site


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


async def test_the_index_in_use_is_not_read_again(site: Site) -> None:
    index = site.index()
    version = await index.refresh()
    shutil.rmtree(site.index_dir)
    site.embedder.batches.clear()
    assert await index.refresh() == version
    assert site.embedder.batches == []


async def test_a_query_is_cut_where_the_model_stops_reading(site: Site) -> None:
    await site.index(embedding={"max_input_tokens": 32}).search("fjords " * 500, 1)
    assert site.embedder.batches[-1] == [("fjords " * (30 // 2)).strip()]


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


async def test_callers_at_once_share_a_failure(site: Site) -> None:
    index = site.index()
    site.embedder.fault = ModelUnavailable("away")
    outcomes = await asyncio.gather(*(index.version() for _ in range(9)), return_exceptions=True)
    assert all(isinstance(outcome, ModelUnavailable) for outcome in outcomes)
    assert len(site.embedder.batches) == 1


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


def test_the_module_is_light_to_import() -> None:
    heavy = "{'faiss', 'numpy', 'tokenizers', 'openai', 'torch', 'ray', 'langgraph'}"
    code = f"import sys, actors.platform.search.knowledge_base; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
