"""The file of trained weights that messages are routed by, and the digest that says what they were made of.

`make train-intents` writes it; whoever starts `main_chat` checks that it belongs to the examples, and the
agent reads it. What such a file holds is in `actors/platform/text/classifying/weights_file.py`.
"""

import hashlib
import json
from pathlib import Path

from actors.platform.text.classifying import weights_file
from actors.platform.text.classifying.similarity import Likeness
from models.chat.intents import Intents
from models.errors import ConfigInvalid

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


def check_weights(intents: Intents) -> str:
    """The digest of what the weights were made of; ConfigInvalid unless that is these examples."""
    found = weights_file.read_digest(intents.weights, remedy=_REMEDY)
    if found != examples_digest(intents):
        raise ConfigInvalid(
            f"{intents.weights}: was trained on other examples than those that there are now: {_REMEDY}"
        )
    return found


def read_weights(path: Path) -> Likeness:
    """The classifier in a file. ConfigInvalid where it is missing or broken."""
    return weights_file.read_weights(path, remedy=_REMEDY)
