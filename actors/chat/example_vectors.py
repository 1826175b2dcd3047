"""The examples' embeddings: made once, and kept in a file for the next start.

The file is named by what it was made of, so other examples or another model get another file. One that
is broken is made anew.
"""

import asyncio
import hashlib
import io
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from actors.runtime.embedder import Embedder
from actors.runtime.files import write_atomically
from models.errors import ModelReplyInvalid

_log = logging.getLogger(__name__)


async def example_vectors(
    texts: Sequence[str], *, embedder: Embedder, model_name: str, folder: Path | None
) -> Any:
    """A row of length 1 (float32) per text, from `folder` where it has them.

    Raises:
        ModelUnavailable: the embedding model can't be had.
        ModelReplyInvalid: its vectors are no vectors of one length.
    """
    digest = hashlib.sha256(json.dumps([model_name, *texts]).encode()).hexdigest()
    path = folder / f"{digest}.npy" if folder else None
    if path and (kept := await asyncio.to_thread(_read, path, len(texts))) is not None:
        return kept
    rows = unit_rows(await embedder.embed(texts), count=len(texts))
    if path:
        await asyncio.to_thread(_keep, path, rows)
    return rows


def unit_rows(vectors: object, *, count: int) -> Any:
    """Vectors as an array of `count` rows of length 1. ModelReplyInvalid where they can't be that."""
    try:
        rows = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ModelReplyInvalid(f"the embedding model's vectors are not all alike: {error}") from error
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1] or not np.isfinite(rows).all():
        raise ModelReplyInvalid(f"the embedding model gave {rows.shape} numbers for {count} texts")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)


def _read(path: Path, count: int) -> Any | None:
    try:
        return unit_rows(np.load(io.BytesIO(path.read_bytes()), allow_pickle=False), count=count)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError, ModelReplyInvalid) as error:
        _log.warning("%s can't be used and is made anew: %s", path, error)
        return None


def _keep(path: Path, rows: Any) -> None:
    content = io.BytesIO()
    np.save(content, rows, allow_pickle=False)
    try:
        write_atomically(path, content.getvalue())
        for other in path.parent.glob("*.npy"):
            if other != path:
                other.unlink(missing_ok=True)
    except OSError as error:
        # The next start takes longer, which is all that is lost.
        _log.warning("the examples' embeddings can't be kept in %s: %s", path, error)
