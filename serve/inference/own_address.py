"""Keeps the port that Ray Serve opens in each of our replicas on the node's own address.

Serve 2.60 has every replica listen for other deployments on all interfaces and on a port by chance, has no
setting for it, and unpickles what comes with the cluster's token (or without, where it has none). Others call
a replica by its node's address, so that is enough: on a head of ours it is loopback. A replica calls this
before Serve opens the port, which it does once the deployment's own object is made.
"""

import importlib
from typing import Any


def listen_on_node_only() -> None:
    """For this process, from now on. Again is harmless."""
    import ray

    # Private to Ray, and without types.
    replica: Any = importlib.import_module("ray.serve._private.replica")
    add_port: Any = importlib.import_module("ray._common.tls_utils").add_port_to_grpc_server
    host = str(ray.util.get_node_ip_address())  # type: ignore[no-untyped-call]
    own = f"[{host}]" if ":" in host else host

    def bound(server: Any, address: str) -> Any:
        return add_port(server, f"{own}:{address.rpartition(':')[2]}")

    replica.add_port_to_grpc_server = bound
