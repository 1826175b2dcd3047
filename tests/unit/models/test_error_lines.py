"""Errors in words: one line, nothing that steers a terminal, no trace, and quickly for any text."""

import logging
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.error_lines import MOST, error_line, logged
from models.errors import ModelUnavailable

TRACE = """\x1b[36mray::Writer.generate()\x1b[39m (pid=1, ip=127.0.0.1)
Traceback (most recent call last):
  File "/x/writer.py", line 9, in generate
    return 1 / 0
ZeroDivisionError: division by zero"""


class Carrier(Exception):
    """As Ray's: it holds the error that it carries."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(TRACE)
        self.cause = cause


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ModelUnavailable("the model is away\nand more"), "the model is away"),
        (ValueError("bad\tthing"), "ValueError: bad thing"),
        (KeyError(), "KeyError"),
        (ModelUnavailable(""), "ModelUnavailable"),
        (RuntimeError(TRACE), "RuntimeError: ZeroDivisionError: division by zero"),
        (Carrier(ModelUnavailable("it is away")), "it is away"),
        (ExceptionGroup("two", [ValueError("first"), KeyError("second")]), "ValueError: first"),
        (
            OSError("\x1b[31mred\x1b[0m \x1b]0;title\x07\u202etext\u202c\u2028\x00end"),
            "OSError: red text end",
        ),
        (ValueError("\ud800 half"), "ValueError: half"),
        ("a text \x9b31m of its own", "a text of its own"),
    ],
)
def test_an_error_is_one_line(error: Exception | str, line: str) -> None:
    assert error_line(error) == line


@given(st.text(alphabet=st.characters() | st.sampled_from("\x1b[]m;\x07\n\x9bP\\"), max_size=2000))
def test_whatever_an_error_says_it_is_short_and_visible(text: str) -> None:
    line = error_line(ValueError(text))
    assert len(line) <= MOST
    assert not [char for char in line if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    line.encode()


@pytest.mark.parametrize("part", ["\x1b]", "\x1b[0", "\x1b", "\n", ' File "', "\x9b;", "\x1bP\x1b", " \t"])
def test_a_hostile_text_takes_no_time(part: str) -> None:
    began = time.process_time()
    error_line(ValueError(part * 500_000))
    assert time.process_time() - began < 1.0


def test_what_was_not_raised_on_purpose_goes_to_the_log_under_an_id(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError("x" * 1000)
    except ValueError as error:
        line = logged(error, logging.getLogger("test"), "workflow 7")
    trace_id = line.rpartition("(trace ")[2].rstrip(")")
    assert len(line) <= MOST
    [record] = caplog.records
    assert (len(trace_id), record.exc_info is not None) == (6, True)
    assert f"(trace {trace_id})" in record.getMessage()
    assert record.getMessage().startswith("workflow 7: ValueError: xxx")


def test_what_was_raised_on_purpose_says_all_there_is(caplog: pytest.LogCaptureFixture) -> None:
    error = ModelUnavailable("it is away")
    assert logged(error, logging.getLogger("test"), "workflow 7") == "it is away"
    assert [(record.getMessage(), record.exc_info) for record in caplog.records] == [
        ("workflow 7: it is away", None)
    ]
