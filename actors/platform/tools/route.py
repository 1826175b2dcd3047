"""Where a tool is over REST: a method and a path, as the tool itself declares them."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal, Self

from models.record import Record

_REST = re.compile(r"(GET|POST) ((?:/(?:[a-z0-9-]+|\{[a-z_]+\}))+)")
_PARAMETER = re.compile(r"\{(\w+)\}")


class RestRoute(Record):
    """A method and a path below `/api/tools`. `in_path`: the path's parameters, and the input's fields."""

    method: Literal["GET", "POST"]
    path: str
    in_path: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, rest: str, *, in_path: Mapping[str, str], fields: Iterable[str]) -> Self:
        """Read "POST /articles/{id}/write" for an input of these `fields`.

        Args:
            in_path: the fields of parameters that the path calls otherwise, as `{"id": "article_id"}`.

        Raises:
            ValueError: it is no method and path, or a parameter is no field.
        """
        found = _REST.fullmatch(rest)
        if found is None:
            raise ValueError(f"rest: {rest!r} is not like 'POST /articles/{{id}}/write'")
        method, path = found.groups()
        names = _PARAMETER.findall(path)
        pairs = tuple((name, in_path.get(name, name)) for name in names)
        if stray := set(in_path) - set(names):
            raise ValueError(f"in_path: {', '.join(sorted(stray))} is not in {path}")
        if unknown := {field for _, field in pairs} - set(fields):
            raise ValueError(f"rest: {', '.join(sorted(unknown))} in {path} is no field of the input")
        if len({field for _, field in pairs}) < len(names):
            raise ValueError(f"rest: {path} gives a field twice")
        return cls.model_validate({"method": method, "path": path, "in_path": pairs})

    def clashes(self, other: "RestRoute") -> bool:
        """Whether one request may be for both."""
        here, there = self.path.split("/"), other.path.split("/")
        return (
            self.method == other.method
            and len(here) == len(there)
            and all(a == b or "{" in (a + b) for a, b in zip(here, there, strict=True))
        )
