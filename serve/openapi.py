"""The OpenAPI description: FastAPI's own, with the problem schema and the bearer token that it can't see."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from serve.problems import Problem

_OPEN = ("/health", "/.well-known/oauth-protected-resource")


def describe(app: FastAPI) -> None:
    """Give the app its description; it is made when it is first asked for."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            components = made.setdefault("components", {})
            components.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
            components["securitySchemes"] = {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
            }
            for path, operations in made["paths"].items():
                if not path.startswith(_OPEN):
                    for operation in operations.values():
                        operation["security"] = [{"bearer": []}]
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way
