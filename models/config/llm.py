"""Configuration of what agents ask: a model, and embeddings.

Part of `models.config`, which is where everybody imports it from.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, model_validator

from models.config.fields import Count, Positive, Secret, Section, Text, Url
from models.config.own_endpoints import EMBEDDINGS, LLM, check_key, served_here


class SchemaLimits(Section):
    """Bounds put into a JSON schema so that a small model closes its strings and lists.

    `strings` and `items` apply everywhere; `fields` overrides a string field's greatest length by name,
    and `at_least` gives its smallest. Note that a bounded string holds no line break under xgrammar.
    """

    strings: Count | None = None
    items: Count | None = None
    fields: dict[str, Count] = Field(default_factory=dict)
    at_least: dict[str, Count] = Field(default_factory=dict)


class ModelSettings(Section):
    """One agent's model (seed 004 §3): endpoint, sampling, retries. Times are in seconds.

    `context_window_threshold` is the percentage of `context_window` a prompt may fill. `max_retries`
    counts tries after the first. `schema_limits` and `extra_body` keep a small model inside the lines.
    `priority` goes with each call where it is given: the lower, the sooner, for a vLLM whose
    `scheduling_policy` is `priority`; leave it out for endpoints that do not know it. Without `api_base` the
    model is one of `serving.models`, and `api_key` is `serving.api_key`.
    """

    model: Text
    api_base: Url
    api_key: Secret
    context_window: Count
    max_tokens: Count
    temperature: Annotated[float, Field(ge=0, le=2)]
    context_window_threshold: Annotated[int, Field(ge=1, le=100)]
    max_retries: Annotated[int, Field(ge=0)]
    retry_delay: Annotated[float, Field(ge=0)]
    timeout_seconds: Positive
    priority: int | None = None
    schema_limits: SchemaLimits = SchemaLimits()
    extra_body: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _served_here(cls, said: Any, info: ValidationInfo) -> Any:
        return served_here(said, info, LLM)

    @model_validator(mode="after")
    def _its_key(self, info: ValidationInfo) -> "ModelSettings":
        check_key(self.api_base, self.api_key, info, LLM)
        return self


class EmbeddingConfig(Section):
    """An OpenAI-compatible embeddings endpoint, and the tokenizer that counts its tokens.

    `tokenizer` is `bundled` or a folder with `tokenizer.json`; `max_input_tokens` is what the model
    reads at most, its special tokens included. Without `api_base` it is that of `serving.embeddings`, and
    `api_key` is `serving.api_key`.
    """

    provider: Literal["openai_compatible"]
    model_name: Text
    api_base: Url
    api_key: Secret
    tokenizer: Text
    max_input_tokens: Count
    batch_size: Count
    timeout_seconds: Positive

    @model_validator(mode="before")
    @classmethod
    def _served_here(cls, said: Any, info: ValidationInfo) -> Any:
        return served_here(said, info, EMBEDDINGS)

    @model_validator(mode="after")
    def _its_key(self, info: ValidationInfo) -> "EmbeddingConfig":
        check_key(self.api_base, self.api_key, info, EMBEDDINGS)
        return self
