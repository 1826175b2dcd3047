"""Search queries: a plan's, or a question without the words by which it asks for research."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text.normal_form import words
from actors.systems.research.discovery.queries import LONGEST_QUERY, MOST_QUERIES, read_asking, search_queries
from models.errors import ConfigInvalid
from tests.unit.research.discovery_seams import ASKING

SHIPPED = read_asking(ASKING)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Zrób deep research o cenach mieszkań", "cenach mieszkań"),
        ("zrob mi deep research na temat NBP!", "NBP!"),
        ("Cześć, proszę zrób research: stopy procentowe", "stopy procentowe"),
        ("Przeprowadź badania dotyczące pomp ciepła, dziękuję", "pomp ciepła"),
        ("O czym mówi NBP?", "O czym mówi NBP?"),
        ("Please research heat pumps", "heat pumps"),
        (
            "Hi, could you please do a deep dive into the ECB's rate decision, thanks!",
            "the ECB's rate decision",
        ),
        ("research funding in Poland", "research funding in Poland"),
        ("On the origin of species", "On the origin of species"),
        ("Recherchiere bitte zu Wärmepumpen", "Wärmepumpen"),
        ("Bitte führe eine Recherche durch zum Thema Leitzins", "Leitzins"),
        ("Kannst du über Wärmepumpen recherchieren, bitte?", "Wärmepumpen"),
        ("E-mail marketing in the EU", "E-mail marketing in the EU"),
        ("please", "please"),
        ("???", "???"),
    ],
)
def test_a_question_is_asked_without_how_it_asks(question: str, query: str) -> None:
    assert search_queries(question, (), SHIPPED) == (query,)


def test_the_queries_of_a_plan_are_asked_each_once_and_not_the_question() -> None:
    plan = ["ECB rates  2026", "ecb Rates 2026", " ", "mortgage costs"]
    assert search_queries("please research x", plan, SHIPPED) == ("ECB rates 2026", "mortgage costs")


def test_a_plan_without_words_is_none() -> None:
    assert search_queries("please research tides", ["…", "  "], SHIPPED) == ("tides",)


def test_a_long_question_ends_at_a_word() -> None:
    [query] = search_queries("tides " * 1_000, (), SHIPPED)
    assert len(query) <= LONGEST_QUERY
    assert set(query.split()) == {"tides"}


@given(st.text(max_size=400).filter(str.strip), st.lists(st.text(max_size=40), max_size=12))
def test_queries_are_few_short_and_not_twice(question: str, plan: list[str]) -> None:
    queries = search_queries(question, plan, SHIPPED)
    assert 1 <= len(queries) <= MOST_QUERIES
    assert all(len(query) <= LONGEST_QUERY for query in queries)
    forms = [words(query) for query in queries]
    assert len(set(forms)) == len(forms)


_OPENINGS = [
    "zrób research o",
    "Please do research on",
    "recherchiere bitte zu",
    "",
    "hello, find articles about",
]
_SUBJECTS = st.lists(
    st.sampled_from(["tides", "Łódź", "1,4", "e-mail", "Öl", "(not", "AI)", "on", "o"]), min_size=1
)


@given(st.sampled_from(_OPENINGS), _SUBJECTS)
def test_every_word_of_a_subject_is_asked_for(opening: str, subject: list[str]) -> None:
    said = " ".join(["weather", *subject, "forecast"])
    assert search_queries(f"{opening} {said}", (), SHIPPED)[0] in (
        said,
        said[:LONGEST_QUERY].rpartition(" ")[0],
    )


def test_a_fault_in_the_file_names_its_key(tmp_path: Path) -> None:
    path = tmp_path / "asking.yaml"
    path.write_text("en: {openings: [please], links: []}\n", encoding="utf-8")
    with pytest.raises(ConfigInvalid, match=r"asking\.yaml: en\.endings: is required"):
        read_asking(path)
