"""Texts to vectors: the seam to the embedding model, and its side over HTTP.

Called by the vector index and the search index. The endpoint is Signoff's own `/embeddings/v1`, vLLM's,
or any other that speaks OpenAI's API.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from actors.platform.llm.breaker import breaker_of
from actors.platform.llm.edge import Edge, EdgeFault, FaultNames, NotOfThisApi, address_of
from models.config import BreakerConfig, EmbeddingConfig
from models.errors import ModelRefused, ModelReplyInvalid, ModelTimedOut, ModelUnavailable
from models.runtime.approvals import content_digest

if TYPE_CHECKING:
    import openai

_RETRIES = 3  # connection faults, 429 and 5xx; the client waits longer before each


class Embedder(Protocol):
    """The seam to an embedding model. Raises ModelUnavailable when it can't be had."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, in order, all of one length; they need not be normalised."""
        ...


def waits_for(settings: EmbeddingConfig) -> str:
    """What work that needs embeddings waits for while they are away."""
    return f"embedding model {settings.model_name} at {address_of(settings.api_base)}"


async def vector_of_query(
    query: str,
    embedder: Embedder,
    *,
    within: float,
    embedding: EmbeddingConfig,
    late: str = "the query's embedding was not there within search.timeout_seconds",
) -> list[float]:
    """The vector of what somebody asks, who waits for it no longer than `within` seconds.

    Raises:
        ModelUnavailable: it was not there by then, as `late` tells.
    """
    try:
        async with asyncio.timeout(within):
            [vector] = await embedder.embed([query])
    except TimeoutError as error:
        raise ModelUnavailable(f"{late} ({within:g} s)", waits_for=waits_for(embedding)) from error
    return vector


class OpenAIEmbedder:
    """Embeddings over HTTP with the `openai` package, `batch_size` texts in each request.

    `breaker` says when the process stops asking an endpoint that is away; without it every call is tried.
    """

    def __init__(self, *, settings: EmbeddingConfig, breaker: BreakerConfig | None = None) -> None:
        self._settings = settings
        self._client: openai.AsyncOpenAI | None = None
        self._edge = Edge(
            waits_for=waits_for(settings),
            names=FaultNames(away=ModelUnavailable, refused=ModelRefused, timed_out=ModelTimedOut),
            breaker=breaker_of(settings.api_base, settings.model_name, breaker),
            explain=self._explain,
            timeout=f"no answer within embedding.timeout_seconds ({settings.timeout_seconds:g} s)",
        )

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder`.

        Raises:
            ModelUnavailable: the endpoint is away; ModelRefused, ModelTimedOut: of these texts alone.
            ModelReplyInvalid: it answered with something else than one vector per text.
        """
        size = self._settings.batch_size
        vectors: list[list[float]] = []
        for start in range(0, len(texts), size):
            vectors += await self._embed_batch(list(texts[start : start + size]))
        return vectors

    async def _embed_batch(self, texts: list[str]) -> list[list[float]]:
        import openai

        settings = self._settings
        # Made on first use: an agent that is not asked for vectors does not pay for the import.
        self._client = self._client or openai.AsyncOpenAI(
            base_url=settings.api_base,
            api_key=settings.api_key.get_secret_value(),
            timeout=settings.timeout_seconds,
            max_retries=_RETRIES,
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
        )
        try:
            with self._edge.call(content_digest({"texts": texts})):
                # Bounds the retries too, and an answer that trickles in.
                async with asyncio.timeout(settings.timeout_seconds):
                    reply = await self._client.embeddings.create(
                        model=settings.model_name, input=texts, encoding_format="float"
                    )
                # A reply of another type than JSON comes through as a plain text.
                if not isinstance(reply, openai.types.CreateEmbeddingResponse):
                    raise NotOfThisApi("the reply holds no embeddings")
        except EdgeFault as fault:
            raise fault.error from fault.__cause__
        entries = sorted(reply.data or [], key=lambda entry: entry.index)
        if [entry.index for entry in entries] != list(range(len(texts))):
            raise ModelReplyInvalid(self._explain(f"{len(entries)} vectors for {len(texts)} texts"))
        return [entry.embedding for entry in entries]

    def _explain(self, what: str) -> str:
        settings = self._settings
        return (
            f"embedding model {settings.model_name} at {address_of(settings.api_base)}: {what}. "
            "Check that the endpoint is up, and what is set under embedding"
        )
