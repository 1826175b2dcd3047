"""The registry: every call of a tool goes through here, whatever door it came by. Seed 000 §6.

A call is counted against its rate limit, validated, permitted, carried out in one transaction, and
recorded in that same transaction; one that fails is recorded by itself. Listing tools asks the same
permission as calling them.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import psycopg
from pydantic import BaseModel, ValidationError

from actors.platform import tracing
from actors.platform.search.hybrid import HybridSearch
from actors.platform.system import AgentDirectory
from actors.platform.tools import approval
from actors.platform.tools.tool import Tool, ToolContext
from models.config import Config
from models.error_lines import error_line
from models.errors import FeatureOff, InputInvalid, ProviderMissing, RateLimited, SignoffError, ToolNotFound
from models.people.scopes import Scope
from models.people.users import UserContext
from models.record import reason_of
from models.redaction import redacted
from models.runtime.approvals import content_digest
from models.runtime.tool_calls import CallShown
from models.runtime.workflows import Permission
from models.store.database import GONE, Connection, Database
from models.store.people import tool_calls
from models.text import storable
from models.tools import Door, about_of

# What is done in the transaction of a call.
InTransaction = Callable[[Connection], Awaitable[None]]
# Whoever sends a hundred thousand faults is told the first of them.
_MOST_FAULTS = 20


@dataclass
class _CallUnderWay:
    """One call under way, as far as it is known."""

    tool: Tool
    caller: UserContext
    door: Door
    input_digest: str
    begun: float
    approved: bool
    topic: str | None = None
    about: str | None = None


class Registry:
    """The tools of this site over its database."""

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        config: Config,
        database: Database,
        search: HybridSearch,
        agents: AgentDirectory | None = None,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._config = config
        self._database = database
        self._search = search
        self._agents = agents

    @cached_property
    def _withheld(self) -> dict[str, tuple[type[SignoffError], str]]:
        """What can't be called here, and the error that says why: the configuration stays as it is."""
        withheld: dict[str, tuple[type[SignoffError], str]] = {}
        for name, tool in self._tools.items():
            if (missing := tool.lacking(self._config)) is not None:
                withheld[name] = ProviderMissing, f"{name} has nothing to work with here: {missing}"
            elif (setting := tool.switched_off(self._config)) is not None:
                reason = f"{name} is switched off here: {setting} is false in the configuration"
                withheld[name] = FeatureOff, reason
        return withheld

    def tool(self, name: str, door: Door) -> Tool:
        """One tool. ToolNotFound where there is none, or this door does not offer it."""
        tool = self._tools.get(name)
        if tool is None or (door != "rest" and not tool.for_models):
            raise ToolNotFound(f"there is no tool {name!r} here")
        return tool

    def permitted(self, scopes: Iterable[Scope], *, door: Door, topic: str | None = None) -> list[Tool]:
        """The tools that `scopes` may use (on `topic`, where one is given), by name."""
        scopes = tuple(scopes)
        return [
            tool
            for name, tool in sorted(self._tools.items())
            if (tool.for_models or door == "rest")
            and name not in self._withheld
            and tool.permission.permits(scopes, topic)
        ]

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        caller: UserContext,
        door: Door,
        connection: Connection | None = None,
        first: InTransaction | None = None,
        approved: bool = False,
    ) -> BaseModel:
        """Carry out a call; or, where it takes a person's yes, ask for that.

        Args:
            connection: a transaction to work in, as a workflow's step has one: what the tool does, and the
                record of it, become true together with the step. Not for tools with `own_transactions`.
                It is not counted against the rate limit: the call that began the workflow was, and a step
                that is refused half way would be begun again from its top.
            first: what becomes true together with the call: run in its transaction, once it is permitted and
                before the tool. Not for tools with `own_transactions`.
            approved: a person has said yes to exactly this call.

        Raises:
            ToolNotFound, RateLimited, ProviderMissing, FeatureOff, InputInvalid, PermissionMissing, and what
                the tool raises. Nothing has been changed then.
        """
        tool = self.tool(name, door)
        call = _CallUnderWay(tool, caller, door, content_digest(dict(arguments)), time.monotonic(), approved)
        with tracing.span(f"tool {tool.name}", {"signoff.door": door}):
            return await self._call(call, arguments, connection, first)

    async def _call(
        self,
        call: _CallUnderWay,
        arguments: Mapping[str, Any],
        connection: Connection | None,
        first: InTransaction | None,
    ) -> BaseModel:
        try:
            if connection is None:
                await self._admit(call)
            return await self._carry_out(call, arguments, connection, first)
        except (psycopg.DataError, psycopg.errors.ProgramLimitExceeded) as error:
            reason = f"a value can't be kept or looked up: {error_line(str(error))}"
            await self._record_failure(call, InputInvalid(reason), connection)
            raise InputInvalid(reason) from error
        except GONE:
            raise
        except Exception as error:
            await self._record_failure(call, error, connection)
            raise

    async def _admit(self, call: _CallUnderWay) -> None:
        settings = self._config.tools
        limit = settings.rate_limits.get(call.tool.name, settings.rate_limit)
        async with self._database.connection() as connection:
            wait = await tool_calls.admit(connection, call.caller.subject, call.tool.name, limit)
        if wait:
            raise RateLimited(
                f"{call.tool.name} was called more than {limit.calls} times in {limit.per_seconds:g} s: "
                f"call it again in {wait:.1f} s",
                retry_after_seconds=wait,
            )

    async def _carry_out(
        self,
        call: _CallUnderWay,
        arguments: Mapping[str, Any],
        given: Connection | None,
        first: InTransaction | None,
    ) -> BaseModel:
        tool = call.tool
        if (withheld := self._withheld.get(tool.name)) is not None:
            kind, reason = withheld
            raise kind(reason)
        request = _read(tool, arguments)
        call.about = _about(request)
        context = ToolContext(
            caller=call.caller,
            config=self._config,
            database=self._database,
            search=self._search,
            agents=self._agents,
        )
        if tool.own_transactions:
            assert (given, first) == (None, None), f"{tool.name} makes its own transactions"
            await self._permit(call, context, request)
            return await self._run_alone(call, context, request)
        async with self._database.transaction() if given is None else nullcontext(given) as connection:
            context = replace(context, _connection=connection)
            await self._permit(call, context, request)
            if first is not None:
                await first(connection)
            answer = await _run(call, context, request)
            await self._record(connection, call, answer)
            return answer

    async def _run_alone(self, call: _CallUnderWay, context: ToolContext, request: BaseModel) -> BaseModel:
        """Run a tool with transactions of its own; what changes nothing is recorded afterwards."""
        recorded = False

        async def record(connection: Connection, answer: BaseModel) -> None:
            nonlocal recorded
            await self._record(connection, call, answer)
            recorded = True

        answer: BaseModel = await call.tool.run(replace(context, _record=record), request)
        if not recorded:
            assert "writes" not in call.tool.effects, f"{call.tool.name} must record what it writes"
            async with self._database.connection() as connection:
                await self._record(connection, call, answer)
        return answer

    async def _permit(self, call: _CallUnderWay, context: ToolContext, request: BaseModel) -> None:
        tool = call.tool
        # Whoever may not use it on any topic learns nothing, not even whether an article exists.
        known, named = tuple(self._config.publishing.topics), getattr(request, "topic", None)
        topics = (named,) if named in known else known
        tool.permission.require(tool.name, call.caller.scopes, None, topics=topics)
        if tool.about is not None:
            call.topic, call.about = await tool.about(context, request)
        if tool.topic is not None:
            call.topic = await tool.topic(context, request)
            tool.permission.require(tool.name, call.caller.scopes, call.topic, topics=known)

    async def _record(self, connection: Any, call: _CallUnderWay, answer: BaseModel) -> None:
        call.about = call.about or _about(answer)
        await tool_calls.record(connection, **_facts(call), status="ok", error=None)

    async def _record_failure(self, call: _CallUnderWay, error: Exception, given: Connection | None) -> None:
        """By itself, for the call's transaction is undone. Whoever holds a connection waits for no second."""
        told = str(error) if isinstance(error, SignoffError) else f"{type(error).__name__}: {error}"
        told = storable(redacted(told))[:2000]
        database = self._database
        async with database.connection() if given is None else database.apart() as connection:
            await tool_calls.record(connection, **_facts(call), status=type(error).__name__, error=told)


async def _run(call: _CallUnderWay, context: ToolContext, request: BaseModel) -> BaseModel:
    """Run a tool in the call's transaction; where it takes a yes that nobody has said, ask for it."""
    tool = call.tool
    if tool.takes_yes is None:
        answer: BaseModel = await tool.run(context, request)
        return answer
    if call.approved or not tool.takes_yes(request):
        return tool.output.model_validate({"answer": await tool.run(context, request)})
    shown = CallShown(
        tool=tool.name,
        description=tool.description,
        arguments=request.model_dump(mode="json"),
        topic=call.topic,
        requested_by=call.caller.subject,
    )
    permission = Permission(role=tool.permission.required_role, topic=call.topic)
    task_id = await approval.ask(context.connection, shown, permission=permission, door=call.door)
    return tool.output.model_validate({"task_id": task_id})


def _read(tool: Tool, arguments: Mapping[str, Any]) -> BaseModel:
    try:
        return tool.input.model_validate(arguments)
    except ValidationError as error:
        faults = [
            f"{'.'.join(str(part) for part in fault['loc']) or 'input'}: " + reason_of(fault)
            for fault in error.errors(include_url=False, include_input=False)[:_MOST_FAULTS]
        ]
        raise InputInvalid("; ".join(faults)) from error


def _about(record: BaseModel) -> str | None:
    """What a call is about, for the record: an article before all else."""
    if about := getattr(record, "about", None):
        return str(about)
    return about_of(record)


def _facts(call: _CallUnderWay) -> dict[str, Any]:
    return {
        "person": call.caller.subject,
        "tool": call.tool.name,
        "door": call.door,
        "topic": call.topic,
        "about": call.about,
        "input_digest": call.input_digest,
        "seconds": time.monotonic() - call.begun,
    }
