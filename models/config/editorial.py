"""Configuration of the editorial system (seed 004 §3): its loop, its agents, its knowledge base, its batches.

Part of `models.config`, which is where everybody imports it from.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from models.config.fields import Count, Positive, ResolvedPath, Secret, Section, Text, Url
from models.config.llm import EmbeddingConfig, ModelSettings


class EditorOutput(Section):
    """Where articles and run artifacts go (seed 004 §7)."""

    final_articles_dir: ResolvedPath
    run_artifacts_dir: ResolvedPath
    save_intermediate_results: bool


class EditorPrompts(Section):
    """Prompt files, relative to `root_dir`."""

    root_dir: ResolvedPath
    writer_prompt_file: Text
    revision_prompt_file: Text
    article_review_prompt_file: Text
    concern_mapping_prompt_file: Text
    specialists_dir: Text


class EditorConfig(Section):
    """The chief editor's loop."""

    editor_max_rounds: Count
    output: EditorOutput
    prompts: EditorPrompts


class SpecialistModels(Section):
    """Model settings of the five specialists."""

    fact_check_llm: ModelSettings
    evidence_finding_llm: ModelSettings
    opinion_llm: ModelSettings
    attribution_llm: ModelSettings
    style_review_llm: ModelSettings


class EditorialModels(Section):
    """Model settings of every editorial agent."""

    writer_llm: ModelSettings
    article_review_llm: ModelSettings
    concern_mapping_llm: ModelSettings
    specialists: SpecialistModels


class KnowledgeBaseConfig(Section):
    """The fact checker's documents (seed 004 §7.4, §8.1)."""

    data_dir: ResolvedPath
    index_dir: ResolvedPath
    chunk_size_tokens: Count
    chunk_overlap_tokens: Annotated[int, Field(ge=0)]
    top_k: Count
    min_score: Annotated[float, Field(ge=-1, le=1)]
    timeout_seconds: Positive
    embedding: EmbeddingConfig

    @model_validator(mode="after")
    def _chunks(self) -> "KnowledgeBaseConfig":
        if self.chunk_size_tokens > self.embedding.max_input_tokens:
            raise ValueError(
                f"chunk_size_tokens is {self.chunk_size_tokens}, but {self.embedding.model_name} reads "
                f"{self.embedding.max_input_tokens} tokens (embedding.max_input_tokens): the rest of each "
                f"chunk would be lost. Set chunk_size_tokens to {self.embedding.max_input_tokens} or less"
            )
        if self.chunk_overlap_tokens >= self.chunk_size_tokens:
            raise ValueError("chunk_overlap_tokens must be smaller than chunk_size_tokens")
        return self


class KnowledgeBaseEvidence(Section):
    """Evidence from the site's own documents: nothing leaves the site."""

    provider: Literal["knowledge_base"]


class OutsideEvidence(Section):
    """Evidence from an OpenAI-compatible search model (Perplexity's API and the like; seed 004 §8.2)."""

    provider: Literal["openai_compatible"]
    api_base: Url
    api_key: Secret
    model: Text
    timeout_seconds: Positive


class InstitutionalMemoryConfig(Section):
    """Where earlier findings are kept (seed 004 §7.3)."""

    data_dir: ResolvedPath
    fact_checking_subdir: Text
    evidence_finding_subdir: Text


class BatchConfig(Section):
    """How `pipelines.edit_articles` runs. Its lease ends `lease_seconds` after the driver dies."""

    max_topics_at_once: Count
    lease_seconds: Annotated[float, Field(ge=1)]


class ArticleGenerationConfig(Section):
    """The editorial system (seed 004 §3)."""

    editor: EditorConfig
    agents: EditorialModels
    knowledge_base: KnowledgeBaseConfig
    evidence: KnowledgeBaseEvidence | OutsideEvidence = Field(discriminator="provider")
    institutional_memory: InstitutionalMemoryConfig
    batch: BatchConfig
    allowed_styles: dict[str, Text] = Field(min_length=1)
    default_style_mode: Text
    default_target_length_words: Text

    @model_validator(mode="after")
    def _style(self) -> "ArticleGenerationConfig":
        if self.default_style_mode not in self.allowed_styles:
            raise ValueError(
                f"default_style_mode {self.default_style_mode!r} is not one of allowed_styles: "
                + ", ".join(self.allowed_styles)
            )
        return self
