"""What an agent raised, as it comes out of Ray's errors."""

import logging
from typing import Any

import pytest
from ray.exceptions import RayTaskError

from actors.runtime.directory import _own_error
from models.error_lines import error_line, logged
from models.errors import ModelUnavailable


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
