"""The campaign's checks of what operations write outside: red where something is wrong."""

import select
import socket
import time
from typing import Any

import pytest

from actors.platform import sending
from tests.faults.checks import writes
from tests.faults.checks.writes import Yes
from tests.faults.disturbances import Disturbance
from tests.faults.ledger import Keep, Move
from tests.faults.site.books import NOTE, BookCall, came_at, code_of
from tests.faults.site.chooser import WANTS_A_NOTE, choice
from tests.unit.faults.rows import assert_told

GIVEN = {"account": "qaxaz", "text": "asked"}
FOREVER = float("inf")


def came(at: float, **given: Any) -> BookCall:
    return BookCall("crm", "qaxaz", "", at, True, NOTE, {**GIVEN, **given})


def yes(since: float, until: float, told: str | None = "done") -> Yes:
    return Yes(GIVEN, since, until, told)


@pytest.mark.parametrize(
    ("said", "arrived", "found"),
    [
        ([yes(1, 5)], [came(3)], ""),
        ([yes(1, 5, "unknown")], [], ""),
        ([yes(1, 5, "unknown")], [came(3)], ""),
        ([yes(1, 5, "unknown"), yes(8, 12)], [came(3), came(10)], ""),
        ([yes(1, FOREVER, None)], [came(30)], ""),
        # It is said again at once.
        ([yes(1, 5, "unknown"), yes(5.2, 8)], [came(5.6)], ""),
        # Whatever ends a yes waits until what is being sent has come.
        ([yes(1, 5)], [came(5.01)], ""),
        ([yes(1, 5)], [came(5.05)], "no yes stood"),
        ([], [came(3)], "no yes stood"),
        ([yes(4, 8)], [came(3), came(5)], "no yes stood"),
        ([yes(1, 5)], [came(3, text="else")], "no yes stood"),
        ([yes(1, 5)], [came(3), came(4)], "no yes stood"),
        # The first runner wakes up after the second has written.
        ([yes(1, 5, "unknown"), yes(8, 12)], [came(10), came(20)], "no yes stood"),
        ([yes(1, 5, "unknown"), yes(8, 12)], [came(10), came(11)], "no yes stood"),
        # It was cancelled at 5, and it wakes up then.
        ([yes(1, 5, None)], [came(20)], "no yes stood"),
        ([yes(1, 5)], [], "never came"),
        ([yes(1, 5, "not_sent")], [came(3)], "was not_sent, and it came"),
        ([yes(1, 5, "failed")], [came(3)], "was failed, and it came"),
    ],
)
def test_a_write_comes_once_for_each_yes(said: list[Yes], arrived: list[BookCall], found: str) -> None:
    assert_told(list(writes.came_once_for_each("operation 1", said, arrived)), found)


def approval(number: int, at: float, status: str = "approved") -> dict[str, Any]:
    content = {"number": number, "write": {"arguments": GIVEN}}
    return {"id": str(number), "kind": writes.WRITE, "status": status, "content": content, "at": at}


def test_a_yes_stands_until_its_outcome_is_kept_or_the_operation_is_cancelled() -> None:
    keeps = [Keep("w", "write_done/1", 5.0, "INSERT", 1, "running", None)]
    moves = [Move("w", 20.0, "running", "cancelled", 1, 2)]
    history = [
        {"result": {"sending": {}}},
        {"result": {"write": {"approval_id": "1", "status": "not_sent"}}},
        {"result": {"write": {"approval_id": "1", "status": "unknown"}}},
    ]
    rows = [approval(1, 1.0), approval(2, 6.0), approval(3, 9.0, "rejected")]
    first, second = writes.yeses(rows, history, keeps, moves, [])
    assert (first.since, first.until, first.told) == (1.0, 5.0, "unknown")
    assert (second.since, second.until, second.told) == (6.0, 20.0, None)


@pytest.mark.parametrize(
    ("kind", "start", "end", "until"),
    [
        ("restart", 19.0, 19.5, 20.0 + sending.SECONDS),
        ("fail over", 17.0, 18.5, 20.0 + sending.SECONDS),
        ("restart", 15.0, 17.5, 20.0),
        ("restart", 20.5, 21.0, 20.0),
        ("stop", 15.0, 30.0, 20.0),
    ],
)
def test_a_look_that_postgres_lost_holds_up_no_cancellation(
    kind: str, start: float, end: float, until: float
) -> None:
    moves = [Move("w", 20.0, "running", "cancelled", 1, 2)]
    [one] = writes.yeses([approval(1, 1.0)], [], [], moves, [Disturbance(kind, start, end, None)])
    assert one.until == until


def test_a_call_came_when_the_kernel_had_it_however_late_it_is_read() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())
        its, _ = server.accept()
        with its:
            before = time.time()
            client.sendall(b"a")
            after = time.time()
            # Nobody reads for a while.
            assert select.select([client], [], [], 0.1)[0] == []
            read = time.time()
            assert its.recv(1) == b"a"
            at = came_at(its)
    assert before - 0.02 <= at <= after + 0.02 < read


def test_the_played_chooser_looks_for_each_lead_once_and_then_leaves_its_note_once() -> None:
    code = code_of(3, 12)
    said = {"question": f"why is {code}-1 late, and {WANTS_A_NOTE}", "leads": f"{code}-1, {code} Inc"}
    note = {"account": code, "text": f"asked about {code}-1, {code} Inc"}
    lines: list[str] = []
    for query in said["leads"].split(", "):
        assert choice(said | {"calls": "\n".join(lines)}) == ("search", {"query": query})
        lines.append(f'{len(lines) + 1}. search {{"query": "{query}"}}: {{"items": []}}')
    assert choice(said | {"calls": "\n".join(lines)}) == ("note", note)
    lines.append("proposed, a person decides later: note {}")
    assert choice(said | {"calls": "\n".join(lines)}) == ("done", {})
    assert choice(said | {"question": "why?", "calls": "\n".join(lines[:2])}) == ("done", {})
