"""`POST /api/workflows/{id}/retry` and `signoff workflows retry`: what is begun again, and who may."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from actors.platform import systems
from models.config import Config
from models.runtime.workflows import Workflow, WorkflowRequest
from models.store.database import Database
from models.store.runtime import claims, documents, runners, workflows
from models.store.runtime.documents import NewDocument
from tests.fakes.assistant import ScriptedAssistant
from tests.fakes.barrier import Barrier
from tests.integration.cluster.approval_site import Site
from tests.integration.rest import client, served
from tests.integration.runtime.again.retrying import execute
from tests.integration.runtime.claims.claiming import ELSEWHERE
from tests.integration.workflows import begin, ended, running
from tests.ports import free_port


@pytest.fixture
def port() -> int:
    """Where the app answers."""
    return free_port()


@pytest.fixture
def config(configure: Callable[..., Config], port: int) -> Config:
    """The configuration of the app."""
    return configure({"http.port": port})


@pytest.fixture
def base(config: Config, database_url: str, port: int) -> Iterator[str]:
    """The app."""
    with served(config, database_url, port, assistant=ScriptedAssistant()) as url:
        yield url


@pytest.fixture
async def eve(config: Config, base: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Eve, who may."""
    async with client(config, base, "eve", "global:editor") as made:
        yield made


@pytest.fixture
def site(config: Config, base: str, database: Database, tmp_path: Path) -> Site:
    """For commands."""
    return Site(config, tmp_path / "config.yaml", database)


async def failed(
    database: Database, kind: str, *, key: str | None = None, input: dict[str, Any] | None = None
) -> Workflow:
    """A workflow that has failed after its first step."""
    request = WorkflowRequest(kind=kind, key=key, input=input or {}, input_digest="d", requested_by="ann")
    async with database.transaction() as connection:
        workflow = await workflows.create(connection, request)
        await runners.renew(connection, runner_id="r", name="r", process=ELSEWHERE, lease_seconds=60)
    [claim] = await claims.claim(database, runner_id="r", rooms={kind: 1}, limit=1, lease_seconds=60)
    await documents.put(
        database, [NewDocument(claim=claim, key="first", value='{"said": "kept"}', calls=None)]
    )
    await claims.fail(database, claim, error="it broke", project=False)
    async with database.connection() as connection:
        return await workflows.get(connection, workflow.id)


def retry(workflow_id: str) -> str:
    """The path to post to."""
    return f"/api/workflows/{workflow_id}/retry"


@pytest.mark.parametrize("kind", sorted(systems.graphs().keys() - {"publish_article"}))
async def test_a_failed_workflow_is_begun_again_with_what_it_has_kept(
    database: Database, eve: httpx2.AsyncClient, kind: str
) -> None:
    workflow = await failed(database, kind)
    answer = await eve.post(retry(workflow.id))
    assert (answer.status_code, answer.json()["status"], answer.json()["error"]) == (200, "queued", None)
    assert await documents.get_all(database, workflow.id) == {"first": {"said": "kept"}}
    [again] = await claims.claim(database, runner_id="r", rooms={kind: 1}, limit=1, lease_seconds=60)
    assert again.epoch > workflow.epoch
    events = (await eve.get(f"/api/workflows/{workflow.id}/events")).json()
    assert [event["data"] for event in events if event["type"] == "workflow.queued"][-1] == {"again": True}


@pytest.mark.parametrize("door", ["http", "command"])
async def test_it_goes_on_at_the_step_that_failed(
    database: Database, config: Config, eve: httpx2.AsyncClient, site: Site, door: str
) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier, fail="three")
        async with running(database, config):
            assert (await ended(database, workflow.id)).status == "failed"
            await execute(database, "UPDATE workflows SET input = input - 'fail'")
            if door == "http":
                assert (await eve.post(retry(workflow.id))).status_code == 200
            else:
                told = await site.run("workflows", "retry", workflow.id, "--user", "eve")
                assert (told.exit_code, told.stdout) == (0, f"{workflow.id} is queued\n"), told.stderr
            assert (await ended(database, workflow.id)).status == "succeeded"
        assert [arrival.step for arrival in barrier.arrivals] == ["one", "two", "three", "three", "four"]


async def test_a_publication_that_gave_its_article_back_is_not_begun_again(
    database: Database, eve: httpx2.AsyncClient, site: Site
) -> None:
    workflow = await failed(database, "publish_article", input={"article_id": 7})
    answer = await eve.post(retry(workflow.id))
    assert answer.status_code == 409
    assert "gave article 7 back to its editor" in answer.json()["detail"]
    told = await site.run("workflows", "retry", workflow.id, "--user", "eve")
    assert (told.exit_code, told.stderr.count("\n")) == (1, 1)
    assert "ask for the publication again" in told.stderr


async def test_a_publication_whose_article_still_waits_is_begun_again(
    database: Database, eve: httpx2.AsyncClient, site: Site
) -> None:
    approval = await site.ask()
    await execute(
        database,
        "UPDATE workflows SET status = 'failed', error = 'it broke', finished_at = now() WHERE id = %s",
        approval.workflow_id,
    )
    answer = await eve.post(retry(approval.workflow_id))
    assert (answer.status_code, answer.json()["status"]) == (200, "queued")


@pytest.mark.parametrize("scopes", [("global:reader",), ("macro:admin",), ("global:reader", "macro:editor")])
async def test_it_takes_global_editor_and_is_asked_before_existence_is_told(
    database: Database, config: Config, base: str, scopes: tuple[str, ...]
) -> None:
    workflow = await failed(database, "editorial")
    async with client(config, base, "rita", *scopes) as rita:
        refused = [await rita.post(retry(one)) for one in (workflow.id, "none")]
    assert [answer.status_code for answer in refused] == [403, 403]
    assert refused[0].json()["detail"] == refused[1].json()["detail"]
    async with httpx2.AsyncClient(base_url=base, trust_env=False) as nobody:
        assert (await nobody.post(retry(workflow.id))).status_code == 401
    async with database.connection() as connection:
        assert await workflows.get(connection, workflow.id) == workflow


@pytest.mark.parametrize("status", ["queued", "running", "waiting", "succeeded", "cancelled"])
async def test_only_what_failed_or_is_parked_is_begun_again(
    database: Database, eve: httpx2.AsyncClient, site: Site, status: str
) -> None:
    workflow = await failed(database, "editorial")
    await execute(database, "UPDATE workflows SET status = %s WHERE id = %s", status, workflow.id)
    answer = await eve.post(retry(workflow.id))
    assert (answer.status_code, answer.json()["status"]) == (409, 409)
    assert f"workflow {workflow.id} is {status}: only one that failed or is parked" in answer.json()["detail"]
    told = await site.run("workflows", "retry", workflow.id, "--user", "eve")
    assert (told.exit_code, told.stderr.count("\n")) == (1, 1)
    assert f"is {status}: only one that failed" in told.stderr
    async with database.connection() as connection:
        assert (await workflows.get(connection, workflow.id)).status == status


async def test_what_a_newer_one_of_its_key_has_followed_is_refused(
    database: Database, eve: httpx2.AsyncClient
) -> None:
    older = await failed(database, "editorial", key="k")
    newer = await failed(database, "editorial", key="k")
    answer = await eve.post(retry(older.id))
    assert answer.status_code == 409
    assert newer.id in answer.json()["detail"]
    assert (await eve.post(retry(newer.id))).status_code == 200


async def test_one_that_there_is_not_is_said_so(eve: httpx2.AsyncClient, site: Site) -> None:
    assert (await eve.post(retry("none"))).status_code == 404
    told = await site.run("workflows", "retry", "none", "--user", "eve")
    assert (told.exit_code, told.stderr.count("\n")) == (1, 1)
    told = await site.run("workflows", "retry", "--user", "eve")
    assert told.exit_code == 1
    assert "which one?" in told.stderr
