"""What the sample servers hold when they begin: records of mails, bills and CRM accounts, and `load_samples`.

The files tell one story as three systems would, with conflicts in it. Nothing here knows which they are.
Texts of mails are data, whatever they ask for.
"""

from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field, ValidationError, model_validator

from models.config.strict_yaml import faults, read_mapping
from models.errors import ConfigInvalid
from models.record import Record

FILES = ("mail.yaml", "bills.yaml", "crm.yaml")

MessageId = Annotated[str, Field(description="A message's id, such as m-001.")]
BillId = Annotated[str, Field(description="A bill's id in this system, such as bill_3001; not its number.")]
AccountId = Annotated[str, Field(description="An account's id, such as A-2001.")]
Currency = Literal["USD", "EUR", "PLN"]
BillStatus = Literal["open", "approved", "scheduled", "paid", "void"]
AccountStatus = Literal["Active", "On hold", "Inactive"]
CaseStatus = Literal["Open", "Closed"]


class SampleMessage(Record):
    """A mail. Addresses stand as in its header: `Laura Kim <laura@example>`, or the address alone."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True, serialize_by_alias=True)

    id: MessageId
    thread_id: str
    subject: str
    sender: str = Field(alias="from")
    to: tuple[str, ...]
    cc: tuple[str, ...] = ()
    date: datetime
    body: str


class SampleVendor(Record):
    """Whom bills are paid to. `bank_account` shows its last four digits."""

    id: str
    name: str
    email: str
    currency: Currency
    terms: str
    bank_account: str


class SampleBill(Record):
    """A vendor's invoice as it was entered. `number` is the vendor's own, `vendor_name` our record's."""

    id: BillId
    number: str
    vendor_id: str
    vendor_name: str
    amount: float
    currency: Currency
    invoice_date: date
    due_date: date
    status: BillStatus
    scheduled_for: date | None = None
    paid_on: date | None = None
    payment_reference: str | None = None
    purchase_order: str | None = None
    memo: str = ""

    @model_validator(mode="after")
    def _dated(self) -> "SampleBill":
        if (self.status == "paid") != (self.paid_on is not None):
            raise ValueError("paid_on belongs to a bill that is paid, and only there")
        if self.status == "scheduled" and self.scheduled_for is None:
            raise ValueError("scheduled_for says when a scheduled bill is paid: add it")
        return self


class SampleContact(Record):
    """A person at an account."""

    name: str
    title: str
    email: str
    phone: str


class SampleOpportunity(Record):
    """A deal that is in the making with an account."""

    id: str
    name: str
    stage: str
    amount: float
    currency: Currency
    close_date: date


class SampleNote(Record):
    """What somebody wrote down about an account."""

    id: str
    author: str
    written_at: datetime
    text: str


class SampleAccount(Record):
    """A vendor as the buyers know it."""

    id: AccountId
    name: str
    status: AccountStatus
    owner: str
    website: str
    phone: str
    address: str
    contacts: tuple[SampleContact, ...]
    opportunities: tuple[SampleOpportunity, ...] = ()
    notes: tuple[SampleNote, ...] = ()


class SampleCase(Record):
    """A question or complaint about an account."""

    id: str
    account_id: AccountId
    subject: str
    status: CaseStatus
    priority: Literal["Low", "Medium", "High"]
    opened_at: datetime
    closed_at: datetime | None = None
    description: str


class MailSamples(Record):
    """The mailbox: whose it is, and its messages, the oldest first."""

    owner: str
    messages: tuple[SampleMessage, ...]

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, said: Any) -> Any:
        """In the file messages stand under their threads, and an answer need not repeat the subject."""
        if not isinstance(said, dict) or "threads" not in said:
            return said
        messages = [
            {"subject": f"Re: {thread['subject']}" if at else thread["subject"], **message}
            | {"thread_id": thread["id"]}
            for thread in said["threads"]
            for at, message in enumerate(thread["messages"])
        ]
        rest = {key: value for key, value in said.items() if key != "threads"}
        return rest | {"messages": sorted(messages, key=lambda message: message["date"])}


class BillSamples(Record):
    """Vendors and their bills, in the order of their ids."""

    vendors: tuple[SampleVendor, ...]
    bills: tuple[SampleBill, ...]

    @model_validator(mode="before")
    @classmethod
    def _named(cls, said: Any) -> Any:
        """In the file a bill names its vendor by id alone."""
        if not isinstance(said, dict):
            return said
        names = {vendor["id"]: vendor["name"] for vendor in said["vendors"]}
        bills = [{"vendor_name": names[bill["vendor_id"]], **bill} for bill in said["bills"]]
        return said | {"bills": bills}


class CrmSamples(Record):
    """Accounts and their cases."""

    accounts: tuple[SampleAccount, ...]
    cases: tuple[SampleCase, ...]

    @model_validator(mode="after")
    def _known(self) -> "CrmSamples":
        there = {account.id for account in self.accounts}
        if unknown := {case.account_id for case in self.cases} - there:
            raise ValueError(f"a case is about {min(unknown)}, and there is no such account")
        return self


_Kept = TypeVar("_Kept", MailSamples, BillSamples, CrmSamples)


class SampleSet(Record):
    """All three."""

    mail: MailSamples
    bills: BillSamples
    crm: CrmSamples


def _files_of(folder: Path) -> list[Path]:
    """The files of the data set.

    Raises:
        ConfigInvalid: one of them is not there.
    """
    files = [folder / name for name in FILES]
    if missing := [str(file) for file in files if not file.is_file()]:
        raise ConfigInvalid(
            f"mcp.samples: {missing[0]} is not there: name the folder that holds {', '.join(FILES)}"
        )
    return files


def load_samples(folder: Path) -> SampleSet:
    """Read the data set from its folder.

    Raises:
        ConfigInvalid: a file is not there, or holds something else; one line per fault.
    """
    mail, bills, crm = _files_of(folder)
    return SampleSet(
        mail=_read(mail, MailSamples), bills=_read(bills, BillSamples), crm=_read(crm, CrmSamples)
    )


def _read(file: Path, record: type[_Kept]) -> _Kept:
    said = read_mapping(file)
    try:
        return record.model_validate(said)
    except ValidationError as error:
        raise ConfigInvalid("\n".join(faults(lambda _: file, said, error))) from error
    except (KeyError, TypeError) as error:
        raise ConfigInvalid(f"{file}: an entry lacks what it must have: {error}") from error
