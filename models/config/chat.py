"""Configuration of the chat: its models, its routing, its budget, and what is switched on.

Part of `models.config`.
"""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from models.config.background import BackgroundConfig
from models.config.fields import Count, Positive, ResolvedPath, Section
from models.config.llm import WriterSettings
from models.content.search import MOST_FOUND


class FeaturesConfig(Section):
    """What is switched on (seed 000 §11.1).

    `enable_new_agent_system` off: no chat. `enable_hitl_workflow` off: nobody can ask for publication, and
    so nothing is published; a gate that is left out would publish what nobody signed off.
    `enable_tool_permissions` is in the seed and can't be turned off here.
    """

    enable_new_agent_system: bool  # off: no chat
    enable_hitl_workflow: bool  # off: nobody can ask for publication
    enable_tool_permissions: bool  # always true

    @field_validator("enable_tool_permissions")
    @classmethod
    def _always(cls, value: bool) -> bool:
        if not value:
            raise ValueError("permissions can't be turned off: set it to true")
        return value


class RoutingConfig(Section):
    """When the likeness to the examples decides what a message asks for.

    It does where the likeliest intent has the probability `sure`. Otherwise the model chooses among the
    `candidates` that are likeliest, or, with `ask_model` off, the likeliest is taken; and the answer says
    what the message was taken for.
    """

    sure: Annotated[float, Field(gt=0, le=1)]
    candidates: Annotated[int, Field(ge=2)]
    ask_model: bool


class BudgetConfig(Section):
    """What one message may cost: rounds of tools, tokens of all its model calls, and seconds."""

    iterations: Annotated[int, Field(ge=1, le=10)]  # rounds of tools at most
    tokens: Count  # of all model calls of the message
    seconds: Positive  # until it is answered with what there is


class ToolUseConfig(Section):
    """How models are given tools.

    `calling`: by the API's own tool calls, or by a JSON schema that the answer keeps to. At most `shown`
    tools are offered at a time, and `result_tokens` of what one answered are read. `beside_sources` off:
    where a search by code has found something already, none are offered, for a small model loses its way.
    """

    calling: Literal["native", "json_schema"]
    shown: Count
    result_tokens: Count
    beside_sources: bool


class ChatConfig(Section):
    """The chat (seed 000 §3). `assistant_llm` answers people."""

    intents_file: ResolvedPath  # the examples that messages are routed by
    prompts_dir: ResolvedPath  # the agents' prompts
    assistant_llm: WriterSettings
    routing: RoutingConfig
    budget: BudgetConfig
    tools: ToolUseConfig
    # Articles or resources that one answer rests on at most; twice as many are looked at.
    sources: Annotated[int, Field(ge=1, le=MOST_FOUND // 2)]
    # How long a question that asks for a yes may be answered.
    confirm_seconds: Positive
    background: BackgroundConfig
