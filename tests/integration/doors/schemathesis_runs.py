"""How Schemathesis is run in the suite."""

from typing import Any


def schemathesis_given(operation: Any) -> Any:
    """Cases of an operation, valid and not."""
    from hypothesis import given
    from schemathesis.generation import GenerationMode

    valid = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    invalid = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
    return given(case=valid | invalid)
