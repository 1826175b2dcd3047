"""Date ranges of searches: which hits are older than what was asked for, however their dates are written.

Each provider is asked for the range in its own way; what it gives all the same is judged here, by
`published_at`. A hit whose date is unknown stays: absent is not old.
"""

from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime

from models.content.outside import DateRange

# The longest that each can be.
DAYS: dict[DateRange, int] = {"day": 1, "week": 7, "month": 31, "year": 366}
# Where no time zone is given it may be the last on earth, UTC-12; and a day lasts until its end.
_ANYWHERE = timedelta(hours=12)
_WHOLE_DAY = timedelta(days=1) + _ANYWHERE


class Freshness:
    """What is no older than a date range, and how many hits were. A date to come is not old."""

    def __init__(self, date_range: DateRange, *, now: datetime | None = None) -> None:
        self._range = date_range
        self._since: datetime | None = None
        if date_range != "any":
            self._since = (now or datetime.now(UTC)) - timedelta(days=DAYS[date_range])
        self._older = 0

    def admits(self, published_at: str | None) -> bool:
        """False, and counted, where a hit is certainly older than the range."""
        if self._since is None or not published_at:
            return True
        known = _latest(published_at)
        if known is None:
            return True
        moment, leeway = known
        if moment >= self._since - leeway:
            return True
        self._older += 1
        return False

    @property
    def note(self) -> str | None:
        """How many were left out, if any were."""
        return f"hits left out that are older than a {self._range}: {self._older}" if self._older else None


def published_day(written: str | None) -> date | None:
    """The day on which something was published, where it was written; None where the text is no date."""
    known = _latest(written) if written else None
    return known[0].date() if known is not None else None


def _latest(written: str) -> tuple[datetime, timedelta] | None:
    """When it was at the earliest, and how much later it may have been; None where the text is no date."""
    text = written.strip()
    # Python reads seconds since the epoch as a year and what follows.
    if text.isdigit() and len(text) != 8:
        return None
    try:
        day = date.fromisoformat(text)
        return datetime(day.year, day.month, day.day, tzinfo=UTC), _WHOLE_DAY
    except ValueError:
        pass
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return (moment, timedelta(0)) if moment.tzinfo else (moment.replace(tzinfo=UTC), _ANYWHERE)
    return None
