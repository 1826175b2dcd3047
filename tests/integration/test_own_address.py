"""The port that Serve opens in a replica: on the node's own address, whatever Serve asks for."""

from pathlib import Path

import grpc
import psutil
import pytest
import ray
from ray.serve._private import replica

from serve.own_address import listen_on_node_only

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
