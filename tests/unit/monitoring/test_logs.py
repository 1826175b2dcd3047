"""Lines of the log: what they hold, with which ids, and what they leave out."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from actors.platform import logs
from models import log_ids
from models.log_ids import LogIds
from serve.monitoring.logged import Logged

SECRET = "hunter2-of-the-person"


class Log:
    """What a logger has written, in the form that a process of ours gives it."""

    def __init__(self, *, as_text: bool) -> None:
        self.written = io.StringIO()
        self.handler = logging.StreamHandler(self.written)
        self.handler.setFormatter(logs.formatter(process="api", as_text=as_text))

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written.getvalue().splitlines()]


@pytest.fixture(name="log", params=[False])
def make_log(request: pytest.FixtureRequest) -> Iterator[Log]:
    log = Log(as_text=request.param)
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(log.handler)
    root.setLevel(logging.INFO)
    yield log
    root.removeHandler(log.handler)
    root.setLevel(level)


def fail() -> None:
    password = SECRET
    raise ValueError(f"a password of {len(password)} characters")


def test_a_line_is_json_with_the_ids_that_are_known(log: Log) -> None:
    with log_ids.within(LogIds(request_id="r1", user_id="rita")):
        logging.getLogger("serve.x").warning("%s\nis away", "Postgres", extra={"seconds": 1.5, "body": "no"})
    logging.getLogger("serve.x").info("nobody's")
    first, second = log.lines()
    assert first.pop("timestamp").endswith("Z")
    assert first == {
        "level": "warning",
        "logger": "serve.x",
        "process": "api",
        "event": "Postgres\nis away",
        "request_id": "r1",
        "user_id": "rita",
        "seconds": 1.5,
    }
    assert set(second) == {"timestamp", "level", "logger", "process", "event"}


@pytest.mark.parametrize("log", [False, True], indirect=True)
def test_a_trace_shows_no_values_of_variables(log: Log) -> None:
    try:
        fail()
    except ValueError:
        logging.getLogger("serve.x").exception("it failed")
    written = log.written.getvalue()
    assert "test_logs.py" in written
    assert "a password of 21 characters" in written
    assert SECRET not in written


def test_a_line_for_people_is_no_json(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log(as_text=True)
    log.handler.handle(logging.makeLogRecord({"msg": "it is away", "levelno": 30, "levelname": "WARNING"}))
    assert "it is away" in log.written.getvalue()
    assert "{" not in log.written.getvalue()


@pytest.mark.parametrize(
    ("style", "tty", "json_lines"),
    [("auto", False, True), ("auto", True, False), ("json", True, True), ("text", False, False)],
)
def test_a_process_begins_once(
    monkeypatch: pytest.MonkeyPatch, style: logs.LogStyle, tty: bool, json_lines: bool
) -> None:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    written = io.StringIO()
    monkeypatch.setattr(written, "isatty", lambda: tty, raising=False)
    monkeypatch.setattr("sys.stderr", written)
    monkeypatch.setattr(logs, "_HANDLERS", [])
    try:
        root.handlers[:] = []  # `ray.serve.llm`, which another test may have imported, leaves one of its own
        logs.begin(style, process="runner")
        logs.begin(style, process="another")
        assert len(root.handlers) == 1
        root.setLevel(logging.INFO)  # as importing `ray.serve.llm` does
        logging.getLogger("serve.y").info("here")
        logging.getLogger("httpx2").info("GET https://example.com/?key=k")
    finally:
        root.handlers[:] = before
        root.setLevel(level)
        for name in logs._OURS:
            logging.getLogger(name).setLevel(logging.NOTSET)
    [line] = written.getvalue().splitlines()
    assert "here" in line
    assert line.startswith("{") is json_lines


def test_what_cannot_be_written_fails_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = io.StringIO()
    gone.close()
    monkeypatch.setattr("sys.stderr", gone)
    monkeypatch.setattr(logs, "_HANDLERS", [])
    logs.begin("json", process="api", handlers=[logging.StreamHandler(gone)])
    logging.getLogger("serve.y").warning("it is away")


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("r-1", True), ("a" * 129, False), ("what Rita said", False), ("x\ny", False), ("", False)],
)
def test_a_request_is_a_line_with_its_route_and_nothing_that_was_sent(
    log: Log, sent: str, kept: bool
) -> None:
    app = FastAPI()

    @app.post("/things/{name}")
    async def thing(name: str, request: Request) -> None:
        log_ids.is_for("rita")
        logging.getLogger("serve.x").info("inside")

    app.add_middleware(Logged)
    headers = {"x-request-id": sent, "authorization": f"Bearer {SECRET}"}
    TestClient(app).post(f"/things/{SECRET}?key={SECRET}", headers=headers, json={"message": SECRET})
    inside, answered = (line for line in log.lines() if line["logger"].startswith("serve."))
    assert inside["request_id"] == answered["request_id"]
    assert (answered["request_id"] == sent) is kept
    assert answered["user_id"] == inside["user_id"] == "rita"
    assert (answered["method"], answered["route"], answered["status"]) == ("POST", "/things/{name}", 200)
    assert SECRET not in json.dumps([inside, answered])
    assert log_ids.current() == LogIds()


def test_health_checks_are_not_logged(log: Log) -> None:
    app = FastAPI()
    app.add_middleware(Logged)
    TestClient(app).get("/health")
    assert [line for line in log.lines() if line["logger"].startswith("serve.")] == []
