"""Reads files of messages that a classifier is trained and measured on: lists of records in YAML."""

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError

from models.config.strict_yaml import faults
from models.errors import ConfigInvalid

M = TypeVar("M", bound=BaseModel)


def read_messages(path: Path, record: type[M]) -> tuple[M, ...]:
    """The messages in a file, each as `record` has it.

    Raises:
        ConfigInvalid: one line per fault.
    """
    try:
        # libyaml where it is there: these files are long.
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        return TypeAdapter(tuple[record, ...]).validate_python(raw)  # type: ignore[valid-type]  # known when run
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"{path}: can't be read: {error}") from error
    except ValidationError as error:
        raise ConfigInvalid("\n".join(faults(lambda _: path, raw, error))) from error
