"""Of the sample data the conflicts that were planted are told, and no others."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from actors.systems.operations.linking.link import link
from models.operations.items import SourceAgent, SourceItem
from serve.samples.data import load_samples

_ROOT = Path(__file__).parents[4]


def _items(*, named: bool) -> tuple[list[SourceItem], dict[str, str]]:
    """All that the three sample servers hold, and by the ids of notes those of their accounts."""
    samples = load_samples(_ROOT / "configs/samples/operations")
    bills, crm = samples.bills, samples.crm
    lists: list[tuple[SourceAgent, str, str, Any]] = [
        ("gmail", "mail", "search_messages", samples.mail.messages),
        ("accounts_payable", "bills", "search_bills", bills.bills),
        ("accounts_payable", "bills", "list_vendors", bills.vendors),
        ("crm", "crm", "search_accounts", crm.accounts),
        ("crm", "crm", "list_cases", crm.cases),
    ]
    made = [
        SourceItem(
            id=f"{agent}/{record.id}",
            agent=agent,
            server=server,
            tool=tool if named else "search",
            call=1,
            path=f"/{place}",
            data=record.model_dump(mode="json"),
        )
        for agent, server, tool, records in lists
        for place, record in enumerate(records)
    ]
    return made, {note.id: account.id for account in crm.accounts for note in account.notes}


@pytest.mark.parametrize("named", [True, False], ids=["tools are named", "one tool for all"])
def test_the_planted_conflicts_are_told_and_no_others(named: bool) -> None:
    items, notes = _items(named=named)
    told = [{side.item.partition("/")[2] for side in (one.left, one.right)} for one in link(items).conflicts]
    planted = yaml.safe_load((_ROOT / "tests/samples/operations/conflicts.yaml").read_text())["conflicts"]
    missed = []
    for one in planted:
        ids = [place["item"].partition("/")[2] for place in one["places"]]
        ids = [notes.get(each, each) for each in ids]
        if not any(len(both & set(ids)) >= min(2, len(set(ids))) for both in told):
            missed.append(one["id"])
    assert missed == []
    assert len(told) == len(planted)
