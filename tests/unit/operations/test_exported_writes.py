"""Reports tell what was changed elsewhere: exactly the call, what became of it, and by whose yes."""

from actors.systems.operations.exports.as_markdown import as_markdown
from actors.systems.operations.exports.report import report
from models.operations.results import ProposedWrite, WriteOutcome
from tests.unit.operations.approved import example

SENT = WriteOutcome(
    write=ProposedWrite(
        server="crm",
        tool="add_note",
        digest="d" * 64,
        arguments={"account": "a1", "text": "asked for `a receipt`"},
        why="it helps",
    ),
    status="done",
    approval_id="a-1",
    decided_by="ann",
)
REFUSED = SENT.model_copy(update={"status": "refused", "approval_id": "a-2", "decided_by": "bob"})


def test_writes_of_now_and_before_are_told_in_the_order_in_which_they_came() -> None:
    approved = example()
    first, *others = approved.results.results
    results = approved.results.model_copy(
        update={
            "results": (first.model_copy(update={"writes": (REFUSED,)}), *others),
            "written_before": (SENT,),
        }
    )
    approved = approved.model_copy(update={"results": results})
    assert [(one.call, one.became, one.by) for one in report(approved).writes] == [
        ("add_note of crm", "done", "ann"),
        ("add_note of crm", "not sent: a person said no", "bob"),
    ]
    told = as_markdown(approved)
    assert "## What was changed elsewhere, or was to be" in told
    assert '- `add_note of crm` with ``{"account": "a1", "text": "asked for `a receipt`"}``: done' in told
    assert "changed elsewhere" not in as_markdown(example())
