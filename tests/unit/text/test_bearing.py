"""A text is about a question only if it says what the question names; measured on two sets of questions."""

from pathlib import Path

import pytest
import yaml

from actors.platform.text import glossary
from actors.platform.text.bearing import bears_on
from actors.platform.text.word_forms import is_part_of, same_word
from models.errors import ConfigInvalid

HERE = Path(__file__).parent
JOBS = "Unemployment in Germany fell to 3.1 percent in May. People out of work were fewer than in April."


@pytest.mark.parametrize(
    ("file", "unrelated", "related", "lost"), [("questions", 54, 53, 0), ("questions_unseen", 41, 37, 4)]
)
def test_no_unrelated_text_answers_and_few_that_do_are_lost(
    file: str, unrelated: int, related: int, lost: int
) -> None:
    read = yaml.safe_load((HERE / f"{file}.yaml").read_text(encoding="utf-8"))
    told = {
        (passage, question): (about, bears_on(question, read["passages"][passage], near))
        for about, passage, near, question in read["pairs"]
    }
    assert [about for about, _ in told.values()].count(False) == unrelated
    assert [about for about, _ in told.values()].count(True) == related
    assert [pair for pair, (about, bears) in told.items() if bears and not about] == []
    assert len([pair for pair, (about, bears) in told.items() if about and not bears]) <= lost


@pytest.mark.parametrize("near", [0.5, 0.79, None])
@pytest.mark.parametrize(
    "question",
    [
        "unemployment in Japan?",
        "unemployment in japan?",
        "Jakie jest bezrobocie w Japonii?",
        "Arbeitslosigkeit in Japan",
        "What did Goethe say on unemployment in Germany?",
        "NASA on unemployment in Germany",
    ],
)
def test_a_name_that_the_text_has_not_is_not_outweighed_by_nearness(
    question: str, near: float | None
) -> None:
    assert not bears_on(question, JOBS, near)


@pytest.mark.parametrize(
    "question",
    [
        "unemployment in Germany?",
        "GERMAN UNEMPLOYMENT",
        "Arbeitslosigkeit in Deutschland",
        "bezrobocie w Niemczech",
    ],
)
def test_what_all_stands_there_needs_no_nearness(question: str) -> None:
    assert bears_on(question, JOBS)
    assert bears_on(question, JOBS, 0.0)


def test_a_text_of_the_same_field_must_be_near() -> None:
    assert not bears_on("why are wages rising?", JOBS, 0.59)
    assert bears_on("why are wages rising?", JOBS, 0.6)
    assert not bears_on("why are wages rising?", JOBS)


def test_a_year_is_no_subject_by_itself() -> None:
    assert not bears_on("Zinsen in 2026", "The year 2026 was calm.")
    assert bears_on("Zinsen in 2026", "Interest was low in 2026.")


@pytest.mark.parametrize("question", ["???", "", "a 1 🎉"])
def test_a_question_without_words_is_about_nothing(question: str) -> None:
    assert not bears_on(question, JOBS, 0.9)


def test_of_a_pasted_text_the_first_words_count() -> None:
    question = " ".join(f"word{number:03}xy" for number in range(100))
    assert bears_on(question, " ".join(f"word{number:03}xy" for number in range(64)))
    assert not bears_on(question, " ".join(f"word{number:03}xy" for number in range(64, 100)))


@pytest.mark.parametrize(
    ("language", "one", "other", "same"),
    [
        ("en", "batteries", "battery", True),
        ("en", "battle", "batteries", False),
        ("en", "mills", "million", False),
        ("en", "priced", "pricing", True),
        ("en", "unemployed", "unemployment", True),
        ("pl", "niemcy", "niemczech", True),
        ("pl", "polska", "polsce", True),
        ("pl", "inflacja", "inflacji", True),
        ("pl", "stopa", "stopniach", False),
        ("de", "arbeitslosenquote", "arbeitslosigkeit", True),
        ("de", "fachbucher", "fachkrafte", False),
        ("de", "banken", "bank", True),
    ],
)
def test_forms_of_a_word_are_not_words_with_one_beginning(
    language: str, one: str, other: str, same: bool
) -> None:
    assert same_word(one, other, language) is same  # type: ignore[arg-type]
    assert same_word(other, one, language) is same  # type: ignore[arg-type]


def test_a_german_compound_is_found_by_its_parts() -> None:
    assert is_part_of("zinsen", "leitzins")
    assert is_part_of("gold", "goldpreis")
    assert not is_part_of("bank", "bankrott")
    assert not is_part_of("gold", "gold")


def test_a_glossary_that_is_broken_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glossary, "FOLDER", tmp_path)
    for broken in ("- gold | gold", "gold", "[1]", "- ["):
        (tmp_path / "glossary.yaml").write_text(broken, encoding="utf-8")
        with pytest.raises(ConfigInvalid, match=r"(?s)glossary\.yaml: it lists .* take it from the release"):
            glossary._listed.__wrapped__()
