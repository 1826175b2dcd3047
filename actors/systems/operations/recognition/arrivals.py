"""Whether a clause tells that money came, and not another thing: "INV-7 was sent for payment".

Called by `clause_states`. Money is what came where it is the verb's own: behind no preposition, part of no
other noun ("payment terms"), with no invoice in its place. Words that are no past ("show") need a subject.
"""

from actors.systems.operations.recognition.status_words import listed


def money_came(words: list[str], money: int, verb: int) -> bool:
    """Whether the money at one place is what came by the verb at another; not whether that is denied."""
    if words[money] in listed("sums") and words[verb] not in listed("arrived"):
        return False
    if _head_is_another(words, money) or _is_governed(words, money) or not listed("wait").isdisjoint(words):
        return False
    if verb < money and any(
        _is_invoice(words, n) and not _is_governed(words, n) for n in range(money) if n != verb
    ):
        return False
    if words[verb] in listed("no_past"):
        # `Bestätigen Sie`
        if listed("addressed").intersection(words[verb + 1 : verb + 2]):
            return False
        confirmed = words[verb] not in listed("receipts") or not listed("confirms").isdisjoint(words)
        return confirmed and not listed("writers").isdisjoint(words)
    return True


def _head_is_another(words: list[str], at: int) -> bool:
    """Whether a noun stands right behind one, of which it is a part then: `payment terms`."""
    after = words[at + 1 : at + 2]
    fits = listed(
        "of",
        "prepositions",
        "determiners",
        "has",
        "finite",
        "came",
        "not",
        "since",
        "times",
        "bill",
        "joins",
        "thanking",
        "currencies",
    )
    return bool(after) and bool(after[0]) and after[0] not in fits | listed("writers", "subjects")


def _is_invoice(words: list[str], at: int) -> bool:
    return not words[at] or words[at] in listed("bill")


def _is_governed(words: list[str], at: int) -> bool:
    """Whether a preposition stands before a noun and what belongs to it: `for your last payment`."""
    own = listed("determiners", "adjectives", "bill") | {""}
    at -= 1
    while at >= 0 and words[at] in own:
        at -= 1
    # `receipt of your payment`
    is_of_receipt = bool(listed("receipts").intersection(words[max(0, at - 1) : max(0, at)]))
    return at >= 0 and words[at] in listed("prepositions", "of", "pieces") and not is_of_receipt
