"""`GET /api/kinds`: who asks is told of the kinds that he has to do with, in his language."""

from collections.abc import Callable

from models.config import Config
from tests.integration.rest import client, served


async def test_a_kind_is_told_to_whoever_has_its_role_somewhere(
    configure: Callable[..., Config], database_url: str
) -> None:
    config = configure()
    with served(config, database_url) as base:
        async with client(config, base, "rea", "macro:reader") as rea:
            assert (await rea.get("/api/kinds")).json() == {"kinds": []}
        async with client(config, base, "ed", "macro:editor") as ed:
            [publishing] = (await ed.get("/api/kinds", headers={"Accept-Language": "pl"})).json()["kinds"]
        async with client(config, base, "ann", "macro:analyst") as ann:
            kinds = {kind["name"]: kind for kind in (await ann.get("/api/kinds")).json()["kinds"]}
    assert (publishing["name"], publishing["title"]) == ("publish_article", "Publikacje")
    assert publishing["gates"][0]["decide"] == {
        "method": "POST",
        "path": "/api/approvals/{approval_id}/decision",
    }
    assert kinds.keys() >= {"publish_article", "research_article", "research"}
    research = kinds["research"]
    actions = {action["name"]: action for action in research["actions"]}
    assert actions["get"]["path"] == "/api/v1/agent-workflows/{workflow_id}"
    assert "workflow_id" in actions["get"]["input"]["properties"]
    gates = {gate["kind"]: gate for gate in research["gates"]}
    assert gates["research_urls"]["content"]["properties"]["urls"]["x-show"] == "table"
    assert "modifications" in gates["research_urls"]["answer"]["properties"]
