"""The breaker's rules, whatever happens in whatever order, on a clock that the test turns."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from actors.platform.llm.breaker import Attempt, Breaker, BreakerOpen, breaker_of
from models.config import BreakerConfig
from tests.examples import examples

SETTINGS = BreakerConfig(faults=3, pause_seconds=2, longest_pause_seconds=16)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Turned:
    """A breaker on a clock of its own; `chance` decides how far a pause is from its mean."""

    def __init__(self, chance: float = 0.5) -> None:
        self.seconds = 1000.0
        self.chance = chance
        self.breaker = Breaker(
            SETTINGS, clock=lambda: self.seconds, wall=lambda: NOON, chance=lambda: self.chance
        )

    def open(self) -> None:
        for attempt in [self.breaker.enter() for _ in range(3)]:
            attempt.failed()


def refused(breaker: Breaker) -> BreakerOpen:
    with pytest.raises(BreakerOpen) as raised:
        breaker.enter()
    return raised.value


def test_faults_in_a_row_open_it_and_an_answer_between_them_does_not() -> None:
    turned = Turned()
    for ends in ("failed", "failed", "answered", "failed", "failed"):
        getattr(turned.breaker.enter(), ends)()
    turned.breaker.enter().failed()
    told = refused(turned.breaker)
    assert (told.retry_after_seconds, told.since) == (2.0, NOON)


def test_one_call_finds_out_whether_it_is_back_and_each_that_fails_doubles_the_pause() -> None:
    turned = Turned()
    turned.open()
    for pause in (2, 4, 8, 16, 16):
        turned.seconds += pause - 0.01
        refused(turned.breaker)
        turned.seconds += 0.02
        probe = turned.breaker.enter()
        assert refused(turned.breaker).retry_after_seconds >= SETTINGS.pause_seconds
        probe.failed()
    turned.seconds += 17
    turned.breaker.enter().answered()
    assert turned.breaker.since is None
    turned.breaker.enter().failed()
    turned.breaker.enter()  # it is closed, and one fault does not open it
    turned.open()
    assert refused(turned.breaker).retry_after_seconds == 2.0  # the pause begins small again


def test_a_probe_whose_caller_leaves_gives_its_place_to_the_next() -> None:
    turned = Turned()
    turned.open()
    turned.seconds += 3
    turned.breaker.enter().left()
    turned.breaker.enter().answered()
    turned.breaker.enter()


def test_calls_from_before_it_opened_neither_lengthen_the_pause_nor_close_it() -> None:
    turned = Turned()
    late = [turned.breaker.enter() for _ in range(40)]
    turned.open()
    for attempt in late[:39]:
        attempt.failed()
    late[39].answered()
    assert refused(turned.breaker).retry_after_seconds == 2.0


def test_one_request_that_is_slow_again_and_again_counts_once_and_several_open_it() -> None:
    turned = Turned()
    for _ in range(10):
        turned.breaker.enter().silent("the long one")
    turned.breaker.enter().silent("another")
    turned.breaker.enter().silent("a third")
    refused(turned.breaker)


def test_whether_others_were_answered_meanwhile() -> None:
    turned = Turned()
    turned.breaker.enter().answered()
    started = turned.seconds
    assert not turned.breaker.answered_since(started)
    turned.seconds += 1
    turned.breaker.enter().answered()
    assert turned.breaker.answered_since(started)


def test_an_answer_that_breaks_off_is_a_fault() -> None:
    turned = Turned()
    for _ in range(3):
        attempt = turned.breaker.enter()
        attempt.answered()
        attempt.failed()
    turned.breaker.enter()  # each began with an answer, so they were not in a row


def test_the_endpoint_s_own_pause_is_kept_to() -> None:
    turned = Turned()
    for attempt in [turned.breaker.enter() for _ in range(3)]:
        attempt.failed(9.0)
    assert refused(turned.breaker).retry_after_seconds == 9.0


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_pauses_differ_by_chance(chance: float) -> None:
    turned = Turned(chance)
    turned.open()
    assert refused(turned.breaker).retry_after_seconds == (1.5 if chance == 0 else 2.5)


def test_a_process_has_one_breaker_for_each_model_at_each_endpoint() -> None:
    first = breaker_of("http://a/v1", "one", SETTINGS)
    assert breaker_of("http://a/v1/", "one", SETTINGS) is first
    assert breaker_of("http://a/v1", "two", SETTINGS) is not first
    assert breaker_of("http://b/v1", "one", SETTINGS) is not first
    assert breaker_of("http://a/v1", "one", None) is not breaker_of("http://a/v1", "one", None)


class Anything(RuleBasedStateMachine):
    """Calls come, end in any way and order, and time passes."""

    calls = Bundle("calls")

    def __init__(self) -> None:
        super().__init__()
        self.turned = Turned()
        self.row = 0  # faults in a row while it is closed, as those that count see them
        self.opened: float | None = None
        self.probing: Attempt | None = None
        self.epoch = 0
        self.of: dict[Attempt, int] = {}

    @rule(target=calls)
    def call(self) -> Any:
        try:
            attempt = self.turned.breaker.enter()
        except BreakerOpen as refusal:
            seconds = refusal.retry_after_seconds
            attempt = None
        if attempt is None:
            assert self.opened is not None
            assert 0 <= seconds <= SETTINGS.longest_pause_seconds
            assert self.probing is not None or seconds > 0
            return None
        if self.opened is not None:
            assert self.probing is None, "two probes at once"
            assert self.turned.seconds >= self.opened + SETTINGS.pause_seconds, "let through too soon"
            self.probing = attempt
        self.of[attempt] = self.epoch
        return attempt

    @rule(attempt=consumes(calls), how=st.sampled_from(["answered", "failed", "silent", "left"]))
    def end(self, attempt: Attempt | None, how: str) -> None:
        if attempt is None:
            return
        current = self.of[attempt] == self.epoch
        if how == "silent":
            attempt.silent(f"request {id(attempt)}")
        else:
            getattr(attempt, how)()
        attempt.left()  # as every caller does
        if not current:
            return
        if attempt is self.probing:
            self.probing = None
            if how == "answered":
                self._turn(opened=None)
            elif how != "left":
                self._turn(opened=self.turned.seconds)
        elif self.opened is None:
            self.row = 0 if how == "answered" else self.row + (how in ("failed", "silent"))
            if self.row == SETTINGS.faults:
                self._turn(opened=self.turned.seconds)

    @rule(seconds=st.floats(0, 40))
    def wait(self, seconds: float) -> None:
        self.turned.seconds += seconds

    @precondition(lambda self: self.opened is not None and self.probing is None)
    @rule(target=calls)
    def after_the_longest_pause_one_is_let_through(self) -> Any:
        self.turned.seconds += SETTINGS.longest_pause_seconds
        self.probing = self.turned.breaker.enter()
        self.of[self.probing] = self.epoch
        return self.probing

    @invariant()
    def it_is_open_exactly_after_the_faults(self) -> None:
        assert (self.turned.breaker.retry_after_seconds is None) == (self.opened is None)
        assert (self.turned.breaker.since is not None) == (self.opened is not None or self.row > 0)

    def _turn(self, opened: float | None) -> None:
        self.opened, self.row, self.epoch = opened, 0, self.epoch + 1


TestAnything = Anything.TestCase
TestAnything.settings = examples(200, stateful_step_count=40)
