"""What a server says to people is what they see of it; values that hide something are refused."""

import asyncio
from typing import Any

import pytest
from mcp_types import ElicitRequestFormParams, ElicitRequestURLParams, TextContent, Tool

from actors.platform.mcp.answers import text_of
from actors.platform.mcp.exchange import Unanswered
from actors.platform.mcp.listing import _served
from actors.platform.mcp.questions import ServerAsks, asked_by
from tests.fakes.mcp_servers import configured

SAID = "Pay 1\u202e000,1\u202c EUR\x1b[2J\u200b to \u3164Ann\u00e9 👩\u200d👧"
SEEN = "Pay 1000,1 EUR [2J to Ann\u00e9 👩\u200d👧"


def asked(**field: Any) -> ServerAsks:
    schema = {"type": "object", "properties": {"amount": field}}
    return asyncio.run(asked_by(ElicitRequestFormParams(message=SAID, requested_schema=schema), key="k"))


def test_a_question_is_shown_as_it_is_seen() -> None:
    question = asked(type="string", title=SAID, description=SAID, enum=["a", "b"], enumNames=[SAID, "B"])
    assert question.message == SEEN
    assert question.requested is not None
    assert question.requested["properties"]["amount"] == {
        "type": "string", "title": SEEN, "description": SEEN, "enum": ["a", "b"], "enumNames": [SEEN, "B"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "field",
    [
        {"type": "string", "enum": ["a", "a\u200b"]},
        {"type": "string", "oneOf": [{"const": "a\u3164", "title": "A"}]},
        {"type": "string", "default": "\u202eyes"},
    ],
)
def test_values_that_look_alike_are_refused(field: dict[str, Any]) -> None:
    with pytest.raises(Unanswered, match=r"schema that holds U\+"):
        asked(**field)


def test_an_address_that_hides_something_is_refused() -> None:
    params = ElicitRequestURLParams(message="m", url="https://pay.test/\u202egro", elicitation_id="e")
    with pytest.raises(Unanswered, match=r"address holds U\+202E"):
        asyncio.run(asked_by(params, key="k"))


def test_a_tool_and_its_answer_are_described_as_they_are_seen() -> None:
    tool = Tool(name="pay", description=SAID, input_schema={"type": "object"})
    assert _served(tool, "crm", configured("http://127.0.0.1:1/mcp")).description == SEEN
    assert text_of([TextContent(type="text", text=SAID), TextContent(type="text", text="b")]) == f"{SEEN}\nb"
