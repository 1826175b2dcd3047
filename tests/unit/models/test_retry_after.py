"""What a `Retry-After` header asks for, in whatever way it says it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.retry_after import retry_after

DAY = 86_400.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("120", 120),
        (" 7 ", 7),
        ("0", 0),
        ("1.5", 1.5),
        ("9" * 400, DAY),
        ("soon", None),
        ("inf", None),
        ("nan", None),
        ("٣", None),
        ("Thu, 01 Jan 1970 00:17:40 GMT", 60),
        ("Thu, 01 Jan 1970 00:17:40 -0000", 60),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", DAY),
        ("Thu, 99 Jan 1970 00:00:00 GMT", None),
    ],
)
def test_it_is_a_number_or_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, longest=DAY, now=1000.0) == seconds


@given(
    st.text(max_size=60)
    | st.from_regex(r"\w{3}, \d{1,3} \w{3} \d{1,9} \d\d:\d\d:\d\d [-+]?\w+", fullmatch=True)
)
def test_whatever_it_says_it_is_read_or_left(header: str) -> None:
    seconds = retry_after(header, longest=DAY)
    assert seconds is None or 0 <= seconds <= DAY
