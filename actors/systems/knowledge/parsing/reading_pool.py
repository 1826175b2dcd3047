"""Processes that read pages, each apart: a page that takes too long or too much ends its reader and no more.

A scraper has one pool. Each reader is a plain subprocess with pipes of its own (`reading_process`): nothing
of the caller's main module is run again in it, as `multiprocessing` would, and it ends when its pipe does, so
none is left behind by a caller that was killed. What a reader says is parsed as JSON, never unpickled: a page
may have taken it over.
"""

import asyncio
import json
import os
import pickle
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from actors.systems.knowledge.parsing.main_text import read_html
from models.errors import ClusterProblem, DocumentUnreadable
from models.knowledge.pages import PageText
from models.record import Record
from models.text import shortened

Found = TypeVar("Found", bound=Record)

# A reader is started without its page's seconds running: it loads its libraries first.
_START_SECONDS = 120.0
_CLOSE_SECONDS = 2.0
# Of one page's answer, as JSON.
_MOST_TOLD = 256 * 1024**2
_LENGTH = struct.Struct(">Q")
# Our modules are found where the caller finds them, and nothing of his is imported.
_START = "import sys; sys.path[:] = {path!r}; from {module} import main; main({arguments})"
_MODULE = "actors.systems.knowledge.parsing.reading_process"
# On a machine with many cores, the threads of libraries would take more memory than a reader may.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class ReadingPool:
    """Reads pages in `readers` processes, which are begun as they are needed.

    Args:
        seconds: until a page is given up, and its reader ended.
        max_pages_per_reader: until a reader is begun anew: what libraries keep is gone with it.
        max_memory_mb: that a page may take, on top of what a reader needs to be there.
        names_model: the folder of a model that readers load before they are there.
    """

    def __init__(
        self,
        *,
        readers: int,
        seconds: float,
        max_pages_per_reader: int = 2000,
        max_memory_mb: int = 1536,
        names_model: Path | None = None,
    ) -> None:
        self._seconds = seconds
        self._most_pages = max_pages_per_reader
        # What `reading_process.main` takes.
        self._arguments = (seconds, max_memory_mb, None if names_model is None else str(names_model))
        self._places = asyncio.Semaphore(readers)
        self._idle: list[_ReaderProcess] = []
        self._busy: set[_ReaderProcess] = set()
        self._closed = False

    async def read_html(self, body: bytes, url: str, content_type: str | None) -> PageText:
        """A page's main text; see `main_text.read_html`. DocumentUnreadable also where it takes too long."""
        return await self.read(_read_html, body, url, content_type, shape=PageText)

    async def read(self, work: Callable[..., Found], *arguments: object, shape: type[Found]) -> Found:
        """What `work(*arguments)` returns in a reader.

        Args:
            work: a function of a module. What it raises comes as DocumentUnreadable, with the `fault` of the
                error as a fact where it has one.
            shape: what it returns.

        Raises:
            DocumentUnreadable: not read, not in time, or its reader ended under it.
            ClusterProblem: readers can't be started here.
        """
        request = pickle.dumps((work, arguments), protocol=pickle.HIGHEST_PROTOCOL)
        async with self._places:
            reader = await self._taken()
            self._busy.add(reader)
            try:
                async with asyncio.timeout(self._seconds):
                    mark, answer = await reader.ask(request)
            except TimeoutError as error:
                # On a busy machine a good page takes too long as well: another time it may not.
                raise DocumentUnreadable(
                    f"it can't be read within {self._seconds:g} s", fault="timeout"
                ) from error
            except (asyncio.IncompleteReadError, ConnectionError) as error:
                raise DocumentUnreadable("its reader ended under it: it is broken, or too much") from error
            else:
                # Whoever was cut off in between would be told the answer to another page.
                self._keep(reader)
            finally:
                self._busy.discard(reader)
                if reader not in self._idle:
                    reader.kill()
        if mark == b"!":
            _raise(answer)
        try:
            return shape.model_validate_json(answer)
        except ValidationError as error:
            raise DocumentUnreadable("its reader made no sense: it is broken") from error

    async def close(self) -> None:
        """End the readers. Pages under way are given up."""
        self._closed = True
        idle, self._idle = self._idle, []
        for reader in self._busy:
            reader.kill()
        await asyncio.gather(*(reader.close() for reader in idle))

    async def _taken(self) -> "_ReaderProcess":
        while self._idle:
            reader = self._idle.pop()
            if reader.alive:
                return reader
            reader.kill()
        if self._closed:
            raise ClusterProblem("the readers of pages are closed")
        return await _started(self._arguments)

    def _keep(self, reader: "_ReaderProcess") -> None:
        reader.pages += 1
        if reader.pages < self._most_pages and reader.alive and not self._closed:
            self._idle.append(reader)


class _ReaderProcess:
    """One process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.pages = 0
        self._process = process

    @property
    def alive(self) -> bool:
        return self._process.returncode is None and not self._out.at_eof()

    @property
    def _out(self) -> asyncio.StreamReader:
        assert self._process.stdout is not None
        return self._process.stdout

    async def ask(self, request: bytes) -> tuple[bytes, bytes]:
        """The mark of an answer, `=` or `!`, and the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(_LENGTH.pack(len(request)) + request)
        await self._process.stdin.drain()
        return await self.next_answer()

    async def next_answer(self) -> tuple[bytes, bytes]:
        """The next thing it says."""
        mark = await self._out.readexactly(1)
        (length,) = _LENGTH.unpack(await self._out.readexactly(_LENGTH.size))
        if length > _MOST_TOLD:
            raise ConnectionError(f"{length} bytes")
        return mark, await self._out.readexactly(length)

    def kill(self) -> None:
        """End it at once. It is not waited for: nothing of it is needed any more."""
        if self._process.returncode is None:
            self._process.kill()
        # Its pipe is closed, or the loop would go on watching it.
        self._process._transport.close()  # type: ignore[attr-defined]  # asyncio offers no other way

    async def close(self) -> None:
        """End it when it is idle."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self.kill()


async def _started(arguments: tuple[float, int, str | None]) -> _ReaderProcess:
    path = [part or os.getcwd() for part in sys.path]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c"),
        _START.format(path=path, module=_MODULE, arguments=", ".join(map(repr, arguments))),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**20,
        env={**os.environ, **_ENVIRONMENT},
    )
    reader = _ReaderProcess(process)
    try:
        async with asyncio.timeout(_START_SECONDS):
            await reader.next_answer()
    except BaseException as error:
        reader.kill()
        if isinstance(error, TimeoutError | asyncio.IncompleteReadError | ConnectionError):
            raise ClusterProblem(
                "a reader of pages can't be started: the log of its node says why"
            ) from error
        raise
    return reader


def _raise(answer: bytes) -> None:
    """What a reader could not read."""
    try:
        told = json.loads(answer)
        message, fault = str(told["message"]), told.get("fault")
    except (ValueError, TypeError, LookupError) as error:
        raise DocumentUnreadable("its reader made no sense: it is broken") from error
    facts = {"fault": fault} if isinstance(fault, str) else {}
    raise DocumentUnreadable(shortened(message, 500), **facts)


def _read_html(body: bytes, url: str, content_type: str | None) -> PageText:
    return read_html(body, url=url, content_type=content_type)
