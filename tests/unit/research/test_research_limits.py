"""Limits of a research: what was asked for, what was used, and what is a failure of the work's own."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.research.limits import check_asked, own_failure, reached
from models.config import PlanLimits
from models.errors import (
    AgentDied,
    Fenced,
    InputInvalid,
    JournalMismatch,
    ModelRefused,
    ModelUnavailable,
    PlacesTaken,
)
from models.research.agent_workflows import StartRequest
from models.research.limits import LIMITS, SpentSoFar
from models.research.url_lists import PageOutcome

AMOUNTS = st.integers(0, 6)


def plan(**limits: Any) -> PlanLimits:
    """A plan with room for much, but for what is said."""
    room = dict(
        max_urls=50, max_tool_calls=500, max_duration_seconds=900, max_llm_tokens=10_000, max_workflows=3
    )
    return PlanLimits(**(room | limits))


@given(
    most=st.tuples(*[st.integers(1, 5)] * 4), calls=AMOUNTS, pages=AMOUNTS, tokens=AMOUNTS, seconds=AMOUNTS
)
def test_there_is_room_for_one_more_until_something_is_used_up_and_the_answer_names_it(
    most: tuple[int, ...], calls: int, pages: int, tokens: int, seconds: int
) -> None:
    bounds: dict[str, int] = dict(zip(LIMITS, most, strict=True))
    limits = plan(**bounds)
    spent = SpentSoFar(tokens=tokens, seconds=seconds)
    used = {
        "max_urls": pages,
        "max_tool_calls": calls,
        "max_duration_seconds": seconds,
        "max_llm_tokens": tokens,
    }
    over = {name for name, value in used.items() if value >= bounds[name]}
    for_page = reached(limits, spent, calls=calls, pages=pages)
    assert (for_page is None) == (not over)
    assert for_page is None or for_page.limit in over
    if for_page is not None:
        assert for_page.reason == (
            f"{for_page.limit} is used up: {used[for_page.limit]} of {bounds[for_page.limit]}"
        )
    # What is no page needs no room among addresses.
    other = reached(limits, spent, calls=calls)
    assert (other is None) == (not over - {"max_urls"})
    assert other is None or other.limit in over - {"max_urls"}


def asking(**said: Any) -> StartRequest:
    """A request."""
    return StartRequest.model_validate({"user_query": "How do watermills turn in winter?"} | said)


@given(most=st.integers(1, 200), asked=st.integers(1, 200), own=st.integers(0, 200))
def test_no_more_addresses_are_asked_for_than_the_plan_allows(most: int, asked: int, own: int) -> None:
    urls = [f"https://example.org/{number}" for number in range(own)]
    request = asking(config={"max_urls": asked}, urls=urls)
    if asked <= most and own <= most:
        check_asked(request, plan(max_urls=most))
        return
    with pytest.raises(InputInvalid, match=r"config\.max_urls.*allows|allows.*config\.max_urls") as refused:
        check_asked(request, plan(max_urls=most))
    assert f"this topic's plan allows {most}" in str(refused.value)
    assert str(refused.value).startswith("config.max_urls:" if asked > most else "urls:")


@pytest.mark.parametrize("said", [{}, {"config": None}, {"config": {"language": "any"}}])
def test_who_does_not_say_how_many_is_refused_nothing(said: dict[str, Any]) -> None:
    check_asked(asking(**said), plan(max_urls=1))


def test_the_same_address_twice_is_one() -> None:
    check_asked(asking(urls=["https://example.org/"] * 3), plan(max_urls=1))


@pytest.mark.parametrize(
    "error",
    [
        ModelUnavailable("the model is away", waits_for="model m"),
        AgentDied("the agent can't be reached", waits_for="agent extractor"),
        PlacesTaken("as many as it may"),
        Fenced("it was stopped"),
        JournalMismatch("it was kept as something else"),
        ConnectionRefusedError(111, "refused"),
    ],
)
def test_what_is_away_and_what_was_stopped_is_no_failure_of_the_work(error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        own_failure(error, "source 1")
    assert raised.value is error


@pytest.mark.parametrize("error", [ModelRefused("the endpoint refused it"), ValueError("bad text")])
def test_what_fails_by_itself_says_why(error: Exception) -> None:
    assert str(error) in own_failure(error, "source 1")


@pytest.mark.parametrize("limit", LIMITS)
def test_the_fault_of_a_page_that_was_left_is_the_name_of_the_limit(limit: str) -> None:
    page = PageOutcome.model_validate({"number": 1, "url": "https://example.org/", "fault": limit})
    assert page.limit == limit
    assert page.model_copy(update={"fault": "login"}).limit is None
