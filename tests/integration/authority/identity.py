"""The doors that the tests of identity knock at: the real routers, with a verifier of their own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from fastapi import FastAPI

from models.config import AuthConfig
from models.store.database import Database
from serve.auth.tokens import TokenVerifier
from serve.problems import add_problem_handlers
from serve.routes import users, workflows


def identity_app(auth: AuthConfig, database_url: str, *, verifier: TokenVerifier | None = None) -> FastAPI:
    """The app of `serve.api` with only the routers that identity is tested at."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with Database(url=database_url, pool_size=4) as database:
            app.state.database = database
            yield

    app = FastAPI(lifespan=lifespan)
    app.state.kinds = {}
    app.state.verifier = verifier or TokenVerifier(auth)
    add_problem_handlers(app)
    app.include_router(users.router)
    app.include_router(workflows.router)
    return app


@asynccontextmanager
async def client_of(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of an app, with its lifespan run.

    In a task of its own, as a server runs it: a fixture begins and ends in different ones, which a task group
    in the lifespan does not bear.
    """
    begun, ending = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        async with app.router.lifespan_context(app):
            begun.set()
            await ending.wait()

    living = asyncio.create_task(live())
    begins = asyncio.create_task(begun.wait())
    await asyncio.wait([living, begins], return_when=asyncio.FIRST_COMPLETED)
    begins.cancel()
    try:
        if not living.done():
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://signoff") as client:
                yield client
    finally:
        ending.set()
        await living
