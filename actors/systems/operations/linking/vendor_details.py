"""Vendors whose accounts at banks, or addresses to write to, differ between systems.

Called by `conflicts`. Another account of which a mail alone knows is a conflict, whatever else the mails
say; two people of one company are none, but one person with two addresses is, and so are
two companies' domains.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from actors.platform.text.normal_form import without_accents
from actors.systems.operations.linking.evidence_text import Contradiction, Side, place_of, short, side
from actors.systems.operations.linking.vendor_groups import VendorGroups
from actors.systems.operations.recognition import fields
from actors.systems.operations.recognition.addresses import domain_of, emails, is_same_account
from actors.systems.operations.recognition.context import Context
from actors.systems.operations.recognition.item import Detail, ReadItem

_MOST_OF_KEY = 12
_LONGEST_NAME = 80


class _KnownVendor(NamedTuple):
    """A detail of a vendor, and who knows it. `value` is what is compared."""

    value: str
    side: Side


_ByAgent = dict[str, list[_KnownVendor]]


def other_accounts(contexts: Sequence[Context], groups: VendorGroups) -> Iterator[Contradiction]:
    """Accounts that one system has of a vendor, and another one has not."""
    for by_agent in _by_vendor(contexts, groups, "bank").values():
        for first, second in combinations(sorted(by_agent), 2):
            ours, theirs = by_agent[first], by_agent[second]
            apart = not any(is_same_account(one.value, other.value) for one in ours for other in theirs)
            # Whoever writes mails may be anyone: an account that is new in one is told though others are not.
            new = [
                other
                for other in theirs
                if not any(is_same_account(one.value, other.value) for one in ours)
                and (apart or second == "gmail")
            ]
            if new:
                yield _told("bank_details", "is paid to the account", ours[0].side, new[0].side)
                break


def other_contacts(contexts: Sequence[Context], groups: VendorGroups) -> Iterator[Contradiction]:
    """People with other addresses, else vendors with addresses of other companies."""
    told: set[str] = set()
    for (group, _), by_agent in _by_person(contexts, groups).items():
        for first, second in combinations(sorted(by_agent), 2):
            ours, theirs = by_agent[first], by_agent[second]
            known = {one.value for one in ours}
            new = [other for other in theirs if other.value not in known]
            if new and len(new) == len(theirs) and group not in told:
                told.add(group)
                yield _told("contact", "is written to at", ours[0].side, new[0].side)
    for group, by_agent in _by_vendor(contexts, groups, "contact").items():
        for first, second in combinations(sorted(set(by_agent) - {"gmail"}), 2):
            ours, theirs = by_agent[first], by_agent[second]
            apart = {domain_of(one.value) for one in ours}.isdisjoint(domain_of(one.value) for one in theirs)
            if apart and group not in told:
                told.add(group)
                yield _told("contact", "is written to at", ours[0].side, theirs[0].side)


def _told(kind: str, said: str, left: Side, right: Side) -> Contradiction:
    about = _name(left.read) or _name(right.read) or "The vendor"
    return Contradiction(
        "bank_details" if kind == "bank_details" else "contact",
        about,
        left.evidence,
        right.evidence,
        f"{about} {said} “{short(left.words)}” in {place_of(left.read)}, "
        f"but “{short(right.words)}” in {place_of(right.read)}.",
    )


def _name(read: ReadItem) -> str:
    vendors = read.stated("vendor") or read.of("vendor")
    return short(vendors[0].words) if vendors else ""


def _by_vendor(contexts: Sequence[Context], groups: VendorGroups, kind: str) -> dict[str, _ByAgent]:
    found: dict[str, _ByAgent] = defaultdict(lambda: defaultdict(list))
    for place, context in enumerate(contexts):
        of = groups.of(place)
        for detail in context.read.details:
            if detail.kind == kind and len(of) == 1 and _is_said(context, detail):
                known = found[next(iter(of))][context.read.item.agent]
                if len(known) < _MOST_OF_KEY and detail.normal not in {one.value for one in known}:
                    known.append(_KnownVendor(detail.normal, side(context.read, detail)))
    return found


def _is_said(context: Context, detail: Detail) -> bool:
    """Whether it is neither asked for, nor in what a mail answers."""
    sentence = context.sentence_at(detail.leaf, detail.leaf.text.find(detail.words))
    return detail.leaf.value is not None or (sentence is not None and sentence.mark != "?")


def _by_person(
    contexts: Sequence[Context], groups: VendorGroups
) -> dict[tuple[str, frozenset[str]], _ByAgent]:
    found: dict[tuple[str, frozenset[str]], _ByAgent] = defaultdict(lambda: defaultdict(list))
    for place, context in enumerate(contexts):
        of = groups.of(place)
        if len(of) != 1:
            continue
        for name, known in _people(context.read):
            words = frozenset(without_accents(name[:_LONGEST_NAME].replace(",", " ")).split())
            some = found[next(iter(of)), words][context.read.item.agent]
            if len(words) > 1 and len(some) < _MOST_OF_KEY:
                some.append(known)
    return found


def _people(read: ReadItem) -> Iterator[tuple[str, _KnownVendor]]:
    if read.item.agent == "gmail":
        for leaf in read.leaves:
            if leaf.value is None and fields.is_sender(leaf.names):
                for start, end, normal in emails(leaf.text):
                    name = leaf.text[:start].strip(" \"'<")
                    if name and (words := leaf.words(start, end)):
                        yield name, _KnownVendor(normal, Side(read, leaf, words))
                    break
        return
    names = {
        leaf.parent: leaf.text for leaf in read.leaves if leaf.value is None and fields.is_name(leaf.names)
    }
    for detail in read.details:
        if detail.kind == "contact" and detail.leaf.parent and detail.leaf.parent in names:
            yield names[detail.leaf.parent], _KnownVendor(detail.normal, side(read, detail))
