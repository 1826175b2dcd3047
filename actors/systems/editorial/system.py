"""The editorial desk: a writer, a reviewer and specialists work on a topic until its article holds."""

from typing import Any

from actors.platform.llm.prompts import read_two_part_prompt
from actors.platform.system import AgentDirectory, AgentRole, System
from actors.systems.editorial.agents.evidence import KnowledgeBaseProvider, SearchModelProvider
from actors.systems.editorial.agents.memory import InstitutionalMemory
from actors.systems.editorial.briefs import AgentSettings
from models.config import ArticleGenerationConfig, Config, KnowledgeBaseEvidence, ModelSettings
from models.content.editorial import EditorialResult, TopicInput
from models.runtime.workflow_kinds import WorkflowKind


def _settings(config: Config, model: ModelSettings, **files: str) -> AgentSettings:
    """An agent's settings; `files` are its prompts' files by name, under the prompts' root."""
    article_generation = config.article_generation
    root = article_generation.editor.prompts.root_dir
    return AgentSettings(
        model=model,
        breaker=config.outages.breaker,
        prompts={name: read_two_part_prompt(root, file) for name, file in files.items()},
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
    prompts = article_generation.editor.prompts
    own = {role: f"{prompts.specialists_dir}/{role}.md"}
    return _settings(config, model, **own, quotation_verdict="quotation_verdict.md")


def _writer(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    prompts = config.article_generation.editor.prompts
    return {
        "settings": _settings(
            config,
            config.article_generation.agents.writer_llm,
            writer=prompts.writer_prompt_file,
            revision=prompts.revision_prompt_file,
            choose="choose.md",
        ),
        "embedding": config.embedding,
    }


def _article_review(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    file = config.article_generation.editor.prompts.article_review_prompt_file
    model = config.article_generation.agents.article_review_llm
    files = {"article_review": file, "quotation_review": "quotation_review.md"}
    return {"settings": _settings(config, model, **files)}


def _concern_mapping(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    file = config.article_generation.editor.prompts.concern_mapping_prompt_file
    model = config.article_generation.agents.concern_mapping_llm
    return {"settings": _settings(config, model, concern_mapping=file)}


def _fact_check(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    knowledge_base = config.article_generation.knowledge_base
    return {
        "settings": _specialist_settings(config, "fact_check"),
        "knowledge_base": directory.agent("knowledge_base"),
        "top_k": knowledge_base.top_k,
        "min_score": knowledge_base.min_score,
        "memory": _memory(config.article_generation),
    }


def _evidence_finding(config: Config, directory: AgentDirectory) -> dict[str, Any]:
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


def _plain_specialist(role: str) -> AgentRole:
    return (
        "actors.systems.editorial.agents.verdicts:Specialist",
        lambda config, directory: {"role": role, "settings": _specialist_settings(config, role)},
    )


SYSTEM = System(
    name="editorial",
    roles={
        "writer": ("actors.systems.editorial.agents.writer:Writer", _writer),
        "article_review": ("actors.systems.editorial.agents.article_review:ArticleReview", _article_review),
        "concern_mapping": (
            "actors.systems.editorial.agents.concern_mapping:ConcernMapper",
            _concern_mapping,
        ),
        "fact_check": ("actors.systems.editorial.agents.fact_check:FactChecker", _fact_check),
        "evidence_finding": (
            "actors.systems.editorial.agents.evidence_finding:EvidenceFinder",
            _evidence_finding,
        ),
        "opinion": _plain_specialist("opinion"),
        "attribution": _plain_specialist("attribution"),
        "style_review": _plain_specialist("style_review"),
    },
    kinds=(
        WorkflowKind(
            name="editorial",
            graph="actors.systems.editorial.graph:EDITORIAL",
            word="write",
            input=TopicInput,
            result=EditorialResult,
            complex=True,
        ),
    ),
)
