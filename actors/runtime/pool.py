"""The pool of runners: detached Ray actors that `signoff up` starts and Ray restarts."""

import asyncio
import os
import traceback
from typing import Any

import ray
import ray.exceptions

from actors.runtime.directory import NAMESPACE, Directory
from models.config import Config
from models.store.database import Database

PREFIX = "runner:"


class RunnerActor:
    """One runner in a process of its own. When its run ends in an error the process ends; Ray restarts it."""

    async def __init__(  # type: ignore[misc]  # Ray awaits it
        self, *, name: str, config: Config, database_url: str, roles: str, kinds: dict[str, str]
    ) -> None:
        from actors.runtime.runner import Runner

        self._database = await Database(url=database_url, pool_size=config.database.pool_size).__aenter__()
        directory = Directory(config=config, roles=roles)
        self._runner = Runner(
            name=name, config=config, database=self._database, directory=directory, kinds=kinds
        )
        self._running = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            await self._runner.run()
        except BaseException as error:  # noqa: BLE001  # whatever it was, a runner that does not run must go
            traceback.print_exception(error)
            os._exit(1)

    async def ready(self) -> tuple[str, int]:
        """The runner's id and process id, once it is up."""
        return self._runner.id, os.getpid()

    async def stop(self) -> None:
        """Let what is under way stop after its present step, and end the lease."""
        self._runner.stop()
        await self._running


def start_runners(
    config: Config, database_url: str, *, roles: str, kinds: dict[str, str], timeout_seconds: float = 120
) -> list[tuple[str, int]]:
    """Start the runners that are missing, and wait until each answers: their ids and process ids."""
    handles: list[Any] = [
        ray.remote(RunnerActor)
        .options(
            name=f"{PREFIX}{number}",
            namespace=NAMESPACE,
            lifetime="detached",
            get_if_exists=True,
            num_cpus=config.runners.num_cpus,
            max_restarts=-1,
            max_concurrency=16,
        )
        .remote(name=f"{PREFIX}{number}", config=config, database_url=database_url, roles=roles, kinds=kinds)
        for number in range(config.runners.count)
    ]
    answers: list[tuple[str, int]] = ray.get([h.ready.remote() for h in handles], timeout=timeout_seconds)
    return answers


def stop_runners(*, timeout_seconds: float = 30) -> int:
    """Stop every runner of this cluster: gently first, then for good; how many."""
    handles: list[Any] = [
        ray.get_actor(entry["name"], namespace=NAMESPACE)
        for entry in ray.util.list_named_actors(all_namespaces=True)
        if entry["namespace"] == NAMESPACE and entry["name"].startswith(PREFIX)
    ]
    stops = [handle.stop.remote() for handle in handles]
    ray.wait(stops, num_returns=len(stops), timeout=timeout_seconds) if stops else None
    for handle in handles:
        ray.kill(handle, no_restart=True)
    return len(handles)
