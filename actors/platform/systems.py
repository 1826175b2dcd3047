"""The list of systems, and what they bring together: the one place that a new system is named in.

Asked by runners, replicas, commands and agents. Systems are named, not imported, so this lies below them all.
Nothing is loaded but the declarations; a name that two systems give is refused.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from actors.platform.system import AgentRole, System, load_named
from models.config import Config
from models.config import load as load_config
from models.errors import ConfigInvalid
from models.runtime.event_catalogue import EVENTS, EventData
from models.runtime.workflow_kinds import WorkflowKind

if TYPE_CHECKING:
    from actors.platform.tools.tool import Tool

# Runners take first what people wait for: kinds come in this order.
SYSTEMS: tuple[str, ...] = (
    "actors.platform.tools.system:SYSTEM",
    "actors.systems.market.system:SYSTEM",
    "actors.platform.search.system:SYSTEM",
    "actors.systems.publishing.system:SYSTEM",
    "actors.systems.drafting.system:SYSTEM",
    "actors.systems.research.system:SYSTEM",
    "actors.systems.operations.system:SYSTEM",
    "actors.systems.editorial.system:SYSTEM",
    "actors.systems.knowledge.system:SYSTEM",
    "actors.systems.chat.system:SYSTEM",
)
_MADE_TOOLS = "actors.platform.gates.made_tools:tools_of"
_Thing = TypeVar("_Thing")


def declared() -> list[System]:
    """Each system's declaration. ConfigInvalid where two have one name."""
    found = ((path, load_named(path)) for path in SYSTEMS)
    return list(_by_name("system", ((path, system.name, system) for path, system in found)).values())


def roles() -> dict[str, AgentRole]:
    """What every agent's role is made of. ConfigInvalid where two systems give one role."""
    return _by_name(
        "agent's role", ((system.name, *row) for system in declared() for row in system.roles.items())
    )


def kinds() -> dict[str, WorkflowKind]:
    """Every kind of workflow, those that people wait for first. ConfigInvalid where two give one kind."""
    return _by_name(
        "workflow kind", ((system.name, kind.name, kind) for system in declared() for kind in system.kinds)
    )


def graphs() -> dict[str, str]:
    """Kind of workflow -> where its graph is, in the order of `kinds`: what runners are started with."""
    return {name: kind.graph for name, kind in kinds().items()}


def tools() -> tuple["Tool", ...]:
    """Every tool, loaded. ConfigInvalid where two systems give one tool."""
    found = [(system.name, load_named(path)) for system in declared() for path in system.tools]
    for system in declared():
        for kind in system.kinds:
            if kind.gated is not None and kind.gated.asks is not None:
                found += [(system.name, tool) for tool in load_named(_MADE_TOOLS)(kind, kind.gated)]
    return tuple(_by_name("tool", ((name, tool.name, tool) for name, tool in found)).values())


def events() -> tuple[type[EventData], ...]:
    """The catalogue of events, the platform's first. ConfigInvalid where two systems give one type."""
    found = [("the platform", event.type, event) for event in EVENTS]
    found += [(system.name, event.type, event) for system in declared() for event in system.events]
    return tuple(_by_name("event", found).values())


def routers() -> list[Any]:
    """Every system's FastAPI routers, loaded. ConfigInvalid where two systems give one router."""
    named = ((system.name, path, path) for system in declared() for path in system.routers)
    return [load_named(path) for path in _by_name("router", named)]


def load(path: Path | str, *, root: Path | None = None) -> Config:
    """The configuration, its agents those of the systems; see `models.config.load`.

    Raises:
        ConfigInvalid: one line per fault; an agent's role that no system has is one.
    """
    return load_config(path, root=root, roles=tuple(roles()))


def _by_name(what: str, rows: Iterable[tuple[str, str, _Thing]]) -> dict[str, _Thing]:
    """`rows` are of (system, name, thing)."""
    found: dict[str, _Thing] = {}
    owners: dict[str, str] = {}
    for system, name, thing in rows:
        if name in found:
            raise ConfigInvalid(
                f"the {what} {name!r} is given twice, by the systems {owners[name]} and {system}: rename one"
            )
        found[name], owners[name] = thing, system
    return found
