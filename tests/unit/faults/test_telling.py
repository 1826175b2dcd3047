"""A process of a campaign tells where each of its tasks stands, to the innermost await."""

import os
import subprocess
import sys

from tests.faults.site.telling import TOLD
from tests.integration.conftest import ROOT

_CODE = """
import asyncio, os
from tests.faults.site.telling import TELLS, tell_when_asked

async def innermost(stands):
    stands.set()
    await asyncio.Event().wait()

async def main():
    tell_when_asked()
    stands = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(innermost(stands), name="the one that stands")
        await stands.wait()
        os.kill(os.getpid(), TELLS)
        task.cancel()

asyncio.run(main())
"""


def test_where_a_task_stands_is_told_when_the_signal_comes() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", _CODE], env=environment, capture_output=True, text=True, check=True
    )
    _, _, told = done.stderr.partition("task the one that stands\n")
    assert "innermost" in told.splitlines()[0]
    assert "Event.wait" in told.splitlines()[1]
    assert TOLD in told
