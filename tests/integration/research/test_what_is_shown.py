"""The list of addresses shows all that was found out about them: it is what a person decides by."""

from typing import Any

from models.research.candidates import Discovery, LeftOut, RefusedUrl, StoredText
from tests.fakes.outside.page_site import PageSite
from tests.integration.research.research_desk import ResearchDesk

STORED = StoredText(
    stored_as="article:3", title="Mills", snippet="Of mills.", score=0.4, published=None, source="local"
)
REFUSED = RefusedUrl(url="http://10.0.0.1/", rating="neutral", reason="it is not public")


class _Telling:
    """The researcher, who finds this besides."""

    def __init__(self, researcher: Any, **more: Any) -> None:
        self._researcher, self._more = researcher, more

    async def discover(self, *of: Any, **how: Any) -> Discovery:
        found: Discovery = await self._researcher.discover(*of, **how)
        return found.model_copy(update=self._more)


async def test_the_list_tells_what_is_held_what_was_refused_and_how_much_was_left_out(
    desk: ResearchDesk, site: PageSite
) -> None:
    more: dict[str, Any] = {
        "stored": (STORED,),
        "refused": (REFUSED,),
        "left_out": (LeftOut(reason="weak", count=7),),
        "notes": ("one provider was away",),
    }
    desk.agents["researcher"] = _Telling(desk.agents["researcher"], **more)
    async with desk.running():
        shown = (await desk.gate(await desk.start())).content
    assert shown["stored"] == [STORED.model_dump(mode="json")]
    assert shown["refused"] == [REFUSED.model_dump(mode="json")]
    assert shown["left_out"] == [{"reason": "weak", "count": 7}]
    assert shown["notes"] == ["one provider was away"]
    assert shown["urls"]
