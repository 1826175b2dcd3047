"""Research: pages are found, people say which are read, and a tree of knowledge is made. Seed 002."""

from typing import Any, get_args

from actors.platform.llm.prompts import read_two_part_prompt
from actors.platform.system import AgentDirectory, System
from models.config import Config
from models.errors import ConfigInvalid
from models.research.agent_workflows import ResearchTask, Step
from models.research.gates import CONTENT_OF_GATE
from models.research.results import ResearchResult
from models.runtime.gated_kinds import Gate, GatedKind
from models.runtime.workflow_kinds import Ending, WorkflowKind
from models.store.research.agent_workflows import KIND


def _intent_reader(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    from actors.systems.research.agents.intent_reader import PROMPT
    from actors.systems.research.intents.classify import check_intents

    settings = config.research.intents
    return {
        "settings": settings,
        "breaker": config.outages.breaker,
        "prompt": read_two_part_prompt(config.research.prompts_dir, PROMPT),
        # Of what it is made tells whether it must be made anew: weights are read by their path.
        "trained": check_intents(settings.signs_file, settings.weights_file),
    }


def _researcher(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    from actors.systems.research.discovery.queries import read_asking

    if directory.database_url is None:
        raise ConfigInvalid("the agent researcher reads the database: make the Directory with database_url")
    return {
        "config": config,
        "asking": read_asking(config.research.asking_file),
        "database_url": directory.database_url,
        "directory": directory,
    }


def _organizer(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    research = config.research
    return {
        "tree": research.tree,
        "synthesis": research.synthesis,
        "breaker": config.outages.breaker,
        "embedding": config.embedding,
        "name_prompt": read_two_part_prompt(research.prompts_dir, "name_node.md"),
        "write_prompt": read_two_part_prompt(research.prompts_dir, "write_section.md"),
        "rewrite_prompt": read_two_part_prompt(research.prompts_dir, "rewrite_sentence.md"),
    }


def _support_judge(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    research = config.research
    return {
        "settings": research.synthesis,
        "breaker": config.outages.breaker,
        "prompt": read_two_part_prompt(research.prompts_dir, "judge_support.md"),
    }


RESEARCH = GatedKind(
    role="analyst",
    number="workflow_id",
    actions={
        "start": "start_research",
        "list": "list_research",
        "get": "get_research",
        "results": "read_research_results",
        "history": "read_research_messages",
        "tools": "read_research_tools",
        "lineage": "read_research_lineage",
        "points": "read_research_points",
        "article": "write_article_from_research",
        "cancel": "stop_research",
    },
    gates={kind: Gate(content, "decide_research") for kind, content in CONTENT_OF_GATE.items()},
    stages=get_args(Step),
)
SYSTEM = System(
    name="research",
    roles={
        "intent_reader": ("actors.systems.research.agents.intent_reader:IntentReader", _intent_reader),
        "researcher": ("actors.systems.research.agents.researcher:Researcher", _researcher),
        "organizer": ("actors.systems.research.agents.organizer:Organizer", _organizer),
        "support_judge": ("actors.systems.research.agents.support_judge:SupportJudge", _support_judge),
    },
    kinds=(
        WorkflowKind(
            name=KIND,
            graph="actors.systems.research.graph:RESEARCH",
            word="deep research",
            input=ResearchTask,
            result=ResearchResult,
            gated=RESEARCH,
            ending=Ending("outcome", reached="done"),
            complex=True,
        ),
    ),
    tools=(
        "actors.systems.research.tools.starting:start_research",
        "actors.systems.research.tools.starting:stop_research",
        "actors.systems.research.tools.following:get_research",
        "actors.systems.research.tools.following:list_research",
        "actors.systems.research.tools.following:read_research_messages",
        "actors.systems.research.tools.following:read_research_tools",
        "actors.systems.research.tools.following:read_research_results",
        "actors.systems.research.tools.following:read_research_lineage",
        "actors.systems.research.tools.following:read_research_points",
        "actors.systems.research.tools.deciding:decide_research",
        "actors.systems.research.tools.article:write_article_from_research",
        "actors.systems.research.tools.trees:create_knowledge_tree",
        "actors.systems.research.tools.trees:get_knowledge_tree",
        "actors.systems.research.tools.trees:list_knowledge_trees",
    ),
)
