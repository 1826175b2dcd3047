"""Small sums over measured values."""

import math
import statistics
from collections.abc import Iterable, Sequence


def median(values: Iterable[float]) -> float:
    """The middle value; nan where there is none."""
    found = list(values)
    return statistics.median(found) if found else math.nan


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` % of the values do not exceed (nearest rank)."""
    if not values:
        return math.nan
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def ms(seconds: float) -> str:
    """Seconds as milliseconds."""
    return f"{seconds * 1000:.2f}"


def times(ratio: float) -> str:
    """A ratio."""
    return f"{ratio:.2f} ×"
