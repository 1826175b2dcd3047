"""Drafting: a question is looked into, and a draft is written whose statements name their sources.

Its tool lies in `actors/tools`, where the chat finds it.
"""

from typing import Any

from actors.llm.prompts import read_chat_prompt
from actors.system import AgentDirectory, System
from models.config import Config
from models.store.content.drafting import KIND
from models.workflow_kinds import WorkflowKind


def _drafter(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    return {
        "settings": config.drafting,
        "breaker": config.outages.breaker,
        "prompt": read_chat_prompt(config.drafting.prompts_dir, "draft.md"),
    }


SYSTEM = System(
    name="drafting",
    roles={"drafter": ("actors.drafting.drafter:Drafter", _drafter)},
    kinds=(WorkflowKind(name=KIND, graph="actors.drafting.kind:RESEARCH_ARTICLE", word="research"),),
    tools=("actors.tools.research_article:research_article",),
)
