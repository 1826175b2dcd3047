"""The file of trained weights that messages are routed by, and the digest that says what they were made of.

`make train-intents` writes it; whoever starts `main_chat` checks that it belongs to the examples, and the
agent reads it. It holds numbers and names alone, nothing that could be executed.
"""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from actors.chat.routing.similarity import Block, Likeness
from models.chat.intents import Intents
from models.errors import ConfigInvalid
from models.files import write_atomically

# Goes up when features or their arithmetic change: weights of another make are worth nothing.
_MAKE = 1
_REMEDY = "run `make train-intents`"


def examples_digest(intents: Intents) -> str:
    """What weights are made of: the examples, the files of voices, and how features are counted.

    Raises:
        ConfigInvalid: there are no voices, or they can't be read.
    """
    digest = hashlib.sha256(json.dumps([_MAKE, sorted(intents.examples.items())]).encode())
    for path in voice_files(intents.voices):
        try:
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        except OSError as error:
            raise ConfigInvalid(f"{path}: can't be read: {error.strerror}") from error
    return digest.hexdigest()


def voice_files(voices_dir: Path) -> list[Path]:
    """The files of voices, by name. ConfigInvalid where there are none."""
    found = sorted(voices_dir.glob("*.yaml"))
    if not found:
        raise ConfigInvalid(
            f"voices: {voices_dir} has no *.yaml: name the folder of voices in the intents file"
        )
    return found


def write_weights(path: Path, likeness: Likeness, digest: str) -> None:
    """Keep a classifier.

    Raises:
        OSError: the file can't be written.
    """
    about = {
        "digest": digest,
        "labels": likeness.labels,
        "temperature": likeness.temperature,
        "unseen": [likeness.letters.unseen, likeness.stems.unseen],
    }
    # Of any type, because numpy's releases differ in how they type the arrays by name.
    arrays: dict[str, Any] = {"about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)}
    for name, block in (("letters", likeness.letters), ("stems", likeness.stems)):
        arrays[f"{name}_keys"] = block.keys
        arrays[f"{name}_rarity"] = block.rarity.astype(np.float16)
        arrays[f"{name}_weights"] = block.weights.astype(np.float16)
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    write_atomically(path, content.getvalue())


def check_weights(intents: Intents) -> str:
    """The digest of what the weights were made of; ConfigInvalid unless that is these examples."""
    try:
        with np.load(intents.weights, allow_pickle=False) as arrays:
            found = _about(arrays["about"])["digest"]
    except _BROKEN as error:
        raise _unreadable(intents.weights, error) from error
    if found != examples_digest(intents):
        raise ConfigInvalid(
            f"{intents.weights}: was trained on other examples than those that there are now: {_REMEDY}"
        )
    return str(found)


def read_weights(path: Path) -> Likeness:
    """The classifier in a file.

    Raises:
        ConfigInvalid: it is missing or broken.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            about = _about(arrays["about"])
            letters, stems = (
                Block(
                    arrays[f"{name}_keys"],
                    arrays[f"{name}_rarity"].astype(np.float32),
                    arrays[f"{name}_weights"].astype(np.float32),
                    unseen,
                )
                for name, unseen in zip(("letters", "stems"), about["unseen"], strict=True)
            )
    except _BROKEN as error:
        raise _unreadable(path, error) from error
    return Likeness(tuple(about["labels"]), letters, stems, about["temperature"])


_BROKEN = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, AttributeError)


def _about(raw: Any) -> Any:
    about = json.loads(raw.tobytes())
    if not isinstance(about, dict):
        raise ValueError("it does not say what it was made of")
    return about


def _unreadable(path: Path, error: Exception) -> ConfigInvalid:
    return ConfigInvalid(f"{path}: can't be used ({error}): {_REMEDY}")
