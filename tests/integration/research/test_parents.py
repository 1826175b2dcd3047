"""Researches below others: a parent is of the same topic, and one that the person may see."""

import pytest

from models.errors import InputInvalid, ResearchNotFound
from tests.integration.research.research_desk import QUESTION, ResearchDesk
from tests.integration.research.test_tree_tools import call, person


async def test_a_parent_is_one_of_the_topic_that_the_person_may_see(desk: ResearchDesk) -> None:
    asked = {"user_query": QUESTION, "task_type": "research"}
    eve = person("eve", "equity:analyst")
    parent = (await call(desk, "start_research", eve, topic="equity", **asked)).workflow_id
    with pytest.raises(ResearchNotFound) as none:
        await call(desk, "start_research", topic="macro", parent_workflow_id=parent + 1, **asked)
    # To who may not see it, it does not exist.
    with pytest.raises(ResearchNotFound) as hidden:
        await call(desk, "start_research", topic="macro", parent_workflow_id=parent, **asked)
    assert str(hidden.value) == str(none.value).replace(str(parent + 1), str(parent))
    both = person("bob", "macro:analyst", "equity:analyst")
    with pytest.raises(InputInvalid, match=f"parent_workflow_id: {parent} is of the topic equity"):
        await call(desk, "start_research", both, topic="macro", parent_workflow_id=parent, **asked)
    await call(desk, "start_research", both, topic="equity", parent_workflow_id=parent, **asked)
    rows = await desk.rows("SELECT requested_by, parent_id FROM agent_workflows ORDER BY id")
    assert [(row["requested_by"], row["parent_id"]) for row in rows] == [("eve", None), ("bob", parent)]
