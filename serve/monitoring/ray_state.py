"""What Ray says of the things this site serves itself: replicas of models, and actors of agents.

Asked in an API replica, for `/health/ready` and for people who wait. Serve holds requests back while a model
has no replica, and its ingress lists the model all the same: only Serve itself knows.
"""

import asyncio
import re
from collections import Counter

# An actor that is none of these is on its way up.
_THERE = ("ALIVE", "DEAD")


async def running_replicas() -> dict[str, int]:
    """How many replicas run of each deployment, by `deployment_key` of its name."""
    return await asyncio.to_thread(_running_replicas)


async def agents_not_up() -> tuple[str, ...]:
    """The names of agents that were started and are not up, as while Ray starts them again."""
    return await asyncio.to_thread(_agents_not_up)


def deployment_key(name: str) -> str:
    """A name as it can be compared: `ray.serve.llm` changes what is no letter or digit."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _running_replicas() -> dict[str, int]:
    import ray.serve as ray_serve

    running: Counter[str] = Counter()
    for application in ray_serve.status().applications.values():
        for name, deployment in application.deployments.items():
            states = {str(state.value): count for state, count in deployment.replica_states.items()}
            running[deployment_key(name)] += states.get("RUNNING", 0)
    return dict(running)


def _agents_not_up() -> tuple[str, ...]:
    import ray
    from ray.util.state import list_actors

    from actors.runtime.directory import NAMESPACE, PREFIX

    actors = list_actors(
        address=ray.get_runtime_context().gcs_address,
        filters=[("ray_namespace", "=", NAMESPACE)],
        limit=10_000,
        timeout=2,
    )
    named = [(actor.name or "", actor.state) for actor in actors if (actor.name or "").startswith(PREFIX)]
    # Of actors of one name only one counts: the others ended when the configuration changed.
    up = {name for name, state in named if state == "ALIVE"}
    coming = {name for name, state in named if state not in _THERE} - up
    return tuple(sorted(name.removeprefix(PREFIX).rpartition(":")[0] for name in coming))
