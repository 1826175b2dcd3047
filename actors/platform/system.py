"""What a system is: one record in which it declares all that it brings.

It stands in the system's own `system.py` and is named in `actors/platform/systems.py`. Agents, kinds, tools
and routers are named as `module:NAME`, so that whoever reads the list loads no more than what it asks for.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from models.config import Config
from models.runtime.event_catalogue import EventData
from models.runtime.workflow_kinds import WorkflowKind


class AgentDirectory(Protocol):
    """The directory (`actors.platform.runtime.directory`), as an agent's arguments see it."""

    database_url: str | None

    def agent(self, role: str, *, shard: str | None = None) -> Any:
        """A stand-in for another agent. With `shard`, always the same replica for the same text."""
        ...


# What a role is made of: where its class is, and a function from the configuration to its arguments.
AgentRole = tuple[str, Callable[[Config, Any], dict[str, Any]]]


@dataclass(frozen=True)
class System:
    """What a system brings.

    `roles`: its agents, by role. `kinds`: its kinds of workflow. `tools`: where each of its tools is.
    `routers`: where each of its FastAPI routers is, which a replica includes. `events`: what its own say.
    """

    name: str
    roles: Mapping[str, AgentRole] = field(default_factory=dict)
    kinds: tuple[WorkflowKind, ...] = ()
    tools: tuple[str, ...] = ()
    routers: tuple[str, ...] = ()
    events: tuple[type[EventData], ...] = ()


def load_named(path: str) -> Any:
    """What is at `module:NAME`."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
