"""The OpenAPI description: FastAPI's own, with what it can't see: problems, the bearer token, unions.

An approval's content, a task's result and an event's data are JSON in the database; their records stand in
the systems' declarations. Clients read each as a union, by its `kind` or `type`.

It is written once, because nobody needs a token to ask for it. `/docs` leads to it: FastAPI's own pages load
their scripts from elsewhere, and no call leaves the site.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from models.runtime.event_catalogue import EventData
from models.runtime.workflow_kinds import Kinds
from serve.admission.limits import needs_token
from serve.problems import Problem


def describe(app: FastAPI, *, kinds: Kinds, events: Sequence[type[EventData]]) -> None:
    """Give the app its description; it is made when it is first asked for."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            components = made.setdefault("components", {})
            schemas = components.setdefault("schemas", {})
            schemas["Problem"] = Problem.model_json_schema()
            _add_unions(schemas, kinds, events)
            components["securitySchemes"] = {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
            }
            for path, operations in made["paths"].items():
                if needs_token(path):
                    for operation in operations.values():
                        operation["security"] = [{"bearer": []}]
            app.openapi_schema = made
        return app.openapi_schema

    written: list[bytes] = []

    async def described(request: Request) -> Response:
        if not written:
            written.append(json.dumps(openapi(), ensure_ascii=False).encode())
        return Response(written[0], media_type="application/json")

    async def docs(request: Request) -> Response:
        return RedirectResponse("openapi.json")

    app.router.routes += [Route("/openapi.json", described), Route("/docs", docs)]
    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way


def _add_unions(schemas: dict[str, Any], kinds: Kinds, events: Sequence[type[EventData]]) -> None:
    approvals = {name: record for kind in kinds.values() for name, record in kind.approvals.items()}
    results = {kind.name: kind.result for kind in kinds.values() if kind.word}
    records = {record for record in (*approvals.values(), *results.values(), *events) if record}
    by_record, described = models_json_schema(
        [(record, "serialization") for record in sorted(records, key=lambda record: record.__name__)],
        ref_template="#/components/schemas/{model}",
    )
    for name, schema in described["$defs"].items():
        schemas.setdefault(name, schema)

    def schema_of(record: type[BaseModel]) -> dict[str, Any]:
        return by_record[record, "serialization"]

    contents = {name: {"content": schema_of(record)} for name, record in approvals.items()}
    _divide(schemas, "ApprovalDetails", "kind", contents)
    came_to = {
        name: {"result": {"anyOf": [schema_of(record), {"type": "null"}]}} if record else {}
        for name, record in results.items()
    }
    _divide(schemas, "Task", "kind", came_to)
    _divide(schemas, "Event", "type", {event.type: {"data": schema_of(event)} for event in events})


def _divide(schemas: dict[str, Any], name: str, tag: str, variants: Mapping[str, Mapping[str, Any]]) -> None:
    """Make the schema `name` a union: one for each value of `tag`, with the members that are its own."""
    whole = schemas[name]
    mapping = {}
    for value, own in variants.items():
        variant = "".join(word.title() for word in re.split(r"[._]", value)) + name
        members = {tag: {"type": "string", "const": value}, **own}
        schemas[variant] = {**whole, "title": variant, "properties": {**whole["properties"], **members}}
        mapping[value] = f"#/components/schemas/{variant}"
    schemas[name] = {
        "title": name,
        "description": whole.get("description", ""),
        "oneOf": [{"$ref": path} for path in mapping.values()],
        "discriminator": {"propertyName": tag, "mapping": mapping},
    }
