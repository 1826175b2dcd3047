"""What is wrong with the knowledge base's files, folders and vectors: named, refused, or waited for."""

import asyncio
import os
import pickle
import shutil
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from actors.platform.runtime import outage
from models.errors import KnowledgeBaseInvalid, ModelReplyInvalid, ModelUnavailable
from tests.unit.search.index_site import Site
from tests.unit.search.index_site import site as site


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


async def _gone(site: Site) -> None:
    shutil.rmtree(site.data)


async def _not_mounted(site: Site) -> None:
    shutil.rmtree(site.data)
    site.data.mkdir()


async def _torn(site: Site) -> None:
    site.write("torn.md", b"\xff\xfe")


async def _index_folder_gone(site: Site) -> None:
    shutil.rmtree(site.index_dir)
    site.index_dir.write_text("a file in the folder's place")
    site.write("more.md", "Something new.")


@pytest.mark.parametrize("fault", [_gone, _not_mounted, _torn, _index_folder_gone])
async def test_what_is_wrong_with_the_sites_knowledge_base_is_waited_for(
    site: Site, fault: Callable[[Site], Awaitable[None]]
) -> None:
    index = site.index()
    await index.refresh()
    await fault(site)
    with pytest.raises(KnowledgeBaseInvalid) as raised:
        await index.refresh()
    # As it arrives from the actor: pickled.
    arrived = pickle.loads(pickle.dumps(raised.value))
    assert (outage.waits_for(arrived) or "").startswith("knowledge base: knowledge_base.")


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
