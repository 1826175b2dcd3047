"""Places on a node: no more at once than there are, over processes, and given back by whoever dies."""

import asyncio
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from actors.platform import node_places
from models.errors import PlacesTaken

_HOLD = """
import asyncio, sys
from actors.platform import node_places
async def hold():
    async with node_places.taken(sys.argv[1], 1, seconds=20):
        print("held", flush=True)
        await asyncio.Event().wait()
asyncio.run(hold())
"""


@pytest.fixture
def what() -> str:
    """A kind of work that no other test does."""
    return f"test-{uuid.uuid4().hex[:8]}"


async def test_no_more_work_at_once_than_there_are_places(what: str) -> None:
    at_work = most = 0

    async def work() -> None:
        nonlocal at_work, most
        async with node_places.taken(what, 2, seconds=20):
            at_work += 1
            most = max(most, at_work)
            await asyncio.sleep(0)
            at_work -= 1

    await asyncio.gather(*(work() for _ in range(6)))
    assert most == 2


async def test_a_process_that_is_killed_gives_its_place_back(what: str) -> None:
    held = subprocess.Popen(  # noqa: ASYNC220  # it is killed, not waited for
        [sys.executable, "-c", _HOLD, what],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    try:
        assert held.stdout is not None
        assert held.stdout.readline() == b"held\n"
        with pytest.raises(PlacesTaken) as refused:
            async with node_places.taken(what, 1, seconds=0.3):
                pass
        assert refused.value.facts["retry_after_seconds"] > 0
    finally:
        held.kill()
        held.wait()
    async with node_places.taken(what, 1, seconds=20):
        pass


async def test_a_folder_of_that_name_that_is_none_is_refused(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"signoff-places-{os.geteuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PlacesTaken):
        async with node_places.taken(what, 1, seconds=1):
            pass
