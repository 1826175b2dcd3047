"""The editor agent: what it does on a person's word, what it asks back, and what it never does."""

from collections.abc import Callable

import pytest

from models.chat.messages import ChatMessage
from models.config import Config
from models.errors import FeatureOff
from models.store.database import Database
from tests.fakes.model.model_server import ModelServer
from tests.integration.chat.sites.agents_site import (
    ChatSite,
    done,
    make_chat,
    make_scripted_chat,
    make_site,
    tools,
)

__all__ = ["make_chat", "make_scripted_chat"]


async def test_publishing_asks_for_approval_and_is_a_task(chat: ChatSite) -> None:
    number = await chat.desk.with_editor()
    editor = await chat.person("eve", "macro:editor")
    end = done(await chat.agreed(editor, f"publish article {number}", agent="editor", intent="publish"))
    article = await chat.desk.article(number)
    assert article.status == "pending_approval"
    assert end.status == "processing"
    assert end.task_id == article.workflow_id
    assert end.workflow_state is not None
    assert end.workflow_state.approval_pending
    assert end.workflow_state.approval_request_id == int(article.approval_id or 0)
    assert "Nothing is published before that" in end.response

    again = done(await chat.ask(editor, f"publish article {number}", agent="editor", intent="publish"))
    assert (again.status, again.task_id) == ("processing", end.task_id)
    assert "already been asked for" in again.response
    other = await chat.person("bob", "macro:editor")
    theirs = done(await chat.ask(other, f"publish article {number}", agent="editor", intent="publish"))
    assert (theirs.status, theirs.task_id) == ("completed", None)
    assert len(await chat.site.rows("SELECT id FROM approvals")) == 1


async def test_an_article_is_named_by_the_persons_own_words(chat: ChatSite) -> None:
    first, second = await chat.desk.with_editor(), await chat.desk.with_editor()
    editor = await chat.person("eve", "macro:editor")

    async def ask(message: str, **more: object) -> str:
        return done(await chat.ask(editor, message, agent="editor", intent="publish", **more)).response

    assert (await ask("publish it")).startswith("Which article?")
    assert (await ask(f"publish articles {first} and {second}")).startswith(
        f"Which of them: {first}, {second}?"
    )
    assert (await ask(f"publish article {second}", article_id=first)).startswith("Which of them")
    assert "no article 99" in await ask("publish article 99")
    spoken = (
        ChatMessage(role="user", content=f"review article {first}"),
        ChatMessage(role="assistant", content="ok"),
    )
    for more, wanted in (({"history": spoken}, first), ({"article_id": second}, second)):
        asked = await ask("publish it", **more)
        assert asked.startswith(
            f'Shall I ask for the publication of article {wanted}, "The Fed holds" (macro,'
        )
    assert {(await chat.desk.article(number)).status for number in (first, second)} == {"editor"}


async def test_review_says_what_stands_in_the_way(chat: ChatSite) -> None:
    number = await chat.desk.with_editor()
    editor = await chat.person("eve", "macro:editor")
    end = done(await chat.ask(editor, f"review article {number}", agent="editor", intent="review"))
    assert "In the way of publishing: it rests on no resource" in end.response
    assert "article.submitted" in end.response
    assert end.topic == "macro"
    assert chat.server.calls() == []


async def test_changes_take_words_for_the_writer(chat: ChatSite) -> None:
    number = await chat.desk.with_editor()
    editor = await chat.person("eve", "macro:editor")
    end = done(await chat.ask(editor, f"send article {number} back", agent="editor", intent="changes"))
    assert "What should the writer change" in end.response
    assert (await chat.desk.article(number)).status == "editor"
    words = f"send article {number} back, it needs a second source"
    end = done(await chat.agreed(editor, words, agent="editor", intent="changes"))
    assert (await chat.desk.article(number)).status == "draft"
    rows = await chat.site.rows("SELECT data FROM incoming_events WHERE type = 'article.changes_requested'")
    assert rows[0]["data"]["notes"] == words


async def test_approving_is_not_done_in_chat(chat: ChatSite) -> None:
    number = await chat.desk.with_editor()
    eve, bob = await chat.person("eve", "macro:editor"), await chat.person("bob", "macro:editor")
    await chat.desk.call(eve, "publish_article", article_id=number)
    pieces = await chat.ask(bob, f"approve article {number}", agent="editor", intent="approvals")
    end = done(pieces)
    assert tools(pieces) == ["get_article", "get_pending_approvals"]
    assert "1: The Fed holds (article:1), asked for by eve" in end.response
    assert "Approving is not done in chat" in end.response
    assert (await chat.desk.approval(number)).status == "pending"


async def test_with_the_gate_switched_off_nothing_can_be_published(
    database: Database, database_url: str, scripted_chat: ModelServer, configure: Callable[..., Config]
) -> None:
    changes = {"features.enable_hitl_workflow": False}
    chat = make_site(database, database_url, scripted_chat, configure, changes)
    number = await chat.desk.with_editor()
    editor = await chat.person("eve", "global:admin")
    end = done(await chat.ask(editor, f"publish article {number}", agent="editor", intent="publish"))
    assert end.status == "failed"
    assert "features.enable_hitl_workflow" in end.response
    assert (await chat.desk.article(number)).status == "editor"
    with pytest.raises(FeatureOff):
        await chat.desk.call(editor, "publish_article", article_id=number)
    listed = [tool.name for tool in chat.desk.registry.permitted(editor.scopes, door="rest")]
    assert "publish_article" not in listed
    assert "review_article" in listed
    await chat.directory.close()
