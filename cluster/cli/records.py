"""Records of what a person gives and of what a site tells, read by the commands that talk with a site."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from models.errors import ClusterProblem, InputInvalid
from models.record import reason_of

_R = TypeVar("_R", bound=BaseModel)


def read(expected: type[_R], told: Any) -> _R:
    """What a site tells; a newer one may say more. Raises ClusterProblem."""
    try:
        return expected.model_validate(told, extra="ignore")
    except ValidationError as error:
        raise ClusterProblem("an answer is not as Signoff writes them: see --url") from error


def checked(expected: type[_R], given: Mapping[str, Any]) -> _R:
    """What a person gives. Raises InputInvalid, which names the field."""
    try:
        return expected.model_validate(given)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in fault["loc"])
        told = reason_of(fault)
        raise InputInvalid(f"{where}: {told}" if where else told) from error
