"""What all tests share: a scripted model; rules are tried without a clock, on a machine that may be busy."""

import functools
import logging
import signal
from collections.abc import Iterator
from typing import Any

import httpcore2
import pytest

from tests import distribution, examples
from tests.fakes.model.model_server import ModelServer

examples.register()


def pytest_configure() -> None:
    """Have what tests start hear Ctrl-C: it would not where the run itself was started by `nohup`."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Each HTTP client would read the machine's certificates anew, which takes longer than many tests.
    httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--few", action="store_true", help="try each test with two of its parameters")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("few"):
        items[:] = distribution.few(items)
    distribution.arrange(items)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> distribution.Distribution:
    return distribution.Distribution(config, log)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their argument: each worker collects anew, and packed bytes may hold the time."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture(autouse=True)
def own_log() -> Iterator[None]:
    """Take from the log what a test has put there: its streams close with it, and others would write to them.

    `ray.serve.llm` logs once it is imported, and a command that runs in this process begins to.
    """
    root = logging.getLogger()
    handlers, level, raises = list(root.handlers), root.level, logging.raiseExceptions
    yield
    root.handlers[:] = [handler for handler in root.handlers if handler in handlers]
    root.setLevel(level)
    logging.raiseExceptions = raises


@pytest.fixture(autouse=True)
def breakers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test is a process of its own: no endpoint is away because of what another test did to it."""
    monkeypatch.setattr("actors.platform.llm.breaker._BREAKERS", {})


@pytest.fixture(scope="session")
def running_server() -> Iterator[ModelServer]:
    """The scripted model server of the whole run."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(running_server: ModelServer) -> ModelServer:
    """A scripted model server that nobody has asked yet."""
    running_server.reset()
    return running_server


@pytest.fixture
def model(server: ModelServer) -> ModelServer:
    """The same, where it is what a site's agents ask."""
    return server


@pytest.fixture
def model_server(server: ModelServer) -> ModelServer:
    """The same, beside another server."""
    return server
