"""Agents that can't be had are an outage; what an agent raises is its own. On a real Ray."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from actors.platform.runtime.directory import Directory, stop_agents
from actors.platform.runtime.site import _settings
from models.config import Config, without_secrets
from models.error_lines import error_line
from models.errors import AgentDied, ClusterProblem, ModelRefused, ModelUnavailable
from tests.fakes.agents import with_roles

ROLES = "tests.fakes.agents:ROLES"
pytestmark = pytest.mark.usefixtures("ray_cluster")


@pytest.fixture
def directory(configure: Callable[..., Config], ray_cluster: None) -> Iterator[Directory]:
    """A directory of agents that die."""
    config = with_roles(configure(), "mortal", "stillborn")
    stop_agents()
    yield Directory(config=config, roles=ROLES)
    stop_agents()


async def test_an_agent_is_never_started_without_its_secrets(
    configure: Callable[..., Config], directory: Directory
) -> None:
    config = with_roles(configure(), "oracle")
    lacking = Directory(config=with_roles(without_secrets(_settings(config)), "oracle"), roles=ROLES)
    with pytest.raises(ClusterProblem, match="agent:oracle:0 does not run yet"):
        await lacking.agent("oracle").pid()
    # Once somebody who has them has started it, it is everybody's.
    pid = await Directory(config=config, roles=ROLES).agent("oracle").pid()
    assert await lacking.agent("oracle").pid() == pid


async def test_an_agent_that_dies_again_and_again_is_an_outage(directory: Directory) -> None:
    with pytest.raises(AgentDied) as raised:
        await directory.agent("mortal").die()
    assert (str(raised.value), raised.value.outage, raised.value.facts) == (
        "the agent mortal can't be reached: ask again",
        True,
        {"waits_for": "agent mortal"},
    )


async def test_a_call_that_must_not_run_twice_is_not_begun_again(
    directory: Directory, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    with pytest.raises(AgentDied, match="the agent mortal ended while it was asked") as raised:
        await directory.agent("mortal").call_once("note_and_die", str(notes))
    assert raised.value.facts == {"waits_for": "agent mortal"}
    # The next call finds a new process, and Ray has begun the first one nowhere again.
    with pytest.raises(ZeroDivisionError):
        await directory.agent("mortal").call_once("fail", ZeroDivisionError("division by zero"))
    assert notes.read_text() == "called\n"


async def test_an_agent_that_can_t_be_made_is_an_outage(directory: Directory) -> None:
    with pytest.raises(AgentDied) as raised:
        await directory.agent("stillborn").die()
    assert raised.value.facts == {"waits_for": "agent stillborn"}
    with pytest.raises(AgentDied):
        await anext(directory.agent("stillborn").stream("dictate"))


async def test_an_agent_that_dies_in_mid_answer_is_an_outage(directory: Directory) -> None:
    stream = directory.agent("mortal").stream("dictate")
    os.kill(int(await anext(stream)), signal.SIGKILL)
    with pytest.raises(AgentDied, match="the agent mortal ended while it answered") as raised:
        await anext(stream)
    assert raised.value.facts == {"waits_for": "agent mortal"}


@pytest.mark.parametrize(
    "error",
    [
        ModelUnavailable("away", waits_for="model m at u", retry_after_seconds=7.0),
        ModelRefused("no"),
        ZeroDivisionError("division by zero"),
    ],
)
async def test_what_an_agent_raises_arrives_as_itself_with_its_facts_and_its_trace(
    directory: Directory, error: Exception
) -> None:
    with pytest.raises(type(error)) as raised:
        await directory.agent("mortal").fail(error)
    assert error_line(raised.value) == error_line(error)
    assert getattr(raised.value, "facts", None) == getattr(error, "facts", None)
    assert "in fail" in "\n".join(raised.value.__notes__)
