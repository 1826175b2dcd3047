"""The port that Serve opens in a replica: on the node's own address, whatever Serve asks for."""

import re
from pathlib import Path

import grpc
import psutil
import pytest
import ray
from ray.serve._private import http_util, proxy, replica

from cluster.ray import _head_environment
from serve.admission.frames import BoundedFrames
from serve.admission.heads import BoundedHeads
from serve.admission.sockets import narrow_proxy
from serve.inference.own_address import listen_on_node_only

REPLICA = Path(replica.__file__).read_text(encoding="utf-8")


async def test_what_serve_opens_everywhere_is_opened_on_the_node(
    ray_cluster: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "add_port_to_grpc_server", replica.add_port_to_grpc_server)
    listen_on_node_only()
    server = grpc.aio.server()
    port = replica.add_port_to_grpc_server(server, "[::]:0")
    await server.start()
    try:
        listening = [c.laddr for c in psutil.Process().net_connections() if c.status == "LISTEN"]
        found = [address.ip.removeprefix("::ffff:") for address in listening if address.port == port]
        assert found == [ray.util.get_node_ip_address()]
    finally:
        await server.stop(None)


def test_serve_still_opens_it_by_that_name_once_our_code_has_run() -> None:
    """What is replaced is private to Ray: a release that does otherwise must be looked at anew."""
    assert 'add_port_to_grpc_server(self._server, "[::]:0")' in REPLICA
    made, opened = "await self._user_callable_wrapper.initialize_callable()", "await self._on_initialized()"
    assert 0 < REPLICA.index(made) < REPLICA.index(opened)


def test_serve_s_proxy_takes_small_messages_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the module that opens the proxy's port, by the callback that the head's environment names."""
    monkeypatch.setattr(http_util, "uvicorn", http_util.uvicorn)
    assert narrow_proxy() == []
    made = http_util.uvicorn.Config(lambda: None, factory=True)
    assert (made.http, made.ws, made.ws_max_size) == (BoundedHeads, BoundedFrames, 64 * 1024)
    environment = _head_environment(Path("/tmp/x"))
    assert (
        environment["RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"] == f"{narrow_proxy.__module__}.narrow_proxy"
    )
    text = Path(http_util.__file__).read_text(encoding="utf-8")
    assert set(re.findall(r"\buvicorn\.(\w+)\(", text)) == {"Server", "Config"}
    assert "configure_http_middlewares(" in Path(proxy.__file__).read_text(encoding="utf-8")
