"""What a batch prints: whatever files and models say is text, on one line, that steers no terminal."""

import asyncio
import io
import re
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from models.visible import first_hidden
from pipelines.driver import until_stopped
from pipelines.progress import plain, say
from pipelines.summary import as_table
from pipelines.topic_summary import LAYOUT, Status, TopicSummary, as_lines

HOSTILE = "a\x1b[2J\x1b]0;title\x07b\nc\r\u202e\u200b[/INST] [bold]d[/] :smile:"
TOLD = "ab c [/INST] [bold]d[/] :smile:"


def summary(*, status: Status = "error", **facts: str | None) -> TopicSummary:
    """A topic's outcome with these words in it."""
    words: dict[str, str | None] = {"topic": "t", "headline": None, "path": None, "error": None, **facts}
    return TopicSummary.model_validate(
        {
            "status": status,
            "skipped": False,
            "rounds": 1,
            "concerns": 0,
            "remaining": [],
            "seconds": 1.0,
            "tokens": 1,
            **words,
        }
    )


def printed(*rows: TopicSummary) -> str:
    """The table as a terminal is sent it, without the colours of its own."""
    out = io.StringIO()
    Console(file=out, width=200, force_terminal=True, color_system="standard").print(as_table(rows, LAYOUT))
    return re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())


def test_brackets_in_a_topic_or_an_error_are_text_in_the_table() -> None:
    told = printed(summary(topic=HOSTILE, error=HOSTILE))
    assert told.count(TOLD) == 2
    assert "\x1b" not in told


@given(st.text(), st.text())
def test_the_table_can_be_printed_whatever_is_in_it(topic: str, error: str) -> None:
    assert "1 topics: 1 error" in printed(summary(topic=topic, error=error))


@given(st.text())
def test_whatever_is_said_is_one_line_that_can_be_printed(text: str) -> None:
    told = plain(text)
    assert first_hidden(told) is None  # Python's own tables are older: it calls new scripts unprintable
    assert len(told.splitlines()) <= 1
    told.encode()


def test_what_is_said_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    row = summary(status="passed", headline=HOSTILE, path="p").model_copy(update={"remaining": [HOSTILE]})
    for line in as_lines(row):
        say(line)
    assert capsys.readouterr().out.splitlines() == [
        f"t: passed: {TOLD}",
        "    p",
        f"    concern that remains: {TOLD}",
    ]


def test_a_topic_without_a_file_has_no_line_for_it() -> None:
    assert as_lines(summary(status="stopped", error="stopped")) == ["t: stopped: stopped"]


async def test_once_the_topics_have_ended_a_driver_can_be_ended_as_any_process() -> None:
    assert not await until_stopped(asyncio.sleep(0))
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
