"""A Ray of one node that another joins, both on this machine: raylets of their own, on loopback."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil

from benchmarks.harness.cpu import process_seconds, tree_seconds

_LOOPBACK = "127.0.0.1"
_STORE_BYTES = 100 * 1024 * 1024
# Processors: a scraper (1.5), a browser (1) and the agents; then two scrapers.
_FIRST, _SECOND = 3, 3
_SCRAPER = "MapWorker(MapBatches(PageScraping))"


class OneNode:
    """A cluster of one node, until another has `joined`."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self._raylets = [_raylet(cluster.head_node)]
        self._before = 0.0
        self._used = [0.0, 0.0]

    @property
    def address(self) -> str:
        """Of its GCS."""
        return str(self._cluster.address)

    def joined(self) -> None:
        """A second node joins."""
        self._before = _reading_seconds(self._raylets[0])
        node = self._cluster.add_node(
            num_cpus=_SECOND, node_ip_address=_LOOPBACK, object_store_memory=_STORE_BYTES
        )
        self._raylets.append(_raylet(node))

    def look(self) -> None:
        """See what the readers of both nodes have used since then: to be called now and then."""
        for at, raylet in enumerate(self._raylets):
            self._used[at] = max(self._used[at], _reading_seconds(raylet))

    def shares(self) -> tuple[float, float]:
        """Processor seconds of the first node's readers since the second has joined, and of the second's."""
        return self._used[0] - self._before, self._used[1]


@contextmanager
def one_node() -> Iterator[OneNode]:
    """A cluster of one node, which this process has joined, for as long as the block."""
    import ray
    from ray.cluster_utils import Cluster

    with socket.socket() as probe:
        probe.bind((_LOOPBACK, 0))
        port = probe.getsockname()[1]
    head = {
        "num_cpus": _FIRST,
        "node_ip_address": _LOOPBACK,
        "object_store_memory": _STORE_BYTES,
        "include_dashboard": False,
        "dashboard_port": port,  # one is taken all the same
    }
    cluster: Any = Cluster(initialize_head=True, head_node_args=head)
    try:
        ray.init(
            address=cluster.address,
            namespace="signoff",
            log_to_driver=False,
            logging_level=logging.WARNING,
        )
        yield OneNode(cluster)
    finally:
        ray.shutdown()
        cluster.shutdown()


def _raylet(node: Any) -> int:
    [started] = node.all_processes["raylet"]
    return int(started.process.pid)


def _reading_seconds(raylet: int) -> float:
    """Of the processes that scrapers have started, which they do with the first page to be read."""
    total = 0.0
    for process in psutil.Process(raylet).children():
        try:
            if _SCRAPER in " ".join(process.cmdline()):
                total += tree_seconds(process.pid) - process_seconds(process.pid)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return total
