"""Configuration of the agents' resources: one entry a role, or `default` for those that have none.

Part of `models.config`, which is where everybody imports it from.
"""

from typing import Annotated, Any

from pydantic import Field, ValidationError
from pydantic_core import PydanticCustomError

from models.chat import CHAT_AGENTS
from models.config.fields import Count, Section
from models.config.strict_yaml import WRONG_KEYS
from models.editorial import SPECIALISTS
from models.near_names import meant

AGENT_ROLES = (
    "writer",
    "article_review",
    "concern_mapping",
    *SPECIALISTS,
    "knowledge_base",
    "search_index",
    *CHAT_AGENTS,
    "drafter",
)
# Each of these holds an index in memory, so there is one of it.
SINGLE_ROLES = ("knowledge_base", "search_index")
DEFAULT = "default"


class AgentConfig(Section):
    """Resources of one agent role; `max_concurrency` is calls at once in each replica."""

    num_cpus: Annotated[float, Field(ge=0)]
    replicas: Count
    max_concurrency: Count


def with_defaults(agents: Any) -> Any:
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
    roles: dict[Any, Any] = {role: {} for role in AGENT_ROLES} | agents
    return {
        role: {**default, **said} if isinstance(said, dict) else said
        for role, said in roles.items()
        if role != DEFAULT
    }


def check_roles(agents: dict[str, AgentConfig]) -> dict[str, AgentConfig]:
    """Every role is there and nothing that is none, and there is one of those that hold an index."""
    unknown = [name for name in agents if name not in AGENT_ROLES]
    wrong = {name: f"is no agent's role: {meant(name, AGENT_ROLES)}" for name in unknown}
    wrong |= {role: "is required" for role in AGENT_ROLES if role not in agents}
    if wrong:
        raise PydanticCustomError(WRONG_KEYS, "{wrong}", {"wrong": wrong})
    for role in SINGLE_ROLES:
        if agents[role].replicas != 1:
            raise ValueError(f"{role}.replicas must be 1: one actor holds the index")
    return agents
