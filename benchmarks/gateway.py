"""gateway: what the chat's door costs. `POST /v1/chat/completions` against the same model called directly.

The model is the scripted server (real HTTP, answers at once). Through Signoff a message is checked (token,
rights, rate), routed by its likeness to the examples, answered by the agent `main_chat` in a process
of its own, and its calls recorded; directly the same client calls the model. Messages differ each time.
For throughput the peer is a FastAPI app that does nothing, on the same Ray Serve in HAProxy mode.

HAProxy mode opens ports on all interfaces, so the benchmark runs in a network namespace of its own, which
takes root; else it runs behind Serve's Python proxy, and says so.
Aim: time to first token at most 10 ms more (p50, one at a time); at 32 at once ≥ 0.8 of the no-op app.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.bench import ROOT, Bench, ray_here
from benchmarks.figures import median, ms, percentile, times
from benchmarks.report import Aim, Report, Table

_AIM_SECONDS, _AIM_SHARE = 0.010, 0.8
_AT_ONCE, _SECONDS = 32, 8.0
_PORT = 8947
_MESSAGES = (
    "hello there, number {}",
    "thanks a lot, that was {}",
    "good morning, day {}",
    "who are you, try {}",
)


def measure(bench: Bench) -> Report:
    """In a network namespace where there can be one: in a process of its own, which prints the figures."""
    inside = shutil.which("unshare") and os.geteuid() == 0
    command = [
        sys.executable,
        "-m",
        "benchmarks.gateway",
        str(bench.folder),
        *(["--quick"] if bench.quick else []),
    ]
    environment = dict(os.environ)
    if inside:
        environment["RAY_SERVE_ENABLE_HA_PROXY"] = "1"
        command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
    with bench.database() as url:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, input=url, stdout=subprocess.PIPE, text=True, check=True
        )
    found = json.loads(done.stdout.splitlines()[-1])
    added = found["first"]["signoff"] - found["first"]["direct"]
    share = found["rate"]["signoff"] / found["rate"]["noop"]
    return Report(
        name="gateway",
        measured=f"{found['count']} messages one at a time, in turns with the direct call; then {_AT_ONCE} "
        f"at once for {_SECONDS:g} s. Proxy: {'HAProxy' if inside else 'Python (no namespace to be had)'}.",
        machine=bench.machine("ray", "fastapi", "openai"),
        tables=[
            Table(
                "time to first token, one at a time (ms)",
                ("way", "p50", "p95"),
                [[name, ms(found["first"][name]), ms(found["first_p95"][name])] for name in found["first"]],
            ),
            Table(
                f"requests per second, {_AT_ONCE} at once",
                ("way", "requests/s", "× no-op"),
                [
                    [name, f"{rate:.0f}", times(rate / found["rate"]["noop"])]
                    for name, rate in found["rate"].items()
                ],
            ),
        ],
        aims=[
            Aim("added time to first token (p50) ≤ 10 ms", added <= _AIM_SECONDS, f"{ms(added)} ms"),
            Aim("throughput at 32 ≥ 0.8 of the no-op app", share >= _AIM_SHARE, times(share)),
        ],
        notes=["Client, proxy, replica, agent, Postgres and model share this machine's cores."],
    )


def _inside(folder: Path, url: str, *, quick: bool) -> dict[str, Any]:
    """What is measured, within the namespace."""
    import ray.serve as ray_serve
    from fastapi import FastAPI

    from cluster.tokens import mint_token
    from serve.api import build_api
    from tests.fakes.model_server import ModelServer

    count = 30 if quick else 300
    bench = Bench(folder=folder, postgres_url=url, quick=quick)
    with ModelServer() as model, ray_here():
        _, config = bench.configure(
            {
                "chat.assistant_llm.api_base": model.base_url,
                "article_generation.knowledge_base.embedding.api_base": model.base_url,
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
        return asyncio.run(_measure(model.base_url, token, config.chat.assistant_llm.model, count))


async def _measure(model_url: str, token: str, model: str, count: int) -> dict[str, Any]:
    import aiohttp

    site = f"http://127.0.0.1:{_PORT}"
    ways = {
        "direct": (f"{model_url}/chat/completions", model),
        "signoff": (f"{site}/v1/chat/completions", "signoff"),
    }
    headers = {"Authorization": f"Bearer {token}"}
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(headers=headers, connector=connector) as client:
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(count + 20):
            for name, (url, called) in ways.items():
                seconds = await _first_token(client, url, called, number)
                if number >= 20:
                    taken[name].append(seconds)
        rate = {}
        for name, (url, called) in (*ways.items(), ("noop", (f"{site}/noop/", "none"))):
            rate[name] = await _rate(client, url, called)
    return {
        "count": count,
        "first": {name: median(values) for name, values in taken.items()},
        "first_p95": {name: percentile(values, 95) for name, values in taken.items()},
        "rate": rate,
    }


def _body(model: str, number: int, *, stream: bool) -> dict[str, Any]:
    text = _MESSAGES[number % len(_MESSAGES)].format(number)
    return {"model": model, "stream": stream, "messages": [{"role": "user", "content": text}]}


async def _first_token(client: Any, url: str, model: str, number: int) -> float:
    """Seconds from sending a message to its first piece of text; the answer is read to its end."""
    begun, first = time.perf_counter(), None
    async with client.post(url, json=_body(model, number, stream=True)) as answer:
        assert answer.status == 200, await answer.text()
        async for line in answer.content:
            if first is None and line.startswith(b"data: {"):
                choices = json.loads(line[6:])["choices"]
                if choices and choices[0]["delta"].get("content"):
                    first = time.perf_counter() - begun
    assert first is not None, "the answer had no text"
    return first


async def _rate(client: Any, url: str, model: str) -> float:
    """Answers per second, `_AT_ONCE` clients asking again as soon as they are answered."""
    end = time.perf_counter() + _SECONDS
    done = 0

    async def ask(offset: int) -> None:
        nonlocal done
        number = offset * 1_000_000
        while time.perf_counter() < end:
            async with client.post(url, json=_body(model, number, stream=False)) as answer:
                assert answer.status == 200, await answer.text()
                await answer.read()
            number += 1
            done += 1

    begun = time.perf_counter()
    await asyncio.gather(*(ask(n) for n in range(_AT_ONCE)))
    return done / (time.perf_counter() - begun)


if __name__ == "__main__":
    result = _inside(Path(sys.argv[1]), sys.stdin.read(), quick="--quick" in sys.argv)
    print("\n" + json.dumps(result))
