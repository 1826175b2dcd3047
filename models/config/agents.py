"""Configuration of the agents' resources: one entry a role, or `default` for those that have none.

Part of `models.config`. Which roles there are is validation's
context: the systems, which lie above, declare them. Where it is not given, names stay unchecked.
"""

from typing import Annotated, Any

from pydantic import Field, ValidationError, ValidationInfo
from pydantic_core import PydanticCustomError

from models.config.fields import Count, Section
from models.config.strict_yaml import WRONG_KEYS
from models.near_names import suggestion

# Each of these holds an index in memory, so there is one of it.
SINGLE_ROLES = ("knowledge_base", "search_index")
DEFAULT = "default"


class AgentConfig(Section):
    """Resources of one agent role; `max_concurrency` is calls at once in each replica."""

    num_cpus: Annotated[float, Field(ge=0)]  # of each replica, as Ray counts them
    replicas: Count  # 1 of `knowledge_base` and `search_index`, which hold an index
    max_concurrency: Count  # calls at once in each replica


def with_defaults(agents: Any, info: ValidationInfo) -> Any:
    """`agents` as written, with what `default` says put under what each role says itself.

    A `default` that is wrong is left alone with its fault, which would else be told of every role.
    """
    if not isinstance(agents, dict) or DEFAULT not in agents:
        return agents
    default = agents[DEFAULT]
    try:
        AgentConfig.model_validate(default)
    except ValidationError:
        return {DEFAULT: default}
    known = _known(info)
    said: dict[Any, Any] = {role: {} for role in known or ()} | agents
    resolved = {role: {**default, **each} if isinstance(each, dict) else each for role, each in said.items()}
    if known is not None:
        del resolved[DEFAULT]  # each role has its own now
    return resolved


def check_roles(agents: dict[str, AgentConfig], info: ValidationInfo) -> dict[str, AgentConfig]:
    """Every role is there and nothing that is none, and there is one of those that hold an index."""
    if (known := _known(info)) is not None:
        wrong = {
            name: f"is no agent's role: {suggestion(name, known)}" for name in agents if name not in known
        }
        wrong |= {role: "is required" for role in known if role not in agents}
        if wrong:
            raise PydanticCustomError(WRONG_KEYS, "{wrong}", {"wrong": wrong})
    for role in SINGLE_ROLES:
        said = agents.get(role, agents.get(DEFAULT))
        if said is not None and said.replicas != 1:
            raise ValueError(f"{role}.replicas must be 1: one actor holds the index")
    return agents


def _known(info: ValidationInfo) -> tuple[str, ...] | None:
    return (info.context or {}).get("roles")
