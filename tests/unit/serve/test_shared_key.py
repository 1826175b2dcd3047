"""The shared key of `/llm` and `/embeddings`; and secrets: who makes them, which are too well known."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from starlette.types import Message

from actors.platform.systems import load
from models.config import Config
from models.errors import ConfigInvalid
from serve.inference.shared_key import MOST_BYTES, SharedKey
from tests.profile import local_profile, write_yaml

ROOT = Path(__file__).resolve().parents[3]
KEY = "a-key-of-the-site"


@pytest.fixture
def client() -> TestClient:
    app = FastAPI()

    @app.post("/v1/echo")
    async def echo(request: Request) -> int:
        return len(await request.body())

    app.add_middleware(SharedKey, key=KEY)
    return TestClient(app)


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer x", f"Basic {KEY}", f"Bearer {KEY}x", "Bearer é"]
)
def test_nobody_comes_in_without_the_key(client: TestClient, given: str | None) -> None:
    headers = [] if given is None else [(b"Authorization", given.encode("latin-1"))]
    answer = client.post("/v1/echo", content=b"x", headers=headers)
    assert (answer.status_code, answer.headers["connection"]) == (401, "close")
    assert answer.json()["error"]["code"] == "invalid_api_key"


def test_with_the_key_the_body_arrives_whole_up_to_its_limit(client: TestClient) -> None:
    headers = {"Authorization": f"bearer {KEY}"}
    assert client.post("/v1/echo", content=b"x" * 100_000, headers=headers).json() == 100_000
    assert client.post("/v1/echo", content=b"x" * (MOST_BYTES + 1), headers=headers).status_code == 413


async def test_without_the_key_nothing_is_read() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        raise AssertionError("it was read")

    async def send(message: Any) -> None:
        sent.append(message)

    async def app(*_: Any) -> None:
        raise AssertionError("it was reached")

    scope = {"type": "http", "headers": [(b"content-length", b"1000000000")], "method": "POST", "path": "/"}
    await SharedKey(app, KEY)(scope, receive, send)
    assert sent[0]["status"] == 401
    await SharedKey(app, KEY)({"type": "websocket", "headers": []}, receive, send)
    assert sent[-1] == {"type": "websocket.close", "code": 1008}


def configured(folder: Path, **changes: Any) -> Config:
    """configs/local.yaml with changes, its data in a folder of the test."""
    raw = local_profile()
    for path, value in changes.items():
        section, key = path.split("__")
        raw[section][key] = value
    write_yaml(folder / "config.yaml", raw)
    return load(folder / "config.yaml", root=folder)


def test_a_secret_is_made_once_for_its_owner_alone_and_agents_show_it(tmp_path: Path) -> None:
    made: list[Config] = []
    first = configured(tmp_path)
    (tmp_path / "data/serving_key").unlink()
    threads = [
        threading.Thread(target=lambda: made.append(load(tmp_path / "config.yaml", root=tmp_path)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (key,) = {config.serving.api_key.get_secret_value() for config in made}
    assert len(key) >= 32
    path = tmp_path / "data/serving_key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [name for name in os.listdir(path.parent) if name.startswith(".")] == []
    assert first.serving.api_key.get_secret_value() != key
    assert made[0].chat.assistant_llm.api_key.get_secret_value() == key
    assert made[0].embedding.api_key.get_secret_value() == key


@pytest.mark.parametrize(
    "value", [{"file": "x", "make": 1}, {"make": True}, {"file": "x", "other": True}, {}]
)
def test_a_secret_is_spelt_in_three_ways_only(tmp_path: Path, value: dict[str, Any]) -> None:
    with pytest.raises(ConfigInvalid, match=r"serving\.api_key"):
        configured(tmp_path, serving__api_key=value)


PRINTED = "development-only-secret-change-me-before-use"


def test_the_printed_secret_is_in_the_printed_configuration() -> None:
    """Whoever changes the one must change the other, or the refusal is lost."""
    assert yaml.safe_load((ROOT / "configs/local.yaml").read_text())["auth"]["secret"] == PRINTED


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "site.example.com", "127.0.0.1.example.com"])
def test_away_from_loopback_a_published_secret_is_refused(tmp_path: Path, host: str) -> None:
    with pytest.raises(ConfigInvalid, match=r"auth\.secret is a published one") as refused:
        configured(tmp_path, http__host=host)
    assert "make: true" in str(refused.value)
    own = configured(tmp_path, http__host=host, auth__secret={"file": "./data/auth_secret", "make": True})
    assert own.http.host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "::1"])
def test_on_loopback_it_will_do(tmp_path: Path, host: str) -> None:
    assert configured(tmp_path, http__host=host).http.host == host
