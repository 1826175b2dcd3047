"""Items linked: evidence that is there, whatever the items are, and correlations and conflicts as meant."""

import json
import random
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.operations.linking.link import link, vendors_in
from models.operations.evidence import Evidence, Identifier, LinkedItems
from models.operations.items import SourceItem
from tests.unit.operations.linking.invented_items import item, items

_MAIL = item(
    "gmail",
    1,
    subject="Overdue: Invoice #2041 from Northgate Logistics",
    body="Hello,\nInvoice 2041 over $4,312.57 was due on June 10, 2026 and has not been paid yet.",
)
_BILL: dict[str, Any] = {
    "id": "b1",
    "vendor": {"name": "NORTHGATE LOGISTICS, INC."},
    "invoice_number": "INV-2041",
    "amount": 4312.57,
    "currency": "USD",
    "status": "Paid",
    "due_date": "2026-06-10",
}


def _at(data: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        data = data[int(key)] if isinstance(data, list | tuple) else data[key]
    return data


def _evidence(found: LinkedItems) -> Iterable[Evidence | Identifier]:
    yield from found.identifiers
    for correlation in found.correlations:
        for match in correlation.matches:
            yield from (match.left, match.right)
    for conflict in found.conflicts:
        yield from (conflict.left, conflict.right)


@given(items())
def test_all_evidence_stands_where_it_is_said_to(some: list[SourceItem]) -> None:
    by_id = {each.id: each for each in some}
    for evidence in _evidence(link(some)):
        value = _at(by_id[evidence.item].data, evidence.path)
        assert evidence.words.strip()
        assert evidence.words in (value if isinstance(value, str) else json.dumps(value))


@given(items(), st.randoms())
@pytest.mark.heavy
def test_the_order_of_items_changes_nothing(some: list[SourceItem], chance: random.Random) -> None:
    shuffled = list(some)
    chance.shuffle(shuffled)
    assert link(shuffled) == link(some)


@given(items())
def test_an_item_that_has_nothing_to_do_with_others_takes_no_correlation_away(some: list[SourceItem]) -> None:
    other = item("crm", 900, vendor="Quux Widgets", invoice_number="ZZ-999123", email="q@quux.example")
    before = {(one.left, one.right) for one in link(some).correlations}
    assert before <= {(one.left, one.right) for one in link([*some, other]).correlations}


@given(items())
def test_vendors_alone_are_those_that_linking_finds_the_most_frequent_first(some: list[SourceItem]) -> None:
    counts = Counter(found.words for found in link(some).identifiers if found.kind == "vendor")
    found = vendors_in(some)
    assert Counter(found) == Counter(counts.keys())
    assert [counts[words] for words in found] == sorted(counts.values(), reverse=True)


@given(items())
def test_figures_are_within_their_bounds(some: list[SourceItem]) -> None:
    found = link(some)
    figures = found.figures
    assert figures.cross_references == len(found.correlations)
    assert 0 <= figures.data_consistency <= 1
    assert 0 <= figures.quality_score <= 1
    assert figures.vendor_mentions <= len(found.identifiers)
    assert [one.number for one in found.correlations] == list(range(1, len(found.correlations) + 1))
    assert [one.number for one in found.conflicts] == list(range(1, len(found.conflicts) + 1))
    agents = {each.id: each.agent for each in some}
    assert all(agents[one.left] != agents[one.right] for one in found.correlations)


def test_words_are_quoted_with_what_cannot_be_seen_within_them() -> None:
    found = link([item("crm", 1, **{"a/b~c": {"x": ["see INV-20\u200b41\u200b of Smith&nbsp;Tools GmbH"]}})])
    said = {(one.kind, one.path, one.words, one.normal) for one in found.identifiers}
    assert said == {
        ("invoice", "/a~1b~0c/x/0", "INV-20\u200b41", "2041"),
        ("vendor", "/a~1b~0c/x/0", "Smith&nbsp;Tools GmbH", "smith tools"),
    }


def test_nothing_is_found_in_nothing() -> None:
    assert link([]) == LinkedItems()
    assert link([item("crm", 1)]).figures.quality_score == 0


def test_a_mail_and_its_bill() -> None:
    found = link([_MAIL, item("accounts_payable", 1, **_BILL)])
    (correlation,) = found.correlations
    assert correlation.score > 0.99
    sides = {match.kind: (match.left.words, match.right.words) for match in correlation.matches}
    assert sides == {
        "invoice": ("INV-2041", "Invoice 2041"),
        "vendor": ("NORTHGATE LOGISTICS, INC.", "Northgate Logistics"),
        "amount": ("4312.57", "$4,312.57"),
        "date": ("2026-06-10", "June 10, 2026"),
    }
    # The body comes before the subject: fields come in the order in which they are kept.
    (conflict,) = found.conflicts
    assert (conflict.kind, conflict.about, conflict.left.words) == ("status", "INV-2041", "Paid")
    assert conflict.explanation == (
        "INV-2041 is paid (“Paid”) in accounts payable (accounts_payable/1), "
        "but not paid (“has not been paid yet”) in the mail (gmail/1)."
    )


@pytest.mark.parametrize(
    "other",
    [
        {"vendor": "Acme Foods", "amount": "100.00", "date": "2026-06-10"},
        {"vendor": "Northgate Logistics Partners", "invoice_number": "INV-20410"},
        {"vendor": "Zenith", "invoice_number": "INV-2041"},
        {"note": "on 2026-06-10"},
        {"amount": 100},
    ],
    ids=["amount and day", "longer", "another's number", "day", "round amount"],
)
def test_what_is_not_about_the_same(other: dict[str, Any]) -> None:
    bill = item("accounts_payable", 1, **{**_BILL, "amount": "100.00"})
    assert link([bill, item("crm", 1, **other)]).correlations == ()


@pytest.mark.parametrize(
    ("kind", "bill", "other"),
    [
        ("amount", {}, {"invoice": "2041", "amount": "$4,213.57", "vendor": "Northgate Logistics"}),
        ("due_date", {}, {"invoice": "2041", "due": "2026-07-10", "vendor": "Northgate Logistics"}),
        ("status", {"status": "open"}, {"note": "Rechnung 2041 von Northgate Logistics ist bezahlt."}),
        ("status", {}, {"note": "Faktury 2041 nie zapłacono, Northgate Logistics"}),
        ("missing", {}, {"note": "Northgate Logistics sent INV-2055"}),
        (
            "contact",
            {"vendor_email": "ap@north.example"},
            {"account": "Northgate Logistics", "email": "x@n.example"},
        ),
        (
            "bank_details",
            {"iban": "DE89370400440532013000"},
            {"note": "Northgate Logistics, INV-2041: new account GB82 WEST 1234 5698 7654 32"},
        ),
    ],
)
def test_conflicts(kind: str, bill: dict[str, Any], other: dict[str, Any]) -> None:
    found = link([item("accounts_payable", 1, **{**_BILL, **bill}), item("crm", 1, **other)])
    assert [conflict.kind for conflict in found.conflicts] == [kind]


def test_an_invoice_that_is_there_twice() -> None:
    twice = [item("accounts_payable", place, **{**_BILL, "id": f"b{place}"}) for place in (1, 2)]
    assert [conflict.kind for conflict in link(twice).conflicts] == ["duplicate"]
    same = [item("accounts_payable", place, **_BILL) for place in (1, 2)]
    assert link(same).conflicts == ()


@pytest.mark.parametrize(
    "note",
    [
        "Has INV-2041 of Northgate Logistics been paid?",
        "If INV-2041 is not paid by Friday, Northgate Logistics stops.",
        "Invoice 2041 of Northgate Logistics is paid.",
        "INV-2042 of Northgate Logistics, and INV-2041. Something is not paid.",
    ],
)
def test_what_is_unclear_is_no_conflict(note: str) -> None:
    found = link([item("accounts_payable", 1, **_BILL), item("crm", 1, note=note)])
    assert [conflict.kind for conflict in found.conflicts if conflict.kind == "status"] == []


def test_an_address_that_is_in_all_items_says_nothing() -> None:
    ours = [item("gmail", place, to="ap@ours.example", body=f"topic {place}") for place in range(60)]
    bills = [item("accounts_payable", place, owner="ap@ours.example") for place in range(20)]
    assert link([*ours, *bills]).correlations == ()
    assert link([ours[0], bills[0]]).correlations


def _deep() -> dict[str, Any]:
    data: dict[str, Any] = {}
    inner = data
    for _ in range(5_000):
        inner["a"] = {}
        inner = inner["a"]
    return data


@pytest.mark.parametrize(
    "data",
    [
        _deep(),
        {"a": float("nan"), "b": float("inf"), "amount": float("nan"), "c": 10**5_000},
        {"vendor": "\ud800 Acme", "\ud800": "INV-2041", "text": "INV-20\ud80041"},
        {"vendor": [["Acme Tools"], [[{"name": "x"}]]], "invoice_number": True},
    ],
    ids=["deep", "no numbers", "halves", "lists"],
)
def test_odd_items_are_read(data: dict[str, Any]) -> None:
    link([item("crm", 1, **data), item("gmail", 1, **data)])


@pytest.mark.parametrize(
    "unit",
    [
        "INV-2041 ",
        "a@b.co ",
        "$4,300.00 ",
        "9",
        " ",
        "Acme Tools ",
        "2026-01-01 ",
        "not paid ",
        "INV-",
        "1,",
        "ł",
        "\u200b",
    ],
)
def test_a_huge_text_of_any_kind_is_read_at_once(unit: str) -> None:
    begun = time.process_time()
    link([item("gmail", 1, body=unit * (1_000_000 // len(unit))), item("crm", 1, vendor="Acme Tools")])
    assert time.process_time() - begun < 1


@given(st.booleans())
@pytest.mark.heavy
def test_thousands_of_equal_items_are_linked_at_once(several: bool) -> None:
    agents = ("gmail", "accounts_payable", "crm") if several else ("accounts_payable",)
    many = [item(agents[n % len(agents)], n, **_BILL) for n in range(2_000)]  # type: ignore[arg-type]
    begun = time.process_time()
    link(many)
    assert time.process_time() - begun < 5
