"""Signoff's own HTTP endpoints: a FastAPI app that mounts the routers, on Ray Serve at `/`.

The app is built inside the replica, so nothing of it is pickled. A replica holds one pool, and keeps
nothing that matters: killing it loses no request that was answered.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import ray.serve as ray_serve
from fastapi import FastAPI
from ray.serve import Application

from actors.platform import systems, tracing
from actors.platform.runtime.directory import Directory
from actors.platform.search.hybrid import HybridSearch, SemanticIndex
from actors.platform.system import AgentDirectory
from actors.platform.tools.registry import Registry
from models.config import Config
from models.errors import ConfigInvalid
from models.near_names import suggestion
from models.release import RELEASE
from models.store.database import Database
from serve.admission.middleware import Admission, OpenRequests
from serve.answering import COUNTED_AS, Answers, Assistant, ChatAgents
from serve.auth.grants import GrantList
from serve.auth.tokens import TokenVerifier
from serve.inference.own_address import listen_on_node_only
from serve.mcp.door import add_mcp, mcp_open
from serve.monitoring.logged import Logged
from serve.monitoring.metrics import Metrics
from serve.monitoring.ray_state import agents_not_up, running_replicas
from serve.monitoring.readiness import Probes, Readiness
from serve.monitoring.replica_logs import begin_in_replica
from serve.monitoring.request_times import RequestTimes, Timed
from serve.monitoring.traced import Traced
from serve.openai import door as openai
from serve.openai.background import Background
from serve.openai.errors import OpenAIErrors
from serve.openapi import describe
from serve.problems import add_problem_handlers
from serve.routes import (
    approvals,
    audit,
    chat,
    conversations,
    events,
    health,
    kinds,
    metrics,
    tasks,
    users,
    webhooks,
    workflows,
)
from serve.routes.health import DatabaseProbe
from serve.routes.tools import add_tools, check_routes
from serve.streams.feed import Feed

# Of one replica: people who follow events hold a request each.
_MOST_REQUESTS = 2000
_DESCRIPTION = "Agents that do the work, and stop where a human must sign off."


def build_api(config: Config, database_url: str) -> Application:
    """The Serve application of the HTTP endpoints.

    Raises:
        ConfigInvalid: `tools.rate_limits` has a limit for a tool that there is not.
        ValueError: two tools are in one place.
    """
    _check_rate_limits(config)
    check_routes(systems.tools())

    def build() -> FastAPI:
        begin_in_replica(config.monitoring.logs, process="api")
        listen_on_node_only()
        directory = Directory(config=config, roles="actors.platform.systems:roles", database_url=database_url)
        assistant = ChatAgents(directory)
        # In the background: the site answers all else meanwhile, and also when the agent can't start.
        threading.Thread(target=assistant.start, daemon=True).start()
        return make_app(
            config,
            database_url,
            semantic=directory.agent("search_index"),
            agents=directory,
            assistant=assistant,
            probes=Probes(replicas=running_replicas, agents=agents_not_up),
        )

    @ray_serve.deployment(
        name="api",
        num_replicas=config.http.replicas,
        max_ongoing_requests=_MOST_REQUESTS,
        ray_actor_options={"num_cpus": 0.1},
    )
    @ray_serve.ingress(build)
    class Api:
        """The replica. FastAPI answers; there is nothing else to it."""

    app: Any = Api.bind()  # type: ignore[attr-defined]  # Serve's decorators hide the class's type
    assert isinstance(app, Application)
    return app


def _check_rate_limits(config: Config) -> None:
    """Here, where the tools are known: a limit under a misspelt name would hold nobody back."""
    names = (*(tool.name for tool in systems.tools()), COUNTED_AS)
    if wrong := [name for name in config.tools.rate_limits if name not in names]:
        raise ConfigInvalid(
            "\n".join(f"tools.rate_limits.{name}: is no tool: {suggestion(name, names)}" for name in wrong)
        )


def make_app(
    config: Config,
    database_url: str,
    *,
    semantic: SemanticIndex | None = None,
    agents: AgentDirectory | None = None,
    assistant: Assistant | None = None,
    probes: Probes | None = None,
) -> FastAPI:
    """The FastAPI app over a database.

    Without `semantic`, search goes by words alone; without `agents`, no tool asks one; without `assistant`,
    there is no chat; without `probes`, Ray is not asked whether the site is ready.
    """

    times = RequestTimes()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        tracing.begin(config.monitoring, process="api")
        async with Database(url=database_url, pool_size=config.database.pool_size) as database:
            search = HybridSearch(database=database, semantic=semantic, settings=config.search)
            app.state.database = database
            app.state.registry = Registry(
                systems.tools(), config=config, database=database, search=search, agents=agents
            )
            app.state.feed = Feed(database)
            app.state.database_probe = DatabaseProbe(database)
            app.state.readiness = Readiness(config=config, database=database, probes=probes)
            app.state.metrics = Metrics(
                database,
                kinds=app.state.kinds,
                readiness=app.state.readiness,
                requests=times,
                old_transaction_seconds=config.database.old_transaction_seconds,
            )
            app.state.answers = Answers(away=app.state.readiness.assistant_away)
            background = [
                asyncio.create_task(GrantList(database, config.auth.grants).follow()),
                asyncio.create_task(times.keep_writing(database)),
            ]
            try:
                async with mcp_open(app):
                    yield
            finally:
                for task in background:
                    task.cancel()
                await asyncio.gather(*background, return_exceptions=True)
                await app.state.answers.close()
                await app.state.feed.close()
                await app.state.readiness.close()
                await asyncio.to_thread(tracing.end)

    # FastAPI's own pages load scripts from elsewhere; see `serve.openapi`.
    app = FastAPI(
        title="Signoff",
        version=RELEASE,
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
    )
    app.state.config = config
    app.state.kinds = systems.kinds()
    app.state.assistant = assistant
    app.state.background = Background(config.chat.background)
    app.state.verifier = TokenVerifier(config.auth)
    app.state.open_requests = OpenRequests(config.http)
    app.add_middleware(Admission, http=config.http)
    app.add_middleware(OpenAIErrors)
    app.add_middleware(Timed, times=times)
    if config.monitoring.otlp_endpoint is not None:
        app.add_middleware(Traced)
    app.add_middleware(Logged)
    add_problem_handlers(app)
    for module in (health, metrics, chat, openai, conversations, tasks):
        app.include_router(module.router)
    add_tools(app, systems.tools())
    for module in (approvals, kinds, events, webhooks, workflows, users, audit):
        app.include_router(module.router)
    for router in systems.routers():
        app.include_router(router)
    describe(app, kinds=app.state.kinds, events=systems.events())
    add_mcp(app)
    return app
