"""The campaign's check of servers' questions: red where an answer was made up, or lost."""

from typing import Any

import pytest

from models.runtime.workflows import WorkflowStatus
from tests.faults.checks.operations import OperationTrail
from tests.faults.checks.questions import told_as_given
from tests.faults.site.books import BookCall
from tests.unit.faults.rows import assert_told, workflow

GIVEN, DECLINED = ("accept", {"code": "7"}), ("decline", None)


def question(status: str, at: float | None, *, kind: str = "server_asks", **said: Any) -> dict[str, Any]:
    content = {"kind": kind, "given": None, "declined": False} | said
    return {"id": "1", "kind": "operation_question", "status": status, "at": at, "content": content}


YES, NO = question("approved", 10.0, given={"code": "7"}), question("approved", 10.0, declined=True)


@pytest.mark.parametrize(
    ("asked", "told", "status", "outcome", "said"),
    [
        ([YES], [(11.0, GIVEN)], "succeeded", "completed", ""),
        ([NO], [(11.0, DECLINED)], "succeeded", "completed", ""),
        ([YES], [(11.0, None), (12.0, GIVEN), (13.0, GIVEN)], "succeeded", "completed", ""),
        ([YES], [(9.0, GIVEN)], "succeeded", "completed", "bills was told"),
        ([NO], [(11.0, GIVEN), (12.0, DECLINED)], "succeeded", "completed", "bills was told"),
        ([YES], [], "succeeded", "completed", "was given"),
        ([YES], [], "succeeded", "expired", ""),
        ([YES], [], "cancelled", "completed", ""),
        ([question("rejected", 10.0)], [(11.0, DECLINED)], "succeeded", "completed", "bills was told"),
        ([question("expired", None)], [], "succeeded", "expired", ""),
        ([question("approved", 10.0, kind="failed")], [], "succeeded", "completed", ""),
    ],
)
def test_a_server_is_told_what_was_given(
    asked: list[dict[str, Any]],
    told: list[tuple[float, tuple[str, dict[str, Any] | None] | None]],
    status: WorkflowStatus,
    outcome: str,
    said: str,
) -> None:
    calls = [BookCall("bills", "qaxaz", "q", at, True, given=given) for at, given in told]
    its = workflow(status=status, result={"outcome": outcome})
    one = OperationTrail(
        number=1, workflow=its, approvals=asked, history=[], iterations={}, calls=calls, moves=[], keys=[]
    )
    assert_told(list(told_as_given(one)), said)
