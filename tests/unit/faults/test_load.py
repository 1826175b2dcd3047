"""The load beside a campaign is there as long as it is, and goes with whoever began it."""

import os
import random
from pathlib import Path

from tests.faults.site.load import burn, load


def children() -> set[int]:
    """The processes that this one has begun."""
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def test_as_many_burn_as_were_asked_for_and_none_is_left() -> None:
    before = children()
    with load(3, 1):
        assert len(children() - before) == 3
    assert children() == before


def test_it_ends_with_whoever_began_it() -> None:
    burn(random.Random(1), parent=-1)
