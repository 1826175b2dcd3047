"""What is about a question: measured in meaning and words, for each finding."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.drafting.subject import SubjectBrief, is_about, on_subject
from models.content.drafting import Finding
from models.errors import ModelUnavailable

FLOOR = 0.2
SHARES = st.floats(0, 1)
COSINES = st.floats(-1, 1)


class Near:
    """Vectors with a given cosine to the question's."""

    def __init__(self, *cosines: float) -> None:
        self._cosines = cosines
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The question's vector, and one for each text."""
        self.asked = list(texts)
        return [[1.0, 0.0], *([near, (1 - near * near) ** 0.5] for near in self._cosines)]


def found(name: str, content: str) -> Finding:
    """A text that was found."""
    return Finding(kind="text", name=name, description=None, content=content, source="local")


@pytest.mark.parametrize(
    ("near", "share", "about"),
    [
        (0.41, 0.0, True),  # says it in other words
        (0.15, 1.0, False),  # has the words, and means something else: a gold medal
        (0.25, 1.0, True),
        (0.31, 0.5, True),
        (0.31, 0.3, False),
        (0.27, 0.5, False),  # another company, in the same country
    ],
)
def test_meaning_and_words_say_what_is_about_a_question(near: float, share: float, about: bool) -> None:
    assert is_about(near, share, floor=FLOOR) is about


@given(COSINES, COSINES, SHARES, SHARES)
def test_what_is_nearer_or_shares_more_words_is_never_less_about_it(
    near: float, nearer: float, share: float, more: float
) -> None:
    low, high = sorted((near, nearer)), sorted((share, more))
    assert is_about(low[0], high[0], floor=FLOOR) <= is_about(low[1], high[1], floor=FLOOR)


def test_each_finding_is_measured_by_its_best_passages() -> None:
    long = "Nothing of it is here. " * 200 + "Unemployment in Germany rose in June."
    near = Near(0.5, 0.1, 0.25)
    table = Finding(
        kind="table", name="Unemployment, Germany", description=None, columns=("date",), source="local"
    )
    brief = SubjectBrief(
        query="unemployment in Germany", findings=(found("Jobs", long), found("Gold", "Ore."), table)
    )
    assert asyncio.run(on_subject(brief, near, floor=FLOOR)).about == (True, False, True)
    question, jobs, _, named = near.asked
    assert (question, named) == ("unemployment in Germany", "Unemployment, Germany\ndate")
    assert jobs.endswith("Unemployment in Germany rose in June.")
    assert len(jobs) <= 1000


def test_an_embedding_model_that_is_away_is_no_verdict() -> None:
    class Away:
        async def embed(self, texts: Sequence[str]) -> list[list[float]]:
            raise ModelUnavailable("away", waits_for="embedding model")

    with pytest.raises(ModelUnavailable):
        asyncio.run(on_subject(SubjectBrief(query="q", findings=(found("a", "b"),)), Away(), floor=FLOOR))
