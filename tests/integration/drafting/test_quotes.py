"""A draft of quotations, from the request to its approval: it says that it is one until it is changed."""

from collections.abc import Callable

import pytest

from models.config import Config
from models.errors import ModelUnavailable
from models.store.database import Database
from tests.fakes.model.model_server import ModelServer, Rule
from tests.integration.drafting.research_site import RATES, Site, configured, text
from tests.integration.editorial.desk import Desk

CHOICE = Rule(kind="choose", reply='{"headline": 1, "sentences": [1, 2]}')


@pytest.fixture
async def quoting(database: Database, configure: Callable[..., Config], model: ModelServer) -> Site:
    """A site that drafts in quotations."""
    settings = configured(model.base_url)
    settings["drafting.llm"] |= {"writes": "quotes"}
    return Site(Desk(database, configure({**settings, "embedding.api_base": model.base_url})))


async def test_a_draft_says_that_it_is_of_quotations(quoting: Site, model: ModelServer) -> None:
    model.script(CHOICE)
    ann = await quoting.desk.person("ann", "macro:analyst")
    async with quoting.running():
        result = await quoting.done(await quoting.ask(ann))
    version = await quoting.version(result["article_id"])
    assert version.written == "quotes"
    first, figures = version.content.split("\n\n")[1], version.content.split("\n\n")[0]
    assert first.startswith("“Rate decision”: “The central bank held its rate at 4.25 percent in June.”[^")
    assert figures.startswith("“Policy rate”: 4.25 percent in June 2026, down 0.25 percentage points")
    assert "word for word" not in version.content
    assert "word for word" in version.desk_notes[0]
    assert len(model.calls("choose")) == 1
    stored = [await quoting.resource(resource.id) for resource in version.resources]
    [minutes] = [resource for resource in stored if resource.kind == "text"]
    assert f"(resource {minutes.id}), characters 0–55" in version.content
    assert minutes.content[0:55] == RATES[:55] == "The central bank held its rate at 4.25 percent in June."


async def test_a_changed_draft_is_prose_again_and_one_with_another_resource_is_not(
    quoting: Site, model: ModelServer
) -> None:
    model.script(CHOICE)
    ann = await quoting.desk.person("ann", "macro:analyst")
    async with quoting.running():
        number = (await quoting.done(await quoting.ask(ann)))["article_id"]
    note = {"name": "A note", "description": None, "content": "Something beside it."}
    await quoting.desk.call(ann, "create_text_resource", article_id=number, **note)
    assert (await quoting.version(number)).written == "quotes"
    content = (await quoting.version(number)).content
    await quoting.desk.call(
        ann, "write_article_content", article_id=number, content=f"{content}\nAnd the rate will fall."
    )
    assert (await quoting.version(number)).written == "prose"


async def test_the_approver_is_shown_how_it_was_written(quoting: Site, model: ModelServer) -> None:
    model.script(CHOICE)
    ann = await quoting.desk.person("ann", "macro:analyst")
    eve = await quoting.desk.person("eve", "macro:editor")
    async with quoting.running():
        number = (await quoting.done(await quoting.ask(ann)))["article_id"]
        await quoting.desk.call(ann, "submit_for_review", article_id=number)
        await quoting.desk.call(eve, "publish_article", article_id=number)
        approval = await quoting.desk.approval(number)
    assert approval.content["article"]["written"] == "quotes"


async def test_a_bad_answer_leaves_the_choice_to_code(quoting: Site, model: ModelServer) -> None:
    model.script(Rule(kind="choose", reply="The rate was cut to nothing at all."))
    ann = await quoting.desk.person("ann", "macro:analyst")
    async with quoting.running():
        result = await quoting.done(await quoting.ask(ann))
    version = await quoting.version(result["article_id"])
    assert version.written == "quotes"
    assert "nothing at all" not in version.content
    assert len(model.calls("choose")) == 2


async def test_what_cannot_be_quoted_is_too_little_and_begins_no_draft(
    quoting: Site, model: ModelServer
) -> None:
    quoting.web.found, quoting.data.found = (
        (text(content="what the central bank decided in June; held; why"),),
        (),
    )
    ann = await quoting.desk.person("ann", "macro:analyst")
    async with quoting.running():
        result = await quoting.done(await quoting.ask(ann))
    assert (result["status"], result["article_id"]) == ("not_enough", None)
    assert "set drafting.llm.writes to prose" in result["desk_notes"][0]
    assert (await quoting.count("articles"), await quoting.count("resources")) == (0, 0)
    assert model.calls("choose") == []


async def test_embeddings_that_are_away_park_the_draft(quoting: Site, model: ModelServer) -> None:
    class Away:
        async def embed(self, texts: list[str]) -> list[list[float]]:
            raise ModelUnavailable("away", waits_for="embedding model")

    quoting.agents["drafter"]._embedder = Away()
    ann = await quoting.desk.person("ann", "macro:analyst")
    async with quoting.running():
        workflow = await quoting.ended(await quoting.ask(ann), "parked")
    assert workflow.parked_for == "embedding model"
