"""How the sample servers search: the rules, for any words; and the forms that names and numbers come in."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import InputInvalid
from serve.samples.bills import Ledger, SearchBills
from serve.samples.data import load_samples
from serve.samples.mail import Mailbox, SearchMessages
from serve.samples.search import mostly, page, ranked, terms
from serve.samples.tools import FOLDER

SAMPLES = load_samples(FOLDER)
WORDS = ("meridian", "Krämer", "INV-2041", "faktura", "Nowak", "4,310.00", "due", "late", "Zahlung", "x")
queries = st.lists(st.sampled_from(WORDS), max_size=5)
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=12)


def same(text: str) -> str:
    return text


@given(queries, texts, st.randoms())
def test_order_case_and_accents_do_not_count(query: list[str], items: list[str], random: object) -> None:
    found = ranked(" ".join(query), items, same)
    plain = unicodedata.normalize("NFKD", " ".join(reversed(query)))
    assert ranked(plain.upper(), items, same) == found
    assert ranked("".join(c for c in plain if not unicodedata.combining(c)), items, same) == found


@given(queries, texts)
def test_what_has_most_of_the_words_comes_first_and_what_has_none_not_at_all(
    query: list[str], items: list[str]
) -> None:
    asked = terms(" ".join(query))
    counts = [len(asked & terms(item)) for item in items]
    found = [len(asked & terms(item)) for item in ranked(" ".join(query), items, same)]
    if asked:
        assert found == sorted((count for count in counts if count), reverse=True)
    else:
        assert ranked(" ".join(query), items, same) == items


@given(texts, st.integers(1, 50))
def test_pages_together_are_the_whole(items: list[str], limit: int) -> None:
    got: list[str] = []
    cursor: str | None = None
    while True:
        shown, cursor = page(items, limit, cursor)
        got += shown
        assert len(shown) <= limit
        if cursor is None:
            break
    assert got == items


@given(st.text(max_size=300))
def test_any_query_is_answered(query: str) -> None:
    found = Mailbox(SAMPLES.mail).search_messages(SearchMessages(query=query, limit=50))
    assert (found.total == len(SAMPLES.mail.messages)) or terms(query)


@pytest.mark.parametrize("cursor", ["", "-1", "x", "1.5", "٣", "9999999"])
def test_a_cursor_that_nobody_gave_is_refused(cursor: str) -> None:
    with pytest.raises(InputInvalid, match=r"^cursor: "):
        page(["a"], 1, cursor)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("INV-2041", "Invoice #2041"),
        ("inv 2041", "INV2041"),
        ("BW-0931", "bw 931"),
        ("$4,310.00", "4.310,00 EUR"),
        ("18 450,00 zł", "18450"),
        ("Krämer", "KRAEMER"),
        ("FV/2026/04/131", "fv 2026 4 131"),
    ],
)
def test_forms_of_one_thing_are_found_by_each_other(one: str, other: str) -> None:
    assert terms(one) <= terms(other) or terms(other) <= terms(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("INV-2041", "INV-2014"), ("77120", "HF-77102"), ("$4,310.00", "$4,130.00"), ("office", "offshore")],
)
def test_what_differs_is_told_apart(one: str, other: str) -> None:
    assert ranked(one, [other.replace("INV", "")], same) == []


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"number": "Invoice #2041"}, ["INV-2041", "MOS-2041"]),
        ({"number": "2041", "vendor": "Meridian Office Supplies"}, ["INV-2041"]),
        ({"number": "mos 2041"}, ["MOS-2041"]),
        ({"number": "HF 77210"}, ["HF-77210", "HF77210"]),
        ({"vendor": "Krämer Verpackung GmbH", "status": "paid"}, ["RE-50799"]),
        ({"vendor": "v-107"}, ["KP-50817"]),
        ({"status": "scheduled"}, ["BW-0931", "TG-6604"]),
        ({"due_after": "2026-05-31"}, ["DT-2026-24", "INV-2090", "MOS-2066"]),
        ({"due_before": "2026-03-02", "vendor": "quartz"}, ["QL-9002"]),
        ({"query": "retainer Q2"}, ["QL-9020", "QL-9002"]),
    ],
)
def test_bills_are_found(asked: dict[str, str], found: list[str]) -> None:
    bills = Ledger(SAMPLES.bills).search_bills(SearchBills.model_validate(asked)).bills
    assert [bill.number for bill in bills][: len(found)] == found


def test_most_words_of_a_name_are_a_name_and_half_of_them_none() -> None:
    assert mostly("Halberd Freight Limited", "HALBERD FREIGHT LTD")
    assert not mostly("Meridian Office Supply, Inc.", "MERIDIAN OFFSHORE SUPPLY LLC")
    assert not mostly("!?", "anything")
