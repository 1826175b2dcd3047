"""What one topic keeps is not published through another: attaching, asking, showing and publishing."""

from collections.abc import Callable
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from models.config import Config
from models.content.articles import Resource
from models.errors import ArticleConflict, PermissionMissing, ResourceNotFound
from models.runtime.approvals import content_digest
from models.store.content import resources
from models.store.people import users
from tests.fakes.model.model_server import ModelServer, Rule
from tests.integration.drafting.research_site import QUERY, Site, text, written
from tests.integration.editorial.desk import Desk, settled
from tests.integration.workflows import ended

Configure = Callable[..., Config]


async def embargoed(desk: Desk, topic: str = "esg", name: str = "Ratings") -> int:
    """A draft resource that belongs to a topic."""
    ira = await desk.person("ira", f"{topic}:analyst")
    made = await desk.call(ira, "create_text_resource", topic=topic, name=name, content="Not before June.")
    return int(made.resource_id)


async def published(desk: Desk, resource_id: int, topic: str = "esg") -> None:
    """A published article of its own topic rests on it."""
    ira, boss = await desk.person("ira", f"{topic}:analyst"), await desk.person("boss", f"{topic}:admin")
    made = await desk.call(ira, "create_draft_article", topic=topic, headline="Ratings")
    await desk.call(
        ira, "write_article_content", article_id=made.article_id, content="Text.", resource_ids=[resource_id]
    )
    await desk.call(ira, "submit_for_review", article_id=made.article_id)
    await desk.call(boss, "publish_article", article_id=made.article_id)
    approval = await desk.approval(made.article_id)
    for name in ("one", "two"):
        await desk.decide(await desk.person(name, f"{topic}:admin"), approval, "approve")
    await settled(desk, made.article_id, "published")


async def macro_draft(desk: Desk) -> int:
    """A draft of ann's in macro."""
    ann = await desk.person("ann", "macro:analyst", "esg:editor")
    made = await desk.call(ann, "create_draft_article", topic="macro", headline="The Fed holds")
    return int(made.article_id)


@pytest.mark.parametrize("how", ["attach", "write"])
async def test_a_draft_of_another_topic_is_not_attached_by_who_only_sees_it(desk: Desk, how: str) -> None:
    resource, number = await embargoed(desk), await macro_draft(desk)
    ann = await desk.person("ann", "macro:analyst", "esg:editor")
    assert (await desk.call(ann, "get_resource", resource_id=resource)).resource.name == "Ratings"
    tool = "attach_resource" if how == "attach" else "write_article_content"
    more: dict[str, Any] = (
        {"resource_id": resource} if how == "attach" else {"content": "T.", "resource_ids": [resource]}
    )
    with pytest.raises(PermissionMissing, match=r"resource 1 .*esg.*esg:admin") as caught:
        await desk.call(ann, tool, article_id=number, **more)
    assert caught.value.facts["scope"] == "esg:admin"
    assert (await desk.article(number)).version == 1


async def test_a_draft_of_the_same_topic_is_attached_and_a_published_one_of_another(
    desk: Desk, press: None
) -> None:
    own, other, number = await embargoed(desk, "macro", "Minutes"), await embargoed(desk), None
    number = await macro_draft(desk)
    await published(desk, other)
    ann = await desk.person("ann", "macro:analyst", "esg:reader")
    for resource in (own, other):
        answer = await desk.call(ann, "attach_resource", article_id=number, resource_id=resource)
    assert answer.attached_resources == (own, other)


async def waiting(desk: Desk) -> tuple[int, int]:
    """A macro article whose publication waits, resting on an ESG draft that an ESG admin attached."""
    resource, number = await embargoed(desk), await macro_draft(desk)
    boss = await desk.person("boss", "macro:analyst", "esg:admin")
    await desk.call(boss, "attach_resource", article_id=number, resource_id=resource)
    ann, eve = await desk.person("ann", "macro:analyst"), await desk.person("eve", "macro:editor")
    await desk.call(ann, "write_article_content", article_id=number, content="The Fed held rates.")
    await desk.call(ann, "submit_for_review", article_id=number)
    await desk.call(eve, "publish_article", article_id=number)
    return number, resource


async def both_sign(desk: Desk, number: int) -> None:
    """Two people who may publish in either topic approve."""
    for name in ("one", "two"):
        person = await desk.person(name, "macro:editor", "esg:admin")
        await desk.decide(person, await desk.approval(number), "approve")


async def test_what_reveals_another_topic_s_draft_takes_that_topic_s_quorum_and_role(
    desk: Desk, press: None
) -> None:
    """One ESG admin attached it; ESG's own policy takes two who are admins there, macro's one editor."""
    number, _ = await waiting(desk)
    approval = await desk.approval(number)
    assert (approval.required_scope, approval.quorum) == ("macro:editor", 2)
    assert approval.content["also_takes"] == ["esg:admin"]
    bob = await desk.person("bob", "macro:editor", "esg:editor")
    assert not approval.may_be_decided_by("bob", bob.scopes)
    with pytest.raises(PermissionMissing, match="takes esg:admin as well") as caught:
        await desk.decide(bob, approval, "approve")
    assert caught.value.facts["scope"] == "esg:admin"
    one, two = [await desk.person(name, "macro:editor", "esg:admin") for name in ("one", "two")]
    assert (await desk.decide(one, approval, "approve")).status == "pending"
    boss = await desk.person("boss", "macro:editor", "esg:admin")
    with pytest.raises(PermissionMissing, match=r"boss .*someone else"):
        await desk.decide(boss, approval, "approve")
    assert (await desk.decide(two, approval, "approve")).status == "approved"
    await settled(desk, number, "published")


async def test_a_vote_counts_only_while_its_voter_has_the_other_topic_s_role(desk: Desk) -> None:
    number, _ = await waiting(desk)
    approval = await desk.approval(number)
    one, two = [await desk.person(name, "macro:editor", "esg:admin") for name in ("one", "two")]
    await desk.decide(one, approval, "approve")
    async with desk.database.transaction() as connection:
        await users.revoke(connection, "one", "esg:admin", reason="left", revoked_by="root")
    assert (await desk.decide(two, approval, "approve")).status == "pending"


async def test_whoever_may_not_approve_it_may_still_reject_it(desk: Desk, press: None) -> None:
    number, _ = await waiting(desk)
    bob = await desk.person("bob", "macro:editor")
    assert (await desk.decide(bob, await desk.approval(number), "reject", notes="no")).status == "rejected"
    await settled(desk, number, "editor")


async def test_what_was_approved_by_fewer_than_the_other_topic_takes_is_not_published(
    desk: Desk, press: None
) -> None:
    """As one asked for under the release before, or for what was published there meanwhile and is not now."""
    number, _ = await waiting(desk)
    approval = await desk.approval(number)
    content = {name: value for name, value in approval.content.items() if name != "also_takes"}
    async with desk.database.transaction() as connection:
        await connection.execute(
            "UPDATE approvals SET content = %s, digest = %s, quorum = 1 WHERE id = %s",
            (Jsonb(content), content_digest(content), approval.id),
        )
    await desk.decide(await desk.person("bob", "macro:editor"), await desk.approval(number), "approve")
    workflow = await ended(desk.database, approval.workflow_id)
    assert workflow.status == "failed"
    assert "took less than publishing there does (2 people, with esg:admin)" in (workflow.error or "")
    assert (await desk.article(number)).published_version is None


async def test_the_approver_is_shown_all_that_becomes_readable_and_may_open_it(
    desk: Desk, press: None
) -> None:
    number, resource = await waiting(desk)
    approval = await desk.approval(number)
    [shown] = approval.content["becomes_readable"]
    async with desk.database.connection() as connection:
        kept: Resource = await resources.get(connection, resource)
    assert shown == {
        "id": resource, "kind": "text", "name": "Ratings", "digest": kept.digest, "topic": "esg",
        "status": "draft", "attached_by": "boss", "created_by": "ira",
        "open": f"/api/tools/resources/{resource}",
    }  # fmt: skip
    bob, rita = await desk.person("bob", "macro:editor"), await desk.person("rita", "macro:reader")
    one = await desk.person("one", "macro:editor", "esg:admin")
    assert (await desk.call(one, "get_resource", resource_id=resource)).resource.content == "Not before June."
    for person in (bob, rita):  # he could only reject it
        with pytest.raises(ResourceNotFound):
            await desk.call(person, "get_resource", resource_id=resource)
    await desk.decide(bob, approval, "reject", notes="not yet")
    await settled(desk, number, "editor")


async def test_whoever_is_asked_about_a_published_one_of_another_topic_opens_it_while_that_waits(
    desk: Desk, press: None
) -> None:
    """ESG's readers read it, macro's do not yet; to approve takes macro's editor alone."""
    resource, number = await embargoed(desk), await macro_draft(desk)
    await published(desk, resource)
    ann = await desk.person("ann", "macro:analyst", "esg:reader")
    eve = await desk.person("eve", "macro:editor")
    await desk.call(ann, "attach_resource", article_id=number, resource_id=resource)
    await desk.call(ann, "write_article_content", article_id=number, content="Text.")
    await desk.call(ann, "submit_for_review", article_id=number)
    await desk.call(eve, "publish_article", article_id=number)
    approval = await desk.approval(number)
    assert (approval.quorum, approval.content["also_takes"]) == (1, [])
    bob = await desk.person("bob", "macro:editor")
    assert (await desk.call(bob, "get_resource", resource_id=resource)).resource.name == "Ratings"
    await desk.decide(bob, approval, "reject", notes="not yet")
    await settled(desk, number, "editor")
    with pytest.raises(ResourceNotFound):  # he is not asked any more
        await desk.call(bob, "get_resource", resource_id=resource)


async def test_what_its_readers_can_read_already_does_not_become_readable(desk: Desk, press: None) -> None:
    number, resource = await waiting(desk)
    await both_sign(desk, number)
    await settled(desk, number, "published")
    rita = await desk.person("rita", "macro:reader")
    assert (await desk.call(rita, "get_resource", resource_id=resource)).resource.name == "Ratings"
    ann, eve = await desk.person("ann", "macro:analyst"), await desk.person("eve", "macro:editor")
    await desk.call(ann, "write_article_content", article_id=number, content="And cut them.")
    await desk.call(ann, "submit_for_review", article_id=number)
    await desk.call(eve, "publish_article", article_id=number)
    assert (await desk.approval(number)).content["becomes_readable"] == []


async def test_whoever_attached_it_must_still_have_the_right_when_it_is_published(
    desk: Desk, press: None
) -> None:
    number, _ = await waiting(desk)
    async with desk.database.transaction() as connection:
        await users.revoke(connection, "boss", "esg:admin", reason="left", revoked_by="root")
    approval = await desk.approval(number)
    await both_sign(desk, number)
    workflow = await ended(desk.database, approval.workflow_id)
    assert workflow.status == "failed"
    assert "resource 1 is a draft of esg, and boss" in (workflow.error or "")
    article = await desk.article(number)
    assert (article.status, article.published_version) == ("editor", None)


async def test_nobody_is_asked_to_approve_what_whoever_attached_it_may_not_show_any_more(
    desk: Desk, press: None
) -> None:
    number, _ = await waiting(desk)
    bob = await desk.person("bob", "macro:editor")
    await desk.decide(bob, await desk.approval(number), "reject", notes="Later.")
    await settled(desk, number, "editor")
    async with desk.database.transaction() as connection:
        await users.revoke(connection, "boss", "esg:admin", reason="left", revoked_by="root")
    with pytest.raises(ArticleConflict, match="resource 1 is a draft of esg, and boss"):
        await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    assert (await desk.article(number)).status == "editor"


async def test_what_is_published_elsewhere_while_it_waits_is_no_obstacle(desk: Desk, press: None) -> None:
    number, resource = await waiting(desk)
    approval = await desk.approval(number)
    await published(desk, resource)
    assert (await desk.approval(number)).id == approval.id
    await both_sign(desk, number)
    await settled(desk, number, "published")


async def test_what_was_readable_when_it_was_shown_and_is_not_now_is_not_published(
    desk: Desk, press: None
) -> None:
    """Published when publication was asked for, so not listed; withdrawn while it waited."""
    resource, number = await embargoed(desk), await macro_draft(desk)
    async with desk.database.connection() as connection:
        await connection.execute("UPDATE resources SET published_in = '{esg,macro}'")
    ann, eve = await desk.person("ann", "macro:analyst"), await desk.person("eve", "macro:editor")
    boss = await desk.person("boss", "macro:analyst", "esg:admin")  # whose right would hold
    await desk.call(boss, "attach_resource", article_id=number, resource_id=resource)
    await desk.call(ann, "write_article_content", article_id=number, content="Text.")
    await desk.call(ann, "submit_for_review", article_id=number)
    await desk.call(eve, "publish_article", article_id=number)
    approval = await desk.approval(number)
    assert approval.content["becomes_readable"] == []
    async with desk.database.connection() as connection:
        await connection.execute("UPDATE resources SET published_in = '{}'")
    await desk.decide(await desk.person("bob", "macro:editor"), approval, "approve")
    workflow = await ended(desk.database, approval.workflow_id)
    assert workflow.status == "failed"
    assert "did not show that" in (workflow.error or "")
    assert (await desk.article(number)).published_version is None


async def test_research_neither_attaches_nor_writes_from_what_its_topic_s_readers_could_not_see(
    site: Site, model: ModelServer
) -> None:
    """Ann may even publish in ESG: a research does not do so for her."""
    hidden = await embargoed(site.desk)
    own = await embargoed(site.desk, "macro", "Minutes")
    known = "What did the central bank decide in June? Not before June."
    site.web.found = (text("Ratings", known, resource_id=hidden, source="local", url=None),)
    site.stored.found = (
        text("Ratings", known, resource_id=hidden, source="local", url=None),
        text("Minutes", f"They met. {QUERY}", resource_id=own, source="local", url=None),
    )
    site.data.error = ValueError("no")
    model.script(Rule(kind="DraftReply", reply=written(("So they say.", [1]))))
    ann = await site.desk.person("ann", "macro:analyst", "esg:admin")
    async with site.running():
        result = await site.done(await site.ask(ann))
    attached = [resource.id for resource in (await site.version(result["article_id"])).resources]
    assert attached == [own]
    [call] = model.calls("DraftReply")
    assert "Not before June" not in call.prompt
