"""What Ray says of the things this site serves itself: replicas of models, and actors of agents.

Asked in an API replica, for `/health/ready` and for people who wait. Serve holds requests back while a model
has no replica, and its ingress lists the model all the same: only Serve itself knows.
"""

import asyncio
import re
from collections import Counter
from typing import NamedTuple

# An actor that is none of these is on its way up.
_THERE = ("ALIVE", "DEAD")


class AgentNotUp(NamedTuple):
    """An agent that was started and is not up. `again`: it was up before."""

    name: str
    again: bool


async def running_replicas() -> dict[str, int]:
    """How many replicas run of each deployment, by `deployment_key` of its name."""
    return await asyncio.to_thread(_running_replicas)


async def agents_not_up() -> tuple[AgentNotUp, ...]:
    """Agents that were started and are not up: on their first use, and while Ray starts them again."""
    return await asyncio.to_thread(_agents_not_up)


def deployment_key(name: str) -> str:
    """A name as it can be compared: `ray.serve.llm` changes what is no letter or digit."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _running_replicas() -> dict[str, int]:
    import ray.serve as ray_serve

    running: Counter[str] = Counter()
    for application in ray_serve.status().applications.values():
        for name, deployment in application.deployments.items():
            # Ray's states are strings, and not in each version members of its enumeration.
            states = {
                str(getattr(state, "value", state)): n for state, n in deployment.replica_states.items()
            }
            running[deployment_key(name)] += states.get("RUNNING", 0)
    return dict(running)


def _agents_not_up() -> tuple[AgentNotUp, ...]:
    import ray
    from ray.util.state import list_actors

    from actors.platform.runtime.directory import NAMESPACE, PREFIX

    actors = list_actors(
        address=ray.get_runtime_context().gcs_address,
        filters=[("ray_namespace", "=", NAMESPACE)],
        limit=10_000,
        timeout=2,
    )
    named = [(actor.name or "", actor.state) for actor in actors if (actor.name or "").startswith(PREFIX)]
    # Of actors of one name only one counts: the others ended when the configuration changed.
    up = {name for name, state in named if state == "ALIVE"}
    again: dict[str, bool] = {}
    for name, state in named:
        if state not in _THERE and name not in up:
            role = name.removeprefix(PREFIX).rpartition(":")[0]
            again[role] = again.get(role, False) or state == "RESTARTING"
    return tuple(AgentNotUp(role, again[role]) for role in sorted(again))
