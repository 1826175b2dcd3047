"""The sample server `bills`: accounts payable. `python -m serve.samples.bills` serves it on stdio.

What is scheduled or marked as paid is so in the memory of this process; no money moves.
"""

from datetime import date
from typing import Annotated, Any

from mcp.server.lowlevel import Server
from pydantic import Field

from models.errors import InputInvalid
from models.record import Record
from serve.samples.data import BillId, BillSamples, BillStatus, SampleBill, SampleSet, SampleVendor
from serve.samples.search import mostly, number_terms, page, ranked, terms
from serve.samples.tools import PagedInput, Query, make_sample_server, run_on_stdio, sample_tool

_PAYABLE = ("open", "approved", "scheduled")


class SearchBills(PagedInput):
    """Input of `search_bills`: all that is given must fit."""

    query: Query = ""
    vendor: Annotated[
        str | None, Field(max_length=200, description="A vendor's id, or most words of its name.")
    ] = None
    number: Annotated[
        str | None, Field(max_length=100, description="An invoice number, in whatever form: Invoice #2041.")
    ] = None
    status: BillStatus | None = None
    due_before: Annotated[date | None, Field(description="Due before this day (YYYY-MM-DD).")] = None
    due_after: Annotated[date | None, Field(description="Due after this day (YYYY-MM-DD).")] = None


class FoundBills(Record):
    """Bills that have most of the query's words first, else in the order of their ids."""

    bills: tuple[SampleBill, ...]
    total: int
    next_cursor: str | None = None


class GetBill(Record):
    """Input of `get_bill`."""

    id: BillId


class BillGot(Record):
    """A bill, and the record of its vendor."""

    bill: SampleBill
    vendor: SampleVendor


class ListVendors(PagedInput):
    """Input of `list_vendors`."""

    query: Query = ""


class ListedVendors(Record):
    """Vendors that have most of the query's words first, else in the order of their ids."""

    vendors: tuple[SampleVendor, ...]
    total: int
    next_cursor: str | None = None


class SchedulePayment(Record):
    """Input of `schedule_payment`."""

    bill_id: BillId
    pay_on: Annotated[date, Field(description="The day of the payment (YYYY-MM-DD).")]


class MarkPaid(Record):
    """Input of `mark_paid`."""

    bill_id: BillId
    paid_on: Annotated[date, Field(description="The day on which it was paid (YYYY-MM-DD).")]
    reference: Annotated[str | None, Field(max_length=100, description="The payment's reference.")] = None


class BillChanged(Record):
    """The bill as it is now."""

    bill: SampleBill


class Ledger:
    """Vendors and bills, with what was changed."""

    def __init__(self, samples: BillSamples) -> None:
        self._vendors = {vendor.id: vendor for vendor in samples.vendors}
        self._bills = {bill.id: bill for bill in samples.bills}

    @sample_tool()
    def search_bills(self, asked: SearchBills) -> FoundBills:
        """Search bills by words, vendor, invoice number, status or due date."""
        if asked.number is not None and not number_terms(asked.number):
            raise InputInvalid("number: holds no number: write it as 2041 or INV-2041")
        if asked.vendor is not None and not terms(asked.vendor):
            raise InputInvalid("vendor: holds no word: write a vendor's id or name")
        fitting = [bill for bill in self._bills.values() if _fits(bill, asked)]
        found = ranked(asked.query, fitting, _text)
        shown, more = page(found, asked.limit, asked.cursor)
        return FoundBills(bills=shown, total=len(found), next_cursor=more)

    @sample_tool()
    def get_bill(self, asked: GetBill) -> BillGot:
        """Read one bill and its vendor's record."""
        bill = self._bill(asked.id, "id")
        return BillGot(bill=bill, vendor=self._vendors[bill.vendor_id])

    @sample_tool()
    def list_vendors(self, asked: ListVendors) -> ListedVendors:
        """List vendors: name, e-mail, terms, the end of the bank account that is paid to."""
        found = ranked(asked.query, list(self._vendors.values()), _text_of_vendor)
        shown, more = page(found, asked.limit, asked.cursor)
        return ListedVendors(vendors=shown, total=len(found), next_cursor=more)

    @sample_tool(reads=False, again_is_harmless=True)
    def schedule_payment(self, asked: SchedulePayment) -> BillChanged:
        """Set the day on which a bill will be paid; a day that was set before is replaced."""
        bill = self._bill(asked.bill_id, "bill_id")
        if bill.status not in _PAYABLE:
            raise InputInvalid(f"bill_id: {bill.id} is {bill.status}: only an open bill can be scheduled")
        return self._change(bill, status="scheduled", scheduled_for=asked.pay_on)

    @sample_tool(reads=False, again_is_harmless=True)
    def mark_paid(self, asked: MarkPaid) -> BillChanged:
        """Mark a bill as paid. It can't be taken back."""
        bill = self._bill(asked.bill_id, "bill_id")
        if (bill.paid_on, bill.payment_reference) == (asked.paid_on, asked.reference):
            return BillChanged(bill=bill)
        if bill.status not in _PAYABLE:
            raise InputInvalid(
                f"bill_id: {bill.id} is {bill.status}: only an open bill can be marked as paid"
            )
        return self._change(bill, status="paid", paid_on=asked.paid_on, payment_reference=asked.reference)

    def _change(self, bill: SampleBill, **changes: Any) -> BillChanged:
        self._bills[bill.id] = changed = bill.model_copy(update=changes)
        return BillChanged(bill=changed)

    def _bill(self, bill_id: str, argument: str) -> SampleBill:
        if (bill := self._bills.get(bill_id)) is None:
            raise InputInvalid(f"{argument}: there is no bill {bill_id!r}: take an id from search_bills")
        return bill


def _fits(bill: SampleBill, asked: SearchBills) -> bool:
    return (
        (asked.status is None or bill.status == asked.status)
        and (asked.due_before is None or bill.due_date < asked.due_before)
        and (asked.due_after is None or bill.due_date > asked.due_after)
        and (asked.number is None or number_terms(asked.number) <= terms(bill.number))
        and (
            asked.vendor is None
            or asked.vendor.strip().casefold() == bill.vendor_id.casefold()
            or mostly(asked.vendor, bill.vendor_name)
        )
    )


def _text(bill: SampleBill) -> str:
    said = (bill.id, bill.number, bill.vendor_id, bill.vendor_name, bill.currency, bill.status, bill.memo)
    paid = (bill.payment_reference or "", bill.purchase_order or "")
    return " | ".join((*said, *paid, f"{bill.amount:.2f}", str(bill.invoice_date), str(bill.due_date)))


def _text_of_vendor(vendor: SampleVendor) -> str:
    return " | ".join((vendor.id, vendor.name, vendor.email, vendor.currency, vendor.bank_account))


def bills_server(samples: SampleSet) -> Server[Any]:
    """The MCP server over a ledger of its own."""
    return make_sample_server("bills", "Sample bills", Ledger(samples.bills))


if __name__ == "__main__":
    run_on_stdio(bills_server)
