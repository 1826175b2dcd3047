"""The sample servers' tools: what they declare is so, what is written is seen, what can't be is told."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import jsonschema
import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.shared.exceptions import MCPError

from models.errors import InputInvalid
from serve.samples.bills import bills_server
from serve.samples.crm import Accounts, AddNote, crm_server
from serve.samples.data import load_samples
from serve.samples.mail import Mailbox, SendMessage, mail_server
from serve.samples.tools import FOLDER, MOST_WRITTEN

SAMPLES = load_samples(FOLDER)
SERVERS = {"mail": mail_server, "bills": bills_server, "crm": crm_server}
READS = {
    "mail": ["search_messages", "read_message", "list_threads"],
    "bills": ["search_bills", "get_bill", "list_vendors"],
    "crm": ["search_accounts", "get_account", "list_cases"],
}
WRITES = {"mail": ["send_message"], "bills": ["schedule_payment", "mark_paid"], "crm": ["add_note"]}
EXAMPLES: list[tuple[str, str, dict[str, Any]]] = [
    ("mail", "search_messages", {"query": "2041"}),
    ("mail", "read_message", {"id": "m-004"}),
    ("mail", "list_threads", {"query": "Halberd", "limit": 2}),
    (
        "mail",
        "send_message",
        {"to": ["laura@x.example"], "subject": "Hi", "body": "Hello", "thread_id": "t-01"},
    ),
    ("bills", "search_bills", {"number": "inv 2041"}),
    ("bills", "get_bill", {"id": "bill_3001"}),
    ("bills", "list_vendors", {}),
    ("bills", "schedule_payment", {"bill_id": "bill_3003", "pay_on": "2026-05-20"}),
    ("bills", "mark_paid", {"bill_id": "bill_3003", "paid_on": "2026-05-20", "reference": "ACH 1"}),
    ("crm", "search_accounts", {"query": "Meridian"}),
    ("crm", "get_account", {"id": "A-2001"}),
    ("crm", "list_cases", {"account_id": "A-2001", "status": "Open"}),
    ("crm", "add_note", {"account_id": "A-2001", "text": "Called."}),
]
REFUSED: list[tuple[str, str, dict[str, Any], str]] = [
    ("mail", "search_messages", {"limit": 0}, "limit: "),
    ("mail", "search_messages", {"limit": 51}, "limit: "),
    ("mail", "search_messages", {"query": "x" * 501}, "query: "),
    ("mail", "search_messages", {"cursor": "later"}, "cursor: "),
    (
        "mail",
        "search_messages",
        {"text": "x"},
        "text: is no argument of this tool: it takes limit, cursor, query",
    ),
    ("mail", "read_message", {}, "id: is required"),
    ("mail", "read_message", {"id": "m-999"}, "id: there is no message 'm-999'"),
    ("mail", "send_message", {"to": ["nobody"], "subject": "a", "body": "b"}, "to.0: "),
    ("mail", "send_message", {"to": [], "subject": "a", "body": "b"}, "to: "),
    ("mail", "send_message", {"to": ["a@b.c"], "subject": "a", "body": "b", "thread_id": "t"}, "thread_id: "),
    ("bills", "search_bills", {"status": "late"}, "status: "),
    ("bills", "search_bills", {"due_before": "soon"}, "due_before: "),
    ("bills", "search_bills", {"number": "Invoice #"}, "number: holds no number"),
    ("bills", "search_bills", {"vendor": "!"}, "vendor: holds no word"),
    ("bills", "get_bill", {"id": "INV-2041"}, "id: there is no bill 'INV-2041'"),
    (
        "bills",
        "schedule_payment",
        {"bill_id": "bill_3001", "pay_on": "2026-05-20"},
        "bill_id: bill_3001 is paid",
    ),
    ("bills", "mark_paid", {"bill_id": "bill_3028", "paid_on": "2026-05-20"}, "bill_id: bill_3028 is void"),
    ("bills", "mark_paid", {"bill_id": "bill_3001", "paid_on": "2026-05-20"}, "bill_id: bill_3001 is paid"),
    ("crm", "get_account", {"id": "Meridian"}, "id: there is no account 'Meridian'"),
    ("crm", "list_cases", {"account_id": "A-1"}, "account_id: "),
    ("crm", "list_cases", {"status": "open"}, "status: "),
    ("crm", "add_note", {"account_id": "A-2001", "text": ""}, "text: "),
]


@pytest.mark.parametrize("name", SERVERS)
async def test_each_declares_what_the_tools_do(name: str) -> None:
    async with Client(SERVERS[name](SAMPLES)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == [*READS[name], *WRITES[name]]
    for tool in tools.values():
        assert tool.annotations is not None
        assert tool.description
        assert tool.output_schema is not None
        for schema in (tool.input_schema, tool.output_schema):
            jsonschema.Draft202012Validator.check_schema(schema)
        assert tool.input_schema["additionalProperties"] is False
        assert tool.annotations.read_only_hint == (tool.name in READS[name])
        assert tool.annotations.open_world_hint is False
    hints = {
        tool.name: (tool.annotations.destructive_hint, tool.annotations.idempotent_hint)
        for tool in tools.values()
        if tool.annotations is not None and tool.name in WRITES[name]
    }
    adds, changes = (False, False), (True, True)
    assert hints == {each: adds if each in ("send_message", "add_note") else changes for each in WRITES[name]}


@pytest.mark.parametrize(("server", "tool", "arguments"), EXAMPLES, ids=lambda value: str(value)[:30])
async def test_an_answer_keeps_to_its_schema(server: str, tool: str, arguments: dict[str, Any]) -> None:
    async with Client(SERVERS[server](SAMPLES)) as client:
        [described] = [each for each in (await client.list_tools()).tools if each.name == tool]
        answer = await client.call_tool(tool, arguments)
    assert not answer.is_error
    assert described.output_schema is not None
    checker = jsonschema.Draft202012Validator(
        described.output_schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    checker.validate(answer.structured_content)


@pytest.mark.parametrize(("server", "tool", "arguments", "told"), REFUSED, ids=lambda value: str(value)[:30])
async def test_what_can_t_be_is_an_error_that_names_the_argument(
    server: str, tool: str, arguments: dict[str, Any], told: str
) -> None:
    async with Client(SERVERS[server](SAMPLES)) as client:
        answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    assert answer.structured_content is None
    [said] = answer.content
    assert said.type == "text"
    assert said.text.startswith(told)
    assert "\n" not in said.text


async def test_a_tool_that_there_is_not_is_an_error_of_the_protocol() -> None:
    async with Client(mail_server(SAMPLES)) as client:
        with pytest.raises(MCPError, match="Unknown tool: 'search_bills'"):
            await client.call_tool("search_bills", {})


async def test_what_is_written_is_seen_afterwards_and_by_nobody_else() -> None:
    async with Client(bills_server(SAMPLES)) as client, Client(bills_server(SAMPLES)) as other:
        pay = {"bill_id": "bill_3003", "pay_on": "2026-05-20"}
        for _ in range(2):
            answer = await client.call_tool("schedule_payment", pay)
            assert answer.structured_content is not None
            assert answer.structured_content["bill"]["scheduled_for"] == "2026-05-20"
        paid = {"bill_id": "bill_3003", "paid_on": "2026-05-20", "reference": "ACH 1"}
        for _ in range(2):
            assert not (await client.call_tool("mark_paid", paid)).is_error
        got = await client.call_tool("get_bill", {"id": "bill_3003"})
        assert got.structured_content is not None
        assert got.structured_content["bill"]["status"] == "paid"
        elsewhere = await other.call_tool("get_bill", {"id": "bill_3003"})
        assert elsewhere.structured_content is not None
        assert elsewhere.structured_content["bill"]["status"] == "open"


async def test_a_sent_message_is_the_newest_of_its_thread() -> None:
    async with Client(mail_server(SAMPLES)) as client:
        sent = await client.call_tool(
            "send_message",
            {
                "to": ["laura.kim@meridianoffice.example"],
                "subject": "Re: 2041",
                "body": "On it.",
                "thread_id": "t-01",
            },
        )
        assert sent.structured_content is not None
        message = sent.structured_content["message"]
        assert message["from"] == "Accounts Payable <ap@kestrel-lowe.example>"
        read = await client.call_tool("read_message", {"id": message["id"]})
        assert read.structured_content is not None
        assert read.structured_content["thread"] == ["m-001", "m-002", "m-003", "m-004", message["id"]]
        threads = await client.call_tool("list_threads", {"limit": 1})
        assert threads.structured_content is not None
        assert threads.structured_content["threads"][0]["id"] == "t-01"


async def test_a_note_stands_with_its_account() -> None:
    async with Client(crm_server(SAMPLES)) as client:
        await client.call_tool("add_note", {"account_id": "A-2007", "text": "Wolverine said hello"})
        found = await client.call_tool("search_accounts", {"query": "wolverine"})
    assert found.structured_content is not None
    [account] = found.structured_content["accounts"]
    assert (account["id"], account["notes"][-1]["author"]) == ("A-2007", "Signoff")


def test_memory_has_an_end() -> None:
    now = datetime(2026, 5, 8, tzinfo=UTC)
    mailbox, accounts = Mailbox(SAMPLES.mail, lambda: now), Accounts(SAMPLES.crm, lambda: now)
    for _ in range(MOST_WRITTEN):
        sent = mailbox.send_message(SendMessage(to=("a@b.example",), subject="s", body="b"))
        accounts.add_note(AddNote(account_id="A-2001", text="t"))
    assert sent.message.date == now
    with pytest.raises(InputInvalid, match=r"^body: this sample takes 500 messages"):
        mailbox.send_message(SendMessage(to=("a@b.example",), subject="s", body="b"))
    with pytest.raises(InputInvalid, match=r"^text: this sample takes 500 notes"):
        accounts.add_note(AddNote(account_id="A-2001", text="t"))


@given(st.sampled_from(EXAMPLES), st.data())
def test_any_arguments_are_answered(example: tuple[str, str, dict[str, Any]], data: st.DataObject) -> None:
    """Whatever a client sends, a tool answers, or says which argument is wrong."""
    server, tool, arguments = example
    values = st.one_of(
        st.none(), st.integers(), st.text(max_size=20), st.lists(st.text(max_size=5), max_size=2)
    )
    sent = arguments | data.draw(st.dictionaries(st.sampled_from([*arguments, "limit", "query"]), values))

    async def ask() -> types.CallToolResult:
        async with Client(SERVERS[server](SAMPLES)) as client:
            return await client.call_tool(tool, sent)

    answer = asyncio.run(ask())
    [said] = answer.content
    assert said.type == "text"
    assert not answer.is_error or said.text.partition(":")[0].partition(".")[0] in sent
