"""What a call of an agent carries, to one of another release too; and what it raised, out of Ray's errors."""

import asyncio
import logging
from typing import Any

import pytest
from ray.exceptions import RayTaskError

from actors.platform.runtime.directory import Directory, RemoteAgent, _own_error
from actors.platform.sending import Sender, sending_for
from models.error_lines import error_line, logged
from models.errors import ModelUnavailable, NotSent
from models.runtime.workflows import ClaimMark

MARK = ClaimMark(workflow_id="w", epoch=1)


def sent(error: Exception) -> Any:
    """Ray's error, as it carries an agent's; Ray has no types for it."""
    made: Any = RayTaskError
    return made("answer", "the agent's trace", error)


@pytest.mark.parametrize("dual", [False, True])
def test_an_agent_s_error_comes_out_as_itself_and_its_trace_goes_to_the_log(
    caplog: pytest.LogCaptureFixture, dual: bool
) -> None:
    """Where it can, Ray raises an error that is of both kinds; its members are the agent's error's own."""
    carrier = sent(ValueError("no such topic"))
    error = _own_error(carrier.as_instanceof_cause() if dual else carrier)
    assert (type(error), error_line(error)) == (ValueError, "ValueError: no such topic")
    logged(error, logging.getLogger("test"))
    assert "the agent's trace" in caplog.text


def test_the_facts_of_an_outage_come_with_it() -> None:
    error = _own_error(sent(ModelUnavailable("away", waits_for="model m")).as_instanceof_cause())
    assert isinstance(error, ModelUnavailable)
    assert error.facts == {"waits_for": "model m"}


class Verb:
    """A verb of an actor, as Ray has it: it refuses what its signature has not."""

    def __init__(self, *takes: str) -> None:
        self.takes = takes
        self.called: list[dict[str, Any]] = []

    def options(self, **_: Any) -> "Verb":
        return self

    def remote(self, *_: Any, **given: Any) -> Any:
        if odd := given.keys() - set(self.takes):
            raise TypeError(f"got an unexpected keyword argument {min(odd)!r}")
        self.called.append(given)
        answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        answered.set_result("done")
        return answered


class OneActor(Directory):
    """A directory that knows one actor, with one verb."""

    def __init__(self, verb: Verb) -> None:
        self.write = verb

    def known(self, role: str, replica: int) -> Any:
        return self

    def replicas(self, role: str) -> int:
        return 1


@pytest.mark.parametrize("takes", [(), ("log_ids",)], ids=["neither", "ids alone"])
async def test_an_agent_that_takes_no_claim_is_asked_to_read_and_never_to_write(
    takes: tuple[str, ...],
) -> None:
    """One that the last release started sends what it is told to, and looks at nothing first."""
    verb = Verb(*takes)
    agent = RemoteAgent(directory=OneActor(verb), role="crm")
    for sender in (Sender(claim=MARK), Sender()):
        with sending_for(sender), pytest.raises(NotSent, match=r"crm.*signoff up") as refused:
            await agent.call_once("write")
        assert refused.value.facts == {"waits_for": "agent crm of this release"}
    assert verb.called == []
    with sending_for(Sender(claim=MARK)):
        assert await agent.write() == "done"
    assert verb.called == [{}]


async def test_an_agent_of_this_release_is_told_the_claim_with_a_write() -> None:
    verb = Verb("log_ids", "claim")
    with sending_for(Sender(claim=MARK)):
        assert await RemoteAgent(directory=OneActor(verb), role="crm").call_once("write") == "done"
    assert [given["claim"] for given in verb.called] == [MARK]
