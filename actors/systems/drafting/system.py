"""Drafting: a question is looked into, and a draft is written whose statements name their sources.

Its tool lies in `actors/platform/tools`, where the chat finds it.
"""

from typing import Any

from actors.platform.llm.prompts import read_two_part_prompt
from actors.platform.system import AgentDirectory, System
from models.config import Config
from models.content.drafting import DraftingInput, DraftingResult
from models.runtime.gated_kinds import GatedKind
from models.runtime.workflow_kinds import Ending, WorkflowKind
from models.store.content.drafting import KIND


def _drafter(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    return {
        "settings": config.drafting,
        "breaker": config.outages.breaker,
        "prompt": read_two_part_prompt(config.drafting.prompts_dir, "draft.md"),
        "choice_prompt": read_two_part_prompt(config.drafting.prompts_dir, "choose.md"),
        "embedding": config.embedding,
        "floor": config.article_generation.knowledge_base.min_score,
    }


SYSTEM = System(
    name="drafting",
    roles={"drafter": ("actors.systems.drafting.drafter:Drafter", _drafter)},
    kinds=(
        WorkflowKind(
            name=KIND,
            graph="actors.systems.drafting.graph:RESEARCH_ARTICLE",
            word="research",
            input=DraftingInput,
            result=DraftingResult,
            gated=GatedKind(role="analyst", number="article_id", actions={"start": "research_article"}),
            ending=Ending("status", reached="completed"),
            complex=True,
        ),
    ),
    tools=("actors.platform.tools.research_article:research_article",),
)
