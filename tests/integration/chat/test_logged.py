"""One chat message through Ray Serve: the lines that the replica and the agents' processes have logged."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
import ray.serve as ray_serve

from actors.platform.runtime.directory import stop_agents
from models.config import Config
from models.store.database import Database
from serve.api import build_api
from tests.fakes.model.model_script import Rule
from tests.fakes.model.model_server import ModelServer
from tests.integration.chat.sites.agents_site import MACRO, ChatSite, make_scripted_chat, make_site
from tests.integration.events.event_streams import until
from tests.integration.rest import client
from tests.ports import free_port

__all__ = ["make_scripted_chat"]

QUESTION = "what did we write about inflation?"
ANSWER = "Inflation eased to 3.1 percent [1]."
REQUEST = "req-8f2c"


@pytest.fixture(name="chat")
def make_chat(
    ray_cluster: None,
    database: Database,
    database_url: str,
    scripted_chat: ModelServer,
    configure: Callable[..., Config],
) -> Iterator[ChatSite]:
    """A site whose agents are actors, and whose API is a replica of Ray Serve."""
    stop_agents()
    port = {"http.port": free_port()}
    chat = make_site(database, database_url, scripted_chat, configure, port)
    where = {"host": "127.0.0.1", "port": chat.config.http.port}
    ray_serve.start(http_options=where, logging_config={"encoding": "JSON"})
    ray_serve.run(build_api(chat.config, database_url), name="api", route_prefix="/")
    yield chat
    ray_serve.shutdown()
    stop_agents()


def logged() -> dict[str, list[dict[str, Any]]]:
    """The lines of JSON in Ray's log files that are of our request, by the process that wrote them."""
    node: Any = ray._private.worker._global_node
    folder = Path(node.get_logs_dir_path())
    found: dict[str, list[dict[str, Any]]] = {}
    for file in (*folder.glob("worker-*.err"), *folder.glob("serve/replica_api_*.log")):
        for line in file.read_text(errors="replace").splitlines():
            if line.startswith("{") and REQUEST in line:
                told = json.loads(line)
                found.setdefault(told["process"], []).append(told)
    return found


async def test_what_one_request_did_is_found_by_its_id_in_every_process(chat: ChatSite) -> None:
    await chat.site.article(MACRO, headline="The Fed holds", publish=True)
    chat.server.script(Rule(kind="text", reply=ANSWER))
    base = f"http://127.0.0.1:{chat.config.http.port}"
    async with client(chat.config, base, "rita", "macro:reader") as rita:
        body = {"message": QUESTION, "topic": "macro"}
        answer = await rita.post("/api/chat", json=body, headers={"x-request-id": REQUEST})
        assert answer.status_code == 200, answer.text
        assert answer.headers["x-request-id"] == REQUEST
        token = rita.headers["authorization"].removeprefix("Bearer ")
    await until(lambda: {"agent main_chat", "agent article_query"} <= logged().keys())
    await until(lambda: any(line["event"] == "answered" for line in logged().get("api", ())))
    lines = logged()
    [request] = [line for line in lines["api"] if line["event"] == "answered"]
    assert (request["method"], request["route"], request["status"]) == ("POST", "/api/chat", 200)
    assert lines["agent article_query"][-1]["verb"] == "stream_answer"
    for line in (line for of_process in lines.values() for line in of_process):
        assert line["request_id"] == REQUEST
        assert line["user_id"] == "rita"
        for said in (QUESTION, ANSWER, token):
            assert said not in json.dumps(line)
