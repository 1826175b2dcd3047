"""The campaign's check of connections: red where one stands still while the others are used by turns."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.faults.checks.connections import lost
from tests.unit.faults.rows import assert_told

AT = datetime(2026, 1, 1, tzinfo=UTC)
NAME = "signoff north:runner:0"


def look(**used: int) -> list[dict[str, Any]]:
    """Each connection's last use, in seconds."""
    return [{"of": NAME, "pid": int(pid[1:]), "at": AT + timedelta(seconds=at)} for pid, at in used.items()]


@pytest.mark.parametrize(
    ("looks", "found"),
    [
        ([look(c1=n, c2=n) for n in range(12)], ""),
        ([look(c1=n, c2=n, c3=0) for n in range(12)], "lost 1 of 3"),
        ([look(c1=n, c2=0, c3=0) for n in range(20)], "lost 2 of 3"),
        # It is not known yet.
        ([look(c1=n, c2=n, c3=0) for n in range(6)], ""),
        # It came, or went, meanwhile.
        ([*(look(c1=n, c2=n) for n in range(12)), look(c1=12, c2=12, c3=0)], ""),
        ([look(c1=0, c2=0, c3=0), *(look(c1=n, c2=n) for n in range(12))], ""),
        ([], ""),
    ],
)
def test_a_connection_that_nobody_uses_any_more_is_lost(
    looks: list[list[dict[str, Any]]], found: str
) -> None:
    assert_told(list(lost(looks, NAME)), found)
