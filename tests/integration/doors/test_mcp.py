"""MCP: the tools and prompts that each person is offered, through the official SDK's client."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import jsonschema
import pytest
from fastapi import FastAPI
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from actors.platform import systems
from models.config import Config
from models.people.scopes import ROLES
from models.store.content import prompts
from models.store.database import Database
from models.store.people import users
from serve.api import make_app
from tests.integration.doors.mcp_client import (
    HANDSHAKE,
    MODERN,
    Alternately,
    bearer,
    call,
    mcp_client,
    post,
    serving,
)

Configure = Callable[..., Config]

OFFERED = {tool.name: tool for tool in systems.tools() if tool.for_models}
SCOPES = ("nowhere:reader", "macro:reader", "macro:editor", "macro:analyst", "macro:admin", "global:admin")


def may_use(scope: str) -> set[str]:
    """The tools that one scope opens: of its role and the roles below it."""
    topic, _, role = scope.partition(":")
    below = ROLES[: ROLES.index(role) + 1]
    return {
        name
        for name, tool in OFFERED.items()
        if tool.permission.required_role in below
        and (topic != "global" or tool.permission.global_admin_override)
    }


def least(schema: dict[str, Any], name: str = "") -> Any:
    """The least that a schema takes; a topic is macro."""
    if name == "topic":
        return "macro"
    for given in (schema.get("examples"), schema.get("enum")):
        if given:
            return given[0]
    if schema["type"] == "object":
        properties = schema.get("properties", {})
        wanted = {*schema.get("required", ()), "topic"} & properties.keys()
        return {each: least(properties[each], each) for each in sorted(wanted)}
    if schema["type"] == "array":
        return [least(schema["items"])] * schema.get("minItems", 0)
    return schema.get("minimum", 1) if schema["type"] == "integer" else "x" * schema.get("minLength", 1)


ARGUMENTS = {name: least(tool.input.model_json_schema()) for name, tool in OFFERED.items()}


@pytest.fixture
def config(configure: Configure) -> Config:
    """The configuration."""
    return configure()


@pytest.fixture
def app(config: Config, database_url: str) -> FastAPI:
    """A replica."""
    return make_app(config, database_url)


@pytest.fixture
async def url(app: FastAPI) -> AsyncIterator[str]:
    """Where it is served."""
    async with serving(app) as url:
        yield url


async def names(client: Client) -> set[str]:
    """The tools a client is offered."""
    return {tool.name for tool in (await client.list_tools()).tools}


async def calls_of(database: Database) -> list[dict[str, Any]]:
    """What was recorded."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT person, tool, door, topic, status FROM tool_calls ORDER BY id"
        )
        return [dict(row) for row in await cursor.fetchall()]


@pytest.mark.parametrize("mode", [MODERN, HANDSHAKE])
async def test_everybody_is_listed_what_they_may_use(url: str, config: Config, mode: str) -> None:
    for scope in SCOPES:
        async with mcp_client(url, bearer(config.auth, scope), mode=mode) as client:
            assert (scope, await names(client)) == (scope, may_use(scope))
    async with mcp_client(url, bearer(config.auth), mode=mode) as client:
        assert await names(client) == set()


async def test_what_is_not_listed_is_refused_with_the_scope_it_takes(
    url: str, config: Config, database: Database
) -> None:
    expected = []
    for scope in ("", *SCOPES):
        headers = bearer(config.auth, *([scope] if scope else []), user=f"with-{scope}")
        for tool in OFFERED.keys() - (may_use(scope) if scope else set()):
            answer = await call(url, headers, tool, **ARGUMENTS[tool])
            assert (scope, tool, answer.status_code) == (scope, tool, 403)
            # Where the call doesn't say its topic, any topic's scope will do.
            role, named = OFFERED[tool].permission.required_role, "topic" in ARGUMENTS[tool]
            wanted = " ".join(
                f"{topic}:{role}" for topic in (("macro",) if named else config.publishing.topics)
            )
            assert answer.headers["www-authenticate"] == (
                f'Bearer error="insufficient_scope", scope="{wanted}", '
                'resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource/mcp"'
            )
            body = answer.json()
            assert (body["id"], body["error"]["code"]) == (1, 403)
            assert body["error"]["data"]["type"] == "urn:signoff:problem:PermissionMissing"
            expected.append((tool, "mcp", "PermissionMissing"))
    assert [(row["tool"], row["door"], row["status"]) for row in await calls_of(database)] == expected


async def test_a_listed_tool_on_another_topic_is_refused_too(url: str, config: Config) -> None:
    answer = await call(
        url, bearer(config.auth, "macro:analyst"), "create_draft_article", topic="esg", headline="No"
    )
    assert answer.status_code == 403
    assert 'scope="esg:analyst"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize("mode", [MODERN, HANDSHAKE])
async def test_calls_answer_in_text_and_structure_and_are_recorded(
    url: str, config: Config, database: Database, mode: str
) -> None:
    async with mcp_client(url, bearer(config.auth, "macro:analyst"), mode=mode) as client:
        made = await client.call_tool("create_draft_article", {"topic": "macro", "headline": "The Fed holds"})
        assert made.structured_content["headline"] == "The Fed holds"
        assert json.loads(made.content[0].text) == made.structured_content
        asked = {"article_id": made.structured_content["article_id"]}
        read = await client.call_tool("get_article", asked)
        assert read.structured_content["article"]["status"] == "draft"
    async with mcp_client(url, bearer(config.auth, "macro:reader", user="bob"), mode=mode) as client:
        # A draft is as if it did not exist. The model sees why, and so does the program.
        hidden = await client.call_tool("get_article", asked)
        assert hidden.is_error
        assert hidden.content[0].text.startswith("ArticleNotFound: there is no article")
        assert hidden.structured_content["type"] == "urn:signoff:problem:ArticleNotFound"
        assert hidden.structured_content["status"] == 404
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        jsonschema.validate(hidden.structured_content, tools["get_article"].output_schema)
        with pytest.raises(MCPError, match="macro:editor") as refused:
            await client.call_tool(
                "search_articles", {"query": "Fed", "topic": "macro", "include_drafts": True}
            )
        assert refused.value.code == 403
        wrong = await client.call_tool("get_article", {"article_id": "x", "more": 1})
        assert wrong.is_error
        assert "article_id: " in wrong.content[0].text
        assert "more: " in wrong.content[0].text
    recorded = [(row["person"], row["tool"], row["door"], row["status"]) for row in await calls_of(database)]
    assert recorded == [
        ("ann", "create_draft_article", "mcp", "ok"),
        ("ann", "get_article", "mcp", "ok"),
        ("bob", "get_article", "mcp", "ArticleNotFound"),
        ("bob", "search_articles", "mcp", "PermissionMissing"),
        ("bob", "get_article", "mcp", "InputInvalid"),
    ]


async def test_tools_say_what_they_take_and_do(url: str, config: Config) -> None:
    async with mcp_client(url, bearer(config.auth, "macro:admin")) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    for name, declared in OFFERED.items():
        told, hints = tools[name], tools[name].annotations
        jsonschema.Draft202012Validator.check_schema(told.input_schema)
        jsonschema.Draft202012Validator.check_schema(told.output_schema)
        jsonschema.validate(ARGUMENTS[name], told.input_schema)
        assert told.input_schema["additionalProperties"] is False
        assert f"{{topic}}:{declared.permission.required_role}" in told.description
        assert hints.read_only_hint == (not declared.changes_something)
        assert hints.open_world_hint == ("leaves the site" in declared.effects)
        assert ("a human decides" in told.description) == ("asks" in declared.effects)
        assert (hints.destructive_hint is False) == (declared.changes_something and declared.only_adds)
    assert "global scope does not count" in tools["edit_prompts"].description
    assert tools["search_articles"].title == "Search articles"


@pytest.mark.parametrize("mode", [MODERN, HANDSHAKE])
async def test_what_is_for_people_only_cannot_be_called(
    url: str, config: Config, database: Database, mode: str
) -> None:
    async with mcp_client(url, bearer(config.auth, "global:admin"), mode=mode) as client:
        for tool in ("decide_approval", "decide_article", "rm"):
            with pytest.raises(MCPError, match="Unknown tool") as refused:
                await client.call_tool(tool, {"approval_id": "1", "decision": "approve", "digest": "x"})
            assert refused.value.code == INVALID_PARAMS
    assert await calls_of(database) == []


async def test_one_client_may_use_any_replica(config: Config, database_url: str, app: FastAPI) -> None:
    other = make_app(config, database_url)
    for mode in (MODERN, HANDSHAKE):
        async with serving(app) as first, serving(other) as second:
            transport = Alternately(first, second)
            headers = bearer(config.auth, "macro:analyst")
            async with mcp_client(first, headers, mode=mode, transport=transport) as client:
                made = await client.call_tool("create_draft_article", {"topic": "macro", "headline": mode})
                for _ in range(4):
                    read = await client.call_tool(
                        "get_article", {"article_id": made.structured_content["article_id"]}
                    )
                    assert read.structured_content["article"]["headline"] == mode
            assert min(transport.sent.values()) >= 2


async def test_a_scope_that_is_taken_away_is_gone_at_once(
    url: str, config: Config, database: Database
) -> None:
    async with mcp_client(url, bearer(config.auth, "macro:editor", "macro:reader", user="eve")) as client:
        assert "publish_article" in await names(client)
        async with database.transaction() as connection:
            await users.revoke(connection, "eve", "macro:editor", reason="left", revoked_by="root")
        assert await names(client) == may_use("macro:reader")
        with pytest.raises(MCPError, match="publish_article takes the scope"):
            await client.call_tool("publish_article", {"article_id": 1})


async def test_nobody_is_given_the_list_of_somebody_else(url: str, config: Config) -> None:
    people = {scope: bearer(config.auth, scope, user=scope.partition(":")[2]) for scope in SCOPES}

    async def ask(scope: str) -> tuple[str, set[str]]:
        answer = await post(url, people[scope])
        assert answer.headers["cache-control"] == "no-store"
        return scope, {tool["name"] for tool in answer.json()["result"]["tools"]}

    for scope, tools in await asyncio.gather(*(ask(scope) for scope in SCOPES * 5)):
        assert tools == may_use(scope)
    async with mcp_client(url, people["macro:reader"]) as client:
        for result in (await client.list_tools(), await client.list_prompts()):
            assert (result.ttl_ms, result.cache_scope) == (0, "private")


async def take_in(config: Config, database: Database) -> None:
    """The tonalities, as `signoff up` takes them in."""
    async with database.transaction() as connection:
        await prompts.take_in_tonalities(connection, config.publishing.prompts_dir / "tonalities")


@pytest.fixture
def prompting(configure: Configure, tmp_path: Any) -> Config:
    """A configuration with prompts."""
    for file, text in {
        "tonalities/plain.md": "Write plainly.",
        "topics/macro.md": "Mind the base effects.",
    }.items():
        (tmp_path / "prompts" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "prompts" / file).write_text(text)
    return configure({"publishing.prompts_dir": str(tmp_path / "prompts")})


@pytest.mark.parametrize("mode", [MODERN, HANDSHAKE])
async def test_prompts_are_for_those_who_may_read_them(
    prompting: Config, database: Database, database_url: str, mode: str
) -> None:
    await take_in(prompting, database)
    offered = {
        "macro:reader": ["tonality-plain"],
        "macro:admin": ["tonality-plain", "topic-macro"],
        "global:admin": ["tonality-plain", *(f"topic-{topic}" for topic in prompting.publishing.topics)],
    }
    async with serving(make_app(prompting, database_url)) as url:
        for scope, expected in offered.items():
            async with mcp_client(url, bearer(prompting.auth, scope), mode=mode) as client:
                found = (await client.list_prompts()).prompts
                assert (scope, [prompt.name for prompt in found]) == (scope, expected)
        async with mcp_client(url, bearer(prompting.auth), mode=mode) as client:
            assert (await client.list_prompts()).prompts == []
            with pytest.raises(MCPError, match="takes the scope"):
                await client.get_prompt("tonality-plain")
        async with mcp_client(url, bearer(prompting.auth, "macro:admin"), mode=mode) as client:
            for name, text in (
                ("tonality-plain", "Write plainly."),
                ("topic-macro", "Mind the base effects."),
            ):
                (message,) = (await client.get_prompt(name)).messages
                assert (message.role, message.content.text) == ("user", text)
            for unknown in ("topic-nowhere", "tonality-", "plain", "tonality-loud"):
                with pytest.raises(MCPError, match="Unknown prompt") as refused:
                    await client.get_prompt(unknown)
                assert refused.value.code == INVALID_PARAMS
        refusal = await post(url, bearer(prompting.auth, "macro:admin"), "prompts/get", name="topic-esg")
        assert refusal.status_code == 403
        assert 'scope="esg:admin"' in refusal.headers["www-authenticate"]


async def test_what_goes_wrong_inside_stays_inside(
    app: FastAPI, url: str, config: Config, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def permitted(self, *_: Any, **__: Any) -> None:
            raise RuntimeError("the secret of the house")

    app.state.registry = Broken()
    for mode in (MODERN, HANDSHAKE):
        async with mcp_client(url, bearer(config.auth, "macro:reader"), mode=mode) as client:
            with pytest.raises(MCPError) as refused:
                await client.list_tools()
        assert refused.value.code == INTERNAL_ERROR
        assert "secret" not in refused.value.message
    assert "the secret of the house" in caplog.text
