"""Numbers and dates of texts in three languages: what is found, what is the same, and what has no support."""

import time
from datetime import date
from decimal import Decimal
from itertools import pairwise

import pytest
from babel.dates import format_date
from babel.numbers import format_decimal
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text.language import Language
from actors.platform.text.numbers.number_readings import numbers_in
from actors.platform.text.numbers.unsupported_numbers import unsupported_numbers
from tests.examples import hostile

LANGUAGES: tuple[Language, ...] = ("en", "pl", "de")


def readings(text: str, language: Language = "en") -> list[tuple[str, ...]]:
    return [found.readings for found in numbers_in(text, language)]


def left(text: str, *sources: str, language: Language = "en") -> list[str]:
    return [found.text for found in unsupported_numbers(text, language, sources, [])]


@pytest.mark.parametrize(
    ("text", "language", "reading"),
    [
        ("2026/06/30", "en", "day:2026-06-30"),
        ("30-06-2026", "en", "day:2026-06-30"),
        ("june 2024", "en", "month:2024-06"),
        ("17 december 2024", "en", "day:2024-12-17"),
        ("III kw. 2026", "pl", "quarter:2026-Q3"),
        ("3.1 percent", "en", "percent:3.1"),
        ("3.1 per cent", "en", "percent:3.1"),
        ("**3.1** percent", "en", "percent:3.1"),
        ("3,1 %", "de", "percent:3.1"),
        ("3.1%", "en", "percent:3.1"),
        ("3,1 proc.", "pl", "percent:3.1"),
        ("3,1-procentowy", "pl", "percent:3.1"),
        ("3,1-prozentige", "de", "percent:3.1"),
        ("−3.1 percent", "en", "percent:-3.1"),
        ("minus 3,1 Prozent", "de", "percent:-3.1"),
        ("two percent", "en", "percent:2"),
        ("0.2 percentage points", "en", "points:0.2"),
        ("0,2 pkt proc.", "pl", "points:0.2"),
        ("0,2 punktu procentowego", "pl", "points:0.2"),
        ("0,2 Prozentpunkte", "de", "points:0.2"),
        ("1,234.5", "en", "number:1234.5"),
        ("1 234,5", "pl", "number:1234.5"),
        ("1\u00a0234,5", "pl", "number:1234.5"),
        ("1.234,5", "de", "number:1234.5"),
        ("1,234,567", "en", "number:1234567"),
        ("١٢", "en", "number:12"),
        ("3.10", "en", "number:3.1"),
        ("$5m", "en", "number:5000000"),
        ("20k", "en", "number:20000"),
        ("2.5bn", "en", "number:2500000000"),
        ("2 million", "en", "number:2000000"),
        ("two million", "en", "number:2000000"),
        ("one million", "en", "number:1000000"),
        ("a hundred", "en", "number:100"),
        ("two hundred and fifty thousand", "en", "number:250000"),
        ("twenty-five", "en", "number:25"),
        ("2 mln", "pl", "number:2000000"),
        ("dwa miliony", "pl", "number:2000000"),
        ("dwudziestu pięciu", "pl", "number:25"),
        ("sto dwadzieścia tysięcy", "pl", "number:120000"),
        ("2 Mio.", "de", "number:2000000"),
        ("zwei Millionen", "de", "number:2000000"),
        ("eine Milliarde", "de", "number:1000000000"),
        ("2 Billionen", "de", "number:2000000000000"),
        ("fünfundzwanzig", "de", "number:25"),
        ("zweihundertfünfzig", "de", "number:250"),
        ("fünfzigtausend", "de", "number:50000"),
        ("hundert", "de", "number:100"),
        ("a third of it", "en", "share:1/3"),
        ("two-thirds", "en", "share:2/3"),
        ("jedna trzecia", "pl", "share:1/3"),
        ("zwei Drittel", "de", "share:2/3"),
        ("die Hälfte", "de", "share:1/2"),
        ("17 June 2026", "en", "day:2026-06-17"),
        ("17th of June, 2026", "en", "day:2026-06-17"),
        ("June 17, 2026", "en", "day:2026-06-17"),
        ("Jun. 17, 2026", "en", "day:2026-06-17"),
        ("2026-06-17", "en", "day:2026-06-17"),
        ("2026-06-17T08:30:00Z", "en", "day:2026-06-17"),
        ("17.06.2026", "de", "day:2026-06-17"),
        ("17. Juni 2026", "de", "day:2026-06-17"),
        ("17 czerwca 2026 r.", "pl", "day:2026-06-17"),
        ("17 czerwca", "pl", "of-year:06-17"),
        ("June 2026", "en", "month:2026-06"),
        ("w czerwcu 2026 r.", "pl", "month:2026-06"),
        ("im Juni 2026", "de", "month:2026-06"),
        ("2026-06", "en", "month:2026-06"),
        ("since March", "en", "of-year:03"),
        ("w maju", "pl", "of-year:05"),
        ("the second quarter of 2026", "en", "quarter:2026-Q2"),
        ("Q2 2026", "en", "quarter:2026-Q2"),
        ("2026-Q2", "en", "quarter:2026-Q2"),
        ("w drugim kwartale 2026 r.", "pl", "quarter:2026-Q2"),
        ("II kwartał 2026", "pl", "quarter:2026-Q2"),
        ("2. Quartal 2026", "de", "quarter:2026-Q2"),
        ("10:30", "en", "time:10:30"),
    ],
)
def test_each_way_of_writing_has_its_normal_form(text: str, language: Language, reading: str) -> None:
    assert readings(text, language) == [(reading,)]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("so it says [^1] and [^note]", "en"),
        ("[^1]: the note", "en"),
        ("1. first\n2) second\n- third", "en"),
        ("see https://e.org/2026/17", "en"),
        ("the G7 and B2B", "en"),
        ("one of them, a few, millions of people", "en"),
        ("it may march on", "en"),
        ("May it be so", "en"),
        ("eine von ihnen, Tausende", "de"),
        ("jeden z nich, tysiące ludzi, ten dom", "pl"),
        ("the first half of the year", "en"),
        ("w połowie roku, po pierwsze", "pl"),
        ("the third party", "en"),
        ("", "en"),
    ],
)
def test_what_is_no_number_is_not_found(text: str, language: Language) -> None:
    assert readings(text, language) == []


def test_slices_are_verbatim_and_in_order() -> None:
    text = "On 17 June 2026 it rose 3.1 percent, to two million; see [^1]."
    found = numbers_in(text, "en")
    assert [one.text for one in found] == ["17 June 2026", "3.1 percent", "two million"]
    assert all(text[one.start : one.end] == one.text for one in found)


@pytest.mark.parametrize(
    ("text", "source", "language"),
    [
        ("3.1 percent", "3,1 %", "en"),
        ("wzrost o 3,1 proc.", "up by 3.1 percent", "pl"),
        ("two million", "2,000,000 people", "en"),
        ("2 mln", "2 million people", "pl"),
        ("2 Mio. Menschen", "dwa miliony osób", "de"),
        ("1.234", "1,234 people", "en"),
        ("1.234", "1.234", "de"),
        ("4,31 zł", "4.31", "pl"),
        ("June 2026", "on 17 June 2026", "en"),
        ("in June", "2026-06-17", "en"),
        ("in 2026", "17.06.2026", "en"),
        ("17 czerwca 2026 r.", "June 17, 2026", "pl"),
        ("17 June", "am 17. Juni 2026", "en"),
        ("17 June 2026", "17 and 18 June 2026", "en"),
        ("2 percent", "from 2 to 3 percent", "en"),
        ("2 million", "2–3 million", "en"),
        ("3.1", "3.1 percent", "en"),
        ("in the second quarter", "2026-Q2", "en"),
        ("5 and 12 500", "5 12 500", "en"),
        ("12 and 500", "12 500", "en"),
        ("a third of them", "one third", "en"),
        ("ten", "10", "en"),
    ],
)
def test_what_a_source_says_in_another_way_has_support(text: str, source: str, language: Language) -> None:
    assert left(text, source, language=language) == []
    assert unsupported_numbers(text, language, [], [source]) == ()


@pytest.mark.parametrize(
    ("text", "source", "language"),
    [
        ("3 percent", "3.1 percent", "en"),
        ("3.1 percent", "3.1", "en"),
        ("3.1 percent", "3.1 percentage points", "en"),
        ("3.1", "−3.1", "en"),
        ("2,000", "2 people", "en"),
        ("2 million", "2 thousand", "en"),
        ("17 June 2026", "June 2026", "en"),
        ("17 June 2026", "17 June", "en"),
        ("July", "17 June 2026", "en"),
        ("17", "17 June 2026", "en"),
        ("2027", "17 June 2026", "en"),
        ("Q3 2026", "in the second quarter of 2026", "en"),
        ("33 percent", "a third of them", "en"),
        ("12", "[^12]\n12. item G12", "en"),
    ],
)
def test_what_no_source_says_has_none(text: str, source: str, language: Language) -> None:
    assert left(text, source, language=language) == [text]


def test_a_polish_this_is_no_ten() -> None:
    polish = "Tak jest, że ten dom stoi. " * 20
    assert left("ten", polish) == ["ten"]


@given(st.integers(-(10**9), 10**9), st.sampled_from([0, 1, 2, 3]), st.sampled_from(LANGUAGES))
def test_a_number_is_found_as_it_is_written_in_each_language(
    value: int, places: int, language: Language
) -> None:
    number = Decimal(value).scaleb(-places)
    form = "#,##0" + ("." + "0" * places if places else "")
    written = {one: format_decimal(number, format=form, locale=one) for one in LANGUAGES}
    (found,) = numbers_in(f"It is {written[language]} now", language)
    assert found.text == written[language]
    values = [Decimal(reading.removeprefix("number:")) for reading in found.readings]
    assert Decimal(value).scaleb(-places) in values
    for other in LANGUAGES:
        assert left(written[language], written[other], language=language) == []


@given(
    st.dates(date(1900, 1, 1), date(2100, 1, 1)),
    st.sampled_from(LANGUAGES),
    st.sampled_from(["long", "medium"]),
)
def test_a_day_is_found_as_each_language_writes_it(day: date, language: Language, form: str) -> None:
    text = format_date(day, format=form, locale=language)  # type: ignore[arg-type]
    assert readings(f"x {text} x", language) == [(f"day:{day.isoformat()}",)]
    assert left(text, day.isoformat(), language=language) == []


@given(
    st.text(alphabet="1 2.,-–%:/'\n[]^()May uneQofjdwatrzymilnhundred", max_size=60),
    st.sampled_from(LANGUAGES),
)
def test_any_text_supports_itself(text: str, language: Language) -> None:
    found = numbers_in(text, language)
    assert all(text[one.start : one.end] == one.text and one.readings for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert unsupported_numbers(text, language, [text], []) == ()


@pytest.mark.parametrize(
    "part",
    [
        "1 234 ",
        "May ",
        "two ",
        "1",
        "17. ",
        "1,2 and ",
        "[^",
        "1.234.567 ",
        "hundred and ",
        "twenty-",
        "1-",
        "\n",
        "# ",
    ],
)
@pytest.mark.heavy
def test_time_is_linear_in_the_text(part: str) -> None:
    def took(size: int) -> float:
        text = part * (size // len(part))
        began = time.process_time()
        numbers_in(text, "en")
        return time.process_time() - began

    took(1_000)
    # The better of two: a collection of garbage in between is not the text's.
    assert min(took(hostile(160_000)) for _ in range(2)) < 30 * took(hostile(20_000)) + 0.5
