"""A claim: what somebody says of one thing about one invoice, in words that stand at a place."""

from typing import Literal, NamedTuple

from actors.systems.operations.recognition.json_fields import JsonField

ClaimKind = Literal["status", "amount", "due_date", "release"]


class InvoiceClaim(NamedTuple):
    """What is said of an invoice, by its normal form; empty: of all that the item is about.

    `stated`: by a field. `who` says it: a system, or the domain of a mail's sender; `when`, a time that
    sorts, empty where it is not
    known or holds until now. `sums` are amounts that the same sentence names.
    """

    kind: ClaimKind
    invoice: str
    value: str
    leaf: JsonField
    words: str
    stated: bool
    who: str = ""
    when: str = ""
    sums: frozenset[str] = frozenset()
