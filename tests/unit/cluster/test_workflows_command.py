"""`signoff workflows`: ids are shown whole, and a list that is not all of it says so."""

import io
import json
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from rich.console import Console

from cluster.cli import workflows
from cluster.cli.door import Door
from models.errors import InputInvalid

_UNUSUAL = "wähler-" * 12


def record(**changes: Any) -> dict[str, Any]:
    return {
        "id": uuid.uuid4().hex,
        "kind": "edit_article",
        "status": "parked",
        "requested_by": "ann@example.org",
        "created_at": "2026-01-02T03:04:05Z",
        "error": None,
        "parked_for": "the model at https://models.example.org/v1",
        "parked_since": "2026-01-02T03:04:05Z",
        **changes,
    }


class _Site(ThreadingHTTPServer):
    """Answers each request with the workflows it has, as many as are asked for."""

    found: list[dict[str, Any]]
    asked: list[str]


class _Answers(BaseHTTPRequestHandler):
    server: _Site

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = json.dumps(self.server.found).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[_Site]:
    server = _Site(("127.0.0.1", 0), _Answers)
    server.found, server.asked = [], []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def told(site: _Site, *, width: int = 80, verb: str = "", **options: Any) -> str:
    console = Console(width=width, file=io.StringIO(), markup=False, emoji=False, highlight=False)
    with Door(f"http://127.0.0.1:{site.server_port}", "token") as door:
        workflows.run(door, verb, "", reason="", console=console, **options)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [30, 60, 80, 160])
def test_ids_are_whole_on_any_terminal(site: _Site, width: int) -> None:
    site.found = [record(), record(requested_by=_UNUSUAL, error=_UNUSUAL, parked_for=None)]
    shown = told(site, width=width)
    for one in site.found:
        assert one["id"] in shown
    assert "…" not in shown


def test_a_full_page_is_said_with_how_to_go_on(site: _Site) -> None:
    site.found = [record() for _ in range(500)]
    shown = told(site, statuses=["parked", "failed"])
    last = site.found[-1]["id"]
    assert f"`signoff workflows --status parked --status failed --before {last}`" in shown
    assert site.asked == ["/api/workflows?limit=500&status=parked&status=failed"]
    site.found = site.found[:-1]
    shown = told(site, before=last)
    assert "--before" not in shown
    assert site.asked[1:] == [f"/api/workflows?limit=500&before={last}"]


def test_options_of_the_list_are_refused_elsewhere(site: _Site) -> None:
    with pytest.raises(InputInvalid, match="--status and --before are for the list"):
        told(site, verb="retry", before="x")
    assert site.asked == []
