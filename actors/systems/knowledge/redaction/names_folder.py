"""The folder of a model of names, looked at without loading it: is it there, and has it labels for persons?

Called where agents' settings are made, and by whoever loads the model.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from models.errors import ConfigInvalid

_SETTING = "knowledge.redaction.names_model"
# What models call persons, without the B-, I-, E-, L-, S- or U- of a name's first, inner, last or only word.
_PERSONS = frozenset({"per", "pers", "person", "persname", "nam_liv_person"})
_PLACE_IN_NAME = re.compile(r"\A[BIELSU][-_]", re.IGNORECASE)


def check_names_model(folder: Path) -> None:
    """Refuse a folder that is plainly no model of names, without loading it: before agents are begun with it.

    Raises:
        ConfigInvalid: it lacks a file, or none of its labels is for persons.
    """
    for name in ("config.json", "tokenizer.json"):
        if not (folder / name).is_file():
            raise invalid_names_model(
                folder, f"there is no {name}: give the folder that save_pretrained wrote"
            )
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        labels = [str(label) for label in config["id2label"].values()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise invalid_names_model(folder, f"its config.json holds no labels (id2label): {error!r}") from error
    if not any(map(is_person, labels)):
        raise without_persons(folder, labels)


def invalid_names_model(folder: Path, what: str) -> ConfigInvalid:
    """What is wrong with a folder, with the setting that names it."""
    return ConfigInvalid(f"{_SETTING}: {folder}: {what}")


def without_persons(folder: Path, labels: Iterable[str]) -> ConfigInvalid:
    """That a model has no label for persons."""
    return invalid_names_model(
        folder, f"none of its labels is for persons, such as B-PER: it has {', '.join(sorted(labels))}"
    )


def is_person(label: str) -> bool:
    """Whether a label is for persons, whatever stands before it."""
    return _PLACE_IN_NAME.sub("", label).lower() in _PERSONS
