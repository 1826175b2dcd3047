"""What a server asks becomes a question to a person, in either era; nothing else answers it."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import mcp_types as types
import pytest
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError

from models.errors import ServedToolInvalid, ServedToolRefused
from models.mcp.tool_answers import GivenToServer, ServerQuestion
from tests.fakes.mcp_servers import OBJECT, serving
from tests.integration.mcp.asking import call_of, opened

MODERN, LEGACY = "2026-07-28", "2025-11-25"
_SURE = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
_WHOM = {"type": "object", "properties": {"whom": {"type": "string"}}, "required": ["whom"]}

_Result = types.CallToolResult | types.InputRequiredResult
_Call = Callable[[ServerRequestContext[Any], types.CallToolRequestParams], Any]


def said(text: str, *, error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=error)


def asked(message: str, schema: Mapping[str, Any]) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(message=message, requested_schema=dict(schema))
    return types.ElicitRequest(params=params)


def server_of(call: _Call) -> "Server[Any]":
    """A server of `look` and `send`, which both do this."""

    async def tools(*_: object) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[types.Tool(name=name, input_schema=OBJECT) for name in ("look", "send")]
        )

    return Server("asking", on_list_tools=tools, on_call_tool=call)


def given(question: ServerQuestion | None, action: str = "accept", **content: Any) -> GivenToServer:
    assert question is not None
    answer = {"key": question.key, "action": action, "state": question.state}
    return GivenToServer.model_validate({**answer, "content": content or None})


async def _modern(_: object, params: types.CallToolRequestParams) -> _Result:
    """Asks whom and whether he is sure at once, then once more, and repeats what it was given."""
    answers = params.input_responses or {}
    got = {
        key: (each.action, each.content)
        for key, each in answers.items()
        if isinstance(each, types.ElicitResult)
    }
    if params.request_state is None:
        requests: dict[str, Any] = {"a": asked("Whom?", _WHOM), "b": asked("Sure?", _SURE)}
        return types.InputRequiredResult(input_requests=requests, request_state="one")
    if params.request_state == "one":
        return types.InputRequiredResult(
            input_requests={"c": asked("Really?", _SURE)}, request_state=f"two {sorted(got.items())}"
        )
    return said(f"{params.request_state} {sorted(got.items())}")


async def test_several_rounds_of_questions_go_to_a_person_one_by_one() -> None:
    async with serving(server_of(_modern)) as url:
        async with opened(url, era=MODERN) as servers:
            call = await call_of(servers, "send")
            answer = await servers.call(call, confirmed=True)
            assert answer.status == "asks"
            assert answer.question is not None
            assert (answer.question.message, answer.question.requested) == ("Whom?", _WHOM)
            first = given(answer.question, whom="ann")
        # Another process goes on: all that it takes is in the question, and so in the journal.
        async with opened(url, era=MODERN) as servers:
            answer = await servers.call(call, given=first, confirmed=True)
            assert answer.question is not None
            assert (answer.status, answer.question.message) == ("asks", "Sure?")
            answer = await servers.call(call, given=given(answer.question, "decline"), confirmed=True)
            assert answer.question is not None
            assert (answer.status, answer.question.message) == ("asks", "Really?")
            answer = await servers.call(call, given=given(answer.question, sure=True), confirmed=True)
    assert answer.status == "answered"
    assert answer.text == (
        "two [('a', ('accept', {'whom': 'ann'})), ('b', ('decline', None))] "
        "[('c', ('accept', {'sure': True}))]"
    )


async def test_an_answer_must_be_what_its_question_asks_for() -> None:
    async with serving(server_of(_modern)) as url, opened(url, era=MODERN) as servers:
        call = await call_of(servers, "look")
        question = (await servers.call(call)).question
        with pytest.raises(ServedToolRefused, match=r"given\.content: whom: 7 is not of type 'string'"):
            await servers.call(call, given=given(question, whom=7))
        with pytest.raises(ServedToolRefused, match=r"given\.content: 'whom' is a required property"):
            await servers.call(call, given=given(question))
        for wrong in ({"key": "b"}, {"state": "{}"}, {"state": None}):
            with pytest.raises(ServedToolRefused, match=r"given\.state: is not what the question"):
                await servers.call(call, given=given(question, whom="ann").model_copy(update=wrong))


async def test_a_question_needs_the_confirmation_of_its_write() -> None:
    async with serving(server_of(_modern)) as url, opened(url, era=MODERN) as servers:
        call = await call_of(servers, "send")
        question = (await servers.call(call, confirmed=True)).question
        with pytest.raises(ServedToolRefused, match="confirm"):
            await servers.call(call, given=given(question, whom="ann"))


class Elicits:
    """A tool of 2025-11-25 that asks two questions within its call. `log` is what it did."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def __call__(self, context: ServerRequestContext[Any], _: object) -> _Result:
        self.log.append("called")
        whom = await context.session.elicit_form("Whom?", dict(_WHOM), context.request_id)
        if whom.action != "accept":
            return said(f"{whom.action}: not sent")
        sure = await context.session.elicit_form("Sure?", dict(_SURE), context.request_id)
        if sure.action != "accept":
            return said(f"{sure.action}: not sent to {whom.content}", error=True)
        self.log.append("sent")
        return said(f"sent to {whom.content}, {sure.content}")


async def test_elicitations_are_put_off_and_answered_when_the_call_is_made_again() -> None:
    tool = Elicits()
    async with serving(server_of(tool)) as url:
        async with opened(url, era=LEGACY) as servers:
            call = await call_of(servers, "send")
            answer = await servers.call(call, confirmed=True)
            assert answer.question is not None
            assert (answer.status, answer.question.message) == ("asks", "Whom?")
            assert (answer.question.requested, answer.question.said) == (_WHOM, "cancel: not sent")
        async with opened(url, era=LEGACY) as servers:
            answer = await servers.call(call, given=given(answer.question, whom="ann"), confirmed=True)
            assert answer.question is not None
            assert (answer.status, answer.question.message) == ("asks", "Sure?")
            assert answer.question.said == "cancel: not sent to {'whom': 'ann'}"
            answer = await servers.call(call, given=given(answer.question, sure=True), confirmed=True)
    assert (answer.status, answer.text) == ("answered", "sent to {'whom': 'ann'}, {'sure': True}")
    assert tool.log == ["called", "called", "called", "sent"]


async def test_a_person_may_decline_an_elicitation() -> None:
    async with serving(server_of(Elicits())) as url, opened(url, era=LEGACY) as servers:
        call = await call_of(servers, "look")
        question = (await servers.call(call)).question
        answer = await servers.call(call, given=given(question, "decline"))
    assert (answer.status, answer.text) == ("answered", "decline: not sent")


async def test_a_question_beside_the_call_is_asked_too() -> None:
    """Some servers put their questions on the stream that stands open, and not on the call's own."""

    async def ask(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> _Result:
        answer = await context.session.elicit_form("Sure?", dict(_SURE))
        return said(answer.action)

    async with serving(server_of(ask)) as url, opened(url, era=LEGACY) as servers:
        call = await call_of(servers, "look")
        question = (await servers.call(call)).question
        assert question is not None
        assert question.message == "Sure?"
        assert (await servers.call(call, given=given(question, sure=False))).text == "accept"


async def test_calls_at_once_have_each_its_own_question() -> None:
    async def ask(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> _Result:
        which = (params.arguments or {})["which"]
        await context.session.elicit_form(f"Question {which}?", dict(_SURE), context.request_id)
        return said("later")

    async with serving(server_of(ask)) as url, opened(url, era=LEGACY) as servers:
        calls = [await call_of(servers, "look", which=which) for which in range(5)]
        answers = await asyncio.gather(*map(servers.call, calls))
    assert [each.question and each.question.message for each in answers] == [
        f"Question {which}?" for which in range(5)
    ]


async def test_what_is_asked_beside_the_calls_once_one_was_given_up_is_asked_for_none_of_them() -> None:
    """It may be for the one that was given up: another's answer is not lent to it."""
    begun = {"a": asyncio.Event(), "b": asyncio.Event()}
    go = asyncio.Event()

    async def ask(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> _Result:
        which = (params.arguments or {})["which"]
        begun[which].set()
        await go.wait()
        try:
            return said((await context.session.elicit_form("Sure?", dict(_SURE))).action)
        except MCPError as error:
            return said(error.message)

    async with serving(server_of(ask)) as url, opened(url, era=LEGACY) as servers:
        first, second = [await call_of(servers, "look", which=which) for which in ("a", "b")]
        given_up, going_on = (asyncio.create_task(servers.call(each)) for each in (first, second))
        await asyncio.gather(begun["a"].wait(), begun["b"].wait())
        given_up.cancel()
        await asyncio.wait([given_up])
        go.set()
        assert (await going_on).text == "It can't be told which call this is asked for"
        # On a new connection it is certain again.
        question = (await servers.call(second)).question
        assert question is not None
        assert (await servers.call(second, given=given(question, sure=True))).text == "accept"


@pytest.mark.parametrize("era", [MODERN, LEGACY])
async def test_a_page_to_open_is_a_question(era: str) -> None:
    page = types.ElicitRequestURLParams(
        message="Log in", url="https://example.com/login?x=1", elicitation_id="1"
    )

    async def ask(_: ServerRequestContext[Any], params: types.CallToolRequestParams) -> _Result:
        if era == LEGACY:
            raise UrlElicitationRequiredError([page])
        if params.input_responses:
            return said("in")
        return types.InputRequiredResult(input_requests={"login": types.ElicitRequest(params=page)})

    async with serving(server_of(ask)) as url, opened(url, era=era) as servers:
        call = await call_of(servers, "look")
        question = (await servers.call(call)).question
        assert question is not None
        assert (question.message, question.url) == ("Log in", "https://example.com/login?x=1")
        assert question.requested is None
        answer = await servers.call(call, given=given(question, "decline" if era == LEGACY else "accept"))
    assert (answer.status, answer.text) == (
        ("failed", "error -32042: URL elicitation required") if era == LEGACY else ("answered", "in")
    )


async def test_sampling_and_roots_are_refused() -> None:
    async def ask(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> _Result:
        if context.protocol_version == LEGACY:
            try:
                message = types.SamplingMessage(
                    role="user", content=types.TextContent(type="text", text="hi")
                )
                await context.session.create_message(
                    [message], max_tokens=9, related_request_id=context.request_id
                )
            except Exception as error:  # noqa: BLE001 - what it is told is what is looked at
                return said(f"{type(error).__name__}: {error}", error=True)
            return said("the model spoke")
        roots = types.ListRootsRequest()
        return types.InputRequiredResult(input_requests={"r": roots})

    async with serving(server_of(ask)) as url:
        async with opened(url, era=LEGACY) as servers:
            answer = await servers.call(await call_of(servers, "look"))
            assert answer.status == "failed"
            assert "ampling" in answer.text
        async with opened(url, era=MODERN) as servers:
            with pytest.raises(ServedToolInvalid, match="it asks for roots/list, which is refused here"):
                await servers.call(await call_of(servers, "look"))


async def test_a_question_by_a_schema_elsewhere_is_refused() -> None:
    far = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}}

    async def ask(_: object, params: types.CallToolRequestParams) -> _Result:
        return types.InputRequiredResult(input_requests={"a": asked("What?", far)})

    async with serving(server_of(ask)) as url, opened(url, era=MODERN) as servers:
        with pytest.raises(ServedToolInvalid, match=r"its \$ref leads elsewhere, which is never fetched"):
            await servers.call(await call_of(servers, "look"))
