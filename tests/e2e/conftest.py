"""One cluster for the whole run: `signoff up` at the start, `signoff down` at the end."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.cluster import ROOT, TOPICS, Cluster, cluster_of


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A cluster with two of the samples' topics."""
    slugs = [name.split("/")[1] for name in TOPICS]
    samples = (ROOT / "configs/samples/topics").iterdir()
    topics = [path for path in samples if any(slug in path.read_text() for slug in slugs)]
    with cluster_of(topics, changed=_adapted) as running:
        yield running


def _adapted(raw: dict[str, Any]) -> None:
    """The real model writes less: two cores write some tens of tokens a second. Webhooks go to the tests."""
    agents = raw["article_generation"]["agents"]
    for settings in (agents["concern_mapping_llm"], *agents["specialists"].values()):
        settings["schema_limits"]["strings"] = 40
    raw["outgoing"]["allow_internal"] = ["127.0.0.1/32"]
