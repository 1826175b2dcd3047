"""The campaign's check of connections: red where a process can't have as many as it is configured to."""

import pytest

from tests.faults.checks.connections import lost
from tests.unit.faults.rows import assert_told


@pytest.mark.parametrize(
    ("had", "found"),
    [
        ({"a": 4, "b": 4}, ""),
        ({"a": 4, "b": 3}, "b has lost 1 of 4 connections"),
        ({"a": 0, "b": 4}, "a has lost 4 of 4 connections"),
        ({"a": 4, "b": None}, "b does not say"),
    ],
)
def test_a_connection_that_can_t_be_had_is_lost(had: dict[str, int | None], found: str) -> None:
    assert_told(list(lost(had)), found)
