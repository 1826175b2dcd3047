"""Whether the site has what it needs: its database, models, embeddings, runners and agents.

`GET /health/ready` shows it, and an answer to a person that waits for a model asks it. What was found is
good for a second, and only one look is under way at a time: asking often costs nothing. No secret and no
address is in it, because nobody needs a token to read it.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import httpx2
from pydantic import SecretStr

from actors.platform.llm.edge import address_of
from actors.platform.llm.endpoint import model_at
from actors.platform.search.embedder import waits_for as embeddings_at
from models.config import Config, ModelSettings
from models.config.llm import models_in
from models.error_lines import error_line
from models.errors import ModelUnavailable
from models.runtime.outages import Needed, Parked
from models.store.database import GONE, Database
from models.store.runtime import outages
from serve.monitoring.ray_state import AgentNotUp, deployment_key

_log = logging.getLogger(__name__)
_GOOD_FOR_SECONDS = 1.0
_PROBE_SECONDS = 2.0
# What a person is told to wait where nobody knows.
_RETRY_SECONDS = 5.0
# An agent starts when it is first used: whoever asks for it waits, the site is ready all the same. One that
# takes longer than this has no room in the cluster, or can't be started.
_FIRST_START_SECONDS = 60.0


@dataclass(frozen=True)
class Probes:
    """How Ray is asked; see `serve.monitoring.ray_state`."""

    replicas: Callable[[], Awaitable[dict[str, int]]]
    agents: Callable[[], Awaitable[tuple[AgentNotUp, ...]]]


@dataclass(frozen=True)
class _ModelProbe:
    """A model's endpoint: `waits_for` tells it from others, `name` is shown.

    `deployment` is Serve's, where this site serves it itself.
    """

    name: str
    waits_for: str
    api_base: str
    api_key: SecretStr
    deployment: str | None


@dataclass(frozen=True)
class _Look:
    """What a look found: each thing, and why those endpoints that can't be asked now can't be."""

    things: dict[str, Needed]
    away: dict[str, str]


class Readiness:
    """What one replica knows. `probes` absent: Ray is not asked, as in tests and without a cluster."""

    def __init__(
        self,
        *,
        config: Config,
        database: Database,
        probes: Probes | None = None,
        first_start_seconds: float = _FIRST_START_SECONDS,
    ) -> None:
        self._database = database
        self._probes = probes
        self._endpoints = _endpoints(config)
        self._assistant = _model(config.chat.assistant_llm, config).waits_for
        self._http: httpx2.AsyncClient | None = None
        self._since: dict[str, datetime] = {}
        self._first_start_seconds = first_start_seconds
        # When an agent was first seen on its first way up, by the loop's clock.
        self._starting: dict[str, float] = {}
        self._looking: asyncio.Task[_Look] | None = None
        self._looked = float("-inf")

    async def look(self) -> tuple[Needed, ...]:
        """Each thing, as it was found at most a second ago."""
        return tuple((await self._found()).things.values())

    async def _found(self) -> _Look:
        loop = asyncio.get_running_loop()
        if self._looking is None or (self._looking.done() and loop.time() > self._looked + _GOOD_FOR_SECONDS):
            self._looking = loop.create_task(self._look())
        # Shielded: who asked first may go away, and others wait for the same look.
        return await asyncio.shield(self._looking)

    async def assistant_away(self) -> ModelUnavailable | None:
        """The outage of the model that answers people, where it is away now.

        Work that is parked for it says only that it was: that is tried again after a pause of its own.
        """
        found = await self._found()
        reason = found.away.get(self._assistant)
        if reason is None:
            return None
        facts: dict[str, object] = {"waits_for": self._assistant, "retry_after_seconds": _RETRY_SECONDS}
        if (since := found.things[self._assistant].since) is not None:
            facts["away_since"] = since.isoformat(timespec="seconds")
        return ModelUnavailable(f"{self._assistant}: {reason}", **facts)

    async def close(self) -> None:
        """Stop looking."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        if self._http is not None:
            await self._http.aclose()

    async def _look(self) -> _Look:
        (database, runners, parked), replicas, agents = await asyncio.gather(
            self._ask_database(), self._ask_replicas(), self._ask_agents()
        )
        things = {"database": database, "runners": runners}
        reasons = await asyncio.gather(*(self._ask(each, replicas) for each in self._endpoints))
        away = {}
        for endpoint, reason in zip(self._endpoints, reasons, strict=True):
            things[endpoint.waits_for] = self._of(endpoint, reason, parked)
            if reason is not None:
                away[endpoint.waits_for] = reason
        if agents is not None:
            things["agents"] = agents
        self._looked = asyncio.get_running_loop().time()
        return _Look(things, away)

    async def _ask_database(self) -> tuple[Needed, Needed, list[Parked]]:
        try:
            async with asyncio.timeout(_PROBE_SECONDS), self._database.connection() as connection:
                alive = await outages.runners_alive(connection)
                parked = await outages.to_be_tried(connection)
        except (TimeoutError, *GONE):
            unknown = self._needed("runners", "not known: the database does not answer")
            return self._needed("database", "does not answer"), unknown, []
        runners = self._needed("runners", None if alive else "none is alive")
        short = self._database.short_of
        told = f"{short} of {self._database.pool_size} connections can't be had" if short else None
        return self._needed("database", told), runners, parked

    async def _ask_replicas(self) -> dict[str, int] | None:
        if self._probes is None:
            return None
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                return await self._probes.replicas()
        except Exception as error:  # noqa: BLE001  # Ray raises many kinds; the endpoints are asked all the same
            _log.warning("Serve does not say which replicas run: %s", error_line(error))
            return None

    async def _ask_agents(self) -> Needed | None:
        if self._probes is None:
            return None
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                late = self._late(await self._probes.agents())
        except Exception as error:  # noqa: BLE001  # as above: whatever it was, nobody knows of the agents
            _log.warning("Ray does not say which agents are up: %s", error_line(error))
            return self._needed("agents", f"not known: {type(error).__name__}")
        return self._needed("agents", f"starting: {', '.join(late)}" if late else None)

    def _late(self, not_up: tuple[AgentNotUp, ...]) -> list[str]:
        """Agents that should be up: they were before, or their first start takes too long."""
        now = asyncio.get_running_loop().time()
        self._starting = {each.name: self._starting.get(each.name, now) for each in not_up if not each.again}
        patience = self._first_start_seconds
        return [each.name for each in not_up if each.again or now >= self._starting[each.name] + patience]

    async def _ask(self, endpoint: _ModelProbe, replicas: dict[str, int] | None) -> str | None:
        """Why an endpoint can't be asked now; None where it can."""
        if replicas is not None and endpoint.deployment is not None and not replicas.get(endpoint.deployment):
            return "no replica runs: Serve is starting one"
        return await self._probe(endpoint)

    def _of(self, endpoint: _ModelProbe, reason: str | None, parked: Iterable[Parked]) -> Needed:
        """An endpoint, which is not ready either while work waits for it."""
        waiting = [each for each in parked if each.waits_for == endpoint.waits_for]
        count = sum(each.workflows for each in waiting)
        told = reason or (f"{count} workflows wait for it" if count else None)
        since = min((each.since for each in waiting), default=None)
        return self._needed(endpoint.name, told, key=endpoint.waits_for, since=since)

    async def _probe(self, endpoint: _ModelProbe) -> str | None:
        """Why an endpoint can't be asked; None where it answers as all that speak OpenAI's API do."""
        self._http = self._http or httpx2.AsyncClient(trust_env=False, timeout=_PROBE_SECONDS)
        headers = {"Authorization": f"Bearer {endpoint.api_key.get_secret_value()}"}
        try:
            answer = await self._http.get(f"{endpoint.api_base}/models", headers=headers)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            return f"can't be reached ({type(error).__name__})"
        # Some have no list. What counts is that the endpoint is there, well, and knows us.
        status = answer.status_code
        return f"answers {status}" if status >= 500 or status in (401, 403, 429) else None

    def _needed(
        self, name: str, reason: str | None, *, key: str | None = None, since: datetime | None = None
    ) -> Needed:
        """A thing, and since when this replica knows that it is not ready."""
        key = key or name
        if reason is None:
            self._since.pop(key, None)
            return Needed(name=name, ready=True)
        seen = self._since.setdefault(key, datetime.now(UTC))
        return Needed(name=name, ready=False, since=min(seen, since or seen), reason=reason)


def _endpoints(config: Config) -> tuple[_ModelProbe, ...]:
    """Every endpoint that the configuration names, once; those of one name are numbered."""
    embedding = config.embedding
    own = config.serving.embeddings is not None and config.serving.embeddings.name == embedding.model_name
    found = [_model(each, config) for _, each in models_in(config)]
    found.append(
        _ModelProbe(
            name=f"embeddings {embedding.model_name}",
            waits_for=embeddings_at(embedding),
            api_base=embedding.api_base.rstrip("/"),
            api_key=embedding.api_key,
            deployment="embeddings" if own and "/embeddings/" in address_of(embedding.api_base) else None,
        )
    )
    endpoints = tuple({endpoint.waits_for: endpoint for endpoint in found}.values())
    named = Counter(endpoint.name for endpoint in endpoints)
    seen: Counter[str] = Counter()
    shown = []
    for endpoint in endpoints:
        seen[endpoint.name] += 1
        number = f" ({seen[endpoint.name]} of {named[endpoint.name]})" if named[endpoint.name] > 1 else ""
        shown.append(replace(endpoint, name=endpoint.name + number))
    return tuple(shown)


def _model(settings: ModelSettings, config: Config) -> _ModelProbe:
    own = any(model.name == settings.model for model in config.serving.models)
    return _ModelProbe(
        name=f"model {settings.model}",
        waits_for=model_at(settings),
        api_base=settings.api_base.rstrip("/"),
        api_key=settings.api_key,
        deployment=deployment_key(f"LLMServer:{settings.model}")
        if own and "/llm/" in address_of(settings.api_base)
        else None,
    )
