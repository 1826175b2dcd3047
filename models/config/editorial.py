"""Configuration of the editorial system (seed 004 §3): its loop, its agents, its knowledge base, its batches.

Part of `models.config`.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from models.config.fields import Count, Positive, ResolvedPath, Secret, Section, Text, Url
from models.config.llm import ModelSettings, WriterSettings
from models.config.strict_yaml import WRONG_KEYS


class EditorOutput(Section):
    """Where articles and run artifacts go (seed 004 §7)."""

    final_articles_dir: ResolvedPath  # one JSON a topic, in a folder a channel
    run_artifacts_dir: ResolvedPath  # a folder for each run, and the summaries of batches
    save_intermediate_results: bool  # off: only the result and the report of a run are kept there


class EditorPrompts(Section):
    """Prompt files, relative to `root_dir`."""

    root_dir: ResolvedPath
    writer_prompt_file: Text  # a system and a user part, split by `---user---`
    revision_prompt_file: Text  # likewise
    article_review_prompt_file: Text  # likewise
    concern_mapping_prompt_file: Text  # likewise
    specialists_dir: Text  # a file for each specialist


class EditorConfig(Section):
    """The chief editor's loop."""

    editor_max_rounds: Count  # drafts that are reviewed at most
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

    writer_llm: WriterSettings
    article_review_llm: ModelSettings
    concern_mapping_llm: ModelSettings
    specialists: SpecialistModels


class KnowledgeBaseConfig(Section):
    """The fact checker's documents (seed 004 §7.4, §8.1)."""

    data_dir: ResolvedPath  # `.txt` and `.md` files; the index follows them at each topic
    index_dir: ResolvedPath  # where the index is kept
    chunk_size_tokens: Count  # special tokens included; not over what the embedding model reads
    chunk_overlap_tokens: Annotated[int, Field(ge=0)]  # what two neighbouring chunks share
    top_k: Count  # passages of one answer at most
    min_score: Annotated[float, Field(ge=-1, le=1)]  # passages under this cosine are neither shown nor cited
    timeout_seconds: Positive  # of one look-up

    @model_validator(mode="before")
    @classmethod
    def _embedding_has_moved(cls, said: Any) -> Any:
        if isinstance(said, dict) and "embedding" in said:
            reason = "is not a known key here: its settings belong under embedding, at the top level"
            raise PydanticCustomError(WRONG_KEYS, "{wrong}", {"wrong": {"embedding": reason}})
        return said

    @model_validator(mode="after")
    def _chunks(self) -> "KnowledgeBaseConfig":
        if self.chunk_overlap_tokens >= self.chunk_size_tokens:
            raise ValueError("chunk_overlap_tokens must be smaller than chunk_size_tokens")
        return self


class KnowledgeBaseEvidence(Section):
    """Evidence from the site's own documents: nothing leaves the site."""

    provider: Literal["knowledge_base"]


class OutsideEvidence(Section):
    """Evidence from an OpenAI-compatible search model (Perplexity's API and the like; seed 004 §8.2)."""

    provider: Literal["openai_compatible"]
    api_base: Url  # excerpts of drafts are sent there
    api_key: Secret  # of that endpoint
    model: Text  # such as `sonar`
    timeout_seconds: Positive  # of one search


class InstitutionalMemoryConfig(Section):
    """Where earlier findings are kept (seed 004 §7.3)."""

    data_dir: ResolvedPath  # it is in every backup
    fact_checking_subdir: Text  # a folder in it
    evidence_finding_subdir: Text  # a folder in it


class BatchConfig(Section):
    """How `pipelines.edit_articles` runs. Its lease ends `lease_seconds` after the driver dies."""

    max_topics_at_once: Count  # `--at-once` says otherwise for one batch
    lease_seconds: Annotated[float, Field(ge=1)]


class ArticleGenerationConfig(Section):
    """The editorial system (seed 004 §3)."""

    editor: EditorConfig
    agents: EditorialModels
    knowledge_base: KnowledgeBaseConfig
    evidence: KnowledgeBaseEvidence | OutsideEvidence = Field(discriminator="provider")
    institutional_memory: InstitutionalMemoryConfig
    batch: BatchConfig
    allowed_styles: dict[str, Text] = Field(min_length=1)  # what each style asks of a text
    default_style_mode: Text  # of topics that name none
    default_target_length_words: Text  # of topics that name none, such as `900-1200`

    @model_validator(mode="after")
    def _style(self) -> "ArticleGenerationConfig":
        if self.default_style_mode not in self.allowed_styles:
            raise ValueError(
                f"default_style_mode {self.default_style_mode!r} is not one of allowed_styles: "
                + ", ".join(self.allowed_styles)
            )
        return self
