"""What is about a question: measured in meaning and words, for each finding."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text.language import Language
from actors.systems.drafting.subject import FindingMeasure, SubjectBrief, is_about, on_subject
from actors.systems.drafting.telling import Borne
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


PAIRS = yaml.safe_load((Path(__file__).parent / "questions.yaml").read_text())


def measure(
    share: float, *, language: Language = "en", foreign: bool = False, **borne: bool
) -> FindingMeasure:
    """What is known of a text beside how near it is."""
    told = {"elsewhere": False, "lacks_name": False, **borne}
    return FindingMeasure("", Borne(share=share, **told), language, foreign, False)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['question'][-30:]}|{pair['title'][:30]}")
def test_what_tells_the_subject_stands_in_what_is_about_it(pair: dict[str, Any]) -> None:
    brief = SubjectBrief(query=pair["question"], findings=(found(pair["title"], pair["text"]),))
    about = asyncio.run(on_subject(brief, Near(pair["near"]), floor=FLOOR)).about
    assert about == (pair["about"] and not pair.get("refused", False),)


def test_of_the_pairs_few_that_are_about_it_are_refused() -> None:
    assert len(PAIRS) >= 70
    assert sum(pair.get("refused", False) for pair in PAIRS) <= 2


@pytest.mark.parametrize(
    ("near", "share", "about"),
    [
        (0.61, 0.0, True),  # says it in other words
        (0.15, 1.0, False),  # has the words, and means something else: a gold medal
        (0.25, 1.0, True),
        (0.5, 0.5, False),
        (0.41, 0.7, True),
    ],
)
def test_meaning_and_words_say_what_is_about_a_question(near: float, share: float, about: bool) -> None:
    assert is_about(near, measure(share), floor=FLOOR) is about


@pytest.mark.parametrize("lacking", ["elsewhere", "lacks_name"])
@given(COSINES, SHARES, st.booleans())
def test_no_nearness_stands_for_what_has_a_name(
    lacking: str, near: float, share: float, foreign: bool
) -> None:
    assert not is_about(near, measure(share, foreign=foreign, **{lacking: True}), floor=FLOOR)


@given(COSINES, COSINES, SHARES, SHARES, st.booleans(), st.sampled_from(("en", "de", "pl")))
def test_what_is_nearer_or_shares_more_words_is_never_less_about_it(
    near: float, nearer: float, share: float, more: float, foreign: bool, language: Language
) -> None:
    low, high = sorted((near, nearer)), sorted((share, more))
    less, better = (measure(one, language=language, foreign=foreign) for one in high)
    assert is_about(low[0], less, floor=FLOOR) <= is_about(low[1], better, floor=FLOOR)


@pytest.mark.parametrize("place", ["Japan", "France", "Peru", "Warsaw", "the euro area", "the United States"])
def test_another_place_is_no_source_of_any_of_them(place: str) -> None:
    brief = SubjectBrief(
        query=f"Write an article about unemployment in {place}",
        findings=(found("Unemployment rate in Germany", "Unemployment in Germany fell to 4.0 percent."),),
    )
    assert asyncio.run(on_subject(brief, Near(0.9), floor=FLOOR)).about == (False,)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Schreibe einen Artikel über Arbeitslosigkeit in Deutschland", "Unemployment rate in Germany"),
        ("Napisz artykuł o bezrobociu w Niemczech", "Unemployment rate in Germany"),
        ("Write an article about unemployment in Poland", "Bezrobocie w Polsce"),
        ("Write an article about inflation in Germany and Poland", "Inflation in Poland"),
    ],
)
def test_a_thing_is_the_same_in_three_languages(query: str, name: str) -> None:
    brief = SubjectBrief(query=query, findings=(found(name, ""),))
    assert asyncio.run(on_subject(brief, Near(0.3), floor=FLOOR)).about == (True,)


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
    assert (question, named) == ("unemployment Germany", "Unemployment, Germany\ndate")
    assert jobs.endswith("Unemployment in Germany rose in June.")
    assert len(jobs) <= 1000


def test_an_embedding_model_that_is_away_is_no_verdict() -> None:
    class Away:
        async def embed(self, texts: Sequence[str]) -> list[list[float]]:
            raise ModelUnavailable("away", waits_for="embedding model")

    with pytest.raises(ModelUnavailable):
        asyncio.run(on_subject(SubjectBrief(query="q", findings=(found("a", "b"),)), Away(), floor=FLOOR))
