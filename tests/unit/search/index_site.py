"""What the tests of the knowledge base's index share: a folder of documents, and an index over it."""

from pathlib import Path
from typing import Any

import pytest

from actors.platform.search.knowledge_base import VectorIndex
from tests.fakes.knowledge_base import FakeEmbedder, embedding_settings, knowledge_base_settings

FRANCE = "The capital of France is Paris. Its wine is known in all the world."
NORWAY = "Norway has fjords, oil and salmon. Its capital is Oslo."


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

    def index(self, *, embedding: dict[str, Any] | None = None, **changes: Any) -> VectorIndex:
        folders = {"data_dir": self.data, "index_dir": self.index_dir}
        return VectorIndex(
            settings=knowledge_base_settings(**(folders | changes)),
            embedding=embedding_settings(**(embedding or {})),
            embedder=self.embedder,
        )

    def saved(self) -> list[str]:
        return sorted(path.name for path in self.index_dir.iterdir() if path.is_dir())

    def current(self) -> str:
        return (self.index_dir / "CURRENT").read_text()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


# Building, loading and searching
