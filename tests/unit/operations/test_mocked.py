"""What is a stand-in's is told as such everywhere, however it is known: one call or one item is enough."""

import json
from datetime import UTC, datetime

import pytest

from actors.systems.chat.agents.operations import findings_told
from actors.systems.operations.exports.as_json import as_json
from models.operations.following import IterationResults
from models.operations.messages import comprehensive
from models.operations.results import MOCK_SERVICE, AgentResult, ComprehensiveResults
from tests.unit.operations.approved import approve, example


def marked(mark: str) -> ComprehensiveResults:
    """Results that say in one place alone that the mail is a stand-in's."""
    results = example().results
    gmail, *others = results.results
    return results.model_copy(
        update={
            "results": (_of_mock(gmail, mark), *others),
            "mocked": ("gmail",) if mark == "named" else (),
        }
    )


def _of_mock(one: AgentResult, mark: str) -> AgentResult:
    metadata, found = one.metadata, one.result
    assert found is not None
    if mark == "service":
        metadata = metadata.model_copy(update={"service_used": MOCK_SERVICE})
    if mark == "call":
        used = tuple(use.model_copy(update={"mock": True}) for use in metadata.tool_calls)
        metadata = metadata.model_copy(update={"tool_calls": used})
    if mark == "item":
        items = tuple(item.model_copy(update={"mock": True}) for item in found.items)
        found = found.model_copy(update={"items": items})
    return one.model_copy(update={"metadata": metadata, "result": found})


@pytest.mark.parametrize(
    ("mark", "agents"),
    [("none", []), *((mark, ["gmail"]) for mark in ("named", "service", "call", "item"))],
)
def test_every_door_names_the_same_agents(mark: str, agents: list[str]) -> None:
    results = marked(mark)
    read = IterationResults(operation_id=7, iteration=2, approved=False, approved_by=None, results=results)
    assert list(results.stand_ins) == agents
    assert list(findings_told(read).mocked) == agents
    assert comprehensive(results, at=datetime(2026, 7, 1, tzinfo=UTC))["mocked"] == agents
    assert json.loads(as_json(approve(results)))["mocked"] == agents
