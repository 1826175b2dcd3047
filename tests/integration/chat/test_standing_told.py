"""What became of one article, by its number: told in the question's language, to whom may see it."""

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
