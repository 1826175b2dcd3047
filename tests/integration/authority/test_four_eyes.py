"""Four eyes are a person's: whoever asked for, wrote or submitted a text does not approve it."""

import pytest
from psycopg.types.json import Jsonb

from models.errors import PermissionMissing
from models.runtime.approvals import content_digest
from models.store.content import articles, publishing
from tests.integration.editorial.desk import Desk, settled
from tests.integration.workflows import ended


async def test_an_author_does_not_approve_her_own_text_though_another_asked(desk: Desk) -> None:
    number = await desk.with_editor()  # ann's
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    ann = await desk.person("ann", "macro:analyst")
    with pytest.raises(PermissionMissing, match=r"ann .*someone else must approve"):
        await desk.decide(ann, approval, "approve")
    assert (await desk.approval(number)).status == "pending"


async def test_whoever_wrote_an_earlier_version_of_it_or_submitted_it_is_an_author_too(desk: Desk) -> None:
    """Four hands: ann began it, paul wrote over it, sue submitted it, and eve asked."""
    ann, paul, sue = [await desk.person(name, "macro:analyst") for name in ("ann", "paul", "sue")]
    number = (await desk.call(ann, "create_draft_article", topic="macro", headline="H")).article_id
    await desk.call(paul, "write_article_content", article_id=number, content="Rates were held.")
    await desk.call(sue, "submit_for_review", article_id=number)
    eve, bob = await desk.person("eve", "macro:editor"), await desk.person("bob", "macro:editor")
    await desk.call(eve, "publish_article", article_id=number)
    approval = await desk.approval(number)
    for person in (ann, paul, sue, eve):
        with pytest.raises(PermissionMissing, match="someone else must approve"):
            await desk.decide(person, approval, "approve")
    assert (await desk.decide(bob, approval, "approve")).status == "approved"


async def test_whoever_handed_in_the_topic_of_a_batch_is_an_author_of_what_another_batch_drafts(
    desk: Desk,
) -> None:
    """Ann's batch edited it; bob's drafted it and asked."""
    bob = await desk.person("bob", "macro:analyst")
    number = (await desk.call(bob, "create_draft_article", topic="macro", headline="H")).article_id
    await desk.call(bob, "write_article_content", article_id=number, content="Rates were held.")
    await desk.call(bob, "submit_for_review", article_id=number)
    async with desk.database.connection() as connection:
        await connection.execute(
            """INSERT INTO workflows (id, kind, input, input_digest, requested_by, status, finished_at)
               VALUES ('e1', 'editorial', '{}', 'd', 'ann', 'succeeded', now())"""
        )
        await connection.execute("UPDATE articles SET drafted_by = 'e1' WHERE id = %s", (number,))
    await desk.call(bob, "publish_article", article_id=number)
    approval = await desk.approval(number)
    for person in (await desk.person("ann", "macro:analyst"), bob):
        with pytest.raises(PermissionMissing, match="someone else must approve"):
            await desk.decide(person, approval, "approve")
    eve = await desk.person("eve", "macro:editor")
    assert (await desk.decide(eve, approval, "approve")).status == "approved"


async def test_what_was_published_before_is_everybody_s(desk: Desk, press: None) -> None:
    """Ann's first version has been signed off; the second is paul's, and she may approve that."""
    number = await desk.with_editor()
    eve, bob = await desk.person("eve", "macro:editor"), await desk.person("bob", "macro:editor")
    await desk.call(eve, "publish_article", article_id=number)
    await desk.decide(bob, await desk.approval(number), "approve")
    await settled(desk, number, "published")
    paul = await desk.person("paul", "macro:analyst")
    await desk.call(paul, "write_article_content", article_id=number, content="Rates were cut.")
    await desk.call(paul, "submit_for_review", article_id=number)
    await desk.call(eve, "publish_article", article_id=number)
    approval = await desk.approval(number)
    ann = await desk.person("ann", "macro:analyst")
    assert (await desk.decide(ann, approval, "approve")).status == "approved"


@pytest.mark.parametrize("who", ["ann", "eve"])
async def test_they_may_reject_it_and_so_withdraw_it(desk: Desk, press: None, who: str) -> None:
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    person = await desk.person(who, "macro:analyst")
    assert (await desk.decide(person, approval, "reject", notes="not yet")).status == "rejected"
    await settled(desk, number, "editor")


async def test_with_a_quorum_they_are_none_of_those_who_approve(desk: Desk) -> None:
    number = await desk.with_editor("esg")  # ann's; it takes two admins
    await desk.call(await desk.person("eve", "esg:admin"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    one, two = await desk.person("one", "esg:admin"), await desk.person("two", "esg:admin")
    assert (await desk.decide(one, approval, "approve")).status == "pending"
    for name in ("ann", "eve"):
        with pytest.raises(PermissionMissing, match="someone else must approve"):
            await desk.decide(await desk.person(name, "esg:admin"), approval, "approve")
    assert (await desk.decide(two, approval, "approve")).status == "approved"


async def test_a_batch_s_submitter_does_not_approve_what_it_drafted(desk: Desk) -> None:
    async with desk.database.transaction() as connection:
        article = await articles.create(
            connection, topic="macro", headline="H", keywords=None, author="olga", content="Text."
        )
        await publishing.submit(connection, article.id, by="olga")
        await publishing.ask(
            connection, article.id, by="olga", editor_notes=None, settings=desk.config.publishing,
            permission=None,
        )  # fmt: skip
    approval = await desk.approval(article.id)
    with pytest.raises(PermissionMissing, match=r"olga .*someone else must approve"):
        await desk.decide(await desk.person("olga", "global:admin"), approval, "approve")


async def test_who_wrote_it_is_shown_to_whoever_decides(desk: Desk) -> None:
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    assert approval.content["involved"] == ["ann", "eve"]


async def test_whoever_wrote_a_resource_that_becomes_readable_is_an_author_too(desk: Desk) -> None:
    """Ann's text goes out as a resource, on a line of paul's: she does not approve it."""
    ann, paul = await desk.person("ann", "macro:analyst"), await desk.person("paul", "macro:analyst")
    text = await desk.call(
        ann, "create_text_resource", topic="macro", name="The text", content="All of it is ann's."
    )
    number = (await desk.call(paul, "create_draft_article", topic="macro", headline="See below")).article_id
    await desk.call(
        paul, "write_article_content", article_id=number, content="See.", resource_ids=[text.resource_id]
    )
    await desk.call(paul, "submit_for_review", article_id=number)
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    assert approval.content["involved"] == ["ann", "eve", "paul"]
    [shown] = approval.content["becomes_readable"]
    assert shown["created_by"] == "ann"
    with pytest.raises(PermissionMissing, match=r"ann .*someone else must approve"):
        await desk.decide(ann, approval, "approve")
    assert (await desk.decide(await desk.person("bob", "macro:editor"), approval, "approve")).status == (
        "approved"
    )


async def test_whoever_wrote_a_resource_that_is_read_already_is_not(desk: Desk, press: None) -> None:
    ann, paul = await desk.person("ann", "macro:analyst"), await desk.person("paul", "macro:analyst")
    eve, bob = await desk.person("eve", "macro:editor"), await desk.person("bob", "macro:editor")
    text = await desk.call(ann, "create_text_resource", topic="macro", name="Minutes", content="They met.")
    for headline in ("First", "Second"):
        made = await desk.call(paul, "create_draft_article", topic="macro", headline=headline)
        number = made.article_id
        await desk.call(
            paul, "write_article_content", article_id=number, content="T.", resource_ids=[text.resource_id]
        )
        await desk.call(paul, "submit_for_review", article_id=number)
        await desk.call(eve, "publish_article", article_id=number)
        approval = await desk.approval(number)
        await desk.decide(bob if headline == "First" else ann, approval, "approve")
        await settled(desk, number, "published")


async def test_a_vote_of_a_resource_s_author_given_before_this_was_asked_publishes_nothing(
    desk: Desk, press: None
) -> None:
    """An approval of the release before names no author of resources; ann's own vote does not do."""
    ann, paul = await desk.person("ann", "macro:analyst"), await desk.person("paul", "macro:analyst")
    text = await desk.call(ann, "create_text_resource", topic="macro", name="The text", content="Ann's.")
    number = (await desk.call(paul, "create_draft_article", topic="macro", headline="See below")).article_id
    await desk.call(
        paul, "write_article_content", article_id=number, content="See.", resource_ids=[text.resource_id]
    )
    await desk.call(paul, "submit_for_review", article_id=number)
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    content = {name: value for name, value in approval.content.items() if name != "also_takes"}
    content["involved"] = ["eve", "paul"]
    for each in content["becomes_readable"]:
        del each["created_by"]
    async with desk.database.transaction() as connection:
        await connection.execute(
            "UPDATE approvals SET content = %s, digest = %s WHERE id = %s",
            (Jsonb(content), content_digest(content), approval.id),
        )
    await desk.decide(ann, await desk.approval(number), "approve")
    workflow = await ended(desk.database, approval.workflow_id)
    assert workflow.status == "failed"
    assert "ann, who wrote resource 1, is among those who approved" in (workflow.error or "")
    assert (await desk.article(number)).status == "editor"
