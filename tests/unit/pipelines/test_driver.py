"""What the driver shares with every pipeline: how an error is told, and progress in a pipeline's words."""

from datetime import UTC, datetime

import pytest

from models.errors import PathNotVisible
from models.runtime.events import Event
from pipelines.driver import command
from pipelines.progress import show


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PathNotVisible("--topics x: nothing is there"), "grind: --topics x: nothing is there\n"),
        (ValueError("two\nlines"), "grind: ValueError: two\n"),
    ],
)
def test_whatever_ends_a_command_is_one_line_and_exit_code_1(
    capsys: pytest.CaptureFixture[str], error: Exception, told: str
) -> None:
    def work() -> int:
        raise error

    assert command("grind", work) == 1
    assert capsys.readouterr() == ("", told)


def test_a_command_that_ends_well_has_the_exit_code_of_its_work() -> None:
    assert [command("grind", lambda code=code: code) for code in (0, 1)] == [0, 1]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("step", "told"),
    [("weigh/2", "a: sack 2 weighed\n"), ("grind", "a: grind\n"), ("{x}/1", "a: {x}\n")],
    ids=["in its words", "as it is", "as it is, braces and all"],
)
def test_a_step_is_told_in_the_pipeline_s_words(
    capsys: pytest.CaptureFixture[str], step: str, told: str
) -> None:
    event = Event(
        id=1,
        workflow_id="w",
        type="step.done",
        topic=None,
        role="reader",
        person=None,
        data={"step": step},
        at=datetime.now(UTC),
    )
    show("a", event, steps={"weigh": "sack {0} weighed"})
    assert capsys.readouterr().out == told
