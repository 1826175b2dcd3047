"""What a server asks a person: it is told what he gave, or that he declined, and neither is made up or lost.

Pure: over an operation's approvals and the servers' own log.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.faults.checks.operations import OperationTrail


def told_as_given(one: OperationTrail) -> Iterator[str]:
    """Each answer that came to a server was given before, and each that was given came to it.

    What an operation that did not get to its end was still to tell its server, it need not have told.
    """
    given = [(a["at"], _answer(a["content"])) for a in one.approvals if _is_given(a)]
    for call in one.calls:
        before = [answer for at, answer in given if at <= call.at]
        if call.given is not None and call.given not in before:
            yield f"{one.name}: {call.book} was told {call.given}, and people said {before}"
    over = one.workflow.status == "succeeded" and (one.workflow.result or {})["outcome"] != "expired"
    told = [call.given for call in one.calls if call.given is not None]
    for _, answer in given if over else ():
        if answer not in told:
            yield f"{one.name}: {answer} was given, and its server was told {told}"


def _is_given(approval: Mapping[str, Any]) -> bool:
    asked = approval["kind"] == "operation_question" and approval["content"]["kind"] == "server_asks"
    return bool(asked and approval["status"] == "approved")


def _answer(content: Mapping[str, Any]) -> tuple[str, Mapping[str, Any] | None]:
    return ("decline", None) if content["declined"] else ("accept", content["given"])
