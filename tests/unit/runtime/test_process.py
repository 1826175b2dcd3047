"""Whether a process is proven dead: only what this machine tells counts, and an id alone is no proof."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from actors.platform.runtime.process import _started, is_dead, this_process
from models.store.runtime.runners import RunnerProcess

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells it")


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that lives until it is killed."""
    made = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield made
    made.kill()
    made.wait()


def seen(child: "subprocess.Popen[bytes]") -> RunnerProcess:
    """The process as it would tell of itself."""
    return this_process().model_copy(update={"pid": child.pid, "started": _started(child.pid)})


def test_a_living_process_is_not_dead(child: "subprocess.Popen[bytes]") -> None:
    assert not is_dead(seen(child), seen_from=this_process())
    assert not is_dead(this_process(), seen_from=seen(child))


@pytest.mark.parametrize("reaped", [False, True], ids=["a zombie", "reaped"])
def test_a_killed_process_is_dead(child: "subprocess.Popen[bytes]", reaped: bool) -> None:
    told = seen(child)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | (0 if reaped else os.WNOWAIT))
    assert is_dead(told, seen_from=this_process())


def test_a_process_whose_id_was_given_again_is_dead(child: "subprocess.Popen[bytes]") -> None:
    told = seen(child)
    assert told.started is not None
    assert is_dead(told.model_copy(update={"started": told.started - 1}), seen_from=this_process())


@pytest.mark.parametrize(
    "elsewhere",
    [{"machine": "another boot/4026531836"}, {"machine": None}, {"started": None}],
    ids=["another boot or machine", "a machine that tells nothing", "a start that was not told"],
)
def test_what_can_t_be_told_from_here_is_no_proof(
    child: "subprocess.Popen[bytes]", elsewhere: dict[str, str | None]
) -> None:
    told = seen(child).model_copy(update=elsewhere)
    child.kill()
    child.wait()
    assert not is_dead(told, seen_from=this_process())


def test_who_knows_no_start_of_its_own_proves_nothing(child: "subprocess.Popen[bytes]") -> None:
    told = seen(child)
    child.kill()
    child.wait()
    assert not is_dead(told, seen_from=this_process().model_copy(update={"started": None, "machine": None}))
