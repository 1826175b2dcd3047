"""What a tool is: a typed async function, its input and output as records, and its permission.

`@tool` reads name, description and records off the function. The registry carries calls out.
"""

import inspect
import typing
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from models.config import Config
from models.scopes import Scope
from models.search import Found, FoundArticle, FoundResource
from models.store.database import Connection, Database
from models.tools import ToolPermission
from models.users import UserContext


class Input(BaseModel):
    """What a tool takes. Unknown fields are refused: a misspelt one must not be ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Output(BaseModel):
    """What a tool answers. `success` is always true: what fails is an error (seed 000 §7.2)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    success: bool = True


class Search(Protocol):
    """The seam to hybrid search; see `actors.search.hybrid.HybridSearch`."""

    async def articles(
        self,
        query: str,
        *,
        topics: frozenset[str] | None,
        scopes: tuple[Scope, ...],
        include_drafts: bool,
        limit: int,
    ) -> Found[FoundArticle]:
        """Articles that `scopes` may see, best first."""
        ...

    async def resources(
        self,
        query: str,
        *,
        kinds: frozenset[str],
        topics: frozenset[str] | None,
        scopes: tuple[Scope, ...],
        limit: int,
    ) -> Found[FoundResource]:
        """Resources that `scopes` may see, best first."""
        ...


@dataclass(frozen=True)
class ToolContext:
    """What a tool works with: who calls, the configuration, the call's transaction, and search."""

    caller: UserContext
    config: Config
    database: Database
    search: Search
    _connection: Connection | None = None

    @property
    def connection(self) -> Connection:
        """The call's transaction; a tool with `own_transactions` has none."""
        assert self._connection is not None, "this tool makes its own transactions"
        return self._connection


TopicOf = Callable[[ToolContext, Any], Awaitable[str]]
# For the record, where the request itself does not tell: the topic, and the thing.
AboutOf = Callable[[ToolContext, Any], Awaitable[tuple[str | None, str | None]]]
Run = Callable[[ToolContext, Any], Awaitable[Any]]
# What the configuration lacks for a tool: the setting to add, or None where it is all there.
Lacking = Callable[[Config], str | None]
Feature = Literal["enable_hitl_workflow"]


@dataclass(frozen=True)
class Tool:
    """A tool. `for_models` false: only people use it, so MCP and agents don't see it.

    `lacking` tells what the configuration must have for it to be listed, and to be called; `feature` is the
    setting under `features` that switches it on.
    """

    name: str
    description: str
    input: type[Input]
    output: type[Output]
    permission: ToolPermission
    run: Run
    topic: TopicOf | None
    about: AboutOf | None
    for_models: bool
    own_transactions: bool
    lacking: Lacking
    feature: Feature | None = None

    def switched_off(self, config: Config) -> str | None:
        """The setting that switches it off, where one does."""
        if self.feature is None or getattr(config.features, self.feature):
            return None
        return f"features.{self.feature}"

    @property
    def reads(self) -> bool:
        """Whether its name says that it changes nothing."""
        return self.name.startswith(("get_", "search_", "review_", "web_search", "fetch_"))

    @property
    def reaches_outside(self) -> bool:
        """Whether its name says that it may ask somebody outside this site."""
        outside = ("web_search", "search_news", "search_financial_news", "fetch_", "download_")
        return self.name.startswith(outside)


def tool(
    permission: ToolPermission,
    *,
    topic: TopicOf | None = None,
    about: AboutOf | None = None,
    for_models: bool = True,
    own_transactions: bool = False,
    lacking: Lacking = lambda config: None,
    feature: Feature | None = None,
) -> Callable[[Run], Tool]:
    """Make a tool of a function `async def name(context, request: Input) -> Output`."""
    assert permission.topic_scoped == (topic is not None), "a topic-scoped tool says which topic"

    def make(run: Run) -> Tool:
        hints = typing.get_type_hints(run)
        return Tool(
            name=run.__name__,
            description=inspect.cleandoc(run.__doc__ or ""),
            input=hints["request"],
            output=hints["return"],
            permission=permission,
            run=run,
            topic=topic,
            about=about,
            for_models=for_models,
            own_transactions=own_transactions,
            lacking=lacking,
            feature=feature,
        )

    return make
