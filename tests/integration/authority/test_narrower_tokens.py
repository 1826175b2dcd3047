"""A narrower token takes nothing away from work that waits."""

from collections.abc import Callable

from models.config import Config
from tests.fakes.model.model_server import ModelServer
from tests.integration.drafting.research_site import TWO_STATEMENTS, Site
from tests.integration.editorial.desk import Desk, settled

Configure = Callable[..., Config]


async def test_looking_into_the_inbox_does_not_stop_one_s_research(site: Site, model: ModelServer) -> None:
    model.script(TWO_STATEMENTS)
    ann = await site.desk.person("ann", "macro:analyst")
    task_id = await site.ask(ann)
    await site.desk.person("ann", "global:editor")  # what `signoff approvals` comes with
    async with site.running():
        assert (await site.done(task_id))["status"] == "completed"


async def test_an_approved_publication_is_not_given_back_for_it(desk: Desk, press: None) -> None:
    number = await desk.with_editor()
    eve, bob = await desk.person("eve", "macro:editor"), await desk.person("bob", "macro:editor")
    await desk.call(eve, "publish_article", article_id=number)
    await desk.person("eve", "equity:reader")
    await desk.decide(bob, await desk.approval(number), "approve")
    await settled(desk, number, "published")


async def test_a_vote_of_a_quorum_still_counts(desk: Desk) -> None:
    number = await desk.with_editor("esg")
    await desk.call(await desk.person("eve", "esg:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    one, two = await desk.person("one", "esg:admin"), await desk.person("two", "esg:admin")
    await desk.decide(one, approval, "approve")
    await desk.person("one", "macro:reader")
    assert (await desk.decide(two, approval, "approve")).status == "approved"
