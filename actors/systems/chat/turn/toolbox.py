"""The toolbox: an agent's way to the tools, with its own connections to the database.

Every call goes through the registry as the person who asked, so it is permitted, counted and recorded
like any other. The pool is opened with the first call, in the agent's own event loop.
"""

import asyncio
from typing import Any

from pydantic import BaseModel

from actors.platform import systems
from actors.platform.runtime.directory import Directory
from actors.platform.search.hybrid import HybridSearch
from actors.platform.tools.registry import InTransaction, Registry
from actors.platform.tools.tool import Tool
from models.config import Config
from models.errors import ConfigInvalid
from models.people.users import UserContext
from models.store.database import Database

# An agent's calls are short: a few connections serve many people.
_POOL_SIZE = 4


class Toolbox:
    """The tools over a database, which is opened by the first call."""

    def __init__(self, *, config: Config, directory: Directory) -> None:
        self._config = config
        self._directory = directory
        self._opening = asyncio.Lock()
        self._database: Database | None = None
        self._registry: Registry | None = None

    async def call(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        caller: UserContext,
        first: InTransaction | None = None,
    ) -> BaseModel:
        """Call a tool as `caller`; see `Registry.call` for `first`, and what it raises."""
        registry = await self._open()
        return await registry.call(name, arguments, caller=caller, door="agent", first=first)

    async def permitted(
        self, caller: UserContext, names: tuple[str, ...], *, topic: str | None = None
    ) -> list[Tool]:
        """Those of the tools `names` that there are and that `caller` may use, in that order."""
        registry = await self._open()
        found = {tool.name: tool for tool in registry.permitted(caller.scopes, door="agent", topic=topic)}
        return [found[name] for name in names if name in found]

    async def database(self) -> Database:
        """The pool, open."""
        await self._open()
        assert self._database is not None
        return self._database

    async def close(self) -> None:
        """Close the pool, if it was opened."""
        if self._database is not None:
            await self._database.__aexit__(None, None, None)
            self._database = self._registry = None

    async def _open(self) -> Registry:
        async with self._opening:
            if self._registry is None:
                if (url := self._directory.database_url) is None:
                    raise ConfigInvalid("agents of the chat read the database: make the Directory with it")
                database = Database(url=url, pool_size=_POOL_SIZE)
                await database.__aenter__()
                self._database = database
                search = HybridSearch(
                    database=database,
                    semantic=self._directory.agent("search_index"),
                    settings=self._config.search,
                )
                self._registry = Registry(
                    systems.tools(),
                    config=self._config,
                    database=database,
                    search=search,
                    agents=self._directory,
                )
            return self._registry
