"""The directory: start and find agents by role.

An agent is a plain class; here it becomes a named, detached Ray actor, started on first use with the
resources its role has in the configuration. A call survives the agent's death: Ray restarts the
actor and the call runs again.
"""

import asyncio
import importlib
import logging
import random
from collections.abc import AsyncGenerator, Callable, Collection
from typing import Any

import ray
import ray.actor
import ray.exceptions

from models.config import Config
from models.errors import AgentDied, ConfigInvalid
from models.text import one_line

NAMESPACE = "signoff"
PREFIX = "agent:"
# How often a call is begun again when the process under it dies: one that kills its agent each time ends.
_CALL_RETRIES = 3

# Of Ray's errors, those that say nothing of the cluster: the task's own, and our cancelling it.
_OWN = (ray.exceptions.RayTaskError, ray.exceptions.TaskCancelledError)
_log = logging.getLogger(__name__)

# What a role is made of: its class, and a function from the configuration to its arguments.
Role = tuple[str, Callable[[Config, "Directory"], dict[str, Any]]]


class Directory:
    """Hands out agents. `roles` is where the table of roles is, as `module:NAME`. It can be pickled.

    `database_url` is for the roles that read the database: the embedded Postgres' is in no configuration.
    """

    def __init__(self, *, config: Config, roles: str, database_url: str | None = None) -> None:
        self.database_url = database_url
        self._config = config
        self._roles = roles
        self._handles: dict[tuple[str, int], Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {
            "database_url": self.database_url,
            "_config": self._config,
            "_roles": self._roles,
            "_handles": {},
        }

    def agent(self, role: str) -> Any:
        """A stand-in for the agent: awaiting `agent.verb(…)` calls the actor (see `RemoteAgent`)."""
        if role not in self._config.agents:
            raise ConfigInvalid(f"agents.{role}: is required: the resources of this agent are not configured")
        return RemoteAgent(directory=self, role=role)

    def replicas(self, role: str) -> int:
        """How many actors share the role."""
        return self._config.agents[role].replicas

    def handle(self, role: str, replica: int, *, fresh: bool = False) -> Any:
        """The actor of a role, started if there is none; `fresh` drops a handle that went stale."""
        key = (role, replica)
        if fresh or key not in self._handles:
            self._handles[key] = self._start(role, replica)
        return self._handles[key]

    def forget(self, role: str) -> None:
        """Drop the handles of a role, whose actors are dead for good; the next call finds new ones."""
        for replica in range(self.replicas(role)):
            self._handles.pop((role, replica), None)

    def _start(self, role: str, replica: int) -> Any:
        module, _, table = self._roles.partition(":")
        path, arguments = getattr(importlib.import_module(module), table)[role]
        module, _, name = path.partition(":")
        plain = getattr(importlib.import_module(module), name)
        settings = self._config.agents[role]
        return (
            ray.remote(plain)
            .options(
                name=f"{PREFIX}{role}:{replica}",
                namespace=NAMESPACE,
                lifetime="detached",
                get_if_exists=True,
                num_cpus=settings.num_cpus,
                max_concurrency=settings.max_concurrency,
                max_restarts=-1,
                max_task_retries=_CALL_RETRIES,
            )
            .remote(**arguments(self._config, self))
        )


class RemoteAgent:
    """An agent somewhere in the cluster. Its verbs are the class's own, and awaitable.

    An error the agent raised arrives as itself, with the agent's trace as a note. What Ray raises because the
    agent can't be had is an outage, `AgentDied`, whatever died. Cancelling the caller cancels the call.
    """

    def __init__(self, *, directory: Directory, role: str) -> None:
        self._directory = directory
        self._role = role

    def __getattr__(self, verb: str) -> Any:
        if verb.startswith("_"):
            raise AttributeError(verb)

        async def call(*args: Any, **kwargs: Any) -> Any:
            replica = random.randrange(self._directory.replicas(self._role))
            try:
                try:
                    return await self._call(replica, verb, args, kwargs, fresh=False)
                except ray.exceptions.ActorDiedError:
                    # Dead for good, as after a change of configuration: there is a new one, or we start it.
                    return await self._call(replica, verb, args, kwargs, fresh=True)
            except _OWN:
                raise
            except ray.exceptions.RayError as error:
                raise self._away("can't be reached", error) from error

        return call

    async def stream(self, verb: str, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        """What a verb that is an async generator yields, as it does; leaving the loop stops the agent's work.

        Nothing is begun again by itself: half of one answer must not be followed by half of another.

        Raises:
            AgentDied: the agent's process ended before the verb did.
        """
        replica = random.randrange(self._directory.replicas(self._role))
        try:
            actor = await asyncio.to_thread(self._directory.handle, self._role, replica)
        except ray.exceptions.RayError as error:
            raise self._away("can't be started", error) from error
        pieces = getattr(actor, verb).options(num_returns="streaming", max_task_retries=0)
        stream = pieces.remote(*args, **kwargs)
        try:
            async for reference in stream:
                yield await reference
        except ray.exceptions.RayTaskError as error:
            raise _own_error(error) from None
        except _OWN:
            raise
        except ray.exceptions.RayError as error:
            if isinstance(error, ray.exceptions.ActorDiedError):
                self._directory.forget(self._role)
            raise self._away("ended while it answered", error) from error
        finally:
            ray.cancel(stream)

    async def _call(
        self, replica: int, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any], *, fresh: bool
    ) -> Any:
        actor = await asyncio.to_thread(self._directory.handle, self._role, replica, fresh=fresh)
        reference = getattr(actor, verb).remote(*args, **kwargs)
        try:
            return await reference
        except asyncio.CancelledError:
            ray.cancel(reference)
            raise
        except ray.exceptions.RayTaskError as error:
            raise _own_error(error) from None

    def _away(self, what: str, error: Exception) -> AgentDied:
        _log.warning("the agent %s %s: %s", self._role, what, one_line(error))
        return AgentDied(f"the agent {self._role} {what}: ask again", waits_for=f"agent {self._role}")


def _own_error(error: ray.exceptions.RayTaskError) -> Exception:
    """What the agent raised; Ray's error only where that could not be sent."""
    cause = error.cause
    if not isinstance(cause, Exception):
        return error
    # Its own trace stayed behind in the agent's process; a log that tells of it shows notes.
    cause.add_note(str(error))  # all that Ray's error says is that trace
    return cause


def stop_agents(*, keep: Collection[str] = ()) -> int:
    """Stop the agents of all roles but those to `keep`, as a changed configuration needs; how many.

    Nothing is lost: agents keep no state that matters, and the next call starts a new one.
    """
    names = [
        entry["name"]
        for entry in ray.util.list_named_actors(all_namespaces=True)
        if entry["namespace"] == NAMESPACE
        and entry["name"].startswith(PREFIX)
        and entry["name"].removeprefix(PREFIX).rpartition(":")[0] not in keep
    ]
    for name in names:
        ray.kill(ray.get_actor(name, namespace=NAMESPACE), no_restart=True)
    return len(names)
