"""A step of a research and what is kept of it are one: both are there, or neither; none once it ended."""

import errno
from typing import Any

import pytest

import actors.systems.research.tree_steps as organizing
from models.research.agent_workflows import AgentWorkflow
from models.store.runtime import documents
from tests.fakes.outside.page_site import PageSite
from tests.integration.research.mill_site import ICE
from tests.integration.research.research_desk import ResearchDesk

STOP = """
UPDATE workflows SET status = 'cancelled', epoch = epoch + 1, runner_id = NULL, finished_at = now()
WHERE id = %s RETURNING id
"""
WRITTEN = """
SELECT (SELECT count(*) FROM documents) AS documents,
       (SELECT count(*) FROM sources WHERE settled_at IS NOT NULL) AS sources,
       (SELECT count(*) FROM url_candidates WHERE source_id IS NOT NULL OR fault IS NOT NULL) AS read,
       (SELECT count(*) FROM workflow_tools) AS tools,
       (SELECT count(*) FROM agent_messages) AS messages,
       (SELECT count(*) FROM knowledge_points) AS known,
       (SELECT count(*) FROM research_points) AS points,
       (SELECT count(*) FROM knowledge_trees) AS trees
"""


async def to_the_tree(desk: ResearchDesk, research: AgentWorkflow) -> None:
    """Have two pages read; of one of them a text is given."""
    urls = (await desk.gate(research)).content
    here = [url for url in urls["urls"] if url["url"].endswith(("/mill", "/login"))]
    await desk.amend(await desk.gate(research), urls | {"urls": here})
    blocked = await desk.gate(research)
    [login] = blocked.content["unreadable"]
    instead = [{"number": login["number"], "url": None, "pasted": {"text": ICE, "title": "Ice"}}]
    await desk.amend(blocked, blocked.content | {"instead": instead})


class _Stopping:
    """An agent; while it works at a verb of it, the research is stopped, and no runner is told."""

    def __init__(self, desk: ResearchDesk, made: Any, verb: str) -> None:
        self._desk, self._made, self._verb = desk, made, verb
        self.written: list[dict[str, Any]] = []
        self.workflow_id = ""

    def __getattr__(self, verb: str) -> Any:
        return self._called if verb == self._verb else getattr(self._made, verb)

    async def _called(self, *given: Any, **more: Any) -> Any:
        answer = await getattr(self._made, self._verb)(*given, **more)
        await self._desk.rows(STOP, self.workflow_id)
        self.written = await self._desk.rows(WRITTEN)
        return answer


@pytest.mark.parametrize(
    ("role", "verb"),
    [("scraper", "scrape"), ("scraper", "read_text"), ("extractor", "extract"), ("organizer", "grow")],
)
async def test_what_is_stopped_while_an_agent_works_keeps_nothing_of_that(
    desk: ResearchDesk, site: PageSite, role: str, verb: str
) -> None:
    async with desk.running():
        desk.agents[role] = stopping = _Stopping(desk, desk.agents[role], verb)
        research = await desk.start(task_type="full_pipeline")
        stopping.workflow_id = research.workflow_id
        if verb == "scrape":
            urls = (await desk.gate(research)).content
            await desk.amend(await desk.gate(research), urls | {"urls": urls["urls"][:1]})
        else:
            await to_the_tree(desk, research)
        done = await desk.ended(research)
    # The runner has ended, and with it all that it was at.
    assert done.status == "cancelled"
    assert stopping.written
    assert await desk.rows(WRITTEN) == stopping.written


class _GivesWay:
    """Stands for what counts steps, which each does last: every second time that fails, and undoes it."""

    def __init__(self, put: Any) -> None:
        self._put = put
        self.times = 0

    async def put(self, *given: Any) -> None:
        self.times += 1
        if self.times % 2:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "the machine gives way")
        await self._put(*given)


async def test_a_step_that_could_not_be_kept_has_done_nothing(
    desk: ResearchDesk, site: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    gives_way = _GivesWay(documents.observations.put)
    monkeypatch.setattr(documents, "observations", gives_way)
    async with desk.running():
        research = await desk.start(task_type="full_pipeline")
        await to_the_tree(desk, research)
        await desk.approve(await desk.gate(research))
        await desk.approve(await desk.gate(research))
        done = await desk.ended(research)
    assert (done.status, done.error) == ("succeeded", None)
    assert gives_way.times >= 20
    [said] = await desk.rows("SELECT count(*) AS n, count(DISTINCT step) AS steps FROM agent_messages")
    assert said["n"] == said["steps"]
    tools = await desk.rows("SELECT tool_name, count(*) AS n FROM workflow_tools GROUP BY 1 ORDER BY 1")
    assert [(row["tool_name"], row["n"]) for row in tools] == [
        ("save_to_database", 1),
        ("scrape_urls", 2),
        ("search_web", 1),
    ]
    [kept] = await desk.rows("SELECT id FROM knowledge_trees")
    assert (done.result or {})["tree_id"] == kept["id"]
    assert (done.result or {})["sentences"] == len(await desk.rows("SELECT 1 FROM research_sentences")) == 1


async def test_a_section_that_was_written_is_not_written_again_when_its_gate_is_decided(
    desk: ResearchDesk, site: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing = organizing.standing
    looked: list[str] = []

    def counted(text: str, spans: Any) -> Any:
        looked.append(text)
        return standing(text, spans)

    monkeypatch.setattr(organizing, "standing", counted)
    async with desk.running():
        research = await desk.start(task_type="full_pipeline")
        await to_the_tree(desk, research)
        await desk.approve(await desk.gate(research))
        result = await desk.gate(research)
        assert (result.kind, len(looked)) == ("research_result", 1)
        await desk.approve(result)
        done = await desk.ended(research)
    assert (done.status, done.error) == ("succeeded", None)
    assert len(looked) == 1


class _Counting:
    """The intent reader; `asked` counts how often."""

    def __init__(self, reader: Any) -> None:
        self._reader, self.asked = reader, 0

    async def read(self, *of: Any) -> Any:
        self.asked += 1
        return await self._reader.read(*of)


async def test_what_is_asked_for_is_told_once_however_often_it_is_resumed(
    desk: ResearchDesk, site: PageSite
) -> None:
    desk.agents["intent_reader"] = counting = _Counting(desk.agents["intent_reader"])
    async with desk.running():
        research = await desk.start(task_type=None)
        await desk.approve(await desk.gate(research))
        await desk.approve(await desk.gate(research))
        done = await desk.ended(research)
    assert (done.status, done.error, counting.asked) == ("succeeded", None, 1)
