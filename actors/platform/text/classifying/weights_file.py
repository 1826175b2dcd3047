"""A file of trained weights: numbers and names alone, nothing that could be executed.

Written by whoever trains a classifier, read by whoever uses it. The digest in it says what the weights were
made of; what that is, the caller decides.
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from actors.platform.text.classifying.similarity import Block, Likeness
from models.errors import ConfigInvalid
from models.files import write_atomically

_SORTS = ("letters", "stems", "signs")
_BROKEN = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, AttributeError)


def write_weights(path: Path, likeness: Likeness, digest: str) -> None:
    """Keep a classifier.

    Raises:
        OSError: the file can't be written.
    """
    blocks = {"letters": likeness.letters, "stems": likeness.stems}
    if likeness.signs is not None:
        blocks["signs"] = likeness.signs
    about = {
        "digest": digest,
        "labels": likeness.labels,
        "temperature": likeness.temperature,
        "unseen": [block.unseen for block in blocks.values()],
    }
    # Of any type, because numpy's releases differ in how they type the arrays by name.
    arrays: dict[str, Any] = {"about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)}
    for name, block in blocks.items():
        arrays[f"{name}_keys"] = block.keys
        arrays[f"{name}_rarity"] = block.rarity.astype(np.float16)
        arrays[f"{name}_weights"] = block.weights.astype(np.float16)
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    write_atomically(path, content.getvalue())


def read_digest(path: Path, *, remedy: str) -> str:
    """What the weights in a file were made of.

    Raises:
        ConfigInvalid: it is missing or broken; `remedy` says how to get another.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return str(_about(arrays["about"])["digest"])
    except _BROKEN as error:
        raise _unreadable(path, error, remedy) from error


def read_weights(path: Path, *, remedy: str) -> Likeness:
    """The classifier in a file.

    Raises:
        ConfigInvalid: it is missing or broken; `remedy` says how to get another.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            about = _about(arrays["about"])
            letters, stems, *signs = (
                Block(
                    arrays[f"{name}_keys"],
                    arrays[f"{name}_rarity"].astype(np.float32),
                    arrays[f"{name}_weights"].astype(np.float32),
                    unseen,
                )
                for name, unseen in zip(_SORTS, about["unseen"], strict=False)
            )
    except _BROKEN as error:
        raise _unreadable(path, error, remedy) from error
    return Likeness(tuple(about["labels"]), letters, stems, about["temperature"], *signs)


def _about(raw: Any) -> Any:
    about = json.loads(raw.tobytes())
    if not isinstance(about, dict):
        raise ValueError("it does not say what it was made of")
    return about


def _unreadable(path: Path, error: Exception, remedy: str) -> ConfigInvalid:
    return ConfigInvalid(f"{path}: can't be used ({error}): {remedy}")
