"""The directory: start and find agents by role.

An agent is a plain class; here it becomes a named, detached Ray actor, started on first use with the
resources its role has in the configuration. An awaited call survives the agent's death: Ray restarts the
actor and the call runs again. A stream ends with AgentDied (`RemoteAgent.stream`), and so does a call that
must not run twice (`RemoteAgent.call_once`).
"""

import asyncio
import logging
import random
import time
import zlib
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing
from typing import Any

import ray
import ray.actor
import ray.exceptions

from actors.platform import sending
from actors.platform.runtime.agent_class import CLAIM, IDS, agent_class
from actors.platform.system import load_named
from models import log_ids
from models.config import Config, lacks_secrets
from models.error_lines import error_line
from models.errors import AgentDied, ClusterProblem, NotSent

NAMESPACE = "signoff"
PREFIX = "agent:"
# How often a call is begun again when the process under it dies: one that kills its agent each time ends.
_CALL_RETRIES = 3
# How long agents that are stopped are waited for: a process that can't be killed holds nobody up for longer.
_STOP_SECONDS = 10.0

# Of Ray's errors, those that say nothing of the cluster: the task's own, and our cancelling it.
_OWN = (ray.exceptions.RayTaskError, ray.exceptions.TaskCancelledError)
_log = logging.getLogger(__name__)


class Directory:
    """Hands out agents. `roles` is where the roles are, as `module:NAME` of a table or of what makes one.

    It can be pickled. `database_url` is for the roles that read the database: the embedded Postgres' is in no
    configuration.
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

    def agent(self, role: str, *, shard: str | None = None) -> "RemoteAgent":
        """A stand-in for the agent: awaiting `agent.verb(…)` calls the actor.

        Args:
            shard: what the call is about, where each replica keeps its own share: the same text is always the
                same replica's. Absent: any replica.

        Raises:
            ConfigInvalid: its resources are not configured.
            ClusterProblem, by its verbs: it does not run yet, and the configuration here lacks its secrets.
        """
        self._config.agent(role)
        replica = None if shard is None else zlib.crc32(shard.encode()) % self.replicas(role)
        return RemoteAgent(directory=self, role=role, replica=replica)

    def replicas(self, role: str) -> int:
        """How many actors share the role."""
        return self._config.agent(role).replicas

    def handle(self, role: str, replica: int, *, fresh: bool = False) -> Any:
        """The actor of a role, started if there is none; `fresh` drops a handle that went stale."""
        key = (role, replica)
        if fresh or key not in self._handles:
            self._handles[key] = self._start(role, replica)
        return self._handles[key]

    def known(self, role: str, replica: int) -> Any:
        """The actor of a role, if it was asked for before; None if not."""
        return self._handles.get((role, replica))

    def forget(self) -> None:
        """Drop all handles. One actor that is dead for good was seldom stopped alone: calls find new ones."""
        self._handles.clear()

    def _start(self, role: str, replica: int) -> Any:
        roles = load_named(self._roles)
        path, arguments = (roles() if callable(roles) else roles)[role]
        plain = load_named(path)
        settings = self._config.agent(role)
        name, given = f"{PREFIX}{role}:{replica}", arguments(self._config, self)
        if lacks_secrets(given):
            # An agent outlives whoever starts it: started without its keys, it would fail for everybody.
            return _running(name)
        return (
            ray.remote(
                agent_class(
                    plain, role=role, style=self._config.monitoring.logs, database_url=self.database_url
                )
            )
            .options(
                name=name,
                namespace=NAMESPACE,
                lifetime="detached",
                get_if_exists=True,
                num_cpus=settings.num_cpus,
                max_concurrency=settings.max_concurrency,
                max_restarts=-1,
                max_task_retries=_CALL_RETRIES,
            )
            .remote(**given)
        )


def _running(name: str) -> Any:
    """An agent that somebody else has started."""
    try:
        return ray.get_actor(name, namespace=NAMESPACE)
    except ValueError:
        raise ClusterProblem(
            f"{name} does not run yet, and this process has not the secrets to start it: submit the job from "
            "the machine that `signoff up` ran on, its configuration unchanged, or with --config FILE"
        ) from None


class RemoteAgent:
    """An agent somewhere in the cluster. Its verbs are the class's own, and awaitable.

    An error the agent raised arrives as itself, with the agent's trace as a note. What Ray raises because the
    agent can't be had is an outage, `AgentDied`, whatever died. Cancelling the caller cancels the call.
    """

    def __init__(self, *, directory: Directory, role: str, replica: int | None = None) -> None:
        self._directory = directory
        self._role = role
        self._replica = replica

    def __getattr__(self, verb: str) -> Any:
        if verb.startswith("_"):
            raise AttributeError(verb)

        async def call(*args: Any, **kwargs: Any) -> Any:
            replica = self._chosen()
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

        It is begun again only where the agent was stopped for good before anything came of it, as after a
        change of configuration: half of one answer must not be followed by half of another.

        Raises:
            AgentDied: the agent's process ended before the verb did.
        """
        replica = self._chosen()
        known, began = self._directory.known(self._role, replica) is not None, False
        try:
            async with aclosing(self._stream(replica, verb, args, kwargs)) as pieces:
                async for piece in pieces:
                    began = True
                    yield piece
            return
        except AgentDied as error:
            if began or not known or not isinstance(error.__cause__, ray.exceptions.ActorDiedError):
                raise
        async with aclosing(self._stream(replica, verb, args, kwargs)) as pieces:
            async for piece in pieces:
                yield piece

    async def call_once(self, verb: str, *args: Any, **kwargs: Any) -> Any:
        """Call a verb that changes something elsewhere: whatever dies, it is not begun again.

        Raises:
            AgentDied: whether it ran, and how far, is not known.
            NotSent: it is of an earlier release, and would not look whether it still may. It was not called.
        """
        try:
            actor = await self._handle(self._chosen())
            once = getattr(actor, verb).options(max_task_retries=0)
            return await _answer(once, args, kwargs, unless_looked=self._not_sent)
        except _OWN:
            raise
        except ray.exceptions.RayError as error:
            if isinstance(error, ray.exceptions.ActorDiedError):
                self._directory.forget()
            raise self._away("ended while it was asked", error) from error

    async def _stream(
        self, replica: int, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        try:
            actor = await self._handle(replica)
        except ray.exceptions.RayError as error:
            raise self._away("can't be started", error) from error
        pieces = getattr(actor, verb).options(num_returns="streaming", max_task_retries=0)
        stream = _begin(pieces, args, kwargs)
        ended = False
        try:
            async for reference in stream:
                yield await reference
            ended = True
        except ray.exceptions.RayTaskError as error:
            raise _own_error(error) from None
        except _OWN:
            raise
        except ray.exceptions.RayError as error:
            if isinstance(error, ray.exceptions.ActorDiedError):
                self._directory.forget()
            raise self._away("ended while it answered", error) from error
        finally:
            if not ended:
                ray.cancel(stream)

    async def _call(
        self, replica: int, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any], *, fresh: bool
    ) -> Any:
        actor = await self._handle(replica, fresh=fresh)
        return await _answer(getattr(actor, verb), args, kwargs)

    def _chosen(self) -> int:
        return (
            random.randrange(self._directory.replicas(self._role)) if self._replica is None else self._replica
        )

    async def _handle(self, replica: int, *, fresh: bool = False) -> Any:
        """The actor; beside the event loop where it must be looked up or started."""
        known = None if fresh else self._directory.known(self._role, replica)
        return known or await asyncio.to_thread(self._directory.handle, self._role, replica, fresh=fresh)

    def _not_sent(self) -> NotSent:
        return NotSent(
            f"the agent {self._role} was started by an earlier release, which does not look whether it still "
            "may be sent: run `signoff up`, which has it started anew",
            waits_for=f"agent {self._role} of this release",
        )

    def _away(self, what: str, error: Exception) -> AgentDied:
        _log.warning("the agent %s %s: %s", self._role, what, error_line(error))
        return AgentDied(f"the agent {self._role} {what}: ask again", waits_for=f"agent {self._role}")


async def _answer(
    verb: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    unless_looked: Callable[[], Exception] | None = None,
) -> Any:
    """What a verb of an actor answers. Cancelling this cancels it."""
    reference = _begin(verb, args, kwargs, unless_looked)
    try:
        return await reference
    except asyncio.CancelledError:
        ray.cancel(reference)
        raise
    except ray.exceptions.RayTaskError as error:
        raise _own_error(error) from None


def _begin(
    verb: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    unless_looked: Callable[[], Exception] | None = None,
) -> Any:
    """Call a verb of an actor, with the ids and the claim of what is done now.

    Args:
        unless_looked: what is raised rather than call an agent that takes no claim, so looks at none.
    """
    try:
        return verb.remote(*args, **kwargs, **{IDS: log_ids.current(), CLAIM: sending.claim()})
    except TypeError as error:
        # Ray knows the verb's signature. An agent that an earlier release has started takes less.
        if unless_looked is not None:
            raise unless_looked() from error
        return verb.remote(*args, **kwargs)


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

    Nothing is lost: agents keep no state that matters, and the next call starts a new one. When this returns,
    those that were stopped answer no more.
    """
    names = [
        entry["name"]
        for entry in ray.util.list_named_actors(all_namespaces=True)
        if entry["namespace"] == NAMESPACE
        and entry["name"].startswith(PREFIX)
        and entry["name"].removeprefix(PREFIX).rpartition(":")[0] not in keep
    ]
    agents = [ray.get_actor(name, namespace=NAMESPACE) for name in names]
    for agent in agents:
        ray.kill(agent, no_restart=True)
    until = time.monotonic() + _STOP_SECONDS
    for agent in agents:
        _wait_for_end(agent, until=until)
    return len(names)


def _wait_for_end(agent: Any, *, until: float) -> None:
    """Wait until an actor that is being killed is dead: up to then its process may still answer calls."""
    while (left := until - time.monotonic()) > 0:
        try:
            ray.get(agent.__ray_ready__.remote(), timeout=left)
        except ray.exceptions.ActorDiedError:
            return
        except (ray.exceptions.ActorUnavailableError, ray.exceptions.GetTimeoutError):
            continue
