"""The `/embeddings` application: sentence-transformers behind OpenAI's embeddings endpoint.

`POST /embeddings/v1/embeddings` and `GET /embeddings/v1/models`. Requests that arrive together are
encoded together. A text longer than the model reads is refused rather than cut in silence, unless
the caller asks for the cut (`truncate_prompt_tokens: -1`, as vLLM has it). Nothing is downloaded.
"""

import asyncio
import base64
import math
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from actors.platform.logs import LogStyle
from actors.platform.search.encoder import Encoder, SentenceEncoder, embeddings_folder
from models.config import ServedEmbeddings
from serve.inference.own_address import listen_on_node_only
from serve.inference.shared_key import SharedKey
from serve.monitoring.replica_logs import begin_in_replica

if TYPE_CHECKING:
    from fastapi import FastAPI
    from ray.serve import Application

ROUTE = "/embeddings"
MAX_TEXTS = 2048  # as OpenAI's endpoint
_BATCH_REQUESTS = 16


class EmbeddingRequest(BaseModel):
    """The body of `POST /v1/embeddings`. `user` is accepted and not used."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    model: str
    input: str | list[str]
    encoding_format: Literal["float", "base64"] = "float"
    truncate_prompt_tokens: Literal[-1] | None = None
    user: str | None = Field(default=None, max_length=512)

    def texts(self) -> list[str]:
        """The texts to embed, in order."""
        return [self.input] if isinstance(self.input, str) else self.input


class Embeddings:
    """The Serve ingress: one model, one batch at a time."""

    def __init__(self, name: str, source: str, threads: int, api_key: str, logs: LogStyle) -> None:
        import ray.serve as ray_serve

        begin_in_replica(logs, process="embeddings")
        listen_on_node_only()
        encoder = SentenceEncoder(embeddings_folder(source), threads)

        @ray_serve.batch(max_batch_size=_BATCH_REQUESTS, batch_wait_timeout_s=0.002)
        async def embed(requests: list[list[str]]) -> list[list[list[float]]]:
            texts = [text for request in requests for text in request]
            # In a thread, so that health checks are answered meanwhile.
            vectors = iter(await asyncio.to_thread(encoder.encode, texts))
            return [[next(vectors) for _ in request] for request in requests]

        self._app = build_app(name, encoder, embed)
        self._app.add_middleware(SharedKey, key=api_key)

    def __serve_build_asgi_app__(self) -> "FastAPI":
        """Ray Serve asks for the app here, in the replica, so that nothing of it is pickled."""
        return self._app


def build_embeddings(settings: ServedEmbeddings, api_key: str, logs: LogStyle) -> "Application":
    """The Serve application; needs no running cluster and does not load the model."""
    import ray.serve as ray_serve

    scaling = settings.autoscaling
    deployment = ray_serve.deployment(
        name="Embeddings",
        max_ongoing_requests=scaling.target_ongoing_requests * 8,
        autoscaling_config={
            "min_replicas": scaling.min_replicas,
            "max_replicas": scaling.max_replicas,
            "target_ongoing_requests": scaling.target_ongoing_requests,
        },
        ray_actor_options={
            "num_cpus": settings.cpus_per_replica,
            "runtime_env": {"env_vars": {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}},
        },
    )(ray_serve.ingress()(Embeddings))
    threads = max(1, math.floor(settings.cpus_per_replica))
    return deployment.bind(
        name=settings.name, source=settings.source, threads=threads, api_key=api_key, logs=logs
    )


def build_app(name: str, encoder: Encoder, embed: Any) -> "FastAPI":
    """The HTTP endpoint. `embed` is an async function from a list of texts to their vectors.

    Faults get 422 in OpenAI's error shape, whose `param` names the field.
    """
    from fastapi import FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse

    app = FastAPI(title="Signoff embeddings")

    def refuse(field: str, reason: str, status: int = 422) -> JSONResponse:
        error = {"message": f"{field}: {reason}", "type": "invalid_request_error", "param": field}
        return JSONResponse({"error": {**error, "code": None}}, status_code=status)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, fault: RequestValidationError) -> JSONResponse:
        first = fault.errors()[0]
        field = ".".join(str(part) for part in first["loc"][1:]) or "body"
        if field.startswith("input"):
            return refuse("input", "must be a text or a list of texts (token ids are not accepted)")
        reason = {"extra_forbidden": "is not supported: leave it out"}.get(first["type"], first["msg"])
        return refuse(field, reason)

    @app.get("/v1/models")
    async def models() -> dict[str, Any]:
        model = {"id": name, "object": "model", "owned_by": "signoff", "created": 0}
        return {"object": "list", "data": [model]}

    @app.post("/v1/embeddings", response_model=None)
    async def embeddings(request: EmbeddingRequest) -> JSONResponse:
        texts = request.texts()
        if request.model != name:
            return refuse("model", f"{request.model!r} is not served here: use {name!r}", status=404)
        if not 1 <= len(texts) <= MAX_TEXTS:
            return refuse("input", f"has {len(texts)} texts: send 1 to {MAX_TEXTS}")
        for place, text in enumerate(texts):
            if not text.strip():
                return refuse(f"input.{place}", "is empty: leave it out")
        counts = await asyncio.to_thread(encoder.count_tokens, texts)
        if request.truncate_prompt_tokens is None:
            for place, count in enumerate(counts):
                if count > encoder.max_tokens:
                    return refuse(
                        f"input.{place}",
                        f"has {count} tokens, but {name} reads {encoder.max_tokens}: "
                        "split the text, or send truncate_prompt_tokens: -1",
                    )
        vectors = await embed(texts)
        used = sum(min(count, encoder.max_tokens) for count in counts)
        return JSONResponse(
            {
                "object": "list",
                "model": name,
                "data": [
                    {
                        "object": "embedding",
                        "index": place,
                        "embedding": vector if request.encoding_format == "float" else _base64(vector),
                    }
                    for place, vector in enumerate(vectors)
                ],
                "usage": {"prompt_tokens": used, "total_tokens": used},
            }
        )

    return app


def _base64(vector: Sequence[float]) -> str:
    """Little-endian 32-bit floats, which is what the `openai` package decodes."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
