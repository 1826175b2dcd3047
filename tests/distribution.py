"""In which order tests run, on which worker of pytest-xdist, and how long one may take.

Those that need Ray run on one worker, so that there is one Ray; long files begin first, and the many short
ones of `unit` fill what is left. A test that takes longer than two minutes says so: it is marked `slow`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

from tests.examples import proving

_ROOT = Path(__file__).resolve().parents[1]
_RAY = "ray_cluster"
_SLOW_SECONDS = 900


@cache
def _place(file: str) -> int:
    """When a file begins, by what stands in it."""
    text = (_ROOT / file).read_text(encoding="utf-8")
    unit = file.startswith("tests/unit")
    return 3 if unit else 0 if _RAY in text else 1 if "mark.slow" in text else 2


class Distribution(LoadFileScheduling):
    """A file is one worker's, and all files that need Ray are."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return _RAY if _place(file) == 0 else file


def few(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Those with the first two of each test's parameters."""
    of_each: Counter[str] = Counter()
    for item in items:
        of_each[item.nodeid.partition("[")[0]] += 1
        if of_each[item.nodeid.partition("[")[0]] <= 2:
            yield item


def arrange(items: list[pytest.Item]) -> None:
    """Put tests in order, and give those more time that need it."""
    items.sort(key=lambda item: _place(item.nodeid.partition("::")[0]))
    for item in items:
        slow: Any = item.get_closest_marker("slow") or _RAY in getattr(item, "fixturenames", ())
        if (slow or proving()) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(_SLOW_SECONDS))
