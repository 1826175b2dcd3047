"""What agents found, linked: which items are about the same, by what, and where they contradict each other.

Called, in a thread, by whoever compiles an operation's results. No model has a say in it. The result is the
same in whatever order the items come; the time is about linear in what is read of them.
"""

import re
from collections import Counter
from collections.abc import Sequence

from actors.systems.operations.linking.contradictions import StandingClaims
from actors.systems.operations.linking.evidence_text import Contradiction
from actors.systems.operations.linking.invoice_gaps import duplicates, missing
from actors.systems.operations.linking.pairing import LinkedPairOfItems, pairs_of
from actors.systems.operations.linking.vendor_details import other_accounts, other_contacts
from actors.systems.operations.linking.vendor_groups import VendorGroups
from actors.systems.operations.recognition.claim import InvoiceClaim
from actors.systems.operations.recognition.claims import claims_of
from actors.systems.operations.recognition.context import Context
from actors.systems.operations.recognition.item import ReadItem, read_fields, read_texts
from actors.systems.operations.recognition.unread import unread_of
from actors.systems.operations.recognition.vendors import KnownVendors
from models.operations.evidence import Conflict, Correlation, CorrelationFigures, Identifier, LinkedItems
from models.operations.items import SourceItem

_NUMBER = re.compile(r"\d{1,9}")


def link(items: Sequence[SourceItem]) -> LinkedItems:
    """Find identifiers, correlations, conflicts and the four figures of some items.

    Pure and deterministic. Of an item some 16,000 characters of long texts and as many of short values are
    read.
    """
    read = _read(items)
    pairs = pairs_of(read)
    identifiers = tuple(
        Identifier(
            item=one.item.id, kind=found.kind, path=found.leaf.path, words=found.words, normal=found.normal
        )
        for one in read
        for found in one.findings
    )
    correlations = tuple(
        Correlation(
            number=number,
            left=read[pair.left].item.id,
            right=read[pair.right].item.id,
            score=pair.score,
            matches=pair.matches,
        )
        for number, pair in enumerate(pairs, 1)
    )
    contexts = [Context(one) for one in read]
    said = [claims_of(context) for context in contexts]
    conflicts = tuple(conflicts_of(contexts, [one.clear for one in said], pairs))
    linked = {place for pair in pairs for place in (pair.left, pair.right)}
    return LinkedItems(
        identifiers=identifiers,
        correlations=correlations,
        conflicts=conflicts,
        figures=figures_of(len(items), identifiers, correlations, conflicts),
        unread=tuple(
            one
            for place, context in enumerate(contexts)
            for one in unread_of(context, said[place].understood, is_linked=place in linked)
        ),
    )


def vendors_in(items: Sequence[SourceItem]) -> list[str]:
    """The vendors that items name, in their words, the most frequent first."""
    named = Counter(found.words for one in _read(items) for found in one.findings if found.kind == "vendor")
    return [words for words, _ in named.most_common()]


def _read(items: Sequence[SourceItem]) -> list[ReadItem]:
    read = sorted(map(read_fields, items), key=_order)
    vendors = KnownVendors(found.words for one in read for found in one.of("vendor"))
    invoices = frozenset(found.normal for one in read for found in one.stated("invoice"))
    for one in read:
        read_texts(one, vendors, invoices)
    return read


def _order(read: ReadItem) -> tuple[object, ...]:
    """By id, `gmail/2` before `gmail/10`; of one id by what it says."""
    numbers = [int(number) for number in _NUMBER.findall(read.item.id)]
    said = [(leaf.path, leaf.text) for leaf in read.leaves]
    return _NUMBER.split(read.item.id)[0], numbers, read.item.id, read.item.tool, read.item.call, said


def conflicts_of(
    contexts: Sequence[Context],
    claims: Sequence[Sequence[InvoiceClaim]],
    pairs: Sequence[LinkedPairOfItems],
) -> list[Conflict]:
    """All conflicts, numbered from 1: those of invoices, those of vendors, then what is missing.

    Each has both sides' words. What may be read in two ways is no conflict, and nobody judges who is right.
    """
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


def figures_of(
    items: int,
    identifiers: Sequence[Identifier],
    correlations: Sequence[Correlation],
    conflicts: Sequence[Conflict],
) -> CorrelationFigures:
    """The figures of so many items; the formulas are in `CorrelationFigures`."""
    agreeing = sum(len({match.kind for match in correlation.matches}) for correlation in correlations)
    compared = agreeing + len(conflicts)
    consistency = agreeing / compared if compared else 0.0
    linked = {item for correlation in correlations for item in (correlation.left, correlation.right)}
    share = min(len(linked) / items, 1.0) if items else 0.0
    sureness = sum(one.score for one in correlations) / len(correlations) if correlations else 0.0
    vendors = {(found.item, found.normal) for found in identifiers if found.kind == "vendor"}
    return CorrelationFigures(
        cross_references=len(correlations),
        data_consistency=round(consistency, 4),
        vendor_mentions=len(vendors),
        quality_score=round(min((share + sureness + consistency) / 3, 1.0), 4),
    )
