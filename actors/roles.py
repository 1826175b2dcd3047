"""The one table of agent roles: which class, and what it is made with, from the configuration.

Imported where agents are started (runners), never inside them. Class paths are strings, so that
starting a writer does not import the fact checker.
"""

from typing import Any

from actors.chat.routing.examples import read_intents
from actors.chat.routing.weights_file import check_weights
from actors.editorial.briefs import AgentSettings
from actors.editorial.evidence import KnowledgeBaseProvider, SearchModelProvider
from actors.editorial.memory import InstitutionalMemory
from actors.llm.prompts import read_chat_prompt, read_prompt
from actors.runtime.directory import Directory, Role
from models.config import ArticleGenerationConfig, Config, KnowledgeBaseEvidence, ModelSettings
from models.errors import ConfigInvalid


def _settings(config: Config, model: ModelSettings, **files: str) -> AgentSettings:
    """An agent's settings; `files` are its prompts' files by name, under the prompts' root."""
    article_generation = config.article_generation
    root = article_generation.editor.prompts.root_dir
    return AgentSettings(
        model=model,
        breaker=config.outages.breaker,
        prompts={name: read_chat_prompt(root, file) for name, file in files.items()},
        styles=article_generation.allowed_styles,
    )


def _memory(article_generation: ArticleGenerationConfig) -> InstitutionalMemory:
    memory = article_generation.institutional_memory
    return InstitutionalMemory(
        root=memory.data_dir,
        fact_checking_subdir=memory.fact_checking_subdir,
        evidence_finding_subdir=memory.evidence_finding_subdir,
    )


def _specialist_settings(config: Config, role: str) -> AgentSettings:
    article_generation = config.article_generation
    model = getattr(article_generation.agents.specialists, f"{role}_llm")
    folder = article_generation.editor.prompts.specialists_dir
    return _settings(config, model, **{role: f"{folder}/{role}.md"})


def _writer(config: Config, directory: Directory) -> dict[str, Any]:
    prompts = config.article_generation.editor.prompts
    return {
        "settings": _settings(
            config,
            config.article_generation.agents.writer_llm,
            writer=prompts.writer_prompt_file,
            revision=prompts.revision_prompt_file,
        )
    }


def _article_review(config: Config, directory: Directory) -> dict[str, Any]:
    file = config.article_generation.editor.prompts.article_review_prompt_file
    model = config.article_generation.agents.article_review_llm
    return {"settings": _settings(config, model, article_review=file)}


def _concern_mapping(config: Config, directory: Directory) -> dict[str, Any]:
    file = config.article_generation.editor.prompts.concern_mapping_prompt_file
    model = config.article_generation.agents.concern_mapping_llm
    return {"settings": _settings(config, model, concern_mapping=file)}


def _fact_check(config: Config, directory: Directory) -> dict[str, Any]:
    knowledge_base = config.article_generation.knowledge_base
    return {
        "settings": _specialist_settings(config, "fact_check"),
        "knowledge_base": directory.agent("knowledge_base"),
        "top_k": knowledge_base.top_k,
        "min_score": knowledge_base.min_score,
        "memory": _memory(config.article_generation),
    }


def _evidence_finding(config: Config, directory: Directory) -> dict[str, Any]:
    article_generation = config.article_generation
    evidence = article_generation.evidence
    return {
        "settings": _specialist_settings(config, "evidence_finding"),
        "provider": KnowledgeBaseProvider(
            knowledge_base=directory.agent("knowledge_base"),
            top_k=article_generation.knowledge_base.top_k,
            min_score=article_generation.knowledge_base.min_score,
        )
        if isinstance(evidence, KnowledgeBaseEvidence)
        else SearchModelProvider(settings=evidence, breaker=config.outages.breaker),
        "memory": _memory(article_generation),
    }


def _search_index(config: Config, directory: Directory) -> dict[str, Any]:
    if directory.database_url is None:
        raise ConfigInvalid("the agent search_index reads the database: make the Directory with database_url")
    return {
        "settings": config.article_generation.knowledge_base,
        "search": config.search,
        "breaker": config.outages.breaker,
        "database_url": directory.database_url,
    }


def _chat_agent(config: Config, directory: Directory) -> dict[str, Any]:
    """What every agent of the chat is made with; `prompts` are the sources of all chat prompts, by name."""
    root = config.chat.prompts_dir
    names = sorted(path.stem for path in root.glob("*.md"))
    prompts = {name: read_prompt(root, f"{name}.md") for name in names}
    return {"config": config, "directory": directory, "prompts": prompts}


def _main_chat(config: Config, directory: Directory) -> dict[str, Any]:
    intents = read_intents(config.chat.intents_file)
    # Of what it is made tells whether it must be made anew: weights are read by their path.
    trained = intents.model_copy(update={"trained_on": check_weights(intents)})
    return _chat_agent(config, directory) | {"intents": trained}


def _drafter(config: Config, directory: Directory) -> dict[str, Any]:
    return {
        "settings": config.drafting,
        "breaker": config.outages.breaker,
        "prompt": read_chat_prompt(config.drafting.prompts_dir, "draft.md"),
    }


def _plain_specialist(role: str) -> Role:
    return (
        "actors.editorial.specialists:Specialist",
        lambda config, directory: {"role": role, "settings": _specialist_settings(config, role)},
    )


ROLES: dict[str, Role] = {
    "writer": ("actors.editorial.writer:Writer", _writer),
    "article_review": ("actors.editorial.article_review:ArticleReview", _article_review),
    "concern_mapping": ("actors.editorial.concern_mapping:ConcernMapper", _concern_mapping),
    "fact_check": ("actors.editorial.fact_check:FactChecker", _fact_check),
    "evidence_finding": ("actors.editorial.evidence_finding:EvidenceFinder", _evidence_finding),
    "opinion": _plain_specialist("opinion"),
    "attribution": _plain_specialist("attribution"),
    "style_review": _plain_specialist("style_review"),
    "knowledge_base": (
        "actors.search.knowledge_base:VectorIndex",
        lambda config, directory: {
            "settings": config.article_generation.knowledge_base,
            "breaker": config.outages.breaker,
        },
    ),
    "search_index": ("actors.search.article_index:SearchIndex", _search_index),
    "main_chat": ("actors.chat.agents.main_chat:MainChat", _main_chat),
    "article_query": ("actors.chat.agents.article_query:ArticleQuery", _chat_agent),
    "resource_query": ("actors.chat.agents.resource_query:ResourceQuery", _chat_agent),
    "web_search": ("actors.chat.agents.web_search:WebSearch", _chat_agent),
    "data_download": ("actors.chat.agents.data_download:DataDownload", _chat_agent),
    "analyst": ("actors.chat.agents.analyst:Analyst", _chat_agent),
    "drafter": ("actors.drafting.drafter:Drafter", _drafter),
    "editor": ("actors.chat.agents.editor:Editor", _chat_agent),
}
