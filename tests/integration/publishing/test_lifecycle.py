"""The lifecycle of an article: who may move it, what a decision binds to, and what voids it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from actors.platform import systems
from models.config import Config
from models.content.publication import Publication
from models.errors import (
    ApprovalConflict,
    ApprovalNotFound,
    ArticleConflict,
    ArticleNotFound,
    DecisionInvalid,
    InputInvalid,
    PermissionMissing,
    SignoffError,
)
from models.store import events
from models.store.database import Database
from models.store.people import tool_calls, users
from tests.integration.editorial.desk import Desk, settled
from tests.integration.workflows import ended, running

Configure = Callable[..., Config]


async def told(desk: Desk, article_id: int) -> list[str]:
    """What happened to an article."""
    async with desk.database.connection() as connection:
        return [event.type for event in await events.about_article(connection, article_id)]


async def test_an_article_is_published_by_another_person_than_who_asked(desk: Desk, press: None) -> None:
    number = await desk.with_editor()
    eve, bob = await desk.person("eve", "macro:editor"), await desk.person("bob", "macro:editor")
    reader = await desk.person("rita", "macro:reader")
    with pytest.raises(ArticleNotFound):
        await desk.call(reader, "get_article", article_id=number)
    asked = await desk.call(eve, "publish_article", article_id=number, editor_notes="ready")
    assert (asked.status, asked.success) == ("pending_approval", True)
    approval = await desk.approval(number)
    assert (int(approval.id), approval.digest) == (asked.approval_request_id, asked.digest)
    assert Publication.model_validate(approval.content).article.content == "The Fed held rates."
    with pytest.raises(PermissionMissing, match="eve asked for this"):
        await desk.decide(eve, approval, "approve")
    with pytest.raises(ApprovalNotFound):
        await desk.decide(reader, approval, "approve")
    decided = await desk.decide(bob, approval, "approve", notes="good")
    assert (decided.status, decided.approved_by) == ("approved", ("bob",))
    await settled(desk, number, "published")
    shown = (await desk.call(reader, "get_article", article_id=number)).article
    assert (shown.content, shown.status) == ("The Fed held rates.", "published")
    assert await told(desk, number) == [
        "article.created",
        "article.written",
        "article.submitted",
        "article.publication_requested",
        "article.published",
    ]


async def test_a_rejected_article_returns_to_its_editor_with_the_reason(desk: Desk, press: None) -> None:
    number = await desk.with_editor()
    eve, bob = await desk.person("eve", "macro:editor"), await desk.person("bob", "macro:editor")
    await desk.call(eve, "publish_article", article_id=number)
    approval = await desk.approval(number)
    with pytest.raises(DecisionInvalid, match="needs its reason"):
        await desk.decide(bob, approval, "reject", notes=" ")
    await desk.decide(bob, approval, "reject", notes="the figure is wrong")
    await settled(desk, number, "editor")
    async with desk.database.connection() as connection:
        [*_, last] = await events.about_article(connection, number)
    assert (last.type, last.data["reason"]) == ("article.returned", "rejected: the figure is wrong")
    # And it can be asked for again.
    assert (await desk.call(eve, "publish_article", article_id=number)).status == "pending_approval"


async def test_an_edit_voids_the_request_and_the_approver_is_told_what_changed(
    desk: Desk, press: None
) -> None:
    number = await desk.with_editor()
    ann, bob = await desk.person("ann", "macro:analyst"), await desk.person("bob", "macro:editor")
    eve = await desk.person("eve", "macro:editor")
    await desk.call(eve, "publish_article", article_id=number)
    approval = await desk.approval(number)
    await desk.call(ann, "write_article_content", article_id=number, content="The Fed raised rates.")
    await settled(desk, number, "editor")
    with pytest.raises(ApprovalConflict, match="void") as caught:
        await desk.decide(bob, approval, "approve")
    changes = caught.value.facts["changes"]
    assert (changes["fields"], changes["written_by"]) == (["content"], "ann")
    assert "-The Fed held rates." in changes["content_diff"]
    assert "+The Fed raised rates." in changes["content_diff"]
    # The seed's callback, which names the article only, says the same.
    with pytest.raises(ApprovalConflict, match="void"):
        await desk.call(bob, "decide_article", article_id=number, approved=True)
    # Asked for again, a yes that does not say to which text is not taken for a yes to the new one.
    await desk.call(eve, "publish_article", article_id=number)
    with pytest.raises(ApprovalConflict, match="send the digest"):
        await desk.call(bob, "decide_article", article_id=number, approved=True)
    with pytest.raises(ApprovalConflict, match="other content than was shown"):
        await desk.call(bob, "decide_article", article_id=number, approved=True, digest=approval.digest)
    assert (await desk.article(number)).status == "pending_approval"
    again = await desk.approval(number)
    await desk.call(bob, "decide_article", article_id=number, approved=True, digest=again.digest)
    await settled(desk, number, "published")


@pytest.mark.parametrize("change", ["attach", "detach"])
async def test_a_change_of_sources_voids_the_request_too(desk: Desk, press: None, change: str) -> None:
    ann, eve = await desk.person("ann", "macro:analyst"), await desk.person("eve", "macro:editor")
    number = await desk.with_editor()
    made = await desk.call(
        ann, "create_text_resource", name="Minutes", content="They met.", topic="macro",
        **({"article_id": number} if change == "detach" else {}),
    )  # fmt: skip
    await desk.call(eve, "publish_article", article_id=number)
    await desk.call(ann, f"{change}_resource", article_id=number, resource_id=made.resource_id)
    await settled(desk, number, "editor")
    approval = await desk.approval(number)
    assert approval.void_reason is not None
    assert approval.void_reason["fields"] == ["resources"]


async def test_the_published_version_stays_readable_while_the_next_is_written(
    desk: Desk, press: None
) -> None:
    number = await desk.with_editor()
    eve, bob = await desk.person("eve", "macro:editor"), await desk.person("bob", "macro:editor")
    ann, rita = await desk.person("ann", "macro:analyst"), await desk.person("rita", "macro:reader")
    await desk.call(eve, "publish_article", article_id=number)
    await desk.decide(bob, await desk.approval(number), "approve")
    await settled(desk, number, "published")
    written = await desk.call(ann, "write_article_content", article_id=number, content="New text.")
    assert written.status == "draft"
    assert (await desk.call(rita, "get_article", article_id=number)).article.content == "The Fed held rates."
    with pytest.raises(ArticleNotFound):
        await desk.call(rita, "get_article", article_id=number, version=written.version)
    seen = (await desk.call(eve, "get_article", article_id=number)).article
    assert (seen.content, seen.status, seen.editor_report) == ("New text.", "draft", None)


async def test_an_expired_request_returns_the_article_and_says_so(
    desk: Desk, database: Database, configure: Configure
) -> None:
    desk = Desk(database, configure({"publishing.approval.expires_in_seconds": 0.2}))
    number = await desk.with_editor()
    eve, bob = await desk.person("eve", "macro:editor"), await desk.person("bob", "macro:editor")
    await desk.call(eve, "publish_article", article_id=number)
    approval = await desk.approval(number)
    async with running(desk.database, desk.config, kinds=systems.graphs()):
        await settled(desk, number, "editor")
    with pytest.raises(ApprovalConflict, match="already expired"):
        await desk.decide(bob, approval, "approve")
    async with desk.database.connection() as connection:
        [*_, last] = await events.about_article(connection, number)
    assert last.data["reason"] == "the request expired before it was decided"


async def test_a_quorum_takes_different_people_with_the_topic_s_role(desk: Desk, press: None) -> None:
    number = await desk.with_editor("esg")  # two admins
    eve = await desk.person("eve", "esg:editor")
    await desk.call(eve, "publish_article", article_id=number)
    approval = await desk.approval(number)
    assert (approval.required_scope, approval.quorum) == ("esg:admin", 2)
    one, two = await desk.person("one", "esg:admin"), await desk.person("two", "global:admin")
    with pytest.raises(PermissionMissing, match="esg:admin"):
        await desk.decide(await desk.person("ann", "esg:analyst"), approval, "approve")
    assert (await desk.decide(one, approval, "approve")).status == "pending"
    with pytest.raises(ApprovalConflict, match="one has already approved"):
        await desk.decide(one, approval, "approve")
    assert (await desk.decide(two, approval, "approve")).status == "approved"
    await settled(desk, number, "published")


async def test_a_vote_does_not_count_once_its_voter_has_lost_the_scope(desk: Desk) -> None:
    number = await desk.with_editor("esg")
    await desk.call(await desk.person("eve", "esg:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    one, two, three = [await desk.person(name, "esg:admin") for name in ("one", "two", "three")]
    await desk.decide(one, approval, "approve")
    async with desk.database.transaction() as connection:
        await users.revoke(connection, "one", "esg:admin", reason="left", revoked_by="root")
    assert (await desk.decide(two, approval, "approve")).status == "pending"
    assert (await desk.decide(three, approval, "approve")).status == "approved"


async def test_a_scope_taken_away_while_it_waits_stops_the_publication(desk: Desk, press: None) -> None:
    number = await desk.with_editor()
    bob = await desk.person("bob", "macro:editor")
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    async with desk.database.transaction() as connection:
        await users.revoke(connection, "eve", "macro:editor", reason="left", revoked_by="root")
    approval = await desk.approval(number)
    await desk.decide(bob, approval, "approve")
    await settled(desk, number, "editor")
    workflow = await ended(desk.database, approval.workflow_id)
    assert (workflow.status, workflow.error) == (
        "failed",
        "eve asked for this and no longer has macro:editor",
    )
    assert (await desk.article(number)).published_version is None


async def test_two_decisions_at_once_one_wins(desk: Desk) -> None:
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    people = [await desk.person(f"p{n}", "macro:editor") for n in range(6)]
    outcomes = await asyncio.gather(
        *(
            desk.decide(p, approval, "approve" if n % 2 else "reject", notes="n")
            for n, p in enumerate(people)
        ),
        return_exceptions=True,
    )
    assert sum(not isinstance(outcome, BaseException) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, ApprovalConflict) for outcome in outcomes) == len(people) - 1


async def test_edits_decisions_and_expiry_at_once_never_deadlock_and_never_publish_another_text(
    desk: Desk, press: None
) -> None:
    ann, eve, bob = [
        await desk.person(*who)
        for who in (("ann", "macro:analyst"), ("eve", "macro:editor"), ("bob", "macro:editor"))
    ]
    numbers = [await desk.with_editor() for _ in range(6)]
    for number in numbers:
        await desk.call(eve, "publish_article", article_id=number)
    gates = [await desk.approval(number) for number in numbers]
    outcomes = await asyncio.gather(
        *(desk.decide(bob, gate, "approve") for gate in gates),
        *(desk.call(ann, "write_article_content", article_id=n, content=f"Other text {n}") for n in numbers),
        *(desk.call(ann, "write_article_content", article_id=n, content=f"Third text {n}") for n in numbers),
        return_exceptions=True,
    )
    strange = [o for o in outcomes if isinstance(o, BaseException) and not isinstance(o, SignoffError)]
    assert strange == []
    for number, gate in zip(numbers, gates, strict=True):
        await ended(desk.database, gate.workflow_id)
        article = await desk.article(number)
        assert article.status != "pending_approval"
        # Whatever won, what is published is what was approved.
        assert article.published_version in (None, gate.content["article"]["version"])


@pytest.mark.parametrize(
    ("tool", "status", "more"),
    [
        ("submit_for_review", "editor", {}),
        ("request_changes", "draft", {"notes": "shorter"}),
        ("publish_article", "draft", {}),
        ("publish_article", "pending_approval", {}),
        ("submit_for_review", "pending_approval", {}),
        ("request_changes", "pending_approval", {"notes": "shorter"}),
    ],
)
async def test_a_step_out_of_order_conflicts_and_changes_nothing(
    desk: Desk, tool: str, status: str, more: dict[str, Any]
) -> None:
    boss = await desk.person("boss", "macro:admin")
    number = await desk.with_editor()
    if status == "draft":
        await desk.call(boss, "request_changes", article_id=number, notes="shorter")
    if status == "pending_approval":
        await desk.call(boss, "publish_article", article_id=number)
    before = await desk.article(number)
    with pytest.raises(ArticleConflict, match=f"is {status}"):
        await desk.call(boss, tool, article_id=number, **more)
    assert await desk.article(number) == before


async def test_an_empty_draft_is_not_submitted(desk: Desk) -> None:
    ann = await desk.person("ann", "macro:analyst")
    made = await desk.call(ann, "create_draft_article", topic="macro", headline="H")
    with pytest.raises(InputInvalid, match="no content"):
        await desk.call(ann, "submit_for_review", article_id=made.article_id)


async def test_a_write_that_expects_another_version_conflicts(desk: Desk) -> None:
    ann = await desk.person("ann", "macro:analyst")
    number = await desk.with_editor()
    with pytest.raises(ArticleConflict, match="at version 2, not 1"):
        await desk.call(ann, "write_article_content", article_id=number, content="x", expected_version=1)


async def test_strangers_learn_nothing(desk: Desk) -> None:
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    stranger = await desk.person("sam", "equity:admin")
    for tool in ("get_article", "review_article", "publish_article", "submit_for_review"):
        with pytest.raises(ArticleNotFound):
            await desk.call(stranger, tool, article_id=number)
    with pytest.raises(ApprovalNotFound):
        await desk.decide(stranger, approval, "approve")
    nobody = await desk.person("nobody")
    for tool in ("get_article", "publish_article"):
        with pytest.raises(PermissionMissing):
            await desk.call(nobody, tool, article_id=number)


async def test_every_call_is_recorded_with_what_came_of_it(desk: Desk) -> None:
    ann = await desk.person("ann", "macro:analyst")
    made = await desk.call(ann, "create_draft_article", topic="macro", headline="H")
    with pytest.raises(PermissionMissing):
        await desk.call(ann, "create_draft_article", topic="equity", headline="H")
    with pytest.raises(InputInvalid):
        await desk.call(ann, "create_draft_article", topic="macro", headline="")
    async with desk.database.connection() as connection:
        boss = await desk.person("boss", "global:admin")
        calls = await tool_calls.read(connection, boss.scopes, person="ann")
    assert [(c.tool, c.status, c.topic) for c in reversed(calls)] == [
        ("create_draft_article", "ok", "macro"),
        ("create_draft_article", "PermissionMissing", "equity"),
        ("create_draft_article", "InputInvalid", None),
    ]
    assert calls[-1].about == f"article:{made.article_id}"
    assert len(calls[-1].input_digest) == 64
