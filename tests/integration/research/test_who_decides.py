"""Who decides on a research is a person, and as many of them as the site wants; no token of an agent does."""

from typing import Any

import pytest

from models.config import Config
from models.errors import InputInvalid, PermissionMissing, ResearchNotFound
from models.store.database import Database
from tests.fakes.outside.page_site import PageSite
from tests.integration.research.research_desk import QUESTION, ResearchDesk, under
from tests.integration.research.test_tree_tools import call, person


async def test_no_agent_s_token_says_yes_no_or_otherwise_at_a_gate(
    desk: ResearchDesk, site: PageSite
) -> None:
    answers: tuple[dict[str, Any], ...] = (
        {"decision": "approve"},
        {"decision": "reject", "notes": "not these"},
        {"decision": "modify", "modifications": {"remove_urls": [1]}},
    )
    async with desk.running():
        research = await desk.start()
        shown = await desk.gate(research)
        for said in answers:
            for name, scope, error in (
                ("ann", "macro:analyst", PermissionMissing("deciding takes a person")),
                # Permission comes first: to who may not know of it, it is not there.
                ("eve", "equity:admin", ResearchNotFound("there is no research")),
            ):
                agent = person(name, scope).model_copy(update={"decides": False})
                with pytest.raises(type(error), match=str(error)):
                    await call(desk, "decide_research", agent, workflow_id=research.id, **said)
        assert await desk.gate(research) == shown
    assert site.hits == []


@pytest.mark.parametrize("policy", [{"four_eyes": True}, {"quorum": 2}])
async def test_where_others_decide_they_are_asked(
    config: Config, database: Database, policy: dict[str, Any]
) -> None:
    strict = under(config, **policy)
    asked = {"user_query": QUESTION, "topic": "macro", "config": {"require_approval": False}}
    with pytest.raises(InputInvalid, match="has others decide"):
        await call(ResearchDesk(strict, database), "start_research", **asked)
