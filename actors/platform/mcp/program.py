"""A server that is a program beside the agent: its process, and JSON-RPC by lines over its pipes.

Not the SDK's own transport: that one reads a line of any length into memory, and hands on HOME and more of
the site's environment. A program ends with its connection: by end of file, then by its process group's id.
"""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
import mcp_types as types

from actors.platform.checked_stream import LookedAtStream
from actors.platform.mcp.exchange import CURRENT, Exchange, Unanswered, put_off
from models.config import StdioServer
from models.error_lines import error_line
from models.errors import Fenced, NotSent

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp.shared._context_streams import ContextReceiveStream
    from mcp.shared.message import SessionMessage

_log = logging.getLogger(__name__)
_PATH = "/usr/local/bin:/usr/bin:/bin"
# It may end by itself when its input ends, and again when it is asked to; in seconds.
_GRACE_SECONDS = 2.0
# Of what it writes to its standard error, the last is kept: that says why it ended.
_MOST_COMPLAINT = 2_000


class ServerProgram:
    """One process of a configured program. `said` is what it complained of last, and what it did wrong."""

    def __init__(self, settings: StdioServer, *, max_bytes: int) -> None:
        self._settings = settings
        self._max_bytes = max_bytes
        self._complaint = b""
        self._asked: set[str] = set()  # ids of requests that it has not answered yet
        self._half_written = False  # then it can be told nothing more
        self._written = 0  # bytes, since its last answer to one of them
        self.fault: Unanswered | None = None

    @property
    def said(self) -> str:
        """The last line of its standard error, in words for people; "" where there is none."""
        lines = self._complaint.decode(errors="replace").strip().splitlines()
        return error_line(lines[-1], 200) if lines else ""

    @asynccontextmanager
    async def streams(self) -> "AsyncIterator[TransportStreams]":
        """Start it. The streams are what the SDK's session reads and writes.

        Raises:
            Unanswered: it can't be started.
        """
        from mcp.shared._context_streams import create_context_streams
        from mcp.shared.message import SessionMessage

        ours, its = socket.socketpair()
        stdin = LookedAtStream(ours)
        try:
            process = await self._start(its.fileno())
        except BaseException:
            await stdin.aclose()
            raise
        finally:
            its.close()
        tasks: list[asyncio.Task[None]] = []
        to_us, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_it, sent = create_context_streams[SessionMessage](0)
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            tasks = [
                asyncio.create_task(self._listen(process.stdout, to_us)),
                asyncio.create_task(self._tell(stdin, sent, to_us)),
                asyncio.create_task(self._hear_complaints(process.stderr)),
            ]
            yield received, to_it
        finally:
            try:
                await stdin.aclose()
                await _ended(process)
            finally:
                # Also where we are cancelled ourselves: nothing of it is left running.
                _signal(process, signal.SIGKILL)
                _release(process)
                for task in tasks:
                    task.cancel()
                for stream in (to_us, received, to_it, sent):
                    stream.close()

    async def _start(self, stdin: int) -> asyncio.subprocess.Process:
        program, *words = self._settings.command
        given = {name: value.get_secret_value() for name, value in self._settings.environment.items()}
        try:
            return await asyncio.create_subprocess_exec(
                program,
                *words,
                stdin=stdin,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                # Where the command is looked up, and what it starts in turn (`npx` starts `node`). It gets
                # nothing else of the site's.
                env={"PATH": os.environ.get("PATH", _PATH), **given},
                cwd=self._settings.folder,
                start_new_session=True,
                limit=self._max_bytes,
            )
        except (OSError, ValueError) as error:
            raise Unanswered("away", f"{program} can't be started: {error_line(error)}") from error

    async def _listen(
        self,
        stdout: asyncio.StreamReader,
        to_us: "anyio.streams.memory.MemoryObjectSendStream[SessionMessage | Exception]",
    ) -> None:
        from mcp.shared.message import SessionMessage

        async with to_us:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                while line := await self._line(stdout):
                    try:
                        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
                        # Programs print to their output what belongs elsewhere: no message, and no end.
                        continue
                    if isinstance(message, types.JSONRPCNotification):
                        continue  # nothing here waits for one, and each costs the SDK more than its bytes do
                    # The SDK takes "1" for 1 as well. What nobody asked for is no answer.
                    if not isinstance(message, types.JSONRPCRequest) and str(message.id) in self._asked:
                        self._asked.discard(str(message.id))
                        self._written = 0
                    await to_us.send(SessionMessage(message))

    async def _line(self, stdout: asyncio.StreamReader) -> bytes:
        """The next line; nothing where there is none, or where it writes more than it was asked for."""
        try:
            line = await stdout.readline()
            self._written += len(line)
            if self._written <= self._max_bytes * max(1, len(self._asked)):
                return line
        except ValueError:
            pass  # the line is over the limit of the reader
        except OSError as error:
            _log.info("%s: its output can't be read: %s", self._settings.command[0], error)
            return b""
        self.fault = Unanswered("invalid", f"its answer is over {self._max_bytes:,} bytes (max_answer_bytes)")
        return b""

    async def _tell(
        self,
        stdin: LookedAtStream,
        sent: "ContextReceiveStream[SessionMessage]",
        to_us: "anyio.streams.memory.MemoryObjectSendStream[SessionMessage | Exception]",
    ) -> None:
        from mcp.shared.message import SessionMessage

        async with sent:
            try:
                async for message in sent:
                    assert sent.last_context is not None, "each message has come with one"
                    exchange = sent.last_context.get(CURRENT) or Exchange()
                    said = asyncio.create_task(
                        self._say(stdin, message.message, exchange), context=sent.last_context
                    )
                    if (refused := await said) is not None:
                        await to_us.send(SessionMessage(refused))
                    if self._half_written:
                        break
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                to_us.close()  # whoever waits for an answer is told that there will be none
            finally:
                await stdin.aclose()

    async def _say(
        self, stdin: LookedAtStream, message: types.JSONRPCMessage, exchange: Exchange
    ) -> types.JSONRPCError | None:
        """Write a message, where it may still go out.

        If not, what a person gave is put off; and of a request, what is answered in the program's place.
        """
        if isinstance(message, types.JSONRPCNotification | types.JSONRPCError):
            await self._write(stdin, message)
            return None
        its = dict(message)
        clearance = exchange.clearance([its])
        try:
            exchange.check([its])
            if clearance is not None:
                await clearance.through()
            if isinstance(message, types.JSONRPCRequest):
                # A pipe tells nobody how much of it was read.
                exchange.sent = True
                self._asked.add(str(message.id))
            await self._write(stdin, message)
            return None
        except (Fenced, NotSent) as late:
            exchange.withhold(late, given=isinstance(message, types.JSONRPCResponse))
            if isinstance(message, types.JSONRPCRequest):
                error = types.ErrorData(code=types.CONNECTION_CLOSED, message=str(late))
                return types.JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
        finally:
            if clearance is not None:
                await clearance.end()
        if not self._half_written:
            await self._write(stdin, types.JSONRPCResponse.model_validate(put_off(its)))
        return None

    async def _write(self, stdin: LookedAtStream, message: types.JSONRPCMessage) -> None:
        self._half_written = True
        await stdin.send(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        self._half_written = False

    async def _hear_complaints(self, stderr: asyncio.StreamReader) -> None:
        while part := await stderr.read(4096):
            self._complaint = (self._complaint + part)[-_MOST_COMPLAINT:]


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait until it ends: its input has ended; then it is asked to."""
    for asked in (None, signal.SIGTERM):
        if asked is not None:
            _signal(process, asked)
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                await process.wait()
                return


def _release(process: asyncio.subprocess.Process) -> None:
    """Close its pipes: what it started may hold their other ends. asyncio has no public way to."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    """To all of its process group, which it leads; also to what it left behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
