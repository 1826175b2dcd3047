"""Signoff's own HTTP endpoints: a FastAPI app that mounts the routers, on Ray Serve at `/`.

The app is built inside the replica, so nothing of it is pickled. One replica holds one small pool.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import ray.serve as ray_serve
from fastapi import FastAPI
from ray.serve import Application

from models.config import AuthConfig, Config
from models.store.database import Database
from serve.problems import add_problem_handlers
from serve.routes import health, workflows

_POOL_SIZE = 4


def build_api(config: Config, database_url: str) -> Application:
    """The Serve application of the HTTP endpoints."""
    auth = config.auth

    def build() -> FastAPI:
        return make_app(auth, database_url)

    @ray_serve.deployment(
        name="api", num_replicas=1, max_ongoing_requests=256, ray_actor_options={"num_cpus": 0.1}
    )
    @ray_serve.ingress(build)
    class Api:
        """The replica. FastAPI answers; there is nothing else to it."""

    app: Any = Api.bind()  # type: ignore[attr-defined]  # Serve's decorators hide the class's type
    assert isinstance(app, Application)
    return app


def make_app(auth: AuthConfig, database_url: str) -> FastAPI:
    """The FastAPI app over a database."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with Database(url=database_url, pool_size=_POOL_SIZE) as database:
            app.state.database = database
            yield

    app = FastAPI(title="Signoff", version="0.1.0", lifespan=lifespan)
    app.state.auth = auth
    add_problem_handlers(app)
    app.include_router(health.router)
    app.include_router(workflows.router)
    return app
