"""Configuration of operations (seed 003): who plans, which server each agent reads, and who decides.

Part of `models.config`.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from models.config.fields import Count, Positive, ResolvedPath, Section, Text
from models.config.llm import ModelSettings
from models.config.mcp import ServerName, ToolName
from models.config.publishing import ApprovalPolicy
from models.operations.items import SourceAgent

# Stands in the arguments of a reading for each thing that is looked for.
LEAD = "{lead}"
GateKind = Literal["plan", "agents", "results"]
TaskTypeSlug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]


class Paging(Section):
    """How a tool's further pages are asked for: its answer's `field` goes into `argument`."""

    field: Text
    argument: Text


class SourceReading(Section):
    """One way to read a server, where code chooses the calls: a tool, and what it is given.

    Where an argument is `{lead}`, the tool is called for each thing that is looked for; with nothing to
    look for it is called once, with an empty text.
    """

    tool: ToolName  # one of its server's `tools`
    arguments: dict[Text, Any] = Field(default_factory=dict)  # what it is given
    paging: Paging | None = None


class SourceConfig(Section):
    """One agent that reads a system. `service` and `source` are how results and plans call it."""

    server: ServerName  # one of `mcp.servers`
    service: Text  # `service_used` in results, as gmail_mcp
    source: Text  # in a plan's `data_sources`, as email
    reading: tuple[SourceReading, ...] = Field(default=(), strict=False)  # where `chooses` is `code`


class TaskTypeConfig(Section):
    """Where an operation of this type stops for a person: at its plan, after each agent, at its results."""

    gates: tuple[GateKind, ...] = Field(strict=False)  # any of these

    @model_validator(mode="after")
    def _each_once(self) -> "TaskTypeConfig":
        if len(set(self.gates)) < len(self.gates):
            raise ValueError("gates: name each once")
        return self


class OperationsConfig(Section):
    """Operations: a plan, agents that read systems over MCP, and what they found compared.

    `chooses` says who chooses what is called: `model` is that of `agents_llm`; `code` goes by
    `sources.*.reading`. `plans` and `writes` likewise: with `code`, plans and summaries are put together
    from what is known.
    """

    approval: ApprovalPolicy  # who decides at the gates of an operation, in its topic
    task_types: dict[TaskTypeSlug, TaskTypeConfig] = Field(min_length=1)
    sources: dict[SourceAgent, SourceConfig] = Field(default_factory=dict)  # none: there are no operations
    prompts_dir: ResolvedPath  # the prompts of those that plan, choose calls and write
    report_file: ResolvedPath  # the template of exports as PDF, for Typst
    plans: Literal["model", "code"]  # who chooses agents, and says why
    planner_llm: ModelSettings
    chooses: Literal["model", "code"]  # who chooses calls and their arguments
    agents_llm: ModelSettings
    writes: Literal["model", "code"]  # who writes the summary and what is recommended
    analysis_llm: ModelSettings
    step_seconds: Positive  # that one agent may take; then a person is asked
    away_seconds: Positive  # a server is waited for (under outages.patience_seconds), then a person asked
    most_calls: Count  # of tools, of one agent in one run
    most_items: Count  # that one agent keeps of what it read
