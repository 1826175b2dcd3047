"""The campaign's checks of articles, messages, files, batches and chats: red where something is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.faults.checks import files, press
from tests.faults.ledger import Move
from tests.faults.people.batches import ended
from tests.faults.people.chats import Message, agreed, in_order, kept
from tests.faults.site.kinds import Wrote, file_of
from tests.faults.site.kinds import told as told_by
from tests.faults.site.target import Taken
from tests.unit.faults.rows import assert_told, workflow

OUT = {"id": 5, "status": "published", "published_version": 2, "text": "The text.", "told": 1}
BACK = {"id": 5, "status": "editor", "published_version": None, "text": None, "told": 0}
YES = {
    "id": "7",
    "status": "approved",
    "ended": "succeeded",
    "content": {"article": {"version": 2, "content": "The text."}},
}
NO = {**YES, "status": "rejected"}


def message(type_: str) -> dict[str, Any]:
    body = {"article": {"id": 5}, "approval": {"id": 7}}
    return {"id": f"wh_{type_}", "event_type": type_, "body": json.dumps(body)}


ASKS, TELLS, REJECTS = (
    message(f"a{name}") for name in ("pproval_required", "rticle_published", "rticle_rejected")
)


@pytest.mark.parametrize(
    ("article", "approvals", "messages", "found"),
    [
        (OUT, [YES], [ASKS, TELLS], ""),
        (BACK, [NO], [ASKS, REJECTS], ""),
        (BACK, [], [], ""),
        (OUT, [{**YES, "ended": "cancelled"}], [ASKS, TELLS], ""),
        (BACK, [{**YES, "ended": "cancelled"}], [ASKS, REJECTS], ""),
        (OUT, [], [TELLS], "its approvals: \\[\\]"),
        (OUT, [NO], [ASKS, REJECTS], "its approvals"),
        (BACK, [YES], [ASKS, TELLS], "its approvals"),
        ({**OUT, "told": 2}, [YES], [ASKS, TELLS], "told 2 times"),
        ({**OUT, "published_version": 3}, [YES], [ASKS, TELLS], "version 3 is out, approved was 2"),
        ({**OUT, "text": "Another."}, [YES], [ASKS, TELLS], "is out, approved was"),
        (OUT, [YES], [TELLS], "0 messages ask for approval 7"),
        (OUT, [YES], [ASKS, ASKS, TELLS], "2 messages ask for approval 7"),
        (OUT, [YES], [ASKS], "0 messages article_published, not 1"),
        (OUT, [YES], [ASKS, TELLS, TELLS], "2 messages article_published, not 1"),
        (BACK, [NO], [ASKS], "0 messages article_rejected, not 1"),
        (BACK, [NO], [ASKS, REJECTS, TELLS], "1 messages article_published, not 0"),
    ],
)
def test_an_article_is_out_as_it_was_approved_and_everybody_was_told(
    article: dict[str, Any], approvals: list[dict[str, Any]], messages: list[dict[str, Any]], found: str
) -> None:
    assert_told(list(press.published(article, approvals, messages)), found)


ROW = {"id": "wh_1", "status": "delivered", "body": "{}"}


@pytest.mark.parametrize(
    ("rows", "taken", "found"),
    [
        ([ROW], [Taken("wh_1", b"{}", 200)], ""),
        ([ROW], [Taken("wh_1", b"{}", 503), Taken("wh_1", b"{}", 200), Taken("wh_1", b"{}", 200)], ""),
        ([ROW], [], "never taken"),
        ([ROW], [Taken("wh_1", b"{}", 503)], "never taken"),
        ([ROW], [Taken("wh_1", b"{}", 0)], "never taken"),
        ([{**ROW, "status": "dead"}], [Taken("wh_1", b"{}", 200)], "is dead"),
        ([ROW], [Taken("wh_1", b"[]", 200)], "arrived as something else"),
        ([ROW], [Taken("wh_1", b"{}", 200), Taken("wh_2", b"{}", 200)], "unknown id wh_2"),
    ],
)
def test_a_message_is_delivered_when_its_target_took_it(
    rows: list[dict[str, Any]], taken: list[Taken], found: str
) -> None:
    assert_told(list(press.delivered(rows, taken)), found)


def test_a_research_makes_each_resource_once() -> None:
    assert not list(press.researched("w", "succeeded", {"status": "completed", "resources_created": [1, 2]}))
    assert not list(press.researched("w", "cancelled", {}))
    twice = {"status": "completed", "resources_created": [1, 1]}
    assert_told(list(press.researched("w", "succeeded", twice)), "made resources twice")
    assert_told(list(press.researched("w", "succeeded", {"status": "partial"})), "came to")


def test_the_file_of_a_march_says_its_end(tmp_path: Path) -> None:
    march = workflow(input={"folder": str(tmp_path)})
    path = file_of(march.input, march.id)
    assert_told(list(files.of_march(march, {})), "is missing")
    path.write_text(told_by(march, {}))
    assert not list(files.of_march(march, {}))
    path.write_text(told_by(workflow(status="failed", error="length"), {}))
    assert_told(list(files.of_march(march, {})), r"\(succeeded\) says .*failed")


def test_a_march_that_was_stopped_writes_no_file(tmp_path: Path) -> None:
    march = workflow(status="cancelled", input={"folder": str(tmp_path)})
    assert not list(files.of_march(march, {}))
    path = file_of(march.input, march.id)
    path.write_text(told_by(workflow(status="failed", error="as it was before it was begun again"), {}))
    assert not list(files.of_march(march, {}))
    path.write_text(told_by(march, {}))
    assert_told(list(files.of_march(march, {})), "was written though")


@pytest.mark.parametrize(
    ("wrote", "found"),
    [
        (Wrote("w", "succeeded", 3.0), ""),
        (Wrote("w", "succeeded", 1.0), "as succeeded, which it was not yet"),
        (Wrote("w", "failed", 3.0), "as failed, which it never was"),
    ],
)
def test_who_writes_a_file_before_it_is_settled_is_seen_though_it_is_overwritten(
    wrote: Wrote, found: str
) -> None:
    moves = [Move("w", 2.0, "running", "succeeded", 1, 2)]
    assert_told(list(files.written_when_settled([wrote], moves)), found)


PASSED = {"key": "a", "status": "succeeded", "result": {"outcome": "passed"}}
STOPPED = {"key": "a", "status": "cancelled", "result": None}


@pytest.mark.parametrize(
    ("found", "code", "wrong"),
    [
        ([PASSED], "0", ""),
        ([STOPPED, PASSED], "0", ""),
        ([STOPPED], "1", ""),
        ([], "1", "topic a of b is"),
        ([{**PASSED, "status": "running"}], "0", "topic a of b is"),
        ([PASSED, PASSED], "0", "topic a of b is"),
        ([PASSED], "1", "ended with 1"),
        ([STOPPED], "0", "ended with 0"),
        ([{**PASSED, "result": {"outcome": "blocked"}}], "0", "ended with 0"),
    ],
)
def test_a_batch_says_how_its_topics_ended(found: list[dict[str, Any]], code: str, wrong: str) -> None:
    assert_told(list(ended(["a"], found, code, name="b")), wrong)


QUESTION = {"id": 1, "conversation_id": "c", "role": "user", "content": "Hello", "answers": None}
ANSWER = {"id": 2, "conversation_id": "c", "role": "assistant", "content": "Hi", "answers": 1}
TOLD = {"message_id": 2, "response": "Hi"}


@pytest.mark.parametrize(
    ("told", "rows", "found"),
    [
        (TOLD, [QUESTION, ANSWER], ""),
        (None, [], ""),
        (None, [QUESTION], ""),
        (None, [QUESTION, ANSWER], ""),
        (TOLD, [QUESTION], "the answer is lost"),
        (TOLD, [], "the answer is lost"),
        (TOLD, [QUESTION, {**ANSWER, "content": "Bye"}], "kept is"),
        (None, [QUESTION, {**QUESTION, "id": 3}], "stands 2 times"),
        (None, [QUESTION, ANSWER, {**ANSWER, "id": 3}], "has 2 answers"),
    ],
)
def test_an_answer_that_was_acknowledged_is_missed(
    told: dict[str, Any] | None, rows: list[dict[str, Any]], found: str
) -> None:
    assert_told(kept([Message("uma", "c", "Hello", told)], rows), found)


def test_an_answer_stands_after_its_question() -> None:
    assert not list(in_order([QUESTION, ANSWER]))
    assert_told(list(in_order([QUESTION, {**QUESTION, "id": 3}, ANSWER])), "stands after 3, and answers 1")


@pytest.mark.parametrize(
    ("begun", "said_yes", "answer", "found"),
    [
        (1, True, {"status": "processing"}, ""),
        (1, True, None, ""),
        (0, True, None, ""),
        (0, False, None, ""),
        (2, True, {"status": "processing"}, "begun 2 times"),
        (1, False, None, "without a yes"),
        (0, True, {"status": "processing"}, "begun 0 times, and the yes"),
        (1, True, {"status": "asks"}, "and the yes was answered"),
    ],
)
def test_what_the_chat_does_takes_a_yes(
    begun: int, said_yes: bool, answer: dict[str, Any] | None, found: str
) -> None:
    assert_told(list(agreed(begun, said_yes=said_yes, answer=answer)), found)
