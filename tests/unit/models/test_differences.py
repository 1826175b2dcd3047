"""The differences between two texts: right for any two, and told in linear time whatever they hold."""

import difflib
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.content.differences import unified_diff

_LINES = st.lists(
    st.sampled_from(["", "a", "b", "c", "The Fed holds.", "x" * 10, "- one", "+ two"]), max_size=40
)


def _applied(old: list[str], diff: list[str]) -> list[str]:
    """The old lines with the diff applied, as `patch` does it; asserts that the diff fits them."""
    made: list[str] = []
    at = 0
    for line in diff[2:]:
        if line.startswith("@@ "):
            found = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
            assert found
            empty = found[2] == "0"
            begin = int(found[1]) - (0 if empty else 1)
            made += old[at:begin]
            at = begin
            assert len(made) == int(found[3]) - (0 if found[4] == "0" else 1)
        elif line[0] == "+":
            made.append(line[1:])
        else:
            assert old[at] == line[1:]
            at += 1
            made += [line[1:]] if line[0] == " " else []
    return made + old[at:]


@given(_LINES, _LINES)
def test_the_diff_makes_one_text_of_the_other(old: list[str], new: list[str]) -> None:
    # A text ends every line, so that a last empty one is a line too.
    diff = unified_diff(
        "".join(f"{x}\n" for x in old), "".join(f"{x}\n" for x in new), "version 1", "version 2"
    )
    assert _applied(old, diff) == new
    assert (diff == []) == (old == new)


def test_a_changed_line_is_told_as_difflib_tells_it() -> None:
    old = [f"line {n}" for n in range(30)]
    new = [*old[:10], "another", *old[11:25], "more", *old[25:]]
    ours = unified_diff("\n".join(old), "\n".join(new), "version 1", "version 2")
    assert ours == list(difflib.unified_diff(old, new, "version 1", "version 2", lineterm=""))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\n" * 10_000, "b\na\n" * 10_001),
        ("\n" * 500_000, "\na" * 250_000),
        ("\n".join(map(str, range(100_000))), "\n".join(map(str, reversed(range(100_000))))),
        ("x" * 1_000_000, "y" * 1_000_000),
    ],
    ids=["repeated", "blank", "reversed", "one line"],
)
def test_long_texts_are_compared_at_once(old: str, new: str) -> None:
    begun = time.process_time()
    diff = unified_diff(old, new, "version 1", "version 2")
    assert time.process_time() - begun < 30  # where it takes the square, it takes minutes
    assert max(map(len, diff)) < 2100
