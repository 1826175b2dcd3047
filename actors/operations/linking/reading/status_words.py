"""The words with which people say that something is paid, or not, in English, German and Polish.

Called by `statuses`. They are compared in small letters and without accents. Which words turn round what is
said, leave it open or change nothing is in the folders of the languages (`payments.yaml`).
"""

import re
from functools import cache
from typing import Literal

from actors.knowledge.entities.names import without_accents
from actors.text.language import Language
from actors.text.lexicon import word_set
from models.text import word_list

PaymentState = Literal["paid", "partly", "open", "void"]


def _plain(words: str) -> frozenset[str]:
    return frozenset(map(without_accents, word_list(words)))


VALUES: dict[str, PaymentState] = {
    **dict.fromkeys(
        [
            "paid",
            "paid in full",
            "fully paid",
            "settled",
            "cleared",
            "payment received",
            "remitted",
            "bezahlt",
            "beglichen",
            "ausgeglichen",
            "zaplacona",
            "zaplacone",
            "zaplacono",
            "oplacona",
            "oplacone",
            "rozliczona",
            "uregulowana",
        ],
        "paid",
    ),
    **dict.fromkeys(
        [
            "partially paid",
            "partly paid",
            "partial",
            "partial payment",
            "partially settled",
            "teilweise bezahlt",
            "teilbezahlt",
            "czesciowo zaplacona",
            "czesciowo oplacona",
        ],
        "partly",
    ),
    **dict.fromkeys(
        [
            "unpaid",
            "not paid",
            "not yet paid",
            "outstanding",
            "overdue",
            "past due",
            "pastdue",
            "due",
            "payment due",
            "awaiting payment",
            "payment pending",
            "pending payment",
            "delinquent",
            "unbezahlt",
            "nicht bezahlt",
            "offen",
            "uberfallig",
            "ausstehend",
            "fallig",
            "niezaplacona",
            "nieoplacona",
            "nieuregulowana",
            "przeterminowana",
            "zalegla",
            "do zaplaty",
            "po terminie",
            "oczekuje na platnosc",
        ],
        "open",
    ),
    **dict.fromkeys(
        [
            "void",
            "voided",
            "cancelled",
            "canceled",
            "written off",
            "storniert",
            "anulowana",
            "anulowano",
            "wycofana",
        ],
        "void",
    ),
}
# They say how a payment stands only of what is to be paid: a case may be closed, too.
OF_PAYMENTS: dict[str, PaymentState] = {
    "open": "open",
    "pending": "open",
    "closed": "paid",
    "otwarta": "open",
}
OF_PAYMENTS |= {
    "zamknieta": "paid",
    "approved": "open",
    "scheduled": "open",
    "geschlossen": "paid",
    "authorized": "open",
    "authorised": "open",
}

PAID = _plain(
    "paid settled bezahlt beglichen überwiesen ausgeglichen zapłacono zapłacona zapłacone zapłacony "
    "zapłaciliśmy zapłaciłem zapłaciłam opłacono opłacona opłacone opłaciliśmy uregulowano uregulowana "
    "uregulowaliśmy rozliczona przelano przelaliśmy pay remitted"
)
OPEN = _plain(
    "unpaid outstanding overdue unbezahlt unbeglichen überfällig ausstehend ausstehende offen niezapłacona "
    "niezapłacone niezapłacono nieopłacona nieopłacone nieuregulowana nieuregulowane przeterminowana "
    "zaległa zaległe pastdue"
)
# Nouns that are paid, and what is done with them.
MONEY = _plain(
    "payment payments money funds remittance transfer zahlung zahlungen zahlungseingang geldeingang "
    "überweisung środki środków płatność płatności zapłata zapłaty zapłatę przelew przelewu wpłata "
    "wpłaty wpłatę pieniądze pieniędzy geld wpływ wpływu"
)
CAME = _plain(
    "landed came receipt show see sehen verbucht gebucht verzeichnet feststellen booked credited "
    "recorded received receive arrived arrive reached cleared sent made completed processed posted got "
    "get eingegangen eingang angekommen erhalten widzimy widać potwierdzam potwierdzamy wpłynęły "
    "dotarły eingetroffen geleistet gutgeschrieben otrzymaliśmy otrzymano otrzymałem wyszedł wyszła "
    "wysłany wysłano zaksięgowaliśmy zaksięgowałem zaksięgowałam otrzymałam wpłynęła wpłynął wpłynęło "
    "dotarła dotarł zaksięgowana zaksięgowano zrealizowana"
)
WAIT = _plain(
    "waiting await awaiting awaited wait pending missing czeka czekają warten warte erwarten fehlt "
    "aussteht steht czekamy czekam oczekujemy oczekuję brak brakuje"
)
NOT = _plain(
    "not never no none nothing nor without neither cannot isn't wasn't hasn't haven't hadn't aren't "
    "weren't didn't don't doesn't isnt wasnt hasnt havent hadnt arent werent didnt nicht nie niemals "
    "kein keine keinen keinerlei nigdy bez failed unable nobody noone niemand nikt"
)
LONGER = _plain("longer mehr już")
# Before what they are said of it has not happened, or nobody knows.
IF = _plain(
    "if whether unless once when until till before should would could may might wenn falls ob sobald sofern "
    "bevor bis jeśli jeżeli czy gdy gdyby kiedy zanim dopóki"
)
UNTIL = _plain("bis until till do")
NOW = _plain("now today date heute jetzt dato dziś dzisiaj teraz")
WILL = _plain(
    "mark set treat book markieren markiere buchen oznacz oznaczyć will shall must please kindly can to "
    "intend plan planned going expect expected ask request want need "
    "schedule wird werden soll sollen sollte muss müssen bitte können kann möchten zu będzie zostanie "
    "zostaną będą proszę prosimy powinna powinno powinien należy trzeba można"
)
THINK = _plain(
    "think thought believe believed assume assumed suppose maybe perhaps probably possibly apparently "
    "allegedly guess hope supposedly claim claims claimed glaube glauben denke vermutlich vielleicht "
    "wahrscheinlich angeblich myślę sądzę chyba może prawdopodobnie podobno rzekomo marked shown listed "
    "shows flagged appears markiert oznaczona widnieje"
)
PART = _plain(
    "partially partly partial half part deposit teilweise anteilig anzahlung częściowo zaliczka some"
)
HAS = _plain(
    "is was has have had been were are be we already fully i've we've they've you've it's i they ist war "
    "wurde wurden haben hat sind bereits schon została zostało zostały są jest był była już"
)
# `the paid invoice`, `a list of paid bills`: no statement; `Paid on June 3rd` is one, `Paid leave` none.
BEFORE_ATTRIBUTES = _plain(
    "the a an any all each every your our my their his her this that these those of for with no most some "
    "other amount total"
)
BEHIND_PAID = _plain("on in by via with today yesterday already at from to and the our your it this per full")

_LANGUAGES: tuple[Language, ...] = ("en", "de", "pl")


@cache
def listed(key: str) -> frozenset[str]:
    """The words under a key of `payments.yaml`, of all three languages: a mail may be in any."""
    return frozenset(without_accents(word) for one in _LANGUAGES for word in word_set(one, "payments", key))


@cache
def vocabulary() -> frozenset[str]:
    """The words that are known: those of which each says something of a payment, or changes nothing of it."""
    some = (PAID, OPEN, MONEY, CAME, WAIT, NOT, LONGER, UNTIL, NOW, PART, HAS)
    return frozenset().union(*some, *map(listed, ("plain", "denies", "reports", "yes", "no", "yet")))


@cache
def finder(key: str) -> re.Pattern[str]:
    """What finds a word of those under a key in a text of small letters without accents; `*`: any ending."""
    spelled = "|".join(sorted(re.escape(word).replace(r"\*", r"\w{0,30}") for word in listed(key)))
    return re.compile(rf"(?<!\w)(?:{spelled})(?!\w)")
