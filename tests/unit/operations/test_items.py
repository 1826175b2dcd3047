"""What is in a tool's answer, thing by thing, however its texts hold them."""

import json
from typing import Any

import pytest

from actors.systems.operations.items import items_of
from models.mcp.tool_answers import ToolAnswer

_ONE, _TWO = {"id": "B-1", "amount": 10}, {"id": "B-2", "amount": 20}


def _things(*texts: str, structured: Any = None) -> list[tuple[str, Any]]:
    """The paths and data of what an answer of these texts holds."""
    answer = ToolAnswer(
        server="bills",
        tool="list",
        status="answered",
        text="\n".join(texts),
        lengths=tuple(map(len, texts)) if len(texts) > 1 else (),
        structured=structured,
        seconds=0.1,
    )
    return [(item.path, item.data) for item in items_of(answer, agent="accounts_payable", call=1)]


@pytest.mark.parametrize("indent", [None, 2])
def test_several_json_texts_are_several(indent: int | None) -> None:
    one, two = json.dumps(_ONE, indent=indent), json.dumps(_TWO, indent=indent)
    assert _things(one, two) == [("/0", _ONE), ("/1", _TWO)]
    assert _things(f"{one}\n{two}\n") == [("/0", _ONE), ("/1", _TWO)]


def test_a_list_among_them_is_of_several() -> None:
    assert _things(json.dumps([_ONE, _TWO]), json.dumps({"result": _ONE})) == [
        ("/0/0", _ONE),
        ("/0/1", _TWO),
        ("/1/result", _ONE),
    ]


def test_words_beside_them_are_kept_as_words() -> None:
    assert _things("Found 2 bills:", json.dumps(_ONE), "", json.dumps(_TWO), "0") == [
        ("/0", {"text": "Found 2 bills:"}),
        ("/1", _ONE),
        ("/3", _TWO),
        ("/4", {"text": "0"}),
    ]


def test_words_alone_are_one_thing() -> None:
    assert _things("Dear Ann,", "[1] is unpaid.") == [("", {"text": "Dear Ann,\n[1] is unpaid."})]
    assert _things("[1] is unpaid. {}") == [("", {"text": "[1] is unpaid. {}"})]
    assert _things(" ") == []


def test_one_text_is_what_it_was() -> None:
    assert _things(json.dumps(_ONE)) == [("", _ONE)]
    assert _things(json.dumps({"bills": [_ONE, _TWO]})) == [("/bills/0", _ONE), ("/bills/1", _TWO)]
    assert _things("ignored", structured=_ONE) == [("", _ONE)]


def test_what_the_texts_hold_is_kept_where_the_structured_answer_holds_nothing() -> None:
    for empty in ({}, [], {"bills": [], "next": None}, {"result": []}):
        assert _things(json.dumps([_ONE, _TWO]), structured=empty) == [("/0", _ONE), ("/1", _TWO)]
        assert _things("No bills.", structured=empty) == []
        assert _things(json.dumps(empty), structured=empty) == []


def test_a_text_that_says_a_thing_twice_is_kept_as_it_was_given() -> None:
    text = '{"id": "B-1", "paid": true, "paid": false}'
    assert _things(text) == [("", {"text": text})]
    assert _things(text, json.dumps(_TWO)) == [("/0", {"text": text}), ("/1", _TWO)]


def test_very_many_are_read_in_one_go() -> None:
    assert len(_things('{"a": 1}\n' * 20_000)) == 20_000
