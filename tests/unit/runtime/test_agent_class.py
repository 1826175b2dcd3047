"""The class of an agent's actor: the plain class's verbs, with ids and a line for each call."""

import inspect
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
import ray.cloudpickle

from actors.platform import logs, sending
from actors.platform.runtime.agent_class import agent_class
from models import log_ids
from models.log_ids import LogIds
from models.runtime.workflows import ClaimMark

IDS = LogIds(request_id="r1", user_id="rita")


class Mute:
    """An agent with nothing to be made of."""

    async def say(self) -> str:
        return ""


class Parrot:
    """An agent that says whom it works for."""

    def __init__(self, *, word: str) -> None:
        self._word = word

    async def say(self, times: int = 1) -> str:
        return f"{self._word * times} {log_ids.current().request_id}"

    async def stream(self, *words: str, **more: str) -> AsyncIterator[str]:
        for word in words:
            yield f"{word} {log_ids.current().request_id}"

    def count(self) -> int:
        return len(self._word)

    async def fail(self) -> None:
        raise KeyError("no")


@pytest.fixture(name="agent")
def make_agent(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> object:
    monkeypatch.setattr(logs, "begin", lambda *_, **__: None)
    caplog.set_level(logging.INFO, "actors.platform.runtime.agent_class")
    return agent_class(Parrot, role="parrot", style="auto")(word="kra")


async def test_verbs_do_what_they_did_and_are_told_whom_for(
    agent: Parrot, caplog: pytest.LogCaptureFixture
) -> None:
    assert await agent.say(2, log_ids=IDS) == "krakra r1"  # type: ignore[call-arg]
    # Within a call it is one of its own; and the last release's callers send no ids.
    assert await agent.say() == "kra r1"
    assert [word async for word in agent.stream("a", "b", log_ids=IDS)] == ["a r1", "b r1"]  # type: ignore[arg-type]
    assert agent.count(log_ids=IDS) == 3  # type: ignore[call-arg]
    with pytest.raises(KeyError):
        await agent.fail(log_ids=IDS)  # type: ignore[call-arg]
    told = [(r.agent, r.verb, getattr(r, "error", None)) for r in caplog.records]  # type: ignore[attr-defined]
    assert told == [
        ("parrot", "say", None),
        ("parrot", "stream", None),
        ("parrot", "count", None),
        ("parrot", "fail", "KeyError"),
    ]


async def test_a_call_works_under_its_caller_s_claim_and_under_none_where_there_is_none() -> None:
    class Clerk:
        async def mark(self) -> ClaimMark | None:
            return sending.claim()

        def mark_in_a_thread(self) -> ClaimMark | None:
            return sending.claim()

    mark = ClaimMark(workflow_id="w", epoch=3)
    agent: Any = agent_class(Clerk, role="clerk", style="auto", database_url="postgresql://x/y")()
    assert await agent.mark(log_ids=IDS, claim=mark) == mark
    assert agent.mark_in_a_thread(log_ids=IDS, claim=mark) == mark
    # The next call in that thread is somebody else's.
    assert agent.mark_in_a_thread(log_ids=IDS) is None
    assert await agent.mark(log_ids=IDS) is None


def test_the_class_is_the_plain_one_to_ray() -> None:
    made = agent_class(Parrot, role="parrot", style="auto")
    assert (made.__name__, made.__qualname__, made.__doc__) == ("Parrot", "Parrot", Parrot.__doc__)
    assert str(inspect.signature(made.say)) == "(self, times: int = 1, *, log_ids=None, claim=None) -> str"
    assert list(inspect.signature(made.stream).parameters) == ["self", "words", "log_ids", "claim", "more"]
    assert inspect.iscoroutinefunction(made.say)
    assert inspect.isasyncgenfunction(made.stream)
    assert not inspect.iscoroutinefunction(made.count)
    assert list(inspect.signature(made).parameters) == ["word"]
    assert ray.remote(agent_class(Mute, role="mute", style="auto")) is not None
    again = ray.cloudpickle.loads(ray.cloudpickle.dumps(made))
    assert again is not Parrot
    assert issubclass(again, Parrot)
