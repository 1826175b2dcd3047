"""Permission comes first, then existence: who may not know of a thing is told the same as of no thing."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from models.config import Config
from models.errors import ApprovalConflict, ApprovalNotFound, InputInvalid
from models.store.people import users
from tests.integration.editorial.desk import Desk
from tests.integration.rest import client, served


@pytest.fixture
def config(configure: Callable[..., Config]) -> Config:
    """The configuration of the app."""
    return configure()


@pytest.fixture
def base(config: Config, database_url: str) -> Iterator[str]:
    """The base URL of the app."""
    with served(config, database_url) as url:
        yield url


async def asked(desk: Desk) -> Any:
    """Eve asked for the publication of ann's article; the approval."""
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    return await desk.approval(number)


@pytest.mark.parametrize("scope", ["*", "macro:editor"])
async def test_who_lost_her_scopes_reads_no_draft_that_she_asked_for(
    desk: Desk, config: Config, base: str, scope: str
) -> None:
    approval = await asked(desk)
    async with client(config, base, "eve", "macro:editor") as eve:
        assert (await eve.get(f"/api/approvals/{approval.id}")).status_code == 200
        async with desk.database.transaction() as connection:
            await users.revoke(connection, "eve", scope, reason="left", revoked_by="root")
        shown = await eve.get(f"/api/approvals/{approval.id}")
        absent = await eve.get("/api/approvals/999")
        assert (shown.status_code, _same(shown)) == (404, _same(absent))
        for path in ("/api/approvals", "/api/tasks", f"/api/tasks/{approval.workflow_id}"):
            told = json.dumps((await eve.get(path)).json())
            assert "The Fed holds" not in told
            assert "held rates" not in told


def _same(answer: httpx2.Response) -> Any:
    """A problem without the id that was asked for."""
    return re.sub(r"\d+", "N", answer.text)


@pytest.mark.parametrize("again", [False, True])
async def test_another_topic_s_requests_are_as_if_they_did_not_exist(
    desk: Desk, config: Config, base: str, again: bool
) -> None:
    approval = await asked(desk)
    number = approval.content["article"]["id"]
    if again:  # put up for publication with different contents: that is told to who may decide
        ann, eve = await desk.person("ann", "macro:analyst"), await desk.person("eve", "macro:editor")
        await desk.call(ann, "write_article_content", article_id=number, content="The Fed raised rates.")
        await desk.call(eve, "request_changes", article_id=number, notes="as before")
        await desk.call(ann, "submit_for_review", article_id=number)
        await desk.call(eve, "publish_article", article_id=number)
    for scopes in (("equity:reader",), ("macro:reader",), ("esg:admin",)):
        async with client(config, base, "sam", *scopes) as sam:
            for body in ({"approved": True}, {"approved": False, "notes": "x", "digest": "0" * 64}):
                there = await sam.post(f"/api/approvals/{number}", json=body)
                absent = await sam.post("/api/approvals/999", json=body)
                assert (there.status_code, _same(there)) == (404, _same(absent)), scopes
            wish = {"decision": "approve", "digest": "0" * 64}
            there = await sam.post(f"/api/approvals/{approval.id}/decision", json=wish)
            absent = await sam.post("/api/approvals/999/decision", json=wish)
            assert (there.status_code, _same(there)) == (404, _same(absent)), scopes
            there, absent = [await sam.get(f"/api/approvals/{n}") for n in (approval.id, 999)]
            assert (there.status_code, _same(there)) == (404, _same(absent)), scopes


async def test_a_wrong_digest_is_never_answered_with_the_right_one(desk: Desk) -> None:
    approval = await asked(desk)
    bob = await desk.person("bob", "macro:editor")
    number = approval.content["article"]["id"]
    with pytest.raises(ApprovalConflict, match="other content than was shown") as one:
        await desk.decide(bob, approval, "approve", digest="0" * 64)
    with pytest.raises(ApprovalConflict, match="other content than was shown") as two:
        await desk.call(bob, "decide_article", article_id=number, approved=True, digest="0" * 64)
    for caught in (one, two):
        assert approval.digest not in f"{caught.value} {caught.value.facts}"
    assert (await desk.approval(number)).status == "pending"


@pytest.mark.parametrize("digest", ["", " ", "0" * 63, "0" * 65, "G" * 64, "0" * 64 + "\n"])
async def test_what_is_no_digest_is_not_taken_for_none(desk: Desk, digest: str) -> None:
    """Put up twice with different contents: without a digest it is not clear which one was seen."""
    approval = await asked(desk)
    number = approval.content["article"]["id"]
    ann, eve = await desk.person("ann", "macro:analyst"), await desk.person("eve", "macro:editor")
    bob = await desk.person("bob", "macro:editor")
    await desk.call(ann, "write_article_content", article_id=number, content="Nobody has seen this.")
    await desk.call(eve, "publish_article", article_id=number)
    approval = await desk.approval(number)
    with pytest.raises(InputInvalid, match="digest"):
        await desk.call(bob, "decide_article", article_id=number, approved=True, digest=digest)
    with pytest.raises(InputInvalid, match="digest"):
        await desk.decide(bob, approval, "approve", digest=digest)
    assert (await desk.approval(number)).status == "pending"


async def test_whoever_sees_the_drafts_but_may_not_decide_is_told_what_that_takes(desk: Desk) -> None:
    number = await desk.with_editor("esg")
    await desk.call(await desk.person("eve", "esg:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    with pytest.raises(ApprovalNotFound):
        await desk.decide(await desk.person("rita", "esg:reader"), approval, "approve")
