"""Which hits are older than a date range, however their dates are written."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.web.providers.freshness import Freshness
from models.content.outside import DateRange

NOW = datetime(2026, 10, 30, 12, tzinfo=UTC)
RANGES: list[DateRange] = ["day", "week", "month", "year"]


@pytest.mark.parametrize(
    ("date_range", "published_at", "admitted"),
    [
        ("day", "2026-10-29T12:00:00+00:00", True),
        ("day", "2026-10-29T11:59:59+00:00", False),
        ("day", "2026-10-29T13:59:00+02:00", False),
        ("day", "2026-10-29T12:00:00Z", True),
        ("day", "Thu, 29 Oct 2026 12:00:01 GMT", True),
        ("day", "Thu, 29 Oct 2026 11:59:59 GMT", False),
        ("day", "2026-10-29 11:00:00", True),  # it may be later, where it was written
        ("day", "2026-10-28 23:00:00", False),
        ("day", "2026-10-28", True),  # it lasts until 12:00 UTC of the 29th, in the last place on earth
        ("day", "2026-10-27", False),
        ("week", "2026-10-22", True),
        ("week", "2026-10-21", False),
        ("week", "20261021", False),
        ("month", "2026-09-30", True),
        ("month", "2026-09-20", False),
        ("year", "2025-10-30", True),
        ("year", "2025-10-01", False),
        ("year", "2031-01-01", True),
        ("any", "1999-01-01", True),
        ("day", None, True),
        ("day", "", True),
        ("day", "yesterday", True),
        ("day", "3 days ago", True),
        ("day", "17121231000", True),  # seconds, or anything: no year 1712
    ],
)
def test_what_is_known_to_be_older_is_left_out(
    date_range: DateRange, published_at: str | None, admitted: bool
) -> None:
    freshness = Freshness(date_range, now=NOW)
    assert freshness.admits(published_at) is admitted
    told = None if admitted else f"hits left out that are older than a {date_range}: 1"
    assert freshness.note == told


@given(st.sampled_from(RANGES), st.text(max_size=40))
def test_any_text_is_a_date_or_is_none(date_range: DateRange, text: str) -> None:
    assert isinstance(Freshness(date_range, now=NOW).admits(text), bool)


@pytest.mark.parametrize(
    "text",
    [
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-12:00",
        "0001-01-01",
        "9999-12-31",
        "Mon, 1 Jan 99999999999999999999 00:00:00 GMT",
        "1 Jan 2026 99:99:99 +9999",
        "Jan",
        "²²²²²²²²",
    ],
)
def test_the_ends_of_time_are_no_errors(text: str) -> None:
    assert isinstance(Freshness("day", now=NOW).admits(text), bool)


@given(
    st.sampled_from(RANGES),
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.timezones()),
)
def test_without_its_time_zone_a_date_is_never_judged_older(date_range: DateRange, moment: datetime) -> None:
    """What is admitted with all that is known of it is admitted with less."""
    if Freshness(date_range, now=NOW).admits(moment.isoformat()):
        assert Freshness(date_range, now=NOW).admits(moment.replace(tzinfo=None).isoformat())
        assert Freshness(date_range, now=NOW).admits(moment.date().isoformat())


def test_the_clock_is_the_default() -> None:
    freshness = Freshness("day")
    assert freshness.admits((datetime.now(UTC) - timedelta(hours=23)).isoformat())
    assert not freshness.admits((datetime.now(UTC) - timedelta(hours=25)).isoformat())
