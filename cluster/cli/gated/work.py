"""The work of one kind that a person may see, over HTTP."""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from cluster.cli.door import Door
from cluster.cli.records import read
from cluster.cli.typed import typed

_R = TypeVar("_R", bound=BaseModel)


class StandsNow(BaseModel):
    """What a site says of one that it has stopped."""

    status: str
    message: str | None = None


class Work:
    """The work at `path`; `options` are those with which the person called `signoff NAME`. `noun` is one."""

    def __init__(self, door: Door, name: str, noun: str, path: str, options: Sequence[str] = ()) -> None:
        self._door = door
        self.url = door.url
        self.noun = noun
        self._name = name.split()
        self._path = path
        self._options = tuple(options)

    def command(self, *words: object) -> str:
        """A command to type next, with the options with which the person called."""
        return typed([*self._name, *words], self._options)

    def told(self, path: str, **params: Any) -> dict[str, Any]:
        """What the site answers to GET, as it is."""
        given = {name: value for name, value in params.items() if value is not None}
        return self._door.ask(dict[str, Any], "GET", f"{self._path}{path}", params=given)

    def get(self, expected: type[_R], path: str, **params: Any) -> _R:
        """The same, as a record."""
        return read(expected, self.told(path, **params))

    def post(self, expected: type[_R], path: str, body: BaseModel | dict[str, Any], *, unsure: str) -> _R:
        """Send something. RequestRefused: nothing has changed. `unsure`: how to see whether it was done."""
        sent = body if isinstance(body, dict) else body.model_dump(mode="json", exclude_unset=True)
        told = self._door.ask(dict[str, Any], "POST", f"{self._path}{path}", json=sent, unsure=unsure)
        return read(expected, told)

    def file(self, path: str, *, media_type: str, **params: Any) -> bytes:
        """What the site hands over as a file of that type."""
        return self._door.file(f"{self._path}{path}", media_type=media_type, params=params)
