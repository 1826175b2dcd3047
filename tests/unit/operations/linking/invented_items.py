"""Items as agents find them, invented: of vendors, invoices, amounts and mails about them, and odd ones."""

from typing import Any

from hypothesis import strategies as st

from models.operations.items import SourceAgent, SourceItem

_VENDORS = ["Northgate Logistics", "Acme Tools Ltd.", "Hurtownia Zenit sp. z o.o.", "Müller & Söhne GmbH"]
_NUMBERS = ["INV-2041", "INV-2042", "2041/06/2026", "RE-7710"]
_SAID = [
    "{invoice} of {vendor} over $4,312.57 has not been paid yet. It was due on 2026-06-10.",
    "{vendor}: faktury nr {invoice} nigdy nie zapłacono, 1 230,00 zł.",
    "Rechnung {invoice} ist bezahlt. IBAN DE89 3704 0044 0532 0130 00. {vendor}",
    "Write to billing@example.com\u200b about {invoice}, due 03/04/2026.",
]
_KEYS = st.sampled_from(
    ["vendor", "invoice_number", "amount", "status", "due_date", "body", "email", "a/b~c"]
)
_ODD = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_KEYS | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def item(agent: SourceAgent, place: int, /, tool: str = "list", **data: Any) -> SourceItem:
    """One item, as a tool gave it."""
    return SourceItem(
        id=f"{agent}/{place}", agent=agent, server=agent, tool=tool, call=1, path=f"/{place}", data=data
    )


@st.composite
def _likely(draw: st.DrawFn) -> dict[str, Any]:
    vendor, invoice = draw(st.sampled_from(_VENDORS)), draw(st.sampled_from(_NUMBERS))
    if draw(st.booleans()):
        return {"body": draw(st.sampled_from(_SAID)).format(vendor=vendor, invoice=invoice)}
    return {
        "vendor": draw(st.sampled_from([vendor, {"name": vendor.upper()}])),
        "invoice_number": invoice,
        "amount": draw(st.sampled_from([4312.57, "1.230,00 zł", 100, "4300"])),
        "status": draw(st.sampled_from(["paid", "Open", "überfällig", "?"])),
        "due_date": draw(st.sampled_from(["2026-06-10", "03/04/2026", "10.06.2026"])),
    }


@st.composite
def items(draw: st.DrawFn) -> list[SourceItem]:
    """Some items, most of them likely."""
    data = draw(st.lists(_likely() | st.dictionaries(_KEYS, _ODD, max_size=4), max_size=7))
    agents = st.sampled_from(["gmail", "accounts_payable", "crm"])
    return [item(draw(agents), place, **each) for place, each in enumerate(data)]
