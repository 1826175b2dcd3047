"""The campaign's checks of steps: each finds what it is for, and is quiet where all is well."""

from dataclasses import replace

import pytest

from tests.faults.checks.steps import (
    begun_for_a_reason,
    committed_once,
    moves_are_allowed,
    taken_under_a_lease,
)
from tests.faults.disturbances import Disturbance
from tests.faults.ledger import Keep, Move
from tests.faults.site.kinds import BROKEN, Begun
from tests.unit.faults.rows import assert_told

KEPT = Keep("w", "step/1", 5.0, "INSERT", epoch=1, status="running", made_under=1)
TOLD = [("w", "step/1")]
THERE = {"w": ["step/1"]}


def test_a_step_that_is_committed_once_is_fine() -> None:
    assert not list(committed_once([KEPT], TOLD, THERE))


@pytest.mark.parametrize(
    ("keeps", "told", "there", "found"),
    [
        ([KEPT, replace(KEPT, epoch=2, made_under=2)], TOLD * 2, THERE, "was committed 2 times"),
        ([KEPT], TOLD * 2, THERE, r"told and kept \(1, 2, 1\)"),
        ([KEPT], [], THERE, r"\(1, 0, 1\)"),
        ([KEPT], TOLD, {}, r"\(1, 1, 0\)"),
        ([], TOLD, THERE, r"\(0, 1, 1\)"),
        ([KEPT, replace(KEPT, did="UPDATE")], TOLD, THERE, r"changed afterwards \(UPDATE\)"),
        ([KEPT, replace(KEPT, did="DELETE")], TOLD, THERE, r"changed afterwards \(DELETE\)"),
        ([replace(KEPT, epoch=2)], TOLD, THERE, "a zombie wrote .* under epoch 1, kept under 2"),
        ([replace(KEPT, status="cancelled")], TOLD, THERE, "while its workflow was cancelled"),
    ],
)
def test_a_step_that_is_not_is_told(
    keeps: list[Keep], told: list[tuple[str, str]], there: dict[str, list[str]], found: str
) -> None:
    assert_told(list(committed_once(keeps, told, there)), found)


FIRST = Begun("w", "step/2", pid=11, epoch=1, at=10.0)
SECOND = Begun("w", "step/2", pid=12, epoch=2, at=15.0)
TAKEN = Move("w", 14.0, "running", "running", 1, 2)
DONE = Keep("w", "step/2", 16.0, "INSERT", epoch=2, status="running", made_under=2)
KILLED = Disturbance("kill", 11.0, 11.5, 11)


def begun(
    trace: list[Begun],
    *,
    keeps: tuple[Keep, ...] = (DONE,),
    moves: tuple[Move, ...] = (TAKEN,),
    done: tuple[Disturbance, ...] = (),
    mended: tuple[str, ...] = (),
) -> list[str]:
    return list(begun_for_a_reason(trace, keeps, moves, done, mended))


@pytest.mark.parametrize(
    ("disturbance", "fine"),
    [
        (KILLED, True),
        (Disturbance("stop", 9.0, 13.0, 11), True),
        (Disturbance("partition", 9.0, 13.0, 11), True),
        (Disturbance("late lease", 12.0, 14.0, 11), True),
        (Disturbance("clock step", 12.0, 12.1, None), True),
        (Disturbance("stall", 12.0, 12.5, None), True),
        # Done to another, before it began, after it was taken over, or nothing that costs a claim.
        (Disturbance("kill", 11.0, 11.5, 12), False),
        (Disturbance("kill", 8.0, 9.0, 11), False),
        (Disturbance("kill", 14.5, 14.9, 11), False),
        (Disturbance("model", 9.0, 20.0, None), False),
        (Disturbance("away", 9.0, 20.0, None), False),
        (Disturbance("restart", 9.0, 20.0, None), False),
        (Disturbance("fail over", 9.0, 20.0, None), False),
        (Disturbance("upgrade", 11.0, 13.0, 11), False),
    ],
)
def test_what_was_in_flight_is_begun_again_where_its_runner_lost_it(
    disturbance: Disturbance, fine: bool
) -> None:
    found = begun([FIRST, SECOND], done=(disturbance,))
    assert not found if fine else "nothing was done to its runner" in found[0]


@pytest.mark.parametrize(
    ("lease_left", "done", "fine"),
    [
        (-0.2, (Disturbance("hindered", 9.0, 13.0, None),), True),
        (-0.2, (), False),
        (1.5, (Disturbance("hindered", 9.0, 13.0, None),), False),
        (None, (Disturbance("hindered", 9.0, 13.0, None),), False),
    ],
)
def test_a_lease_that_ran_out_is_a_reason_while_a_fault_hindered_it(
    lease_left: float | None, done: tuple[Disturbance, ...], fine: bool
) -> None:
    found = begun([FIRST, SECOND], moves=(replace(TAKEN, lease_left=lease_left),), done=done)
    assert not found if fine else "nothing was done to its runner" in found[0]


def test_what_was_committed_is_never_begun_again_whatever_was_done() -> None:
    kept = replace(DONE, epoch=1, at=12.0)
    assert_told(
        begun([FIRST, SECOND], keeps=(kept,), done=(KILLED,)), "was committed under epoch 1, and begun"
    )


def test_one_run_begins_a_step_once() -> None:
    assert_told(begun([FIRST, replace(FIRST, at=11.0)], moves=()), "begun twice under epoch 1")


@pytest.mark.parametrize(
    ("after", "done", "found"),
    [
        ("parked", (Disturbance("model", 11.0, 12.0, None),), ""),
        ("parked", (), "parked, though nothing was away"),
        ("failed", (), "it failed"),
        ("queued", (KILLED,), "it was queued with a step in flight"),
        ("waiting", (KILLED,), "it was waiting with a step in flight"),
    ],
)
def test_how_its_claim_was_over_matters(after: str, done: tuple[Disturbance, ...], found: str) -> None:
    assert_told(begun([FIRST, SECOND], moves=(replace(TAKEN, after=after),), done=done), found)


def test_two_that_run_at_once_are_seen() -> None:
    """The first goes on after its claim is over: with one step, which is refused, or with more."""
    late = [replace(FIRST, at=14.1), SECOND]
    assert not begun(late)
    more = [*late, replace(FIRST, step="step/3", at=14.6)]
    assert_told(begun(more), "a zombie went on with w: 2 steps begun after epoch 1 was over")


def test_a_claim_that_was_never_over_is_seen() -> None:
    assert_told(begun([FIRST, SECOND], moves=(), done=(KILLED,)), "its claim was never over")


def test_the_step_that_failed_is_begun_again_once_it_is_mended() -> None:
    trace = [replace(FIRST, step=BROKEN), replace(SECOND, step=BROKEN)]
    keeps, moves = (replace(DONE, key=BROKEN),), (replace(TAKEN, after="failed"),)
    assert not begun(trace, keeps=keeps, moves=moves, mended=("w",))
    assert_told(begun(trace, keeps=keeps, moves=moves), "it failed")


@pytest.mark.parametrize(
    ("move", "found"),
    [
        (Move("w", 1.0, "queued", "running", 0, 1), ""),
        (Move("w", 1.0, "running", "succeeded", 1, 2), ""),
        (Move("w", 1.0, "failed", "queued", 1, 2), ""),
        (Move("w", 1.0, "running", "succeeded", 1, 1), "keeps its epoch"),
        (Move("w", 1.0, "running", "cancelled", 1, 1), "keeps its epoch"),
        (Move("w", 1.0, "succeeded", "queued", 2, 3), "was succeeded, and then queued"),
        (Move("w", 1.0, "cancelled", "running", 2, 3), "was cancelled, and then running"),
        (Move("w", 1.0, "failed", "running", 2, 3), "was failed, and then running"),
        (Move("w", 1.0, "queued", "running", 0, 1, wanted=False), "though its batch is gone"),
    ],
)
def test_what_has_ended_stays_so(move: Move, found: str) -> None:
    assert_told(list(moves_are_allowed([move])), found)


@pytest.mark.parametrize(
    ("key", "told", "there", "found"),
    [
        ("write_sent/1", 2, True, ""),
        ("write_sent/1", 1, False, ""),
        ("write_sent/1", 1, True, "was written, told and kept"),
        ("step/1", 2, True, "changed afterwards"),
    ],
)
def test_only_the_note_of_a_write_may_be_taken_back(key: str, told: int, there: bool, found: str) -> None:
    noted = ["INSERT", "DELETE", *(["INSERT"] if told == 2 or there else [])]
    keeps = [Keep("w", key, float(n), did, 1, "running", None) for n, did in enumerate(noted)]
    kept = {"w": {key} if there else set[str]()}
    assert_told(list(committed_once(keeps, [("w", key)] * told, kept)), found)


@pytest.mark.parametrize(
    ("taken_with", "stepped_at", "found"),
    [
        (1.5, None, ""),
        (None, None, ""),
        (-0.4, None, "0.40 s after the lease"),
        (-0.4, 5.1, ""),
        (-0.4, 12.0, "after"),
    ],
)
def test_nobody_takes_anything_once_his_lease_is_over(
    taken_with: float | None, stepped_at: float | None, found: str
) -> None:
    move = Move("w", 5.0, "queued", "running", 1, 2, taken_with=taken_with)
    done = [] if stepped_at is None else [Disturbance("clock step", stepped_at, 10.0, None)]
    assert_told(list(taken_under_a_lease([move], done)), found)
