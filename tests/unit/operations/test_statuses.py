"""How an operation stands is told whatever its workflow's status is."""

from typing import get_args

from models.operations.operations import OperationStatus
from models.runtime.workflows import WorkflowStatus
from models.store.operations.overviews import STATUS_OF_WORKFLOW


def test_each_status_of_a_workflow_is_one_of_an_operation_and_of_no_other() -> None:
    assert STATUS_OF_WORKFLOW.keys() == set(get_args(WorkflowStatus))
    assert sorted(STATUS_OF_WORKFLOW.values()) == sorted(get_args(OperationStatus))
