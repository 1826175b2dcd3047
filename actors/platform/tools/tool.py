"""What a tool is: a typed async function, its input and output as records, and what it declares of itself.

`@tool` reads name, description and records off the function, and takes all else from its arguments: the
permission, the route and the effect. Nothing is guessed from a name. The registry carries calls out.
"""

import inspect
import typing
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from actors.platform.search.hybrid import HybridSearch
from actors.platform.system import AgentDirectory
from actors.platform.tools.approval import maybe_asked
from actors.platform.tools.route import RestRoute
from models.config import Config
from models.errors import AgentDied
from models.people.users import UserContext
from models.record import Record
from models.store.database import Connection, Database
from models.tools import ToolPermission


class Input(Record):
    """What a tool takes. Unknown fields are refused: a misspelt one must not be ignored."""


class Output(Record):
    """What a tool answers. `success` is always true: what fails is an error (seed 000 §7.2)."""

    success: bool = True


@dataclass(frozen=True)
class ToolContext:
    """What a tool works with: who calls, the configuration, the call's transaction, search, and agents."""

    caller: UserContext
    config: Config
    database: Database
    search: HybridSearch
    agents: AgentDirectory | None = None
    _connection: Connection | None = None
    _record: Callable[[Connection, BaseModel], Awaitable[None]] | None = None

    async def record(self, connection: Connection, answer: BaseModel) -> None:
        """Record the call in the transaction of a tool's own that changes something: both or neither."""
        assert self._record is not None, "only a tool that makes its own transactions records its call"
        await self._record(connection, answer)

    def agent(self, role: str) -> Any:
        """A stand-in for an agent. AgentDied where this door has none."""
        if self.agents is None:
            raise AgentDied(f"there is no agent {role} here", waits_for=f"agent {role}")
        return self.agents.agent(role)

    @property
    def connection(self) -> Connection:
        """The call's transaction; a tool with `own_transactions` has none."""
        assert self._connection is not None, "this tool makes its own transactions"
        return self._connection


TopicOf = Callable[[ToolContext, Any], Awaitable[str]]
# For the record, where the request itself does not tell: the topic, and the thing.
AboutOf = Callable[[ToolContext, Any], Awaitable[tuple[str | None, str | None]]]
Run = Callable[[ToolContext, Any], Awaitable[Any]]
# Whether a call takes a person's yes first: by its input.
TakesYes = Callable[[Any], bool]
# What the configuration lacks for a tool: the setting to add, or None where it is all there.
Lacking = Callable[[Config], str | None]
Feature = Literal["enable_hitl_workflow"]
# reads: changes nothing here and asks nobody outside. writes: changes what is kept here. asks: begins work
# that stops for a person's decision. leaves the site: may send a query or a fetch outside; alone, it changes
# nothing here. What the site announces to its own webhooks is no tool's effect.
Effect = Literal["reads", "writes", "asks", "leaves the site"]


@dataclass(frozen=True)
class Tool:
    """A tool. `for_models` false: only people use it, so MCP and agents don't see it.

    `lacking` tells what the configuration must have for it to be listed, and to be called; `feature` is the
    setting under `features` that switches it on. `takes_yes`: a person sees the call before it is made.
    `only_adds`: what was kept before stays as it was;
    `idempotent`: the same call again changes nothing more. `route` None: it has no endpoint of its own.
    """

    name: str
    description: str
    input: type[Input]
    output: type[Output]
    permission: ToolPermission
    run: Run
    route: RestRoute | None
    effects: frozenset[Effect]
    only_adds: bool
    idempotent: bool
    topic: TopicOf | None
    about: AboutOf | None
    for_models: bool
    own_transactions: bool
    lacking: Lacking
    feature: Feature | None = None
    takes_yes: TakesYes | None = None

    def switched_off(self, config: Config) -> str | None:
        """The setting that switches it off, where one does."""
        if self.feature is None or getattr(config.features, self.feature):
            return None
        return f"features.{self.feature}"

    @property
    def changes_something(self) -> bool:
        """Whether anything here may be otherwise after a call."""
        return not self.effects.isdisjoint(("writes", "asks"))


def tool(
    permission: ToolPermission,
    *,
    rest: str | None,
    effect: Effect | tuple[Effect, ...],
    only_adds: bool = False,
    idempotent: bool = False,
    topic: TopicOf | None = None,
    about: AboutOf | None = None,
    for_models: bool = True,
    own_transactions: bool = False,
    lacking: Lacking = lambda config: None,
    feature: Feature | None = None,
    requires_approval: bool | TakesYes = False,
) -> Callable[[Run], Tool]:
    """Make a tool of a function `async def name(context, request: Input) -> Output`.

    Args:
        rest: its endpoint (`RestRoute.parse`), as "POST /articles/{id=article_id}/write"; None: it has none.
        effect: what a call does; more than one where one word does not say it all.
        only_adds: what was kept before stays as it was.
        idempotent: the same call again changes nothing more.
        requires_approval: a person sees exactly what is called before it is; or says of an input whether.
            Then the tool answers the task in which that is done, beside the `answer` that it says.

    Raises:
        ValueError: `rest` is no method and path, or names no field of the input.
    """
    effects: frozenset[Effect] = frozenset((effect,) if isinstance(effect, str) else effect)
    assert permission.topic_scoped == (topic is not None), "a topic-scoped tool says which topic"
    assert effects, "a tool says what it does"
    assert effects == {"reads"} or "reads" not in effects, "what reads does nothing else"
    assert permission.requires_hitl == ("asks" in effects), (
        "a tool asks where a human decides, and only there"
    )

    takes_yes = (lambda request: True) if requires_approval is True else requires_approval or None
    if takes_yes is not None:
        assert "asks" in effects, "a person is asked"
        assert not own_transactions, "it is done in one transaction with its record"
        assert "leaves the site" not in effects, "what is sent out can't be done once for certain"

    def make(run: Run) -> Tool:
        hints = typing.get_type_hints(run)
        fields = hints["request"].model_fields
        made = Tool(
            name=run.__name__,
            description=inspect.cleandoc(run.__doc__ or ""),
            input=hints["request"],
            output=hints["return"] if takes_yes is None else maybe_asked(hints["return"]),
            permission=permission,
            run=run,
            route=None if rest is None else RestRoute.parse(rest, fields=fields),
            effects=effects,
            only_adds=only_adds,
            idempotent=idempotent,
            topic=topic,
            about=about,
            for_models=for_models,
            own_transactions=own_transactions,
            lacking=lacking,
            feature=feature,
            takes_yes=takes_yes,
        )
        assert made.changes_something or not (only_adds or idempotent), f"{made.name} changes nothing"
        if made.changes_something and made.route is not None:
            assert made.route.method != "GET", f"{made.name}: GET is for what changes nothing"
        return made

    return make
