"""Batches of knowledge in the campaign: pages scraped into a project of their own, indexed and extracted."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.faults.site.knowledge_driver import KnowledgeOrder, put_order
from tests.faults.site.pages import GONE_PAGE, library
from tests.faults.site.world import World


@dataclass(frozen=True)
class KnowledgeBatch:
    """Addresses that were submitted; `name` is its driver's. `points` are known from each page, by address.

    `gone` is an address among them that no page is at.
    """

    name: str
    folder: Path
    output: Path
    project: str
    points: Mapping[str, int]
    gone: str

    @property
    def urls(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.points, self.gone)

    @property
    def paths(self) -> frozenset[str]:
        """Of the pages that can be read."""
        return frozenset(f"/{url.split('/', 3)[3]}" for url in self.points)


def submit(world: World, run: int, number: int) -> KnowledgeBatch:
    """Put its pages up, and start a driver over them."""
    name = f"knowledge-{run}-{number}"
    pages = library(name)
    world.library.pages |= {path: page for path, (page, _) in pages.items()}
    points = {f"{world.library.origin}{path}": points for path, (_, points) in pages.items()}
    batch = KnowledgeBatch(
        name=f"driver:{name}",
        folder=world.folder / "knowledge" / name,
        output=world.output / "pages" / name,
        project=name,
        points=points,
        gone=f"{world.library.origin}/{name}/{GONE_PAGE}",
    )
    put_order(batch.folder, KnowledgeOrder(name, batch.urls, str(batch.output)))
    world.submit(batch.name, batch.folder, role="knowledge_driver")
    return batch
