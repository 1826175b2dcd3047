"""How writes are put together: of a bounded number and size, in their order, and every one of them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from actors.platform.runtime import group_commit
from actors.platform.runtime.group_commit import GroupCommit
from models.runtime.workflows import Claim


@dataclass(frozen=True)
class Write:
    """A write of a workflow of its own."""

    claim: Claim
    size: int


class Steady:
    """A database that is never away."""

    async def steadily(self, call: Callable[[], Awaitable[Any]]) -> Any:
        return await call()


def write(number: int, size: int = 1) -> Write:
    """One write."""
    claim = Claim(
        workflow_id=f"w{number}",
        epoch=1,
        kind="steps",
        input={},
        requested_by="ann",
        permission=None,
        waited_seconds=0,
        deaths=0,
        created_at=datetime.now(UTC),
    )
    return Write(claim, size)


async def groups(writes: Sequence[Write], *, lanes: int = 1) -> list[list[Write]]:
    """How these are put together when they come at once."""
    put: list[list[Write]] = []

    async def keep(_: Any, some: Sequence[Write]) -> set[tuple[str, int]]:
        put.append(list(some))
        await asyncio.sleep(0)
        return {(each.claim.workflow_id, each.claim.epoch) for each in some}

    journal: GroupCommit[Write] = GroupCommit(Steady(), keep, lanes=lanes)  # type: ignore[arg-type]
    await asyncio.gather(*(journal.write(each) for each in writes))
    return put


@pytest.mark.parametrize("lanes", [1, 2])
async def test_no_group_is_larger_than_a_commit_may_be(lanes: int) -> None:
    writes = [write(number) for number in range(group_commit._MOST_WRITES * 3 + 7)]
    found = await groups(writes, lanes=lanes)
    assert max(map(len, found)) <= group_commit._MOST_WRITES
    assert [each for group in found for each in group] == writes
    assert len(found) <= 4 + lanes


async def test_large_ones_go_by_few_and_one_that_is_too_large_by_itself() -> None:
    most = group_commit._MOST_CHARACTERS
    sizes = [most // 2, most // 2, 1, most * 3, 1, 1, most, most]
    found = await groups([write(number, size) for number, size in enumerate(sizes)])
    assert [[each.size for each in group] for group in found] == [
        [most // 2, most // 2],
        [1],
        [most * 3],
        [1, 1],
        [most],
        [most],
    ]
