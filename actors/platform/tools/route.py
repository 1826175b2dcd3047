"""Where a tool is over REST: a method and a path, as the tool itself declares them."""

import re
from collections.abc import Iterable
from typing import Literal, Self

from models.record import Record

_REST = re.compile(
    r"(?P<method>GET|POST) (?P<path>(?:/(?:[a-z0-9-]+|\{[a-z_]+(?:=[a-z_]+)?\}))+)(?: -> (?P<status>201))?"
)
_PARAMETER = re.compile(r"\{(\w+)(?:=(\w+))?\}")
_TOOLS = "/api/tools"


class RestRoute(Record):
    """A method and a path. `in_path`: the path's parameters, and the input's fields that they fill.

    `status`: what a call that went well is answered with.
    """

    method: Literal["GET", "POST"]
    path: str
    in_path: tuple[tuple[str, str], ...] = ()
    status: int = 200

    @classmethod
    def parse(cls, rest: str, *, fields: Iterable[str]) -> Self:
        """Read "POST /articles/{id=article_id}/write" for an input of these `fields`.

        A parameter fills the field of its name, or the one after `=`. A path that begins with `/api/` is
        the whole address; any other is below `/api/tools`. " -> 201" at the end: a call makes something.

        Raises:
            ValueError: it is no method and path, or a parameter is no field.
        """
        found = _REST.fullmatch(rest)
        if found is None:
            raise ValueError(f"rest: {rest!r} is not like 'POST /articles/{{id=article_id}}/write'")
        path = _PARAMETER.sub(r"{\1}", found["path"])
        pairs = tuple((name, field or name) for name, field in _PARAMETER.findall(found["path"]))
        if unknown := {field for _, field in pairs} - set(fields):
            raise ValueError(f"rest: {', '.join(sorted(unknown))} in {path} is no field of the input")
        if len({field for _, field in pairs}) < len(pairs):
            raise ValueError(f"rest: {path} gives a field twice")
        return cls.model_validate(
            {
                "method": found["method"],
                "path": path if path.startswith("/api/") else _TOOLS + path,
                "in_path": pairs,
                "status": int(found["status"] or 200),
            }
        )

    def clashes(self, other: "RestRoute") -> bool:
        """Whether one request may be for both."""
        here, there = self.path.split("/"), other.path.split("/")
        return (
            self.method == other.method
            and len(here) == len(there)
            and all(a == b or "{" in (a + b) for a, b in zip(here, there, strict=True))
        )
