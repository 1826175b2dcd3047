"""The runners and the dispatcher: detached Ray actors that `signoff up` starts and Ray restarts."""

import asyncio
import logging
import math
import os
from collections.abc import Awaitable
from typing import Any

import ray
import ray.exceptions

from actors.platform.runtime.directory import NAMESPACE, Directory
from actors.platform.runtime.site import site_id
from models.config import Config
from models.errors import DatabaseUnavailable
from models.store.database import Database

_log = logging.getLogger("signoff.pool")
PREFIX = "runner:"
DISPATCHER = "dispatcher:"


class RunnerActor:
    """One runner in a process of its own. When its run ends in an error the process ends; Ray restarts it."""

    async def __init__(  # type: ignore[misc]  # Ray awaits it
        self, *, name: str, config: Config, database_url: str, roles: str, kinds: dict[str, str]
    ) -> None:
        from actors.platform import logs, tracing
        from actors.platform.runtime.runner import Runner

        logs.begin(config.monitoring.logs, process="runner")
        tracing.begin(config.monitoring, process="runner")
        # An outage is no verdict: what is under way waits for Postgres, however long it is away.
        self._database = await _opened(config, database_url, name, patience_seconds=math.inf)
        directory = Directory(config=config, roles=roles, database_url=database_url)
        self._runner = Runner(
            name=f"{site_id(config.data_dir)}:{name}",
            config=config,
            database=self._database,
            directory=directory,
            kinds=kinds,
        )
        self._running = asyncio.get_running_loop().create_task(_live(self._runner.run()))

    async def ready(self) -> tuple[str, int]:
        """The runner's id and process id, once it is up."""
        return self._runner.id, os.getpid()

    async def stop(self) -> None:
        """Let what is under way stop after its present step, and end the lease."""
        from actors.platform import tracing

        self._runner.stop()
        await self._running
        await asyncio.to_thread(tracing.end)


class DispatcherActor:
    """The dispatcher and the pruner in a process of their own, restarted as a runner's is."""

    async def __init__(  # type: ignore[misc]  # Ray awaits it
        self, *, name: str, config: Config, database_url: str
    ) -> None:
        from actors.platform import logs
        from actors.platform.runtime.outbox import Dispatcher
        from actors.platform.runtime.pruner import Pruner

        logs.begin(config.monitoring.logs, process="dispatcher")
        self._name = name
        self._database = await _opened(config, database_url, name, patience_seconds=60.0)
        self._dispatcher = Dispatcher(config=config, database=self._database)
        self._pruner = Pruner(settings=config.retention, database=self._database)
        loop = asyncio.get_running_loop()
        self._running = loop.create_task(_live(self._dispatcher.run()))
        self._pruning = loop.create_task(_live(self._pruner.run()))

    async def ready(self) -> tuple[str, int]:
        """The dispatcher's name and process id, once it is up."""
        return self._name, os.getpid()

    async def stop(self) -> None:
        """Let what is being sent be answered, and send nothing more."""
        self._dispatcher.stop()
        self._pruner.stop()
        await self._running
        await self._pruning


def start_runners(
    config: Config, database_url: str, *, roles: str, kinds: dict[str, str], timeout_seconds: float = 120
) -> list[tuple[str, int]]:
    """Start the runners that are missing, and wait until each answers: their ids and process ids."""
    site = {"config": config, "database_url": database_url, "roles": roles, "kinds": kinds}
    names = [f"{PREFIX}{number}" for number in range(config.runners.count)]
    handles = [_start(RunnerActor, name, config.runners.num_cpus, site) for name in names]
    answers: list[tuple[str, int]] = ray.get([h.ready.remote() for h in handles], timeout=timeout_seconds)
    return answers


def stop_runners(*, timeout_seconds: float = 30) -> int:
    """Stop every runner of this cluster: gently first, then for good; how many."""
    return _stop(PREFIX, timeout_seconds)


def start_dispatcher(config: Config, database_url: str, *, timeout_seconds: float = 120) -> tuple[str, int]:
    """Start the dispatcher if it is missing, and wait until it answers: its name and process id."""
    site = {"config": config, "database_url": database_url}
    handle = _start(DispatcherActor, f"{DISPATCHER}0", config.webhooks.num_cpus, site)
    answer: tuple[str, int] = ray.get(handle.ready.remote(), timeout=timeout_seconds)
    return answer


def stop_dispatcher(*, timeout_seconds: float = 30) -> int:
    """Stop the dispatcher of this cluster: gently first, then for good; how many.

    What it was sending then is sent again once its claims have run out.
    """
    return _stop(DISPATCHER, timeout_seconds)


async def _opened(config: Config, url: str, name: str, *, patience_seconds: float) -> Database:
    """The process' pool, once Postgres is there: Ray does not restart an actor that could not be made."""
    while True:
        try:
            return await Database(
                url=url,
                pool_size=config.database.pool_size,
                patience_seconds=patience_seconds,
                application=f"signoff {name}",
            ).__aenter__()
        except DatabaseUnavailable as error:
            _log.warning("%s waits for Postgres: %s", name, error)


async def _live(running: Awaitable[None]) -> None:
    """Await what an actor lives for, and end the process when that fails."""
    try:
        await running
    except BaseException as error:  # noqa: BLE001  # whatever it was, an actor that does not run must go
        _log.critical("this process ends: what it lives for has failed", exc_info=error)
        os._exit(1)


def _start(actor: type, name: str, num_cpus: float, arguments: dict[str, Any]) -> Any:
    options = {"name": name, "namespace": NAMESPACE, "lifetime": "detached", "get_if_exists": True}
    more = {"num_cpus": num_cpus, "max_restarts": -1, "max_concurrency": 16}
    return ray.remote(actor).options(**options, **more).remote(name=name, **arguments)


def _stop(prefix: str, timeout_seconds: float) -> int:
    handles: list[Any] = [
        ray.get_actor(entry["name"], namespace=NAMESPACE)
        for entry in ray.util.list_named_actors(all_namespaces=True)
        if entry["namespace"] == NAMESPACE and entry["name"].startswith(prefix)
    ]
    stops = [handle.stop.remote() for handle in handles]
    ray.wait(stops, num_returns=len(stops), timeout=timeout_seconds) if stops else None
    for handle in handles:
        ray.kill(handle, no_restart=True)
    return len(handles)
