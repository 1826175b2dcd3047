"""What is the same however it is written, and what is not however alike it looks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.operations.recognition.addresses import emails, ibans
from actors.systems.operations.recognition.invoices import invoice_number, invoice_numbers
from actors.systems.operations.recognition.vendors import (
    KnownVendors,
    vendor_keys,
    vendor_likeness,
    vendor_name,
    vendors_said,
)

_LEGAL = "HURTOWNIA ZENIT SPÓŁKA Z OGRANICZONĄ ODPOWIEDZIALNOŚCIĄ"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Northgate Logistics", "NORTHGATE LOGISTICS, INC.", True),
        ("Northgate Logistics", "Northgate Logistics Partners", False),
        ("Acme Tools", "Acme Foods", False),
        ("Acme Tools Ltd.", "ACME-TOOLS Limited", True),
        ("Müller & Söhne GmbH", "Mueller und Soehne", True),
        ("Müller & Söhne GmbH", "Muller & Sohne", True),
        ("Hurtownia Zenit sp. z o.o.", _LEGAL, True),
        ("Żabka Polska S.A.", "Zabka Polska SA", True),
        ("Kowalski i Synowie", "Kowalski & Synowie", True),
        ("Société Générale S.A.", "Societe Generale", True),
        ("Acme Inc", "Acme LLC", True),
        ("Acme GmbH", "Acme sp. z o.o.", False),
        ("The Widget Company", "Widget Co.", True),
        ("Northgate Logistics", "Nortgate Logistics", True),
        ("Hanson Brothers", "Hansen Brothers", False),
        ("North Logistics", "South Logistics", False),
        ("Studio 54", "Studio 55", False),
        ("McDonald's", "McDonalds Corporation", True),
        ("Global Trade", "Global Trading", False),
        ("Acme", "Acme Holding", False),
        ("First Bank", "Second Bank", False),
        ("Siemens AG", "Siemens Energy AG", False),
        ("Meyer Bau", "Meier Bau", False),
        ("Contoso Pte Ltd", "Contoso", True),
        ("Bäckerei Schmidt e.K.", "Bäckerei Schmidt", True),
        ("Blue Sky", "BlueSky", True),
        ("Zenith\u200b Supplies", "Zenith Supplies", True),
        ("Firma Handlowa ABC", "Firma Handlowa ABD", False),
        ("Deutsche Telekom", "Deutsche Bahn", False),
    ],
)
def test_vendors(one: str, other: str, same: bool) -> None:
    assert (vendor_likeness(one, other) > 0) == same
    assert vendor_likeness(one, other) == vendor_likeness(other, one)
    assert not same or set(vendor_keys(one)) & set(vendor_keys(other))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("INV-2041", "Invoice #2041", True),
        ("INV-2041", "INV-2014", False),
        ("INV-2041", "INV-20410", False),
        ("Invoice 12041", "Invoice 2041", False),
        ("Rechnung 2041", "faktura nr 2041", True),
        ("Rechnungs-Nr. 2041", "Rechnung Nr. 2041", True),
        ("Rechnungsnummer: RE-2041", "Invoice 2041", True),
        ("faktura nr 2041/06/2026", "FV 2041/06/2026", True),
        ("FV/2041/06/2026", "faktura nr 2041", False),
        ("faktury nr 77", "FV 77", True),
        ("INV-0042", "Invoice No. 42", True),
        ("invoice number is 2041", "INV2041", True),
        ("INV-2026-0042", "INV/2026/42", True),
        ("INV_2041", "INV 2041", True),
        ("PO-2041", "INV-2041", False),
        ("Invoice 2041-A", "Invoice 2041-B", False),
        ("bill #2041", "Bill No 2041", True),
    ],
)
def test_invoices(one: str, other: str, same: bool) -> None:
    found = [{normal for *_, normal in invoice_numbers(f"see {text}, please")} for text in (one, other)]
    assert bool(found[0] & found[1]) == same


@pytest.mark.parametrize(
    "text",
    [
        "invoice 500 EUR",
        "a bill of 300",
        "the invoice from 2026-06-01",
        "Rechnung 03.04.2026",
        "invoice 4,300.00",
        "invoice within 30 days",
        "Re: 2041",
        "invoice 12 days overdue",
        "faktura na kwotę 1 230,00 zł",
        "see invoice attached, 3 pages",
    ],
)
def test_what_is_no_number_of_an_invoice(text: str) -> None:
    assert list(invoice_numbers(text)) == []


def test_numbers_of_a_list() -> None:
    found = [normal for *_, normal in invoice_numbers("Invoices INV-2041, 2042 and 2043 for 300 EUR")]
    assert found == ["2041", "2042", "2043"]


def test_addresses_and_accounts() -> None:
    text = (
        '"Billing" <Billing@Northgate.com>, IBAN DE89 3704 0044 0532 0130 00, not DE89 3704 0044 0532 0130 01'
    )
    assert [normal for *_, normal in emails(text)] == ["billing@northgate.com"]
    assert [normal for *_, normal in ibans(text)] == ["DE89370400440532013000"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("from Northgate Logistics today", True),
        ("Northgate Logistics Partners wrote", False),
        ("Northgate Logistics' invoice", True),
        ("Northgate Logistics Inc. wrote", True),
        ("northgate logistics", True),
        ("I ate an apple", False),
        ("Apple's bill", True),
        ("we met Great Northgate Logistics", False),
        ("Acme Foods & Sons", False),
        ("Dear Acme Foods Team", True),
        ("Acme Foods INV-2041", True),
        ("Acme Foods.\nNext", True),
        ("Pineapple Foods", False),
    ],
)
def test_names_in_texts(text: str, named: bool) -> None:
    known = KnownVendors(["Northgate Logistics", "Acme Foods", "Apple"])
    assert bool(list(known.in_text(text))) == named


def test_names_that_texts_say_are_companies() -> None:
    text = "Vendor: Acme Tools, and an offer of Zenith Supplies GmbH."
    assert [text[start:end] for start, end in vendors_said(text)] == ["Acme Tools", "Zenith Supplies GmbH."]


@given(
    st.text(max_size=60) | st.from_regex(r"(The |Acme |Inc |und |& |S\.A\. |F-16 |ß){0,8}", fullmatch=True)
)
def test_a_vendors_normal_form_is_its_own(name: str) -> None:
    assert vendor_name(vendor_name(name)) == vendor_name(name)


@given(st.from_regex(r"(INV|FV|nr|A|b)?[-/ ]?[0-9]{1,6}([-/][0-9A-Za-z]{1,4}){0,3}", fullmatch=True))
def test_a_number_of_an_invoice_is_its_own_normal_form(number: str) -> None:
    normal = invoice_number(number)
    assert normal is None or invoice_number(normal) == normal
