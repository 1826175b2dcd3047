"""What is away is waited for: no page, text, source or section is given up because an agent was."""

import errno
from typing import Any

import pytest

import actors.systems.research.tree_steps as organizing
from models.errors import AgentDied, ModelUnavailable
from tests.fakes.outside.page_site import PageSite
from tests.integration.research.mill_site import ICE
from tests.integration.research.research_desk import ResearchDesk

AWAY = {
    "scrape": AgentDied("the agent scraper died"),
    "read_text": AgentDied("the agent scraper died"),
    "extract": ModelUnavailable("the model is away"),
    "passages": ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
}


class _AwayOnce:
    """What fails the first time that a verb of it is called; `asked` counts those calls."""

    def __init__(self, made: Any, verb: str) -> None:
        self._made, self._verb, self.asked = made, verb, 0

    def __getattr__(self, verb: str) -> Any:
        return self._called if verb == self._verb else getattr(self._made, verb)

    async def _called(self, *given: Any, **more: Any) -> Any:
        self.fail_once()
        return await getattr(self._made, self._verb)(*given, **more)

    def fail_once(self) -> None:
        """The first time, that is."""
        self.asked += 1
        if self.asked == 1:
            raise AWAY[self._verb]


@pytest.mark.parametrize("verb", AWAY)
async def test_what_was_away_for_a_moment_leaves_nothing_out(
    desk: ResearchDesk, site: PageSite, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    async with desk.running():
        role = "extractor" if verb == "extract" else "scraper"
        desk.agents[role] = away = _AwayOnce(desk.agents[role], verb)
        if verb == "passages":
            standing = organizing.standing

            def once(*given: Any) -> Any:
                away.fail_once()
                return standing(*given)

            monkeypatch.setattr(organizing, "standing", once)
        research = await desk.start(task_type="full_pipeline")
        urls = (await desk.gate(research)).content
        here = [url for url in urls["urls"] if url["url"].endswith(("/mill", "/login"))]
        await desk.amend(await desk.gate(research), urls | {"urls": here})
        blocked = await desk.gate(research)
        [login] = blocked.content["unreadable"]
        assert login["fault"] == "login"
        instead = [{"number": login["number"], "url": None, "pasted": {"text": ICE, "title": "Ice"}}]
        await desk.amend(blocked, blocked.content | {"instead": instead})
        await desk.approve(await desk.gate(research))
        await desk.approve(await desk.gate(research))
        done = await desk.ended(research)
    assert (done.status, done.error) == ("succeeded", None)
    assert done.result is not None
    assert (done.result["outcome"], done.result["pages"], done.result["points"]) == ("done", 2, 1)
    assert (done.result["missing"], done.result["left"], done.result["sentences"]) == ([], [], 1)
    assert away.asked > 1
