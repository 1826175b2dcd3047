"""Reads the examples that messages are routed by."""

from pathlib import Path

from pydantic import ValidationError

from actors.chat.wording import has_letters, normal_form
from models.chat import INTENTS, Intent
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
        raise ConfigInvalid("\n".join(faults(lambda _: path, raw, error))) from error
    if missing := [intent for intent in INTENTS if not intents.examples.get(intent)]:
        raise ConfigInvalid(f"{path}: examples: lacks examples of {', '.join(missing)}: add some of each")
    if wrong := _contradictions(intents):
        raise ConfigInvalid("\n".join(f"{path}: examples.{fault}" for fault in wrong))
    return intents


def _contradictions(intents: Intents) -> list[str]:
    """Examples that say nothing, or the same as one of another intent."""
    seen: dict[str, Intent] = {}
    wrong = []
    for intent, examples in intents.examples.items():
        for example in examples:
            normal = normal_form(example)
            if not has_letters(normal):
                wrong.append(f"{intent}: {example!r} has no words: leave it out")
            elif (other := seen.setdefault(normal, intent)) != intent:
                wrong.append(f"{intent}: {example!r} is an example of {other} too: keep one of them")
    return wrong
