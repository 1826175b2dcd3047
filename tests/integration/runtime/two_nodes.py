"""Run by test_two_nodes in a process of its own: lose the node that holds the runner and the agent.

    python -m tests.integration.runtime.two_nodes CONFIG DATABASE_URL

The head holds nothing. A workflow is held in a model call on the first worker node; that node is taken
away, with raylet and all; a second node takes over, and the workflow ends with each step once.
"""

import asyncio
import sys
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

from actors.platform.runtime.pool import start_runners
from actors.platform.systems import load
from models.config import Config
from models.store.database import Database
from tests.fakes.agents import with_roles
from tests.fakes.barrier import Barrier
from tests.fakes.graphs import KINDS
from tests.fakes.model.model_server import ModelServer, Rule
from tests.integration.workflows import begin, ended
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[3]
LOOPBACK = "127.0.0.1"
HEAD = {"num_cpus": 0, "include_dashboard": True, "dashboard_port": free_port(), "node_ip_address": LOOPBACK}


def nodes_of_actors() -> set[str]:
    """The nodes that Signoff's live actors are on."""
    from ray.util.state import list_actors

    return {
        str(a.node_id)
        for a in list_actors(filters=[("state", "=", "ALIVE"), ("ray_namespace", "=", "signoff")])
    }


async def lose_the_node(
    cluster: Cluster, first: object, config: Config, url: str, server: ModelServer
) -> None:
    """The story told above."""
    server.script(Rule(contains="what will be", hold=True, reply="what was"))
    async with Database(url=url, pool_size=4) as database:
        with Barrier() as barrier:
            workflow = await begin(database, barrier, "asking", question="what will be?")
            await server.await_calls(1)
            before = await asyncio.to_thread(nodes_of_actors)
            assert len(before) == 1, before
            # In this thread: Ray registers signal handlers here.
            cluster.add_node(num_cpus=8, node_ip_address=LOOPBACK)
            cluster.remove_node(first, allow_graceful=False)
            await server.await_calls(2, timeout=120)
            server.release()
            done = await ended(database, workflow.id, timeout=120)
            assert done.result is not None
            assert done.result["done"] == ["what was", "after"], done.result
            assert (barrier.runs(workflow.id, "asked"), barrier.runs(workflow.id, "after")) == (1, 1)
            after = await asyncio.to_thread(nodes_of_actors)
            assert after, "no actor is alive"
            assert not (after & before), (before, after)


def main() -> None:
    """Bring up a head and a node, tell the story, take everything down."""
    config, url = load(sys.argv[1], root=Path(sys.argv[1]).parent), sys.argv[2]
    config = with_roles(config, "oracle")
    cluster = Cluster(
        initialize_head=True,
        head_node_args=HEAD,
    )
    try:
        first = cluster.add_node(num_cpus=8, node_ip_address=LOOPBACK)
        ray.init(
            address=cluster.address,
            namespace="signoff",
            log_to_driver=False,
            runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
        )
        with ModelServer(
            port=int(config.article_generation.agents.writer_llm.api_base.split(":")[2][:-3])
        ) as server:
            start_runners(config, url, roles="tests.fakes.agents:ROLES", kinds=KINDS)
            asyncio.run(lose_the_node(cluster, first, config, url, server))
        print("the other node took over")
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main()
