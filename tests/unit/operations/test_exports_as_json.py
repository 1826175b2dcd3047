"""Exports as JSON: all of the record, each text to the letter, and nothing that acts on whoever looks."""

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from actors.systems.operations.exports.as_json import as_json
from models.operations.exports import ApprovedResults
from models.runtime.approvals import content_digest
from tests.unit.operations.approved import HOSTILE, approve, example, hostile_results, results_of


@given(hostile_results())
def test_it_is_read_again_as_it_was(approved: ApprovedResults) -> None:
    told = json.loads(as_json(approved))
    assert told.pop("mocked") == list(approved.mocked)
    assert ApprovedResults.model_validate(told) == approved


@given(hostile_results())
def test_nothing_in_it_is_unseen_or_steers(approved: ApprovedResults) -> None:
    text = as_json(approved)
    assert {unicodedata.category(char) for char in text if char != "\n"}.isdisjoint(
        {"Cc", "Cs", "Co", "Zl", "Zp"}
    )
    assert not any(char in text for char in "\u202e\u200b\ufeff\u2066")


@given(HOSTILE | st.sampled_from(["\ud800", "a\udfffb", "\U000e0041", "\U0010ffff"]))
def test_each_text_is_found_again(text: str) -> None:
    approved = approve(results_of((), question=text))
    made = as_json(approved)
    assert json.loads(made)["results"]["question"] == text
    made.encode()


def test_the_digest_of_the_approval_is_that_of_the_results_in_the_file() -> None:
    told = json.loads(as_json(example()))
    assert content_digest(told["results"]) == told["approval"]["digest"]


def test_people_can_read_letters_of_their_own_languages() -> None:
    assert "Żółta Łódź Sp. z o.o." in as_json(example())
    assert "Jürgen Groß" in as_json(example())


def test_mock_data_is_named() -> None:
    assert json.loads(as_json(example()))["mocked"] == []
    told = json.loads(as_json(example(mock=True)))
    assert told["mocked"] == ["gmail"]
    assert told["results"]["results"][0]["result"]["items"][0]["mock"] is True


def test_one_mock_item_is_enough_to_name_its_agent() -> None:
    results = example(mock=True).results
    silent = results.model_copy(
        update={
            "mocked": (),
            "results": tuple(
                one.model_copy(
                    update={
                        "metadata": one.metadata.model_copy(update={"service_used": "x", "tool_calls": ()})
                    }
                )
                for one in results.results
            ),
        }
    )
    assert approve(silent).mocked == ("gmail",)
