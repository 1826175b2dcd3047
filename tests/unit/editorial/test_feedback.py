"""The feedback rules (seed 004 §6.1 [2h], §6.1.2)."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.editorial.rounds import compile_feedback, passed
from models.content.editorial import Verdict, VerdictStatus


def verdict(number: int, status: VerdictStatus, fix: str | None = None) -> Verdict:
    return Verdict(
        concern_id=number,
        misleading=status != "KEEP",
        status=status,
        rationale=f"reason {number}",
        suggested_fix=fix,
    )


VERDICTS = st.lists(
    st.tuples(st.sampled_from(["KEEP", "REWRITE", "REMOVE"]), st.none() | st.text(max_size=5)), max_size=12
).map(lambda rows: [verdict(number, status, fix) for number, (status, fix) in enumerate(rows, start=1)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], True),
        (["KEEP", "KEEP"], True),
        (["KEEP", "REWRITE"], False),
        (["REMOVE"], False),
    ],
)
def test_passed_means_nothing_to_rewrite_or_remove(statuses: list[VerdictStatus], expected: bool) -> None:
    assert passed([verdict(number, status) for number, status in enumerate(statuses)]) is expected


def test_fixes_are_to_do_and_rationales_of_what_stays_are_suggestions() -> None:
    feedback = compile_feedback(
        iteration=2,
        verdicts=[
            verdict(4, "KEEP", "a fix nobody asked for"),
            verdict(3, "REMOVE", "drop it"),
            verdict(1, "REWRITE", "say less"),
            verdict(2, "REWRITE"),
        ],
    )
    assert feedback.iteration == 2
    assert feedback.passed is False
    assert feedback.todo_list == ["say less", "drop it"]
    assert feedback.improvement_suggestions == ["reason 4"]
    assert feedback.rating == 10 - 2 * 2 - 1
    assert feedback.reasoning == "Required changes (2):\n1. say less\n2. drop it"
    assert [v.concern_id for v in feedback.verdicts] == [1, 2, 3, 4]


def test_at_most_five_suggestions_from_the_lowest_numbers() -> None:
    verdicts = [verdict(number, "KEEP") for number in range(9, 0, -1)]
    feedback = compile_feedback(iteration=1, verdicts=verdicts)
    assert feedback.improvement_suggestions == [f"reason {number}" for number in range(1, 6)]
    assert feedback.rating == 5


def test_a_verdict_without_a_fix_still_gives_a_reason() -> None:
    feedback = compile_feedback(iteration=1, verdicts=[verdict(1, "REMOVE")])
    assert feedback.todo_list == []
    assert feedback.rating == 10
    assert feedback.reasoning


def test_the_rating_does_not_fall_under_one() -> None:
    verdicts = [verdict(number, "REWRITE", "x") for number in range(8)]
    assert compile_feedback(iteration=1, verdicts=verdicts).rating == 1


@given(VERDICTS)
def test_the_rating_is_the_formula_and_the_lists_are_whole(verdicts: list[Verdict]) -> None:
    feedback = compile_feedback(iteration=1, verdicts=verdicts)
    fixes = [v.suggested_fix for v in verdicts if v.status != "KEEP" and v.suggested_fix is not None]
    kept = [v.rationale for v in verdicts if v.status == "KEEP"]
    assert feedback.todo_list == fixes
    assert feedback.improvement_suggestions == kept[:5]
    assert feedback.rating == max(1, min(10, 10 - 2 * len(fixes) - min(5, len(kept))))
    assert all(fix in feedback.reasoning for fix in fixes)


@given(VERDICTS.filter(lambda verdicts: len(verdicts) < 6))
def test_the_order_in_which_specialists_answer_does_not_matter(verdicts: list[Verdict]) -> None:
    expected = compile_feedback(iteration=1, verdicts=verdicts)
    for order in itertools.islice(itertools.permutations(verdicts), 24):
        assert compile_feedback(iteration=1, verdicts=order) == expected
