"""The list of grants that `auth.grants` names: read now and then by one replica, and kept for all.

What can't be read takes nothing away: the last list that could be goes on holding, and the log and
`/health` say so. A list by which nobody has anything counts as one that can't be read.
"""

import asyncio
import hashlib
import logging
from collections.abc import Mapping
from contextlib import suppress

import httpx2

from models.config.publishing import GrantsConfig
from models.error_lines import error_line
from models.json_once import read_once
from models.people.scopes import ScopeInvalid, parse_scope
from models.people.users import MAX_SUBJECT, is_subject
from models.store.database import GONE, Connection, Database
from models.store.people import grants
from models.text import storable
from serve.auth.jwks import fetched

_log = logging.getLogger("signoff.grants")

_FETCH_SECONDS = 5.0
_MAX_BYTES = 16 << 20


class GrantList:
    """Follows the configured list until its task is cancelled; without one, sees that none holds."""

    def __init__(self, database: Database, config: GrantsConfig | None) -> None:
        self._database = database
        self._config = config
        self._fault: str | None = None

    async def follow(self) -> None:
        """Read it when it is due, for ever."""
        if self._config is None:
            await self._database.steadily(self._forget)
            return
        while True:
            with suppress(*GONE):
                await self.read()
            await asyncio.sleep(self._config.every_seconds / 4)

    async def read(self) -> bool:
        """Read it, unless that was just done, here or by another replica. Whether it was read."""
        assert self._config is not None
        async with self._database.transaction() as connection:
            if not await grants.is_due(connection, every_seconds=self._config.every_seconds):
                return False
            try:
                body = await self._body(self._config)
                listed = read_list(body)
            except (OSError, httpx2.HTTPError, TimeoutError, ValueError) as error:
                await self._unreadable(connection, error_line(str(error) or type(error).__name__, 500))
                return False
            await grants.take_list(connection, listed, digest=hashlib.sha256(body).hexdigest())
        if self._fault is not None:
            _log.info("auth.grants can be read again")
        self._fault = None
        return True

    async def _unreadable(self, connection: Connection, fault: str) -> None:
        if fault != self._fault:
            _log.warning("auth.grants can't be read, and what it last said goes on holding: %s", fault)
        self._fault = fault
        await grants.note_fault(connection, storable(fault)[:500])

    async def _body(self, config: GrantsConfig) -> bytes:
        if config.url is not None:
            return await fetched(config.url, _MAX_BYTES, _FETCH_SECONDS)
        assert config.file is not None  # the configuration gives one of the two
        return await asyncio.to_thread(config.file.read_bytes)

    async def _forget(self) -> None:
        async with self._database.transaction() as connection:
            await grants.forget_list(connection)


def read_list(text: bytes) -> Mapping[str, list[str]]:
    """A list `{"ann": ["macro:analyst"]}`. Raises ValueError where any of it is not plain."""
    if len(text) > _MAX_BYTES:
        raise ValueError(f"it is longer than {_MAX_BYTES} bytes")
    try:
        whole = read_once(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(whole, dict):
        raise ValueError("it is not a JSON object of people and their scopes")
    listed = {person: _scopes(person, scopes) for person, scopes in whole.items()}
    if not any(listed.values()):
        raise ValueError("it names nobody who has a scope")
    return listed


def _scopes(person: str, scopes: object) -> list[str]:
    if not is_subject(person):
        raise ValueError(f"{person!r:.80} can't name a person: use 1 to {MAX_SUBJECT} printable characters")
    if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in scopes):
        raise ValueError(f"{person}: must be a list of scopes")
    try:
        return [str(parse_scope(scope)) for scope in scopes]
    except ScopeInvalid as error:
        raise ValueError(f"{person}: {error}") from error
