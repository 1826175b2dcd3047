"""A scripted OpenAI-compatible model server over real HTTP on loopback, for tests and benchmarks.

`with ModelServer(latency=0.2) as server:` runs it in a process of its own and gives `base_url`; by hand:
`python -m tests.fakes.model.model_server --port 8001 --latency 0.2`. Unscripted it answers every editorial
agent validly (see model_replies); POST /script, /release, /reset and GET /calls drive it (see
model_script). It never sleeps to wait for a state: GET /calls answers when the state is there.
"""

import argparse
import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2
import uvicorn

from tests.fakes.model.model_app import make_app
from tests.fakes.model.model_script import Call, Calls, Release, Rule, Script, State, ToolCall

__all__ = ["Call", "ModelServer", "Rule", "ToolCall", "most_at_once"]

ROOT = Path(__file__).resolve().parents[3]
PROMPTS = ROOT / "configs" / "prompts" / "editorial"
_SLICE_SECONDS = 5.0


class ModelServer:
    """The server in a process of its own, and the way to drive it. It ends with the block, or with us.

    `await_calls` and `wait_until` are for async tests; the `_sync` twins block the calling thread.
    """

    def __init__(self, *, latency: float = 0.0, port: int = 0, prompts: Path = PROMPTS) -> None:
        self._command = [sys.executable, "-m", "tests.fakes.model.model_server", "--until-stdin-closes"]
        self._command += ["--latency", str(latency), "--port", str(port), "--prompts", str(prompts)]
        self.url = ""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pid = self._process.pid
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the model server ended with code {self._process.wait()}")
        self.url = f"http://127.0.0.1:{json.loads(line)['port']}"
        self._http = httpx2.Client(base_url=self.url, timeout=_SLICE_SECONDS * 3, trust_env=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()
        self.kill()

    @property
    def base_url(self) -> str:
        """What goes into `api_base`: the URL with `/v1`."""
        return f"{self.url}/v1"

    def kill(self) -> None:
        """SIGKILL the server, as when a model's machine dies; all its connections are reset."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def script(self, *rules: Rule, latency: float | None = None) -> None:
        """Append rules, and set the fixed latency (seconds) of later calls."""
        self._post("/script", Script(rules=rules, latency=latency).model_dump())

    def release(self, *, kind: str | None = None, times: int | None = None) -> int:
        """Let held calls go on (oldest first, all without `times`, which also ends hold rules)."""
        return int(self._post("/release", Release(kind=kind, times=times).model_dump()).json())

    def reset(self) -> None:
        """Forget rules and calls, let held calls go, and take the first latency again."""
        self._post("/reset", None)

    def calls(self, kind: str | None = None) -> list[Call]:
        """The recorded calls of an agent kind (or schema name), in order of arrival."""
        return list(self._get(kind=kind).calls)

    def await_calls_sync(
        self, n: int, kind: str | None = None, *, state: State = "started", timeout: float = 30.0
    ) -> list[Call]:
        """Block until `n` calls of `kind` are in `state`, and return those; TimeoutError says what was."""
        until = time.monotonic() + timeout
        while True:
            left = until - time.monotonic()
            seen = self._get(kind=kind, at_least=n, state=state, timeout=min(max(left, 0), _SLICE_SECONDS))
            found = [call for call in seen.calls if call.reached(state)]
            if len(found) >= n:
                return found
            if left <= 0:
                raise TimeoutError(f"{n} calls {kind or ''} {state} in {timeout:g} s: {_tell(seen)}")

    def wait_until_sync(
        self, condition: Callable[[list[Call]], bool], *, timeout: float = 30.0
    ) -> list[Call]:
        """Block until `condition` holds for the calls, looked at whenever one changes; return them."""
        until, version = time.monotonic() + timeout, -1
        while True:
            left = until - time.monotonic()
            seen = self._get(newer_than=version, timeout=min(max(left, 0), _SLICE_SECONDS))
            if condition(list(seen.calls)):
                return list(seen.calls)
            if left <= 0:
                raise TimeoutError(f"the condition does not hold after {timeout:g} s: {_tell(seen)}")
            version = seen.version

    def await_calls(
        self, n: int, kind: str | None = None, *, state: State = "started", timeout: float = 30.0
    ) -> Awaitable[list[Call]]:
        """`await_calls_sync` for async tests."""
        return asyncio.to_thread(self.await_calls_sync, n, kind, state=state, timeout=timeout)

    def wait_until(
        self, condition: Callable[[list[Call]], bool], *, timeout: float = 30.0
    ) -> Awaitable[list[Call]]:
        """`wait_until_sync` for async tests; `condition` runs in another thread."""
        return asyncio.to_thread(self.wait_until_sync, condition, timeout=timeout)

    def _post(self, path: str, body: Any) -> httpx2.Response:
        return self._http.post(path, json=body).raise_for_status()

    def _get(self, **query: Any) -> Calls:
        params = {key: value for key, value in query.items() if value is not None}
        return Calls.model_validate_json(self._http.get("/calls", params=params).raise_for_status().content)


def most_at_once(calls: list[Call]) -> int:
    """How many of the calls were under way at the same time, at most."""
    edges = [(call.started, 1) for call in calls]
    edges += [(call.finished, -1) for call in calls if call.finished is not None]
    most = now = 0
    for _, step in sorted(edges):
        now += step
        most = max(most, now)
    return most


def _tell(seen: Calls) -> str:
    return "; ".join(
        f"{call.kind} {next(s for s in ('cancelled', 'finished', 'held', 'started') if call.reached(s))}"
        for call in seen.calls[-20:]
    )


def main() -> None:
    """Serve until killed; the first line on stdout is `{"port": …}`, when connections are accepted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--prompts", type=Path, default=PROMPTS)
    parser.add_argument("--until-stdin-closes", action="store_true")
    told = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", told.port), backlog=2048)
    app = make_app(latency=told.latency, prompts=told.prompts)
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
    )

    def end_with_parent() -> None:
        sys.stdin.buffer.read()
        server.should_exit = True

    if told.until_stdin_closes:
        threading.Thread(target=end_with_parent, daemon=True).start()
    sys.stdout.write(json.dumps({"port": listener.getsockname()[1]}) + "\n")
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listener])


if __name__ == "__main__":
    main()
