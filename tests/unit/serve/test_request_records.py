"""What it costs to refuse a request: of a list in a body the first faults are told, however long it is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from actors.platform import systems
from actors.platform.systems import load
from serve.api import make_app

ROOT = Path(__file__).resolve().parents[3]
MANY = 20_000
# Each fault is made once for every branch of a union that it may belong to, at a few microseconds.
FEW = 50


def models_in(annotation: Any, seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    """The records of an annotation, and those in them."""
    is_record = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    if is_record and annotation not in seen:
        seen.add(annotation)
        yield annotation
        for field in annotation.model_fields.values():
            for each in (field.annotation, *field.metadata):
                yield from models_in(each, seen)
    for inner in getattr(annotation, "__args__", ()):
        yield from models_in(inner, seen)
    for inner in getattr(annotation, "__metadata__", ()):
        yield from models_in(inner, seen)


def requests() -> list[type[BaseModel]]:
    """Every record that a request's body is read by, in the API and by the tools over MCP."""
    seen: set[type[BaseModel]] = set()
    found = [each for tool in systems.tools() for each in models_in(tool.input, seen)]
    app = make_app(load(ROOT / "configs/local.yaml", root=ROOT), "postgresql://nowhere")
    for route in app.routes:
        if isinstance(route, APIRoute) and route.body_field is not None:
            found += models_in(route.body_field.field_info.annotation, seen)
    return found


REQUESTS = requests()


def alone(field: FieldInfo) -> TypeAdapter[Any]:
    """A field's own checks."""
    annotation: Any = field.annotation
    for each in field.metadata:
        annotation = Annotated[annotation, each]
    return TypeAdapter(annotation)


def faults_of(adapter: TypeAdapter[Any], value: object) -> int:
    """How many faults a value is told of."""
    try:
        adapter.validate_python(value)
    except ValidationError as error:
        return error.error_count()
    return 0


def test_the_requests_are_found() -> None:
    names = {model.__name__ for model in REQUESTS}
    assert {"CompletionRequest", "Message", "ChatRequest", "CreateTableResourceRequest"} <= names


@pytest.mark.parametrize("model", REQUESTS, ids=lambda model: model.__name__)
def test_a_long_list_of_faults_costs_no_more_than_a_short_one(model: type[BaseModel]) -> None:
    for name, field in model.model_fields.items():
        assert faults_of(alone(field), [object()] * MANY) <= FEW, name
