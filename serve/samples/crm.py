"""The sample server `crm`: vendors as buyers know them. `python -m serve.samples.crm` serves it on stdio.

Notes that are added stay in the memory of this process.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from mcp.server.lowlevel import Server
from pydantic import Field

from models.errors import InputInvalid
from models.record import Record
from serve.samples.data import (
    AccountId,
    CaseStatus,
    CrmSamples,
    SampleAccount,
    SampleCase,
    SampleNote,
    SampleSet,
)
from serve.samples.search import page, ranked
from serve.samples.tools import (
    MOST_WRITTEN,
    PagedInput,
    Query,
    make_sample_server,
    run_on_stdio,
    sample_tool,
)

_AUTHOR = "Signoff"


class SearchAccounts(PagedInput):
    """Input of `search_accounts`."""

    query: Query = ""


class FoundAccounts(Record):
    """Accounts that have most of the query's words first, else in the order of their ids."""

    accounts: tuple[SampleAccount, ...]
    total: int
    next_cursor: str | None = None


class GetAccount(Record):
    """Input of `get_account`."""

    id: AccountId


class AccountGot(Record):
    """An account, and its cases."""

    account: SampleAccount
    cases: tuple[SampleCase, ...]


class ListCases(PagedInput):
    """Input of `list_cases`."""

    account_id: Annotated[
        str | None, Field(max_length=100, description="The account's id; absent: of all accounts.")
    ] = None
    status: CaseStatus | None = None


class ListedCases(Record):
    """Cases, the newest first."""

    cases: tuple[SampleCase, ...]
    total: int
    next_cursor: str | None = None


class AddNote(Record):
    """Input of `add_note`."""

    account_id: AccountId
    text: Annotated[str, Field(min_length=1, max_length=5000)]


class NoteAdded(Record):
    """The note as it is kept now."""

    account_id: AccountId
    note: SampleNote


class Accounts:
    """Accounts and cases, with the notes that were added. `now` is the clock."""

    def __init__(self, samples: CrmSamples, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._accounts = {account.id: account for account in samples.accounts}
        self._cases = sorted(samples.cases, key=lambda case: case.opened_at, reverse=True)
        self._added = 0
        self._now = now

    @sample_tool()
    def search_accounts(self, asked: SearchAccounts) -> FoundAccounts:
        """Search vendor accounts by words: names, contacts, notes, opportunities and cases count."""
        found = ranked(asked.query, list(self._accounts.values()), self._text)
        shown, more = page(found, asked.limit, asked.cursor)
        return FoundAccounts(accounts=shown, total=len(found), next_cursor=more)

    @sample_tool()
    def get_account(self, asked: GetAccount) -> AccountGot:
        """Read one account and its cases."""
        account = self._account(asked.id, "id")
        return AccountGot(account=account, cases=tuple(self._cases_of(account.id)))

    @sample_tool()
    def list_cases(self, asked: ListCases) -> ListedCases:
        """List cases, of one account or of all, the newest first."""
        of = self._cases
        if asked.account_id is not None:
            of = self._cases_of(self._account(asked.account_id, "account_id").id)
        found = [case for case in of if asked.status in (None, case.status)]
        shown, more = page(found, asked.limit, asked.cursor)
        return ListedCases(cases=shown, total=len(found), next_cursor=more)

    @sample_tool(reads=False, only_adds=True)
    def add_note(self, asked: AddNote) -> NoteAdded:
        """Add a note to an account."""
        account = self._account(asked.account_id, "account_id")
        if self._added >= MOST_WRITTEN:
            raise InputInvalid(f"text: this sample takes {MOST_WRITTEN} notes, and has them: start it anew")
        self._added += 1
        note = SampleNote(
            id=f"N-{900 + self._added}", author=_AUTHOR, written_at=self._now(), text=asked.text
        )
        self._accounts[account.id] = account.model_copy(update={"notes": (*account.notes, note)})
        return NoteAdded(account_id=account.id, note=note)

    def _account(self, account_id: str, argument: str) -> SampleAccount:
        if (account := self._accounts.get(account_id)) is None:
            raise InputInvalid(
                f"{argument}: there is no account {account_id!r}: take an id from search_accounts"
            )
        return account

    def _cases_of(self, account_id: str) -> list[SampleCase]:
        return [case for case in self._cases if case.account_id == account_id]

    def _text(self, account: SampleAccount) -> str:
        people = (f"{person.name} {person.email}" for person in account.contacts)
        deals = (deal.name for deal in account.opportunities)
        notes = (f"{note.author} {note.text}" for note in account.notes)
        cases = (f"{case.id} {case.subject} {case.description}" for case in self._cases_of(account.id))
        said = (account.id, account.name, account.status, account.address, account.website)
        return "\n".join((*said, *people, *deals, *notes, *cases))


def crm_server(samples: SampleSet) -> Server[Any]:
    """The MCP server over accounts of its own."""
    return make_sample_server("crm", "Sample CRM", Accounts(samples.crm))


if __name__ == "__main__":
    run_on_stdio(crm_server)
