"""The `/llm` application: every model of `serving.models`, served by vLLM through `ray.serve.llm`.

The base URL for OpenAI clients is `http://HOST:PORT/llm/v1`. `signoff up` calls `build_llm`, which
needs no running cluster. vLLM is imported there and not before, because that takes many seconds.
"""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from models.config import Config, ServedModel
from serve.inference.shared_key import SharedKey

if TYPE_CHECKING:
    from ray.serve import Application

ROUTE = "/llm"


def model_folder(config: Config, model: ServedModel) -> Path:
    """The folder vLLM reads: the converted bundled model under `data_dir`, or the configured one."""
    if model.source == "bundled":
        return config.data_dir / "models" / model.name
    return Path(model.source).expanduser()


def build_llm(config: Config) -> "Application":
    """One Serve application with all served models behind one OpenAI-compatible ingress."""
    from ray.serve.llm import LLMConfig, build_openai_app

    models = config.serving.models
    settings = {
        "llm_configs": [LLMConfig(**llm_settings(config, model)) for model in models],
        "ingress_cls_config": {"ingress_cls": "serve.inference.llm_ingress:Ingress"},
        # The ingress only passes requests on: one process, unless the models themselves scale.
        "ingress_deployment_config": {
            "ray_actor_options": {"num_cpus": 0.1},
            "max_ongoing_requests": 1000,
            "autoscaling_config": {
                "min_replicas": 1,
                "max_replicas": max(model.autoscaling.max_replicas for model in models),
                "target_ongoing_requests": 200,
            },
        },
    }
    with _no_cluster_started(), _behind(config.serving.api_key.get_secret_value()):
        return build_openai_app(settings)


@contextmanager
def _behind(api_key: str) -> Iterator[None]:
    """Put the ingress that is built behind the shared key, and take its CORS for everybody away.

    Ray's builder makes the ingress's app itself, and has no setting for what stands around it.
    """
    from ray.llm._internal.serve.core.ingress import ingress
    from starlette.middleware.cors import CORSMiddleware

    builder: Any = importlib.import_module("ray.llm._internal.serve.core.ingress.builder")
    everybody: Any = CORSMiddleware

    def make(cls: type, **more: Any) -> type:
        app = ingress.init()
        app.user_middleware = [each for each in app.user_middleware if each.cls is not everybody]
        app.add_middleware(SharedKey, key=api_key)
        made: type = original(cls, app=app, **more)
        return made

    original = builder.make_fastapi_ingress
    builder.make_fastapi_ingress = make
    try:
        yield
    finally:
        builder.make_fastapi_ingress = original


@contextmanager
def _no_cluster_started() -> Iterator[None]:
    """Keep the builder from starting a Ray of its own when this process is connected to none.

    It asks for the driver's runtime environment, to pass it on, and asking starts Ray.
    """
    import ray

    if ray.is_initialized():
        yield
        return
    asked = ray.get_runtime_context
    nothing = SimpleNamespace(runtime_env={})
    ray.get_runtime_context = lambda: nothing  # type: ignore[assignment, return-value]  # only this is asked
    try:
        yield
    finally:
        ray.get_runtime_context = asked


def llm_settings(config: Config, model: ServedModel) -> dict[str, Any]:
    """The arguments of `LLMConfig` for one model.

    A GPU replica reserves one bundle per GPU, and its CPUs in the first. A CPU replica splits its
    CPUs between the Serve actor and the engine, which `ray.serve.llm` places in a bundle of its own.
    """
    scaling = model.autoscaling
    gpus = model.gpus_per_replica
    bundles = [{"GPU": 1}] * gpus if gpus else [{"CPU": model.cpus_per_replica / 2}]
    return {
        "model_loading_config": {
            "model_id": model.name,
            "model_source": str(model_folder(config, model)),
        },
        "accelerator_type": model.accelerator_type if gpus else None,
        "placement_group_config": {"bundles": bundles},
        "engine_kwargs": dict(model.engine),
        "deployment_config": {
            "autoscaling_config": {
                "min_replicas": scaling.min_replicas,
                "max_replicas": scaling.max_replicas,
                "target_ongoing_requests": scaling.target_ongoing_requests,
            },
            # Requests over the target still go in: vLLM batches them, and the queue is its own.
            "max_ongoing_requests": scaling.target_ongoing_requests * 4,
            "ray_actor_options": {"num_cpus": model.cpus_per_replica if gpus else model.cpus_per_replica / 2},
        },
        "callback_config": {"callback_class": "serve.inference.engine_callback.NoDownload"},
        "runtime_env": {"env_vars": dict(model.environment)},
        # Ray holds streamed tokens back for 50 ms by default (ray issue 59681).
        "experimental_configs": {"stream_batching_interval_ms": 0},
    }
