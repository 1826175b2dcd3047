"""A site that listens on IPv6: whether its port is free, and where it is reached."""

import socket

import pytest

from cluster import checks
from cluster.parts.apps import base_url
from models.config import Config
from models.errors import ClusterProblem


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("::", "http://[::1]:8000"),
        ("::1", "http://[::1]:8000"),
        ("2001:db8::7", "http://[2001:db8::7]:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("signoff.example.org", "http://signoff.example.org:8000"),
    ],
)
def test_where_the_site_is_reached(host: str, url: str, config: Config) -> None:
    http = config.http.model_copy(update={"host": host, "port": 8000})
    assert base_url(config.model_copy(update={"http": http})) == url


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
@pytest.mark.parametrize("host", ["::", "::1"])
def test_a_port_is_looked_at_where_the_site_listens(host: str) -> None:
    with socket.socket(socket.AF_INET6) as taken:
        taken.bind((host, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ClusterProblem, match=f"port {port} on {host} is in use"):
            checks.check_port(host, port, "http.port")
    checks.check_port(host, port, "http.port")
