"""Configuration of what agents ask: a model, and embeddings.

Part of `models.config`.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, model_validator

from models.config.fields import Count, Positive, Secret, Section, Text, Url
from models.config.own_endpoints import EMBEDDINGS, LLM, check_key, served_here
from models.content.quoting import Written


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

    model: Text  # as its endpoint calls it
    api_base: Url  # absent: this site's own
    api_key: Secret  # absent: `serving.api_key`, for the site's own endpoint alone
    context_window: Count  # in tokens, prompt and answer together
    max_tokens: Count  # of an answer
    temperature: Annotated[float, Field(ge=0, le=2)]  # 0: always the likeliest
    context_window_threshold: Annotated[int, Field(ge=1, le=100)]  # the percentage that a prompt may fill
    max_retries: Annotated[int, Field(ge=0)]  # for faults of the transport and bad replies together
    retry_delay: Annotated[float, Field(ge=0)]  # in seconds, before the next try
    timeout_seconds: Positive  # of one try
    priority: int | None = None  # the lower, the sooner, where the endpoint knows it
    schema_limits: SchemaLimits = SchemaLimits()
    extra_body: dict[str, Any] = Field(default_factory=dict)  # passed to the endpoint as it is

    @model_validator(mode="before")
    @classmethod
    def _served_here(cls, said: Any, info: ValidationInfo) -> Any:
        return served_here(said, info, LLM)

    @model_validator(mode="after")
    def _its_key(self, info: ValidationInfo) -> "ModelSettings":
        check_key(self.api_base, self.api_key, info, LLM)
        return self

    @model_validator(mode="after")
    def _answer_fits(self) -> "ModelSettings":
        if self.max_tokens >= self.context_window:
            raise ValueError(
                f"max_tokens is {self.max_tokens}, but prompt and answer share a context_window of "
                f"{self.context_window} tokens: nothing could be asked. Lower max_tokens"
            )
        return self


class WriterSettings(ModelSettings):
    """The model of an agent whose texts people read.

    `writes`: with `prose` the model writes them; with `quotes` it only chooses, by number, among sentences
    of the sources, and code puts the text together from those, word for word, and from figures it computed.
    """

    writes: Written  # `quotes` or `prose`


def models_in(
    section: Section, under: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], ModelSettings]]:
    """Every agent's model in a section and those in it, with the keys that lead there."""
    for name in type(section).model_fields:
        value, keys = getattr(section, name), (*under, name)
        if isinstance(value, ModelSettings):
            yield keys, value
        elif isinstance(value, Section):
            yield from models_in(value, keys)


class EmbeddingConfig(Section):
    """An OpenAI-compatible embeddings endpoint, and the tokenizer that counts its tokens.

    The knowledge base and the search index read it, each beside its own settings.
    `tokenizer` is `bundled` or a folder with `tokenizer.json`; `max_input_tokens` is what the model
    reads at most, its special tokens included. Without `api_base` it is that of `serving.embeddings`, and
    `api_key` is `serving.api_key`.
    """

    provider: Literal["openai_compatible"]  # any endpoint that speaks this API
    model_name: Text  # as its endpoint calls it
    api_base: Url  # absent: this site's own
    api_key: Secret  # absent: `serving.api_key`, for the site's own endpoint alone
    tokenizer: Text
    max_input_tokens: Count
    batch_size: Count  # texts in one request
    timeout_seconds: Positive  # of one request

    @model_validator(mode="before")
    @classmethod
    def _served_here(cls, said: Any, info: ValidationInfo) -> Any:
        return served_here(said, info, EMBEDDINGS)

    @model_validator(mode="after")
    def _its_key(self, info: ValidationInfo) -> "EmbeddingConfig":
        check_key(self.api_base, self.api_key, info, EMBEDDINGS)
        return self
