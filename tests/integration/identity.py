"""The doors that the tests of identity knock at: the real routers, with a verifier of their own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from fastapi import FastAPI

from models.config import AuthConfig
from models.store.database import Database
from serve.problems import add_problem_handlers
from serve.routes import users, workflows
from serve.tokens import TokenVerifier


def identity_app(auth: AuthConfig, database_url: str, *, verifier: TokenVerifier | None = None) -> FastAPI:
    """The app of `serve.api` with only the routers that identity is tested at."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with Database(url=database_url, pool_size=4) as database:
            app.state.database = database
            yield

    app = FastAPI(lifespan=lifespan)
    app.state.verifier = verifier or TokenVerifier(auth)
    add_problem_handlers(app)
    app.include_router(users.router)
    app.include_router(workflows.router)
    return app


@asynccontextmanager
async def client_of(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an app, with its lifespan run."""
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://signoff") as client,
    ):
        yield client
