"""The tools over REST, where each says it is (seed 000 §7.1). `GET /api/tools` lists what the caller may use.

A path's parameters and the body, or the query, together are the tool's input; what they mean, and who may
call, is the tool's own business. A record that the input extends by the path's fields is the body as it is.
"""

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Annotated, Any

from fastapi import Body, FastAPI, Path, Query, Request
from pydantic import BaseModel, ConfigDict, create_model
from pydantic.fields import FieldInfo

from actors.platform.tools.registry import Registry
from actors.platform.tools.route import RestRoute
from actors.platform.tools.tool import Tool
from models.people.scopes import Role
from serve.auth.caller import Caller
from serve.problems import problem_responses

_PREFIX = "/api/tools"


class ToolSummary(BaseModel):
    """A tool that the caller may use. `topic_scoped`: on which topics is up to his scopes."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str
    required_role: Role
    topic_scoped: bool
    requires_hitl: bool
    method: str
    path: str


def add_tools(app: FastAPI, tools: Sequence[Tool]) -> None:
    """Add the list of tools, and an endpoint for each tool that declares one.

    Raises:
        ValueError: two tools are in one place.
    """
    check_routes(tools)
    app.add_api_route(
        _PREFIX, list_tools, methods=["GET"], tags=["tools"], responses=problem_responses(401, 422, 503)
    )
    for tool in tools:
        if tool.route is not None:
            _add(app, tool, tool.route)


# A tool whose endpoint answers with a file.
_BY_HAND: Mapping[str, str] = {"export_operation": "GET /api/operations/{operation_id}/export"}


def place_of(tool: Tool) -> tuple[str, str, Mapping[str, str]]:
    """A tool's method, its whole path, and the fields of parameters that the path calls otherwise."""
    if tool.route is not None:
        return tool.route.method, tool.route.path, dict(tool.route.in_path)
    method, _, path = _BY_HAND[tool.name].partition(" ")
    return method, path, {}


def check_routes(tools: Iterable[Tool]) -> None:
    """Raise ValueError, with both names, where one request may be for two tools."""
    for one, other in combinations(tools, 2):
        here, there = one.route, other.route
        if here is not None and there is not None and here.clashes(there):
            raise ValueError(
                f"{one.name} is at {here.method} {here.path}, and {other.name} at {there.path}: move one"
            )


async def list_tools(
    request: Request, caller: Caller, topic: Annotated[str | None, Query(max_length=64)] = None
) -> list[ToolSummary]:
    """The tools that the caller may use: on `topic`, or on any."""
    registry: Registry = request.app.state.registry
    return [
        ToolSummary(
            name=tool.name,
            description=tool.description,
            required_role=tool.permission.required_role,
            topic_scoped=tool.permission.topic_scoped,
            requires_hitl=tool.permission.requires_hitl,
            method=tool.route.method,
            path=tool.route.path,
        )
        for tool in registry.permitted(caller.scopes, door="rest", topic=topic)
        if tool.route is not None
    ]


def _add(app: FastAPI, tool: Tool, route: RestRoute) -> None:
    """Make an endpoint whose signature FastAPI can read: path parameters, then a body or a query."""
    fields = tool.input.model_fields
    in_path = dict(route.in_path)
    rest = {name: field for name, field in fields.items() if name not in in_path.values()}
    holder = _holder(tool, route, rest)
    parameters = [
        inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY, annotation=Request),
        inspect.Parameter("caller", inspect.Parameter.KEYWORD_ONLY, annotation=Caller),
    ]
    for name, field in in_path.items():
        filled = fields[field]
        kind: Any = Annotated[(filled.annotation, *filled.metadata, Path(examples=filled.examples))]
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind))
    if rest:
        place = Query() if route.method == "GET" else Body()
        optional = route.method == "POST" and not any(field.is_required() for field in rest.values())
        kind = Annotated[holder, place]
        parameters.append(
            inspect.Parameter(
                "rest",
                inspect.Parameter.KEYWORD_ONLY,
                annotation=kind,
                default=holder() if optional else inspect.Parameter.empty,
            )
        )

    async def endpoint(**given: Any) -> BaseModel:
        registry: Registry = given["request"].app.state.registry
        arguments = {field: given[name] for name, field in in_path.items()}
        if rest:
            arguments |= given["rest"].model_dump(mode="json", exclude_unset=True)
        return await registry.call(tool.name, arguments, caller=given["caller"], door="rest")

    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    app.add_api_route(
        route.path,
        endpoint,
        methods=[route.method],
        status_code=route.status,
        tags=[_noun(route.path)],
        name=tool.name,
        operation_id=f"{tool.name}_endpoint",
        summary=tool.description.partition("\n")[0],
        description=f"{tool.description}\n\nTakes {_scope(tool)}.",
        response_model=tool.output,
        responses=problem_responses(401, 403, 404, 409, 413, 422, 429, 502, 503),
    )


def _holder(tool: Tool, route: RestRoute, rest: Mapping[str, FieldInfo]) -> type[BaseModel]:
    """The record of what the path does not say: one that the input extends, or one made of its fields."""
    for record in tool.input.__bases__:
        if issubclass(record, BaseModel) and record.model_fields.keys() == rest.keys():
            return record
    definitions: Any = {name: (field.annotation, field) for name, field in rest.items()}
    # Same constraints, less what the path says. Rules across fields are the tool's own, and apply there.
    made: type[BaseModel] = create_model(
        tool.input.__name__.removesuffix("Request") + ("Query" if route.method == "GET" else "Body"),
        __config__=ConfigDict(extra="forbid"),
        __doc__=tool.input.__doc__,
        **definitions,
    )
    return made


def _noun(path: str) -> str:
    """`operations` of `/api/operations/{id}`; a version is none."""
    return next(part for part in path.split("/")[2:] if not re.fullmatch(r"v\d+", part))


def _scope(tool: Tool) -> str:
    where = "{topic}" if tool.permission.topic_scoped else "any"
    return f"`{where}:{tool.permission.required_role}`"
