"""The agents that answer: from published articles and stored sources, with links that the code makes."""

import asyncio
import struct
from collections.abc import Callable
from contextlib import aclosing

import pytest

from models.chat.messages import ChatMessage, Routed, Said, Turn
from models.config import Config
from models.content.drafting import SearchBrief
from models.errors import ModelUnavailable
from models.knowledge.passages import MadePassage
from models.store.database import Database
from models.store.knowledge import passages
from tests.fakes.model.model_script import Rule
from tests.fakes.model.model_server import ModelServer
from tests.integration.chat.sites.agents_site import (
    MACRO,
    ChatSite,
    done,
    make_chat,
    make_scripted_chat,
    make_site,
    tools,
)
from tests.integration.knowledge.test_extraction import filled

__all__ = ["make_chat", "make_scripted_chat"]

ARTICLES = "http://127.0.0.1:8000/api/tools/articles"


async def test_a_reader_is_answered_from_articles_with_links(chat: ChatSite) -> None:
    number = await chat.site.article(MACRO, headline="The Fed holds", publish=True)
    await chat.site.article("Cocoa prices rose.", headline="Cocoa", publish=True)
    words = "Rates were held at 4.25 percent [1]. Nobody said more [7]."
    chat.server.script(Rule(reply=words, chunk_delay=0.05))
    reader = await chat.person("rita", "macro:reader")

    pieces = await chat.ask(
        reader, "Where are the Fed rates?", agent="article_query", intent="read", topic="macro"
    )

    end = done(pieces)
    assert end.response == (
        "Rates were held at 4.25 percent [1]. Nobody said more.\n\n"
        f"Sources:\n\n- [1] [The Fed holds]({ARTICLES}/{number})"
    )
    assert end.status == "completed"
    assert end.tools_used == ("search_articles", "get_article")
    assert tools(pieces)[0] == "search_articles"
    assert len([piece for piece in pieces if isinstance(piece, Said)]) > 2
    assert end.usage.completion_tokens > 0
    prompt = chat.server.calls()[-1].prompt
    assert MACRO in prompt
    assert "Cocoa" not in prompt
    assert 'data name="source 1"' in prompt
    assert "Macroeconomics" in prompt


async def test_nothing_found_is_said_without_a_model(chat: ChatSite) -> None:
    await chat.site.article("The Fed held rates.", headline="Draft about penguins", publish=False)
    reader = await chat.person("rita", "macro:reader")
    pieces = await chat.ask(reader, "What do we have on penguins?", agent="article_query", intent="read")
    assert done(pieces).response.startswith("No published article in the topics you can read (macro)")
    assert chat.server.calls() == []


async def test_a_text_that_shares_only_small_words_is_no_answer(chat: ChatSite) -> None:
    await chat.site.article("What the bank did: it did what it said it would do.", publish=True)
    reader = await chat.person("rita", "macro:reader")
    pieces = await chat.ask(reader, "what did it do to penguins?", agent="article_query", intent="read")
    assert "No published article" in done(pieces).response
    assert chat.server.calls() == []


async def test_all_topics_that_the_caller_reads_are_searched_and_no_others(chat: ChatSite) -> None:
    await chat.site.article("Dividends of Acme rose.", headline="Acme", topic="equity", publish=True)
    await chat.site.article("Dividends of bonds.", headline="Bonds", topic="fixed_income", publish=True)
    chat.server.script(Rule(reply="They rose."))
    reader = await chat.person("rita", "macro:reader", "equity:reader")
    end = done(await chat.ask(reader, "dividends rose?", agent="article_query", intent="read"))
    assert "[Acme]" in end.response
    assert "Bonds" not in end.response
    assert await chat.calls() == [("search_articles", "ok")] * 2 + [("get_article", "ok")]


async def test_the_published_version_is_read_by_those_who_see_drafts_too(chat: ChatSite) -> None:
    number = await chat.site.article(MACRO, headline="The Fed holds", publish=True)
    editor = await chat.person("eve", "macro:analyst")
    await chat.desk.call(editor, "write_article_content", article_id=number, content="Secret rates plan.")
    chat.server.script(Rule(reply="Held [1]."))
    end = done(
        await chat.ask(editor, f"Fed rates in article {number}?", agent="article_query", intent="read")
    )
    assert "Held [1]." in end.response
    prompt = chat.server.calls()[-1].prompt
    assert MACRO in prompt
    assert "Secret" not in prompt


async def test_an_article_that_is_named_is_read_at_once(chat: ChatSite) -> None:
    number = await chat.site.article(MACRO, headline="The Fed holds", publish=True)
    chat.server.script(Rule(reply="It says that rates were held."))
    reader = await chat.person("rita", "macro:reader")
    end = done(await chat.ask(reader, f"Sum up article {number}", agent="article_query", intent="read"))
    assert end.tools_used == ("get_article",)
    assert f"({ARTICLES}/{number})" in end.response


async def test_a_model_may_look_further_and_cites_what_it_read(chat: ChatSite) -> None:
    first = await chat.site.article(MACRO, headline="The Fed holds", publish=True)
    second = await chat.site.article("Cocoa prices rose by a fifth.", headline="Cocoa", publish=True)
    chat.server.script(
        Rule(tool_calls=[{"name": "get_article", "arguments": {"article_id": second}}], times=1),
        Rule(reply="Cocoa rose by a fifth [2]."),
    )
    reader = await chat.person("rita", "macro:reader")
    end = done(await chat.ask(reader, "Fed rates?", agent="article_query", intent="read"))
    assert f"[Cocoa]({ARTICLES}/{second})" in end.response
    assert f"/{first})" not in end.response
    assert {tool["function"]["name"] for tool in chat.server.calls()[0].body["tools"]} == {
        "search_articles",
        "get_article",
    }


async def test_it_works_with_a_model_that_only_keeps_to_a_schema(
    database: Database, database_url: str, scripted_chat: ModelServer, configure: Callable[..., Config]
) -> None:
    changes = {"chat.tools.calling": "json_schema"}
    chat = make_site(database, database_url, scripted_chat, configure, changes)
    number = await chat.site.article(MACRO, headline="The Fed holds", publish=True)
    chat.server.script(Rule(kind="text", reply="Rates were held."))
    reader = await chat.person("rita", "macro:reader")
    end = done(await chat.ask(reader, "Fed rates?", agent="article_query", intent="read"))
    assert end.response.startswith("Rates were held.")
    assert f"({ARTICLES}/{number})" in end.response
    await chat.directory.close()


async def test_stored_sources_are_found_and_linked(chat: ChatSite) -> None:
    number = await chat.site.resource("CPI was 3.1 percent in May.", name="CPI release")
    chat.server.script(Rule(reply="The release says 3.1 percent [1]."))
    editor = await chat.person("eve", "macro:editor")
    end = done(
        await chat.ask(editor, "Do we have the CPI release?", agent="resource_query", intent="resources")
    )
    assert f"[CPI release](http://127.0.0.1:8000/api/tools/resources/{number})" in end.response
    outsider = await chat.person("otto", "equity:reader")
    end = done(
        await chat.ask(outsider, "Do we have the CPI release?", agent="resource_query", intent="resources")
    )
    assert end.response == "No stored text or table that you may see bears on this."


async def test_small_talk_remembers_the_conversation(chat: ChatSite) -> None:
    chat.server.script(Rule(reply="Hello again, Rita."))
    reader = await chat.person("rita", "macro:reader")
    history = (
        ChatMessage(role="user", content="I am Rita."),
        ChatMessage(role="assistant", content="Hello Rita."),
    )
    pieces = await chat.chat(reader, "hello", history=history, instructions="Answer in verse.")
    assert isinstance(pieces[0], Routed)
    assert done(pieces).response == "Hello again, Rita."
    messages = chat.server.calls("text")[-1].messages
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert "Answer in verse." in messages[-1]["content"]
    assert "Answer in verse." not in messages[0]["content"]
    assert "topics: macro" in messages[0]["content"]


async def test_a_reader_who_asks_for_research_is_refused_politely(chat: ChatSite) -> None:
    reader = await chat.person("rita", "macro:reader")
    end = done(await chat.chat(reader, "research the fed and write an article", topic="macro"))
    assert end.status == "refused"
    assert "takes the scope macro:analyst, which you don't have" in end.response
    assert "ask about published articles in macro" in end.response
    assert chat.server.calls("text") == []


async def test_main_chat_relays_and_adds_what_routing_cost(chat: ChatSite) -> None:
    await chat.site.article(MACRO, headline="The Fed holds", publish=True)
    chat.server.script(Rule(reply="Held [1]."))
    reader = await chat.person("rita", "macro:reader")
    pieces = await chat.chat(reader, "what did we write about inflation?", topic="macro")
    assert isinstance(pieces[0], Routed)
    assert pieces[0].agent_type == "article_query"
    end = done(pieces)
    assert end.agent_type == "article_query"
    assert "[The Fed holds]" in end.response


async def test_one_sees_ones_own_tasks_only(chat: ChatSite) -> None:
    number = await chat.desk.with_editor()
    eve = await chat.person("eve", "macro:editor")
    bob = await chat.person("bob", "macro:editor")
    await chat.desk.call(eve, "publish_article", article_id=number)
    hers = done(await chat.chat(eve, "how are my tasks going?"))
    assert f"publish, queued (macro, article {number}, waits for approval 1)" in hers.response or (
        f"publish, waiting (macro, article {number}, waits for approval 1)" in hers.response
    )
    assert "/cancel" in hers.response
    assert "You have begun no task" in done(await chat.chat(bob, "how are my tasks going?")).response


async def test_figures_are_shown_as_the_tools_gave_them(chat: ChatSite) -> None:
    analyst = await chat.person("ann", "macro:analyst")
    pieces = await chat.ask(analyst, "EUR/USD", agent="data_download", intent="data")
    end = done(pieces)
    assert tools(pieces) == ["fetch_fx_rates"]
    assert "sample data" in end.response
    assert " USD per EUR on 30 September 2026, " in end.response
    assert chat.server.calls() == []


async def test_leaving_stops_the_model_call_below(chat: ChatSite) -> None:
    await chat.site.article(MACRO, headline="The Fed holds", publish=True)
    chat.server.script(Rule(reply="Rates were held. " * 200, chunk_delay=0.05))
    reader = await chat.person("rita", "macro:reader")
    turn = Turn(caller=reader, message="what did we write about inflation?", topic="macro")
    async with aclosing(chat.answer(turn)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Said):
                break
    async with asyncio.timeout(1):
        await chat.server.wait_until(lambda calls: any(call.cancelled for call in calls), timeout=1)


async def test_a_budget_that_is_reached_ends_the_answer_with_what_there_is(
    database: Database, database_url: str, scripted_chat: ModelServer, configure: Callable[..., Config]
) -> None:
    changes = {"chat.budget": {"iterations": 2, "tokens": 12000, "seconds": 1.5}}
    chat = make_site(database, database_url, scripted_chat, configure, changes)
    await chat.site.article(MACRO, headline="The Fed holds", publish=True)
    chat.server.script(Rule(reply="Rates were held. " * 500, chunk_delay=0.1))
    reader = await chat.person("rita", "macro:reader")
    end = done(await chat.ask(reader, "Fed rates?", agent="article_query", intent="read", topic="macro"))
    assert end.status == "limited"
    assert end.response.startswith("Rates were held.")
    assert "[The Fed holds]" in end.response
    await chat.directory.close()


async def test_a_model_may_look_for_a_series_and_figures_come_from_the_tool(
    database: Database, database_url: str, scripted_chat: ModelServer, configure: Callable[..., Config]
) -> None:
    chat = make_site(database, database_url, scripted_chat, configure, {"chat.tools.shown": 6})
    wish = {"name": "fetch_fx_rates", "arguments": {"base": "EUR", "quote": "PLN"}}
    chat.server.script(Rule(tool_calls=[wish], times=1), Rule(reply="It is 99 today."))
    analyst = await chat.person("ann", "macro:analyst")
    end = done(await chat.ask(analyst, "what the zloty is worth", agent="data_download", intent="data"))
    assert end.tools_used == ("fetch_fx_rates",)
    assert "**" in end.response
    assert "sample data" in end.response
    await chat.directory.close()


async def test_the_web_search_of_a_site_without_providers_says_what_to_add(
    database: Database, database_url: str, scripted_chat: ModelServer, configure: Callable[..., Config]
) -> None:
    chat = make_site(database, database_url, scripted_chat, configure, {"outside.search": {}})
    analyst = await chat.person("ann", "macro:analyst")
    end = done(await chat.ask(analyst, "search the web for the fed", agent="web_search", intent="web"))
    assert end.status == "failed"
    assert "outside.search.searxng" in end.response
    await chat.directory.close()


async def test_nothing_found_by_words_while_meaning_is_away_is_no_verdict(chat: ChatSite) -> None:
    """The site's search index is down here: what is stored might be found by its meaning."""
    analyst = await chat.person("ann", "macro:analyst")
    brief = SearchBrief(caller=analyst, topic="macro", query="ECB deposit rate")
    with pytest.raises(ModelUnavailable, match="searched by words only"):
        await chat.directory.agent("resource_query").find(brief)


async def test_a_research_is_given_what_is_found(chat: ChatSite) -> None:
    stored = await chat.site.resource("The ECB deposit rate was 2 percent.", name="ECB release")
    await chat.site.article("The ECB left its deposit rate alone.", headline="ECB waits", publish=True)
    async with chat.site.database.connection() as connection:
        await connection.execute("UPDATE articles SET published_at = now()")
    analyst = await chat.person("ann", "macro:analyst")
    brief = SearchBrief(caller=analyst, topic="macro", query="ECB deposit rate and EUR/USD")
    resources = await chat.directory.agent("resource_query").find(brief)
    assert [(each.resource_id, each.name) for each in resources.found] == [(stored, "ECB release")]
    data = await chat.directory.agent("data_download").find(brief)
    assert any(each.columns and each.source == "sample" for each in data.found)
    assert all("sample" in (each.description or "") for each in data.found)
    web = await chat.directory.agent("web_search").find(brief)
    assert {each.name for each in web.found} == {"ECB waits", "ECB release"}
    assert {each.resource_id for each in web.found} == {stored, None}
    assert chat.server.calls() == []


async def test_a_research_reads_own_articles_whole_and_quotes_none_that_only_quote(chat: ChatSite) -> None:
    said = " ".join(f"The ECB left rate number {n} alone." for n in range(40))
    content = f"{said}[^1] Nobody objected.[^2]\n\n[^1]: Minutes\n\n[^2]: Notes (resource 1)\n"
    whole = await chat.site.article(content, headline="ECB waits", publish=True)
    quotes = await chat.site.article("“Minutes”: “The ECB waits.”[^1]\n\n[^1]: Minutes", publish=True)
    async with chat.site.database.connection() as connection:
        await connection.execute("UPDATE articles SET published_at = now()")
        await connection.execute(
            "UPDATE article_versions SET written = 'quotes' WHERE article_id = %s", (quotes,)
        )
    ann = await chat.person("ann", "macro:analyst", "macro:editor")
    rewritten = {"article_id": whole, "content": "What nobody has signed off about the ECB."}
    await chat.desk.call(ann, "write_article_content", **rewritten)
    brief = SearchBrief(caller=ann, topic="macro", query="ECB")
    found = await chat.directory.agent("web_search").find(brief)
    [own] = found.found
    assert (own.content, own.name, own.article_id) == (f"{said} Nobody objected.", "ECB waits", whole)
    assert own.url is not None
    assert own.url.endswith(f"/articles/{whole}")
    assert f"article {quotes} is put together of quotations" in (found.note or "")


async def test_an_analyst_is_answered_from_the_projects_of_his_topics(chat: ChatSite) -> None:
    text = "The mill at the river was built in 1871."
    number = await filled(chat.site.database, ("https://example.org/mill", text))
    vector = struct.pack("<2f", 1.0, 0.0)
    async with chat.site.database.transaction() as connection:
        [(source, _)] = await passages.waiting(connection, number, "m", after=0, limit=1)
        [read] = await passages.texts(connection, [source], "m")
        made = [MadePassage(start=0, end=len(text), text=text, vector=vector)]
        assert await passages.keep(connection, read, made_with="m", passages=made)
    chat.server.script(Rule(reply="In 1871 [1]."))
    question = "When was the mill at the river built?"
    analyst = await chat.person("ann", "macro:analyst")
    end = done(await chat.ask(analyst, question, agent="resource_query", intent="resources"))
    assert end.response.startswith("In 1871 [1].")
    assert "(https://example.org/mill/final)" in end.response
    assert "query_knowledge_base" in end.tools_used
    # Nobody is told of a project that is not his.
    for who, scope in (("eli", "equity:analyst"), ("rita", "macro:reader")):
        other = await chat.person(who, scope)
        end = done(await chat.ask(other, question, agent="resource_query", intent="resources"))
        assert "1871" not in end.response
