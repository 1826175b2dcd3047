"""Conflicts told of small cases in three languages: rightly, and no others."""

from typing import get_args

import pytest

from actors.systems.operations.summary import recommendations
from models.operations.evidence import Conflict, ConflictKind, Evidence
from tests.unit.operations.linking.told import Case, cases, telling, told_of


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name) for which in ("open", "further") for case in cases(which)]
)
def test_what_is_told(case: Case) -> None:
    assert told_of(case) == sorted(case.told)


@pytest.mark.parametrize("which", ["open", "locked"])
def test_half_of_the_cases_have_nothing_to_tell(which: str) -> None:
    some = cases(which)
    assert len(some) >= 30
    assert sum(not case.told for case in some) * 2 == len(some)


def test_the_open_cases_are_told_rightly() -> None:
    found = telling(cases("open"))
    assert (found.precision, found.recall) == (1, 1)


@pytest.mark.parametrize("kind", get_args(ConflictKind))
def test_every_kind_says_what_to_do(kind: ConflictKind) -> None:
    words = Evidence(item="crm/1", path="/a", words="a")
    one = Conflict(number=1, kind=kind, about="INV-2041", left=words, right=words, explanation="a.")
    (advice,) = recommendations([one])
    assert "INV-2041" in advice.text
