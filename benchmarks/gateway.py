"""gateway: what the chat's door costs. `POST /v1/chat/completions` against the model itself and LiteLLM.

The model is the scripted server (real HTTP, answers at once); the same client calls it directly, through
LiteLLM's proxy and through Signoff. There a message is checked (token, rights, rate), routed by its likeness
to the examples, answered by the agent `main_chat` in a process of its own, and its calls recorded. Messages
differ each time. What Serve could do at most is shown by a FastAPI app that does nothing on the same Ray.

Signoff runs as `signoff up` starts it, behind Serve's Python proxy; and, where there can be a network
namespace (which takes root), once more in HAProxy mode, which opens ports on all interfaces.
Aims, as `signoff up` starts it: time to first token at most 10 ms more than directly (p50, one at a time); at
32 at once at least 1.0 × LiteLLM's answers per CPU-second.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from benchmarks.contestants import litellm_peer
from benchmarks.harness.bench import ROOT, Bench, ray_here
from benchmarks.harness.cpu import postmaster_pid, process_seconds, server_seconds
from benchmarks.harness.figures import median, ms, percentile, times
from benchmarks.harness.report import Aim, Report, Table

_AIM_SECONDS, _AIM_SHARE = 0.010, 1.0
_AT_ONCE, _SECONDS = 32, 8.0
_PORT = 8947
_PYTHON_PROXY, _HAPROXY = "Serve's Python proxy, as `signoff up` starts it", "HAProxy"
_MESSAGES = (
    "hello there, number {}",
    "thanks a lot, that was {}",
    "good morning, day {}",
    "who are you, try {}",
)


def measure(bench: Bench) -> Report:
    """Each way of starting Serve in a process of its own, which prints its figures."""
    litellm_peer.install()
    found = {_PYTHON_PROXY: _measured(bench, haproxy=False)}
    if shutil.which("unshare") and os.geteuid() == 0:
        found[_HAPROXY] = _measured(bench, haproxy=True)
    return Report(
        name="gateway",
        measured=f"{found[_PYTHON_PROXY]['count']} messages one at a time, each way in turn; then {_AT_ONCE} "
        f"at once for {_SECONDS:g} s. CPU: all processes between client and model, Postgres among them.",
        machine=bench.machine("ray", "fastapi", "openai"),
        tables=[_table(proxy, figures) for proxy, figures in found.items()],
        aims=_aims(found[_PYTHON_PROXY]),
        notes=[
            f"LiteLLM {litellm_peer.VERSION}: one worker, a master key, no database.",
            "Client, proxies, replica, agent, Postgres and model share this machine's cores.",
        ],
    )


def _measured(bench: Bench, *, haproxy: bool) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "benchmarks.gateway",
        str(bench.folder),
        *(["--quick"] if bench.quick else []),
    ]
    environment = dict(os.environ)
    if haproxy:
        environment["RAY_SERVE_ENABLE_HA_PROXY"] = "1"
        command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
    with bench.database() as url:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, input=url, stdout=subprocess.PIPE, text=True, check=True
        )
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _table(proxy: str, found: dict[str, Any]) -> Table:
    direct = found["first"]["direct"]
    return Table(
        f"behind {proxy}",
        ("way", "first token, ms", "p95", "more than directly", f"answers/s, {_AT_ONCE} at once", "CPU, ms"),
        [
            [
                way,
                ms(found["first"][way]) if way in found["first"] else "",
                ms(found["first_p95"][way]) if way in found["first"] else "",
                ms(found["first"][way] - direct) if way in found["first"] else "",
                f"{found['rate'][way]:.0f}",
                ms(found["cpu"][way]) if way in found["cpu"] else "",
            ]
            for way in found["rate"]
        ],
    )


def _aims(found: dict[str, Any]) -> list[Aim]:
    added = found["first"]["signoff"] - found["first"]["direct"]
    share = found["cpu"]["litellm"] / found["cpu"]["signoff"]
    return [
        Aim("added time to first token (p50) ≤ 10 ms", added <= _AIM_SECONDS, f"{ms(added)} ms"),
        Aim("answers per CPU-second at 32 ≥ 1.0 × LiteLLM's", share >= _AIM_SHARE, times(share)),
    ]


def _inside(folder: Path, url: str, *, quick: bool) -> dict[str, Any]:
    """What is measured, within the namespace."""
    import ray.serve as ray_serve
    from fastapi import FastAPI

    from cluster.cli.tokens import mint_token
    from serve.api import build_api
    from tests.fakes.model.model_server import ModelServer

    count = 30 if quick else 300
    bench = Bench(folder=folder, postgres_url=url, quick=quick)
    with ModelServer() as model, ray_here():
        _, config = bench.configure(
            {
                "chat.assistant_llm.api_base": model.base_url,
                "embedding.api_base": model.base_url,
                "tools.rate_limit": {"calls": 1_000_000, "per_seconds": 1},
                "http.port": _PORT,
            }
        )
        noop = FastAPI()

        @noop.post("/")
        async def nothing(body: dict[str, Any]) -> dict[str, Any]:
            return body

        @ray_serve.deployment(name="noop", max_ongoing_requests=2000, ray_actor_options={"num_cpus": 0.1})
        @ray_serve.ingress(noop)
        class Noop:
            """Does nothing."""

        ray_serve.start(http_options={"host": "127.0.0.1", "port": _PORT})
        ray_serve.run(Noop.bind(), name="noop", route_prefix="/noop")  # type: ignore[attr-defined]
        ray_serve.run(build_api(config, url), name="api", route_prefix="/")
        token = mint_token(config.auth, user="ann", scopes=["global:reader"], now=datetime.now(UTC))
        served, site = config.chat.assistant_llm.model, f"http://127.0.0.1:{_PORT}"
        with litellm_peer.proxy(folder, api_base=model.base_url, model=served) as litellm:
            ways = {
                "direct": Way(f"{model.base_url}/chat/completions", served, "none"),
                "litellm": Way(f"{litellm.url}/v1/chat/completions", litellm.model, litellm.key),
                "signoff": Way(f"{site}/v1/chat/completions", "signoff", token),
            }
            others, postmaster = {litellm.pid, model.pid}, postmaster_pid(url)
            used = {
                "litellm": lambda: _tree_seconds(litellm.pid),
                "signoff": lambda: _ray_seconds(but=others) + server_seconds(postmaster),
            }
            return asyncio.run(_measure(ways, Way(f"{site}/noop/", "none", token), used, count))


class Way(NamedTuple):
    """One way to the model: where to post, the model's name there, and the key."""

    url: str
    model: str
    key: str


def _tree_seconds(pid: int) -> float:
    """Processor seconds of a process and those that it started."""
    process = psutil.Process(pid)
    return sum(process_seconds(each.pid) for each in (process, *process.children(recursive=True)))


def _ray_seconds(*, but: set[int]) -> float:
    """Processor seconds of all that this process started: Ray, proxies, replicas, agents."""
    others = [child for child in psutil.Process().children() if child.pid not in but]
    return sum(_tree_seconds(child.pid) for child in others)


async def _measure(
    ways: dict[str, Way], noop: Way, used: dict[str, Callable[[], float]], count: int
) -> dict[str, Any]:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(count + 20):
            for name, way in ways.items():
                seconds = await _first_token(client, way, number)
                if number >= 20:
                    taken[name].append(seconds)
        rate, cpu = {}, {}
        for name, way in (*ways.items(), ("no-op app", noop)):
            before = used[name]() if name in used else 0.0
            answers, seconds = await _answers(client, way)
            rate[name] = answers / seconds
            if name in used:
                cpu[name] = (used[name]() - before) / answers
    return {
        "count": count,
        "first": {name: median(values) for name, values in taken.items()},
        "first_p95": {name: percentile(values, 95) for name, values in taken.items()},
        "rate": rate,
        "cpu": cpu,
    }


def _body(model: str, number: int, *, stream: bool) -> dict[str, Any]:
    text = _MESSAGES[number % len(_MESSAGES)].format(number)
    return {"model": model, "stream": stream, "messages": [{"role": "user", "content": text}]}


async def _first_token(client: Any, way: Way, number: int) -> float:
    """Seconds from sending a message to its first piece of text; the answer is read to its end."""
    begun, first = time.perf_counter(), None
    body = _body(way.model, number, stream=True)
    async with client.post(way.url, json=body, headers=_headers(way)) as answer:
        assert answer.status == 200, await answer.text()
        async for line in answer.content:
            if first is None and line.startswith(b"data: {"):
                choices = json.loads(line[6:])["choices"]
                if choices and choices[0]["delta"].get("content"):
                    first = time.perf_counter() - begun
    assert first is not None, "the answer had no text"
    return first


async def _answers(client: Any, way: Way) -> tuple[int, float]:
    """Answers, and in how many seconds; `_AT_ONCE` clients ask again as soon as they are answered."""
    end = time.perf_counter() + _SECONDS
    done = 0

    async def ask(offset: int) -> None:
        nonlocal done
        number = offset * 1_000_000
        while time.perf_counter() < end:
            body = _body(way.model, number, stream=False)
            async with client.post(way.url, json=body, headers=_headers(way)) as answer:
                assert answer.status == 200, await answer.text()
                await answer.read()
            number += 1
            done += 1

    begun = time.perf_counter()
    await asyncio.gather(*(ask(n) for n in range(_AT_ONCE)))
    return done, time.perf_counter() - begun


def _headers(way: Way) -> dict[str, str]:
    return {"Authorization": f"Bearer {way.key}"}


if __name__ == "__main__":
    result = _inside(Path(sys.argv[1]), sys.stdin.read(), quick="--quick" in sys.argv)
    print("\n" + json.dumps(result))
