"""The whole configuration as frozen models, and `load(path)`.

Strict: an unknown key, a missing value, a wrong type or an empty secret is refused with file, key
path and reason. No environment variable is read and no required value has a default. Relative paths
are relative to `root`: the folder `signoff up` was run in.
"""

import json
from dataclasses import is_dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    SecretStr,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from models.addresses import is_loopback
from models.config.agents import DEFAULT, check_roles, with_defaults
from models.config.agents import SINGLE_ROLES as SINGLE_ROLES
from models.config.agents import AgentConfig as AgentConfig
from models.config.agreement import disagreements
from models.config.chat import ChatConfig as ChatConfig
from models.config.chat import FeaturesConfig as FeaturesConfig
from models.config.drafting import DraftingConfig as DraftingConfig
from models.config.editorial import ArticleGenerationConfig as ArticleGenerationConfig
from models.config.editorial import BatchConfig as BatchConfig
from models.config.editorial import EditorConfig as EditorConfig
from models.config.editorial import EditorialModels as EditorialModels
from models.config.editorial import EditorOutput as EditorOutput
from models.config.editorial import EditorPrompts as EditorPrompts
from models.config.editorial import InstitutionalMemoryConfig as InstitutionalMemoryConfig
from models.config.editorial import KnowledgeBaseConfig as KnowledgeBaseConfig
from models.config.editorial import KnowledgeBaseEvidence as KnowledgeBaseEvidence
from models.config.editorial import OutsideEvidence as OutsideEvidence
from models.config.editorial import SpecialistModels as SpecialistModels
from models.config.fields import WITHHELD as WITHHELD
from models.config.fields import ResolvedPath, Section
from models.config.knowledge import BrowserConfig as BrowserConfig
from models.config.knowledge import ExtractionConfig as ExtractionConfig
from models.config.knowledge import FirecrawlConfig as FirecrawlConfig
from models.config.knowledge import IndexConfig as IndexConfig
from models.config.knowledge import KnowledgeConfig as KnowledgeConfig
from models.config.knowledge import PolitenessConfig as PolitenessConfig
from models.config.knowledge import RedactionConfig as RedactionConfig
from models.config.knowledge import ScrapingConfig as ScrapingConfig
from models.config.llm import EmbeddingConfig as EmbeddingConfig
from models.config.llm import ModelSettings as ModelSettings
from models.config.llm import SchemaLimits as SchemaLimits
from models.config.llm import WriterSettings as WriterSettings
from models.config.mcp import ClientCredentials as ClientCredentials
from models.config.mcp import HeaderAuth as HeaderAuth
from models.config.mcp import HttpServer as HttpServer
from models.config.mcp import McpConfig as McpConfig
from models.config.mcp import McpServer as McpServer
from models.config.mcp import StdioServer as StdioServer
from models.config.monitoring import MonitoringConfig as MonitoringConfig
from models.config.operations import OperationsConfig as OperationsConfig
from models.config.operations import SourceConfig as SourceConfig
from models.config.outages import BreakerConfig as BreakerConfig
from models.config.outages import OutagesConfig as OutagesConfig
from models.config.outside import OutsideConfig as OutsideConfig
from models.config.own_endpoints import own_endpoints
from models.config.publishing import PUBLIC_SECRETS
from models.config.publishing import AuthConfig as AuthConfig
from models.config.publishing import OutgoingConfig as OutgoingConfig
from models.config.publishing import PublishingConfig as PublishingConfig
from models.config.publishing import RateLimit as RateLimit
from models.config.publishing import SearchConfig as SearchConfig
from models.config.publishing import ToolsConfig as ToolsConfig
from models.config.publishing import WebhooksConfig as WebhooksConfig
from models.config.research import CandidatesConfig as CandidatesConfig
from models.config.research import DomainsConfig as DomainsConfig
from models.config.research import IntentsConfig as IntentsConfig
from models.config.research import LimitsConfig as LimitsConfig
from models.config.research import PlanLimits as PlanLimits
from models.config.research import ResearchConfig as ResearchConfig
from models.config.research import SynthesisConfig as SynthesisConfig
from models.config.research import TreeConfig as TreeConfig
from models.config.retention import RetentionConfig as RetentionConfig
from models.config.serving import AutoscalingConfig as AutoscalingConfig
from models.config.serving import ServedEmbeddings as ServedEmbeddings
from models.config.serving import ServedModel as ServedModel
from models.config.serving import ServingConfig as ServingConfig
from models.config.site import DatabaseConfig as DatabaseConfig
from models.config.site import HttpConfig as HttpConfig
from models.config.site import RayConfig as RayConfig
from models.config.site import RunnersConfig as RunnersConfig
from models.config.strict_yaml import WRONG_KEYS, faults
from models.config.yaml_layers import read_layers
from models.errors import ConfigInvalid


class Config(Section):
    """The whole configuration."""

    # everything Signoff keeps on this machine: embedded Postgres, converted models, what `up` started
    data_dir: ResolvedPath
    database: DatabaseConfig
    ray: RayConfig
    http: HttpConfig
    auth: AuthConfig
    serving: ServingConfig
    runners: RunnersConfig
    outages: OutagesConfig
    agents: Annotated[dict[str, AgentConfig], BeforeValidator(with_defaults), AfterValidator(check_roles)]
    embedding: EmbeddingConfig
    article_generation: ArticleGenerationConfig
    publishing: PublishingConfig
    tools: ToolsConfig
    search: SearchConfig
    outgoing: OutgoingConfig
    webhooks: WebhooksConfig
    retention: RetentionConfig
    monitoring: MonitoringConfig
    features: FeaturesConfig
    chat: ChatConfig
    outside: OutsideConfig
    drafting: DraftingConfig
    knowledge: KnowledgeConfig
    research: ResearchConfig
    mcp: McpConfig = McpConfig()
    operations: OperationsConfig

    def agent(self, role: str) -> AgentConfig:
        """The resources of a role's agents. ConfigInvalid where there are none for it."""
        if (found := self.agents.get(role, self.agents.get(DEFAULT))) is None:
            raise ConfigInvalid(f"agents.{role}: is required: the resources of this agent are not configured")
        return found

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

    @model_validator(mode="after")
    def _agrees(self, info: ValidationInfo) -> "Config":
        if wrong := disagreements(self, (info.context or {}).get("own")):
            raise PydanticCustomError(WRONG_KEYS, "{wrong}", {"wrong": wrong})
        return self


def load(path: Path | str, *, root: Path | None = None, roles: tuple[str, ...] | None = None) -> Config:
    """Read and check a YAML configuration.

    Args:
        path: the YAML file; it may extend another (see `models.config.yaml_layers`).
        root: what relative paths in it are relative to; the current folder when absent.
        roles: the agents' roles that there are (see `actors.systems.load`); None: names are not checked.

    Raises:
        ConfigInvalid: one line per fault, each with the file, the key path and the reason.
    """
    path = Path(path)
    layers = read_layers(path)
    raw = layers.merged()
    context: dict[str, Any] = {"root": Path(root or Path.cwd()).absolute(), "roles": roles}
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


def lacks_secrets(settings: object) -> bool:
    """Whether a secret is `WITHHELD` in a section of the configuration, or in what holds sections."""
    match settings:
        case SecretStr():
            return settings.get_secret_value() == WITHHELD
        case BaseModel():
            return any(lacks_secrets(value) for _, value in settings)
        case dict():
            return any(map(lacks_secrets, settings.values()))
        case list() | tuple():
            return any(map(lacks_secrets, settings))
    return is_dataclass(settings) and lacks_secrets(vars(settings))
