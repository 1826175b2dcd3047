"""What all records are: frozen, and strict about their fields."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen record that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __setstate__(self, state: dict[Any, Any]) -> None:
        """One that the last release pickled, while a site goes up, lacks what is new: set the defaults."""
        super().__setstate__(state)
        for name, field in type(self).model_fields.items():
            if name not in self.__dict__ and not field.is_required():
                self.__dict__[name] = field.get_default(call_default_factory=True)


def is_absent(value: object) -> bool:
    """For `exclude_if`: what a record of an earlier release lacks is not written, so its digest stays."""
    return value is None


def reason_of(fault: Mapping[str, Any]) -> str:
    """Why a value is refused, of one of a ValidationError's `errors()`: our words where a check is ours."""
    return str(fault["msg"]).removeprefix("Value error, ")
