"""Checks in a process apart: which are done there, and how they end; the loop goes on."""

import asyncio
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.mcp import schemas
from actors.platform.mcp.bounded_checking import FAILS, NEWEST, Steps, TooMuchWork, _matcher, first_fault
from actors.platform.mcp.checking_apart import Checked, apart
from actors.platform.mcp.schemas import fault_in, refusal_of
from tests.examples import examples

# What Rust's engine is at for minutes, without giving way to anybody.
_THRASHES = "[ab]*a[ab]{900}[cd]"
_TEXT = "".join(random.Random(1).choices("ab", k=2_000_000))


def never_ending(marker: str) -> str | None:
    Path(marker).write_text(str(os.getpid()), encoding="utf-8")
    while True:
        pass


def thrashing() -> str | None:
    _matcher(_THRASHES).validate_python(_TEXT)
    return None


def greedy() -> str | None:
    return str(len(bytearray(2 * 1024**3)))


def dying() -> str | None:
    os.abort()


def printing_nothing_else(said: str) -> str | None:
    return said


def verdicts(pairs: list[tuple[Any, Any]]) -> str | None:
    return json.dumps([verdict(value, schema) for value, schema in pairs])


def verdict(value: Any, schema: Any) -> str | None:
    try:
        found = first_fault(value, schema, NEWEST, Steps(20_000))
    except TooMuchWork:
        return "too much"
    except FAILS as error:
        return type(error).__name__
    return None if found is None else found.message


async def _ticks_until(done: asyncio.Task[Any]) -> int:
    ticks = 0
    while not done.done():
        ticks += 1
        await asyncio.sleep(0.01)
    return ticks


async def test_a_check_that_does_not_end_is_ended(tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    found = await apart(never_ending, str(marker), seconds=0.3)
    assert found == Checked("checking it takes more than 0.3 s", passes=True)
    assert int(marker.read_text(encoding="utf-8")) != os.getpid()
    assert not psutil.pid_exists(int(marker.read_text(encoding="utf-8")))


@pytest.mark.heavy
async def test_the_loop_goes_on_while_a_pattern_gives_way_to_nobody() -> None:
    task = asyncio.create_task(apart(thrashing, seconds=1.0))
    ticks = await _ticks_until(task)
    assert task.result() == Checked("checking it takes more than 1 s", passes=True)
    assert ticks > 10


@pytest.mark.parametrize("work", [greedy, dying])
async def test_a_check_that_takes_too_much_memory_or_dies_is_refused(work: Callable[[], str | None]) -> None:
    found = await apart(work, seconds=5.0)
    assert (found.fault or "").startswith("checking it ended its process")
    assert found.passes


@pytest.mark.parametrize("said", ["", "a\ud800", "zażółć\n\x00"])
async def test_what_is_told_comes_as_it_is(said: str) -> None:
    assert await apart(printing_nothing_else, said) == Checked(said)


@pytest.fixture
def went_apart(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is given to processes apart; each is told to take too long."""
    given_apart: list[str] = []

    async def given_away(
        work: Callable[..., str | None], check: Callable[..., str | None], *_: Any
    ) -> Checked:
        assert work is schemas.within_steps
        given_apart.append(check.__name__)
        return Checked("checking it takes more than 3 s", passes=True)

    monkeypatch.setattr(schemas, "apart", given_away)
    return given_apart


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ({"a": "ab" * 200_000}, _object(a={"pattern": "[ab]*a[ab]{300}[cd]"})),
        (
            {"a": {str(each): 1 for each in range(20_000)}},
            _object(a={"anyOf": [{"additionalProperties": False}] * 50}),
        ),
        ({"a": ["b"] * 100_000}, _object(a={"items": {"type": "string"}})),
    ],
)
async def test_what_is_much_to_check_is_done_apart_and_refused_where_it_was_not(
    value: Any, schema: dict[str, Any], went_apart: list[str]
) -> None:
    assert await refusal_of(schema, of_object=True) is None
    assert went_apart == []
    assert await fault_in(value, schema) == "checking it takes more than 3 s"
    assert went_apart == ["_fault_in"]


async def test_a_usual_answer_is_checked_without_a_process(went_apart: list[str]) -> None:
    mail = _object(**{f"f{each}": {"type": "string", "pattern": "^[a-z ]{1,80}$"} for each in range(20)})
    schema = _object(mails={"type": "array", "items": mail})
    assert await refusal_of(schema, of_object=True) is None
    assert await fault_in({"mails": [dict.fromkeys(mail["properties"], "words")] * 5}, schema) is None
    assert went_apart == []


async def test_a_refusal_for_time_is_not_kept_and_any_other_is(
    monkeypatch: pytest.MonkeyPatch, went_apart: list[str]
) -> None:
    schema = {
        **_object(**{f"a{each}": {"pattern": f"\\w{{9}}{each}"} for each in range(50)}),
        "title": "kept",
    }
    assert await refusal_of(schema, of_object=True) == "checking it takes more than 3 s"
    assert await refusal_of(schema, of_object=True) == "checking it takes more than 3 s"
    assert went_apart == ["_refused", "_refused"]
    monkeypatch.setattr(schemas, "apart", apart)
    assert await refusal_of(schema, of_object=True) is None
    monkeypatch.delattr(schemas, "apart")
    assert await refusal_of(schema, of_object=True) is None


_schemas = st.recursive(
    st.sampled_from(
        [True, False, {}, {"type": "string"}, {"pattern": "^[ab]+$"}, {"maxLength": 1}, {"const": 1}]
    ),
    lambda each: st.one_of(
        st.builds(
            lambda keyword, found: {keyword: found},
            st.sampled_from(["items", "contains", "propertyNames", "additionalProperties", "not"]),
            each,
        ),
        st.builds(
            lambda keyword, found: {keyword: found},
            st.sampled_from(["allOf", "anyOf", "oneOf", "prefixItems"]),
            st.lists(each, min_size=1, max_size=3),
        ),
        st.dictionaries(st.sampled_from(["a", "b"]), each, max_size=2).map(
            lambda found: {"properties": found}
        ),
    ),
    max_leaves=8,
)
_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=3)
    | st.sampled_from(["a", "ab"])
    | st.floats(),
    lambda each: (
        st.lists(each, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c"]), each, max_size=3)
    ),
    max_leaves=8,
)


@examples(10)
@given(st.lists(st.tuples(_values, _schemas), min_size=20, max_size=40))
@pytest.mark.heavy
def test_what_is_checked_apart_comes_to_the_same(pairs: list[tuple[Any, Any]]) -> None:
    found = asyncio.run(apart(verdicts, pairs, seconds=20.0))
    assert json.loads(found.fault or "") == [verdict(value, schema) for value, schema in pairs]
