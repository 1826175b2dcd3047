"""Reads the examples that messages are routed by."""

from pathlib import Path

from pydantic import ValidationError

from models.chat import INTENTS
from models.errors import ConfigInvalid
from models.intents import Intents
from models.strict_yaml import faults, read_mapping


def read_intents(path: Path) -> Intents:
    """The examples in a YAML file.

    Raises:
        ConfigInvalid: one line per fault, with the file, the key path and the reason.
    """
    raw = read_mapping(path)
    try:
        intents = Intents.model_validate(raw)
    except ValidationError as error:
        raise ConfigInvalid("\n".join(faults(path, raw, error))) from error
    if missing := [intent for intent in INTENTS if not intents.examples.get(intent)]:
        raise ConfigInvalid(f"{path}: examples: lacks examples of {', '.join(missing)}: add some of each")
    return intents
