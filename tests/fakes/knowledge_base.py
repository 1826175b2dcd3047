"""Settings of a knowledge base and its embeddings, and a scripted embedder: for tests around the index."""

import asyncio
from collections.abc import Sequence
from typing import Any

from models.config import EmbeddingConfig, KnowledgeBaseConfig
from tests.fakes.model.model_replies import embed


class FakeEmbedder:
    """Vectors from the words of a text; `gate` holds its answers back until it is set."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.gate: asyncio.Event | None = None
        self.asked = asyncio.Event()
        self.fault: Exception | None = None

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.batches.append(list(texts))
        self.asked.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        return [[3 * value for value in embed(text, 64)] for text in texts]


def knowledge_base_settings(**changes: Any) -> KnowledgeBaseConfig:
    values: dict[str, Any] = {
        "data_dir": "data",
        "index_dir": "index",
        "chunk_size_tokens": 32,
        "chunk_overlap_tokens": 8,
        "top_k": 2,
        "min_score": 0.0,
        "timeout_seconds": 60,
    }
    return KnowledgeBaseConfig.model_validate(values | changes)


def embedding_settings(**changes: Any) -> EmbeddingConfig:
    values: dict[str, Any] = {
        "provider": "openai_compatible",
        "model_name": "minilm",
        "api_base": "http://127.0.0.1:9/v1",
        "api_key": "secret-key",
        "tokenizer": "bundled",
        "max_input_tokens": 256,
        "batch_size": 2,
        "timeout_seconds": 60,
    }
    return EmbeddingConfig.model_validate(values | changes)
