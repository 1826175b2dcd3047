"""Requests are timed until their answer begins, by the pattern of their route; nothing counted is lost."""

import asyncio
from typing import Any

import httpx2
import pytest
from fastapi import APIRouter, FastAPI
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from models.monitoring import Observed
from models.store.upkeep.observations import BOUNDS
from serve.monitoring.request_times import RequestTimes, Timed


class Refusing:
    """Middleware that refuses before any route is looked for."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/refused":
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self._app(scope, receive, send)


def app_with(times: RequestTimes, gate: asyncio.Event) -> FastAPI:
    router = APIRouter(prefix="/api/things")

    @router.get("/{number}")
    async def thing(number: int) -> int:
        return number

    @router.post("/broken")
    async def broken() -> int:
        raise RuntimeError("no")

    @router.get("/slow/stream")
    async def stream() -> StreamingResponse:
        async def parts() -> Any:
            yield "begun"
            await gate.wait()
            yield "done"

        return StreamingResponse(parts())

    app = FastAPI()
    app.include_router(router)
    app.add_middleware(Refusing)
    app.add_middleware(Timed, times=times)
    return app


@pytest.fixture
def gate() -> asyncio.Event:
    return asyncio.Event()


@pytest.fixture
def times() -> RequestTimes:
    return RequestTimes()


@pytest.fixture
async def client(times: RequestTimes, gate: asyncio.Event) -> Any:
    transport = httpx2.ASGITransport(app_with(times, gate), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://site") as client:
        yield client


def counted(taken: list[Observed]) -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    for each in taken:
        found[each.labels] = found.get(each.labels, 0) + each.times
    return found


async def test_a_route_is_told_by_its_pattern(client: httpx2.AsyncClient, times: RequestTimes) -> None:
    for number in range(20):
        await client.get(f"/api/things/{number}")
    await client.get("/api/things/no-number")
    await client.get("/api/nothing/of/the/kind")
    await client.get("/refused")
    await client.request("INVENTED", "/api/nothing")
    assert counted(times.take()) == {
        ("GET", "/api/things/{number}", "2xx"): 20,
        ("GET", "/api/things/{number}", "4xx"): 1,
        ("GET", "none", "4xx"): 2,
        ("other", "none", "4xx"): 1,
    }


async def test_what_breaks_is_counted_as_the_500_that_it_becomes(
    client: httpx2.AsyncClient, times: RequestTimes
) -> None:
    assert (await client.post("/api/things/broken")).status_code == 500
    assert counted(times.take()) == {("POST", "/api/things/broken", "5xx"): 1}


async def test_a_stream_is_timed_until_it_begins(times: RequestTimes, gate: asyncio.Event) -> None:
    began = asyncio.Event()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            began.set()

    async def receive() -> Any:
        await gate.wait()
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "GET", "path": "/api/things/slow/stream", "headers": [],
             "query_string": b"", "root_path": "", "http_version": "1.1", "scheme": "http"}  # fmt: skip
    asked = asyncio.create_task(app_with(times, gate)(scope, receive, send))
    await began.wait()
    assert counted(times.take()) == {("GET", "/api/things/slow/stream", "2xx"): 1}
    gate.set()
    await asked
    assert times.take() == []


def test_a_time_goes_into_the_bucket_whose_end_it_does_not_pass() -> None:
    times = RequestTimes()
    bounds = BOUNDS["request"]
    for seconds in (bounds[0], bounds[0] / 2, 1.0, 1.0001, 99.0):
        times.note(method="GET", route="/", status=200, seconds=seconds)
    found = {each.value: (each.times, each.total) for each in times.take()}
    assert found == {
        bounds[0]: (2, pytest.approx(bounds[0] * 1.5)),
        1.0: (1, 1.0),
        2.5: (1, 1.0001),
        float("inf"): (1, 99.0),
    }


async def test_what_could_not_be_written_is_written_the_next_time() -> None:
    times = RequestTimes()
    times.note(method="GET", route="/", status=200, seconds=0.1)

    class Away:
        def connection(self) -> Any:
            times.note(method="GET", route="/", status=200, seconds=0.1)
            raise ConnectionError("away")

    with pytest.raises(ConnectionError):
        await times.write(Away())  # type: ignore[arg-type]
    assert counted(times.take()) == {("GET", "/", "2xx"): 2}
