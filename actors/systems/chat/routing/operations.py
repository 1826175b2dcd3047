"""What a message says of operations: that one is to begin, or which one it is about, and to be cancelled.

Asked by the router before it compares, and by the agents that answer. Operations read the site's own mail,
bills and accounts, so a message must be about somebody's bill or payment, or name systems or an operation;
bills in general are for articles. One that is there is named by its number. Pure.
"""

import re
from typing import NamedTuple

from actors.platform.text.normal_form import words
from actors.systems.chat.routing import operation_words as signs
from actors.systems.chat.routing.deep_research import asks_for_deep_research

_OPERATION = r"(?:operation|operacj[aeio]|vorgang)"
_POLITE = (
    r"(?:please|pls|plz|can you|could you|would you|let s|i (?:want|d like|need) (?:you )?(?:to )?"
    r"|bitte|kannst du"
    r"|konntest du|konnen sie|prosze|czy mozesz|mozesz|ok|hey|hi)"
)
_NEW = r"(?:(?:an? )?new|another|(?:einen |ein )?neue[nr]?|nowa|kolejna)"
# Begins a message that wants one by its name. What follows says that it is none of the market's or an army's.
_BEGINS = re.compile(
    rf"(?:{_POLITE} ?){{0,4}}"
    r"(?:(?:(?:run|start|begin|launch|kick off|do|open|make|create|trigger|set up|i need|i want"
    r"|i d like|starten?"
    r"|beginne?n?|leg|lege|eroffne\w?|fuhre?|mache?|uruchom\w{0,3}|zacznij\w{0,2}|zaczac|rozpocznij\w{0,2}"
    r"|odpal\w{0,2}|zrob\w{0,2}|zaloz\w{0,2}) )"
    r"(?:(?:me|mir|mal|bitte|prosze|mi) ){0,2}(?:(?:an?|one|the|einen?|ne|jedna) )?)?"
    rf"(?:{_NEW} )?{_OPERATION}(?P<about> (?:colon|to|on|about|for|into|why|what|find|check|is|does|has"
    rf"|did|are|zu|zur"
    r"|zum|wegen|warum|uber|durch|ob|fur|hat|w sprawie|dotyczac\w{1,3}|dlaczego|czemu|czy|sprawdz|dla|o"
    r"|zeby)\b|$)"
)
_NAMED = re.compile(
    rf"\b(?:{_OPERATION}|operacja mi|vorgangs)(?: (?:no|nr|number|num|id|numer|nummer"
    rf"|numero))? (?P<number>[0-9]{{1,9}})\b"
    r"(?! (?:[0-9]|(?:billions?|millions?|days?|percent|mrd|mld|mln|prozent|procent|tage|dni|years?"
    r"|jahre|lat|bp|bn)\b))"
)
_CANCELS = re.compile(
    r"\b(?:cancel|stop|abort|halt|end|kill|terminate|quit|stoppe?n?|abbrechen|brich|brecht|beende\w?"
    r"|storniere?n?"
    r"|zatrzymaj\w{0,2}|zatrzymac|przerwij\w{0,2}|przerwac|anuluj\w{0,2}|anulowac|zakoncz\w{0,2}"
    r"|odwolaj\w{0,2})\b"
)
_ASKS_OR_FORBIDS = re.compile(
    r"(?:why|who|when|what|how|did|does|was|is|has|have|were|warum|wer|wann|was|wie|wurde|ist|hat"
    r"|dlaczego|czemu|kto"
    r"|kiedy|co|jak|czy(?! (?:mozesz|mozecie|moglbys|moglabys|mozna|da sie)))\b"
    r"|.{0,120}\b(?:don t|dont|do not|not|never|nicht|nie)\b"
)
_WRITES = re.compile(r"(?:write|draft|publish|napisz|opublikuj|schreib\w{0,2}|veroffentlich\w{0,2})\b")
# Words that are mistyped most, and what is none of them though it is near.
_MEANT = (
    *(
        "invoice",
        "invoices",
        "overdue",
        "reconcile",
        "operation",
        "rechnung",
        "rechnungen",
        "vorgang",
        "mahnung",
    ),
    *("faktura", "faktury", "fakture", "operacja", "operacje", "operacji"),
)
_AS_THEY_ARE = frozenset(
    {
        "operations",
        "operating",
        "vorrang",
        "vorgange",
        "faktur",
        "fakturze",
        "fakturom",
        "wohnung",
        "meinung",
        "ahnung",
    }
)
_LEAST_LETTERS = 6
# Who asks after one writes little; of a long question its beginning says what it is.
_MOST_NAMED, _HEAD = 200, 300


class OperationNamed(NamedTuple):
    """An operation that a message is about; `cancels`: it is to be cancelled."""

    number: int
    cancels: bool


def is_bare_wish(message: str) -> bool:
    """Whether a message wants an operation and does not say about what."""
    found = _BEGINS.fullmatch(_read(message))
    return found is not None and not found["about"]


def operation_named(message: str) -> OperationNamed | None:
    """The operation that a message asks after, or wants cancelled, by its number."""
    if len(message) > _MOST_NAMED:
        return None
    said = _read(message)
    if (found := _NAMED.search(said)) is None or _WRITES.match(said) or _BEGINS.match(said):
        return None
    cancels = _CANCELS.search(said) is not None and _ASKS_OR_FORBIDS.match(said) is None
    return OperationNamed(number=int(found["number"]), cancels=cancels)


def asks_for_operation(message: str) -> bool:
    """Whether a message asks for an operation: it says so, or is about one's own bill, payment or systems.

    It need not be sure: whoever sent it is asked before anything begins. Deep research is none.
    """
    if asks_for_deep_research(message):
        return False
    said = _read(message)
    if _BEGINS.match(said):
        return True
    if signs.PUBLISHED.search(said) or signs.DEFINES.match(said):
        return False
    if signs.CODED.search(said) or signs.COUNTED.search(said):
        return True
    if signs.GENERAL_MATTERS.search(said):
        return False
    return _is_about_a_bill(said) or _is_about_a_payment(said) or _is_about_systems(said)


def _is_about_a_bill(said: str) -> bool:
    """One bill of somebody by name; or several, or one that has no name, and how it stands with it."""
    if _has(said, signs.SHORT, signs.STATE) or _has(said, signs.ITS_BILL):
        return True
    if _has(said, signs.LEFT_WITH) or _has(said, signs.BILL_DISPUTED, signs.DISPUTE):
        return True
    if _has(said, signs.PAPER) and (_has(said, signs.BOOKED) or _has(said, signs.STATE)):
        return True
    if not _has(said, signs.BILL):
        return False
    if _has(said, signs.NAMED):
        return _has(said, signs.STATE) or _has(said, signs.WHY) or _has(said, signs.ACCOUNT)
    return _has(said, signs.STATE) and (_has(said, signs.OWN) or _has(said, signs.LEFT))


def _is_about_a_payment(said: str) -> bool:
    """A payment of ours, or one that is asked of us; or the account that it goes to."""
    if _has(said, signs.OWES) or _has(said, signs.BILLED) or _has(said, signs.WAITS):
        return True
    if _has(said, signs.SENT) and (_has(said, signs.CAME_BACK) or _has(said, signs.TWICE)):
        return True
    if _has(said, signs.CLAIMS, signs.WE_PAID) or _has(said, signs.REFUND, signs.BOOKED):
        return True
    if _has(said, signs.LISTED, signs.TWICE):
        return True
    is_partner = _has(said, signs.NAMED) or _has(said, signs.OWN)
    if _has(said, signs.REMINDS) and (is_partner or _has(said, signs.WHY) or _has(said, signs.CLAIMS)):
        return True
    if _has(said, signs.ACCOUNT, signs.CHANGED) or _has(said, signs.PAYS, signs.WHY):
        return is_partner
    if _has(said, signs.TRANSFER, signs.CAME_BACK):
        return is_partner
    return _has(said, signs.WE_PAID) and (is_partner or _has(said, signs.BILL) or _systems(said) > 0)


def _is_about_systems(said: str) -> bool:
    """What one system says, beside another or beside bills; or mail of somebody about money."""
    several = _systems(said)
    if several > 1 or _has(said, signs.MAIL_FROM, signs.ABOUT_MONEY):
        return True
    if _has(said, signs.BOOKS) and (_has(said, signs.BILL) or _has(said, signs.PAYS)):
        return True
    is_ones_own = _has(said, signs.BILL) or _has(said, signs.NAMED) or _has(said, signs.OWN)
    return several == 1 and is_ones_own and _has(said, signs.COMPARES)


def _systems(said: str) -> int:
    return sum(system.search(said) is not None for system in signs.SYSTEMS)


def _has(said: str, *each: re.Pattern[str]) -> bool:
    return all(sign.search(said) for sign in each)


def _read(message: str) -> str:
    """The words that a message begins with; those that it cannot do without are spelt right."""
    said = words(message[:_HEAD].replace("#", " number ").replace(":", " colon "))
    return " ".join(map(_spelt, said.split()))


def _spelt(word: str) -> str:
    if len(word) < _LEAST_LETTERS or word in _MEANT or word in _AS_THEY_ARE:
        return word
    return next((meant for meant in _MEANT if _is_a_slip(word, meant)), word)


def _is_a_slip(typed: str, meant: str) -> bool:
    """One letter too many, too few or wrong, or two that changed places."""
    if abs(len(typed) - len(meant)) > 1:
        return False
    least = min(len(typed), len(meant))
    begin = next((at for at in range(least) if typed[at] != meant[at]), least)
    end = next((at for at in range(least - begin) if typed[-1 - at] != meant[-1 - at]), least - begin)
    left, right = typed[begin : len(typed) - end], meant[begin : len(meant) - end]
    return max(len(left), len(right)) == 1 or (len(left) == 2 and left == right[::-1])
