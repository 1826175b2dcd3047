"""The steps of publishing: each happens once, with its messages, and only to what was approved."""

from collections.abc import Callable
from typing import Any

import pytest

from actors.platform import systems
from models.config import Config
from models.errors import (
    ArticleConflict,
    Fenced,
    WorkflowConflict,
)
from models.runtime.workflows import WorkflowRequest
from models.store import events, outbox, webhooks
from models.store.content import publishing
from models.store.runtime import claims, documents, tasks, workflows
from models.webhooks.records import NewWebhook
from tests.integration.editorial.desk import Desk, settled
from tests.integration.runtime.claims.claiming import lease
from tests.integration.workflows import ended

Configure = Callable[..., Config]


async def test_each_change_writes_its_messages_in_its_own_transaction(desk: Desk, press: None) -> None:
    async with desk.database.transaction() as connection:
        for event in ("approval_required", "article_published", "article_rejected"):
            new = NewWebhook(name=event, event_type=event, url="https://hooks.example.com/x")
            await webhooks.create(connection, new, secret="x" * 32, created_by="root")
    eve, bob = await desk.person("eve", "macro:editor"), await desk.person("bob", "macro:editor")
    number = await desk.with_editor()
    await desk.call(eve, "publish_article", article_id=number)
    await desk.decide(bob, await desk.approval(number), "reject", notes="no")
    await settled(desk, number, "editor")
    await desk.call(eve, "publish_article", article_id=number)
    await desk.decide(bob, await desk.approval(number), "approve")
    await settled(desk, number, "published")
    async with desk.database.connection() as connection:
        assert await outbox.counts(connection) == {"pending": 4}


async def test_a_text_that_was_changed_behind_the_approval_s_back_is_not_published(
    desk: Desk, press: None
) -> None:
    number = await desk.with_editor()
    eve, bob = await desk.person("eve", "macro:editor"), await desk.person("bob", "macro:editor")
    await desk.call(eve, "publish_article", article_id=number)
    approval = await desk.approval(number)
    async with desk.database.connection() as connection:
        await connection.execute("UPDATE article_versions SET content = 'Something else.'")
    await desk.decide(bob, approval, "approve")
    workflow = await ended(desk.database, approval.workflow_id)
    assert workflow.error == f"article {number} is not what approval {approval.id} was given for"
    article = await desk.article(number)
    assert (article.status, article.published_version) == ("editor", None)


async def test_a_failed_publication_is_asked_for_anew_and_not_begun_again(desk: Desk, press: None) -> None:
    number = await desk.with_editor()
    eve, bob = await desk.person("eve", "macro:editor"), await desk.person("bob", "macro:editor")
    await desk.call(eve, "publish_article", article_id=number)
    approval = await desk.approval(number)
    async with desk.database.connection() as connection:
        await connection.execute("UPDATE article_versions SET content = 'Something else.'")
    await desk.decide(bob, approval, "approve")
    await ended(desk.database, approval.workflow_id, "failed")
    async with desk.database.transaction() as connection:
        with pytest.raises(WorkflowConflict, match="ask for the publication again"):
            await tasks.retry(connection, approval.workflow_id, kinds=systems.kinds())
    await desk.call(eve, "publish_article", article_id=number)
    await desk.decide(bob, await desk.approval(number), "approve")
    await settled(desk, number, "published")


async def test_what_is_not_approved_is_not_published(desk: Desk) -> None:
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    with pytest.raises(ArticleConflict, match="does not wait for approval"):
        async with desk.database.transaction() as connection:
            await publishing.publish(connection, number, approval.id, settings=desk.config.publishing)
    assert (await desk.article(number)).published_version is None


async def test_a_step_s_effect_happens_once_and_only_under_the_claim(desk: Desk) -> None:
    async with desk.database.transaction() as connection:
        request = WorkflowRequest(kind="k", input={}, input_digest="d", requested_by="ann")
        await workflows.create(connection, request)
    await lease(desk.database, "r")
    [claim] = await claims.claim(desk.database, runner_id="r", rooms={"k": 1}, limit=1, lease_seconds=60)
    done: list[int] = []

    async def act(connection: Any) -> WorkflowRequest:
        done.append(1)
        await events.append(connection, "effect", claim.workflow_id, {})
        return request

    for _ in range(2):
        await documents.effect(desk.database, claim, key="step", act=act)
    assert len(done) == 1
    late = claim.model_copy(update={"epoch": claim.epoch - 1})
    with pytest.raises(Fenced):
        await documents.effect(desk.database, late, key="other", act=act)
    assert len(done) == 1
