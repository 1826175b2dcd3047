"""A terminal to run `signoff chat` on, and connections that break: what the tests of the command need."""

import contextlib
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[4]
PROMPT = "> "


class Terminal:
    """`signoff chat` on a terminal of its own; `said` is all that it wrote so far.

    On one that is not `dumb`, readline writes sequences of its own.
    """

    def __init__(self, config_file: Path, *arguments: str, term: str = "dumb") -> None:
        self._ours, theirs = pty.openpty()
        command = [
            sys.executable,
            "-m",
            "cluster.cli.signoff",
            "chat",
            *arguments,
            "--config",
            str(config_file),
        ]
        environment = {**os.environ, "TERM": term, "COLUMNS": "80"}
        self._child = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT, env=environment
        )
        os.close(theirs)
        self.said = ""
        self._read = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.wait(20)
        os.close(self._ours)

    def until(self, text: str, *, timeout: float = 60) -> str:
        """Wait until `text` is written; all that was written since the last time."""
        while (at := self.said.find(text, self._read)) < 0:
            ready, _, _ = select.select([self._ours], [], [], timeout)
            assert ready, f"in vain for {text!r}; said: {self.said!r}"
            self.said += os.read(self._ours, 4096).decode().replace("\r\n", "\n")
        since = self.said[self._read : at + len(text)]
        self._read = at + len(text)
        return since

    def type(self, line: str) -> None:
        """Type a line, or what ends one."""
        os.write(self._ours, line.encode())

    def interrupt(self) -> None:
        """Ctrl-C."""
        self._child.send_signal(signal.SIGINT)

    def left(self) -> int:
        """The exit code, once it has one."""
        with contextlib.suppress(OSError):  # the end of a terminal
            while chunk := os.read(self._ours, 4096):
                self.said += chunk.decode()
        return self._child.wait(30)


class BreakingRelay:
    """Passes connections on to a port. It cuts one as soon as `after` has come back over it, `cuts` times."""

    def __init__(self, port: int, after: bytes, *, cuts: int = 1) -> None:
        self._port = port
        self._after = after
        self._cuts = cuts
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.connections = 0

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                self.connections += 1
                far = socket.create_connection(("127.0.0.1", self._port))
                threading.Thread(target=self._pass, args=(near, far), daemon=True).start()
                threading.Thread(target=self._back, args=(far, near), daemon=True).start()

    def _pass(self, near: socket.socket, far: socket.socket) -> None:
        for data in _received(near):
            far.sendall(data)
        _close(far)

    def _back(self, far: socket.socket, near: socket.socket) -> None:
        seen = b""
        with contextlib.suppress(OSError):
            for data in _received(far):
                near.sendall(data)
                seen += data
                if self._cuts and self._after in seen:
                    self._cuts -= 1
                    break
        _close(near)
        _close(far)


def _received(connection: socket.socket) -> Iterator[bytes]:
    with contextlib.suppress(OSError):
        while data := connection.recv(65536):
            yield data


def _close(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
