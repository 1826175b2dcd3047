"""What became of one article, by its number: told in the question's language, to whom may see it."""

from typing import Any

import pytest

from tests.integration.chat.sites.agents_site import ChatSite, done, make_chat, make_scripted_chat, tools

__all__ = ["make_chat", "make_scripted_chat"]

WHY = "The second source is older than the figures."


async def rejected(chat: ChatSite) -> int:
    """An article whose publication eve asked for and bob refused."""
    number = await chat.desk.with_editor()
    eve, bob = await chat.person("eve", "macro:editor"), await chat.person("bob", "macro:editor")
    await chat.desk.call(eve, "publish_article", article_id=number)
    await chat.desk.decide(bob, await chat.desk.approval(number), "reject", notes=WHY)
    return number


@pytest.mark.parametrize(
    ("question", "who", "reason"),
    [
        ("Why was article {} rejected?", "bob rejected it on", "The reason given: "),
        ("Who turned article {} down, and what for?", "bob rejected it on", "The reason given: "),
        ("What is the status of article {}?", "bob rejected it on", "The reason given: "),
        ("Is my article {} published?", "It is not published.", "The reason given: "),
        ("Dlaczego odrzucono artykuł {}?", "Odrzucił(a) bob dnia", "Podany powód: "),
        ("Czy artykuł {} jest opublikowany?", "Nie jest opublikowany.", "Podany powód: "),
        ("Warum wurde Artikel {} abgelehnt?", "bob hat ihn am", "Der angegebene Grund: "),
        (
            "Ist mein Artikel {} schon veröffentlicht?",
            "Er ist nicht veröffentlicht.",
            "Der angegebene Grund: ",
        ),
    ],
)
async def test_what_became_of_an_article_is_told_with_who_and_why(
    chat: ChatSite, question: str, who: str, reason: str
) -> None:
    number = await rejected(chat)
    eve = await chat.person("eve", "macro:editor")
    pieces = await chat.chat(eve, question.format(number))
    told = done(pieces)
    assert (told.status, tools(pieces)) == ("completed", ["get_article"])
    assert f" {number}, " in told.response
    assert who in told.response
    assert reason + WHY in told.response
    assert chat.server.calls() == []


async def test_a_question_among_approvals_is_answered_for_the_article_it_names(chat: ChatSite) -> None:
    number = await rejected(chat)
    eve = await chat.person("eve", "macro:editor")
    message = f"has #{number} been approved?"
    told = done(await chat.ask(eve, message, agent="editor", intent="approvals")).response
    assert told.startswith(f"Article {number}, ")
    assert told.count(WHY) == 1
    assert "Nothing waits" not in told


async def test_who_may_not_see_a_draft_is_told_nothing_of_it(chat: ChatSite) -> None:
    number = await rejected(chat)
    reader = await chat.person("rita", "macro:reader")
    told = done(await chat.chat(reader, f"Why was article {number} rejected?")).response
    assert told == f"There is no article {number} that you may see."
    told = done(await chat.chat(reader, "Warum wurde Artikel 999 abgelehnt?")).response
    assert told == "Es gibt keinen Artikel 999, den Sie sehen dürfen."


async def test_a_reader_is_told_that_an_article_is_published_and_of_no_request(chat: ChatSite) -> None:
    number = await chat.site.article("The Fed held rates.", headline="The Fed holds", publish=True)
    reader = await chat.person("rita", "macro:reader")
    told = done(await chat.chat(reader, f"Is article {number} published?")).response
    assert f"Article {number}, “The Fed holds”: published, version 1." in told
    assert "Readers have version 1." in told
    assert "request" not in told
    assert "asked for" not in told


async def test_a_task_is_told_by_its_own_name_and_to_whom_it_belongs(chat: ChatSite) -> None:
    number = await rejected(chat)
    task_id = (await chat.site.rows("SELECT id FROM workflows"))[0]["id"]
    eve, ann = await chat.person("eve", "macro:editor"), await chat.person("ann", "macro:editor")
    told = done(await chat.ask(eve, f"status of task {task_id}", agent="main_chat", intent="tasks")).response
    assert told.startswith(f"The task:\n\n- {task_id}: ")
    assert f"article {number}" in told
    told = done(await chat.ask(ann, f"status of task {task_id}", agent="main_chat", intent="tasks")).response
    assert "you have no task" in told


@pytest.mark.parametrize(
    ("question", "intent", "told"),
    [
        ("How does article {} stand?", "tasks", "eve sent it back for changes on "),
        ("Why was article {} sent back?", "changes", "eve sent it back for changes on "),
        ("Co trzeba poprawić w artykule {}?", "tasks", "Do poprawy odesłał(a) eve dnia "),
        ("Was ist an Artikel {} zu ändern?", "tasks", "eve hat ihn am "),
        ("review article {}", "review", "- eve sent it back for changes on "),
    ],
)
async def test_what_is_to_be_changed_is_told_until_it_is_handed_in_again(
    chat: ChatSite, question: str, intent: Any, told: str
) -> None:
    ann, eve = await chat.person("ann", "macro:admin"), await chat.person("eve", "macro:editor")
    number = await chat.desk.with_editor()
    await chat.desk.call(eve, "request_changes", article_id=number, notes=WHY)
    agent: Any = "main_chat" if intent == "tasks" else "editor"
    said = done(await chat.ask(ann, question.format(number), agent=agent, intent=intent)).response
    assert told in said
    assert said.count(WHY) == 1
    rita = await chat.person("rita", "macro:reader")
    assert WHY not in done(await chat.chat(rita, f"Why was article {number} sent back?")).response
    await chat.desk.call(ann, "submit_for_review", article_id=number)
    said = done(await chat.ask(ann, question.format(number), agent="main_chat", intent="tasks")).response
    assert f" {number}, " in said
    assert WHY not in said


async def test_a_no_is_told_without_the_article_s_number_too(chat: ChatSite) -> None:
    number = await rejected(chat)
    waits = await chat.desk.with_editor()
    eve = await chat.person("eve", "macro:editor")
    await chat.desk.call(eve, "publish_article", article_id=waits)
    asked: Any = {"agent": "editor", "intent": "approvals"}
    told = done(await chat.ask(eve, "Which of my articles were rejected, and why?", **asked)).response
    assert told.startswith(f"Your articles that were not approved, the newest first:\n\n- Article {number}, ")
    assert told.count(WHY) == 1
    assert "rejected by bob" in told
    assert "What waits for a decision:" in told
    told = done(await chat.ask(eve, "Dlaczego mój artykuł został odrzucony?", **asked)).response
    assert told.startswith("Twoje artykuły, na które nie było zgody, od najnowszego:")
    told = done(await chat.ask(eve, "Warum wurde mein Artikel abgelehnt?", **asked)).response
    assert told.startswith("Ihre Artikel, die nicht freigegeben wurden, der neueste zuerst:")
    # Whoever wrote it is told, too; nobody else, and nobody who sees its drafts no more.
    author = (await chat.desk.article(number)).author
    told = done(await chat.chat(await chat.person(author, "macro:analyst"), "Why was my article rejected?"))
    assert told.response.count(WHY) == 1
    for name, scope in (("cleo", "macro:editor"), (author, "macro:reader"), ("eve", "equity:editor")):
        who = await chat.person(name, scope)
        assert WHY not in done(await chat.ask(who, "Why was my article rejected?", **asked)).response


async def test_a_no_is_over_once_it_is_asked_for_again(chat: ChatSite) -> None:
    number = await rejected(chat)
    async with chat.site.database.transaction() as connection:
        await connection.execute(
            "UPDATE articles SET status = 'editor', approval_id = NULL, workflow_id = NULL"
        )
    eve = await chat.person("eve", "macro:editor")
    await chat.desk.call(eve, "publish_article", article_id=number)
    told = done(await chat.ask(eve, "Which were rejected?", agent="editor", intent="approvals")).response
    assert WHY not in told
    assert "What waits for a decision:" in told
