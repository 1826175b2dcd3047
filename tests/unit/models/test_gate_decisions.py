"""What a person changes at a gate: unclear is not yes, and nothing is read as something else."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from models.research.agent_workflows import ResearchOptions
from models.research.gate_decisions import ApproveRequest, Modifications
from models.research.url_lists import LONGEST_PASTED, InsteadOf, PastedText


def nested(depth: int) -> list[Any]:
    """A list in a list, so many times."""
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize("value", [math.nan, math.inf, 1.5, [], {}, nested(300)])
def test_what_is_no_plain_value_is_no_setting(value: Any) -> None:
    with pytest.raises(ValidationError, match="category_id: give true, false, a whole number"):
        Modifications(modify_config={"category_id": value})


@pytest.mark.parametrize("value", ["no", "off", "n", "false", "0", 0, 1])
@pytest.mark.parametrize("name", ["require_approval", "scrape_parallel"])
def test_a_setting_that_is_true_or_false_is_given_as_such(name: str, value: Any) -> None:
    with pytest.raises(ValidationError, match=name):
        ResearchOptions.model_validate({name: value})


@pytest.mark.parametrize("value", [True, "3", 3.0, 0])
def test_a_tree_is_named_by_its_number(value: Any) -> None:
    with pytest.raises(ValidationError, match="category_id"):
        ResearchOptions.model_validate({"category_id": value})


@pytest.mark.parametrize("text", ["", " \n", "\ue000" * 20, "\ue000 \ue001", "\ufeff", "\u00ad", "— … “”"])
def test_a_text_without_a_letter_or_a_digit_is_none(text: str) -> None:
    with pytest.raises(ValidationError, match="no letter and no digit"):
        PastedText(text=text)


@pytest.mark.parametrize("text", ["Łódź", "水", "42", "٣"])
def test_any_letter_or_digit_makes_one(text: str) -> None:
    assert InsteadOf(number=1, pasted=PastedText(text=text)).pasted == PastedText(text=text)


@pytest.mark.parametrize(
    "given",
    [
        {"decision": "approve", "force": True},
        {"decision": "yes"},
        {"decision": "Approve"},
        {"decision": True},
        {"decision": "modify", "modifications": {"remove_url": [1]}},
        {"decision": "modify", "modifications": {"remove_urls": ["1"]}},
        {"decision": "modify", "modifications": {"remove_urls": [True]}},
        {"decision": "modify", "modifications": {"remove_urls": [1.0]}},
        {"decision": "modify", "modifications": {"remove_urls": [0]}},
        {"decision": "modify", "modifications": {"instead": [{"number": "1", "url": "https://a.test/"}]}},
        {"decision": "modify", "modifications": {"tree_edits": [{"edit": "keep", "node": "a"}]}},
        {"decision": "modify", "modifications": {"add_urls": ["https://a.test/"] * 201}},
        {"decision": "approve", "digest": "0" * 63},
    ],
)
def test_an_answer_that_is_not_plain_is_none(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ApproveRequest.model_validate(given)


def test_a_text_is_no_longer_than_what_is_read_in_good_time() -> None:
    assert len(PastedText(text="a" * LONGEST_PASTED).text) == 1_000_000
    with pytest.raises(ValidationError, match="at most 1000000"):
        PastedText(text="a" * (LONGEST_PASTED + 1))
