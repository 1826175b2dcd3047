"""The OpenAPI description: FastAPI's own, with the problem schema and the bearer token that it can't see.

It is written once, because nobody needs a token to ask for it. `/docs` leads to it: FastAPI's own pages load
their scripts from elsewhere, and no call leaves the site.
"""

import json
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from serve.admission.limits import needs_token
from serve.problems import Problem


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
