"""Where items contradict each other, or one lacks what another has: each with both sides' words.

Called by `link`. Nothing is a conflict that may be read in two ways, and nothing is judged: who is right is
for whoever approves the results to say.
"""

from collections.abc import Sequence

from actors.systems.operations.linking.contradictions import StandingClaims
from actors.systems.operations.linking.evidence_text import Contradiction
from actors.systems.operations.linking.invoice_gaps import duplicates, missing
from actors.systems.operations.linking.pairing import LinkedPairOfItems
from actors.systems.operations.linking.vendor_details import other_accounts, other_contacts
from actors.systems.operations.linking.vendor_groups import VendorGroups
from actors.systems.operations.recognition.claim import InvoiceClaim
from actors.systems.operations.recognition.context import Context
from models.operations.evidence import Conflict


def conflicts_of(
    contexts: Sequence[Context],
    claims: Sequence[Sequence[InvoiceClaim]],
    pairs: Sequence[LinkedPairOfItems],
) -> list[Conflict]:
    """All conflicts, numbered from 1: those of invoices, those of vendors, then what is missing."""
    groups = VendorGroups([context.read for context in contexts])
    told = StandingClaims(contexts, claims, groups, pairs)
    found: dict[tuple[str, ...], Contradiction] = {}
    for one in (
        *told.of_numbers(),
        *told.without_number(),
        *other_accounts(contexts, groups),
        *other_contacts(contexts, groups),
        *duplicates(contexts, claims, groups),
        *missing(contexts, claims, groups),
    ):
        found.setdefault((one.kind, one.left.item, one.right.item, one.about), one)
    return [Conflict(number=number, **one._asdict()) for number, one in enumerate(found.values(), 1)]
