"""Words by which a message is known to be about bills, systems and payments of one's own, in three languages.

For `operations` beside this, which says what they come to. All are searched in messages whose words are
lower-case and without accents (`actors.text.normal_form.words`). Pure.
"""

import re

# Of whom people speak in general. A bill of one of these is nobody's in particular.
_GENERAL = (
    r"(?:a|an|the|any|all|some|more|most|many|other|suppliers?|vendors?|companies|firms?|business(?:es)?|smes?"
    r"|customers?|clients?|banks?|states?|governments?|hospitals?|households?|exporters|importers|consumers"
    r"|europe|germany|poland|france|uk|us|eu|china|ukraine|in|on|over|about|between|versus|and|or|finance"
    r"|financing|credits?|chains?|power|payments?|prices?|rules|law|unternehmen|firmen|betrieben?|kommunen"
    r"|banken|kunden|lieferanten|deutschland|polen|europa|staat\w{0,2}|bund|dem|den|und|oder|uber|zu|im|am"
    r"|firm|przedsiebior\w{1,8}|bankow|klientow|dostawcow|polsce|niemczech|europie|panstw\w{1,3}|i|w|na|oraz)"
)
_BILLS = (
    r"(?:invoices?|(?:eingangs|lieferanten)?rechnung(?:en)?|mahnung(?:en)?|faktur\w{0,3}|rachunek|rachunk\w{1,3}"
    r"|ponagleni\w{1,2}|zahlungserinnerung(?:en)?|dunning letters?|payment reminders?|credit notes?|payables"
    r"|offenen? posten|wezwani\w{1,2} do zaplaty)"
)
_OWN = r"(?:our|my|unser\w{0,2}|mein\w{0,2}|nasz\w{0,3}|moj\w{0,3})"

BILL = re.compile(rf"\b(?:{_BILLS}|(?:{_OWN}|their|its|s) (?:[a-z]{{1,20}} )?bills?|bills? from|billing)\b")
# A bill by its number: in a form that only bills have, or after their name. A year may be just a year.
CODED = re.compile(r"\b(?:inv|fv|fvs|fvat)(?: (?:no|nr|number))? ?[0-9]")
COUNTED = re.compile(
    r"\b(?:invoice|rechnung|faktur[aey]|fakture|fakturze|faktury)"
    r"(?: (?:no|nr|number|num|numer|nummer|id))? (?!(?:19[0-9]{2}|20[0-3][0-9])\b)[a-z]{0,3}[0-9]"
)
# What bills and orders are also called, where something else says that they are meant.
SHORT = re.compile(r"\b(?:re|rg|po|fs|fa|order|rechnung|invoice|faktur[ay])(?: (?:no|nr|number|nummer))? [0-9]")

PARTNER = re.compile(
    r"\b(?:(?!(?:it|that|what|where|who|how|here|there|let|today|he|she|country|world)\b)"
    rf"(?!{_GENERAL} )[a-z0-9]{{2,30}} s (?:[a-z]{{1,20}} )?(?:invoices?|bills?|payments?|money)"
    rf"|(?:{_BILLS}|bills?) (?:from|by|of|for|von|vom|der|des|bei|od|dla|firmy|do)"
    rf" (?:the )?(?!{_GENERAL}\b)[a-z0-9]{{2,30}}"
    r"|(?:vendor|supplier|customer|client|lieferant(?:en)?|kreditor|kunden?|firma|firmy|firmie|dostawc\w{1,3}"
    rf"|kontrahent\w{{0,4}}|klient\w{{0,3}}) (?!{_GENERAL}\b)[a-z0-9]{{3,30}}"
    rf"|{_OWN} (?:[a-z]{{1,20}} )?(?:{_BILLS}|bills?|vendors?|suppliers?|lieferant(?:en)?|dostawc\w{{1,3}})"
    r"|(?:the|this|that|diese|die|der|ta|te|tej|ta) (?:[a-z0-9]{1,30} )?(?:invoice|rechnung|mahnung|faktur[aey])"
    r"|gmbh|inc|ltd|llc|sp z o o)\b"
)
# How it stands with a bill, or what does not fit.
STATE = re.compile(
    r"\b(?:late|overdue|unpaid|paid|pay|owed?|owes|due|open|outstanding|missing|missed|duplicates?|duplicated"
    r"|twice|bounced|returned|wrong|mismatch\w{0,4}|match(?:es)?|fit|status|settled|disput\w{1,3}"
    r"|discrepanc\w{1,3}|differ\w{0,3}|going on|offen\w{0,2}|bezahl\w{1,2}|gezahlt|unbezahlt\w{0,2}"
    r"|uberfallig\w{0,2}|fallig\w{0,2}|(?:an)?gemahnt|mahnt|uberwiesen|doppelt\w{0,2}|fehl(?:t|en)|stimm(?:t|en)"
    r"|pass(?:t|en)|los|(?:nie)?zaplac\w{1,8}|(?:nie)?oplac\w{1,6}|przetermin\w{1,8}|zalegl\w{1,3}|otwart\w{1,2}"
    r"|(?:s|o)pozni\w{1,6}|termin\w{0,3}|duplikat\w{0,3}|dwa razy|podwojn\w{1,3}|brak\w{0,4}|zgadza\w{0,3}"
    r"|dzieje|wisimy)\b"
)
# Paying, or not, of ours: with whom, says `PARTNER`.
PAYS = re.compile(
    r"\b(?:paid|pay|owe|missed payment|(?:his|her|its|their) money|bezahlt|gezahlt|uberwiesen"
    r"|zaplac\w{1,8}|wisimy|mahn(?:t|en)|ponagl\w{1,5})\b"
)
OURS = re.compile(
    r"\b(?:(?:did|have|had|should|do) we|we (?:owe|paid|pay|have|haven|havent|did|didn|didnt|got)|haben wir"
    r"|wir (?:\w{1,12} ){0,2}(?:bezahlt|gezahlt|uberwiesen)|(?:mahn(?:t|en)|schreibt|fordert) uns"
    r"|zaplacilismy|zaplacilysmy|wisimy|nam (?:\w{1,12} ){0,1}(?:przyslal\w?|ponagl\w{1,5}))\b"
)
WHY = re.compile(
    r"\b(?:why|whether|check|look (?:into|it|up|in)|find (?:out|why)|figure out|know|warum|wieso|weshalb|pruf\w{0,3}"
    r"|schau\w{0,2}|nachsehen|finde? (?:raus|heraus)|klar\w{0,2}|dlaczego|czemu|czy|sprawdz\w{0,3}|zobacz|dowiedz"
    r"|wyjasni\w{0,2}|has|hasn|hasnt|hat|wurde)\b"
)
# "Why hasn't Parkview been paid": one that waits for money of ours, by name.
WAITS = re.compile(
    rf"\bwhy (?:has|hasn t|hasnt|was|wasn t|wasnt|is|isn t|isnt) (?!{_GENERAL}\b)(?:[a-z0-9]{{2,30}} ){{1,3}}"
    r"(?:not )?(?:been |getting |being )?paid\b"
)
SENT = re.compile(
    rf"\b(?:payments?|transfers?) to (?!{_GENERAL}\b)[a-z0-9]{{2,30}}|zahlung(?:en)? an (?!{_GENERAL}\b)[a-z0-9]{{2,30}}"
    rf"|uberweisung an (?!{_GENERAL}\b)[a-z0-9]{{2,30}}|przelew\w{{0,2}} (?:do|dla) (?!{_GENERAL}\b)[a-z0-9]{{2,30}}"
)
CAME_BACK = re.compile(
    r"\b(?:bounc\w{1,3}|return\w{0,3}|fail\w{0,3}|reject\w{0,3}|missing|missed|stuck|zuruck\w{0,10}|geplatzt"
    r"|fehlgeschlagen|abgelehnt|wroci\w{1,3}|zwroc\w{1,4}|odrzuc\w{1,5}|utkn\w{1,4})\b"
)
ACCOUNT = re.compile(
    r"\b(?:bank (?:details|account|data)|account number|iban|bankdaten|bankverbindung|kontonummer|kontodaten"
    r"|numer\w{0,2} (?:konta|rachunku)|dan\w{1,3} bankow\w{1,3})\b"
)
CHANGED = re.compile(r"\b(?:chang\w{1,3}|new|swapped|neue\w?|geander\w{1,3}|gewechselt|zmieni\w{1,4}|now\w{1,3})\b")
# Systems that agents read, each by the names that people give it.
SYSTEMS = (
    re.compile(r"\b(?:gmail\w{0,2}|in ?box|e ?mails?|mails?|mailach|mailami|maile|maili|poczt\w{1,2}|postfach|postach)\b"),
    re.compile(
        r"\b(?:accounts? payable|payables|ap|bill com|buchhaltung|kreditoren\w{0,12}|offenen? posten"
        r"|zobowiazani\w{1,4}|rozrachunk\w{1,4}|ksiegowo\w{1,4}|(?:our|mails and|mail and) bills)\b"
    ),
    re.compile(r"\b(?:crm\w{0,2}|salesforce\w{0,2}|sales force)\b"),
)
COMPARES = re.compile(
    r"\b(?:reconcil\w{1,5}|match|cross ?check|cross check|compare|discrepanc\w{1,3}|contradict\w{1,5}|look in|check"
    r"|(?:does|doesn|doesnt|do|don) (?:t )?(?:fit|match)|mismatch\w{0,4}|abgleich\w{0,3}|gleiche?|vergleiche?n?"
    r"|widerspruch\w{0,2}|abweichung\w{0,2}|schau\w{0,2}|such\w{0,2}|uzgodni\w{0,4}|porown\w{1,4}|zestaw\w{0,2}"
    r"|rozbieznosc\w{0,3}|rozlicz\w{0,2}|sprawdz\w{0,3}|poszukaj)\b"
)

# What is published, or is to be written or looked for elsewhere.
PUBLISHED = re.compile(
    r"\b(?:articles?|artyku\w{1,5}|artikel\w{0,2}|publi[cs]\w{1,10}|veroffentlich\w{0,3}|opublikuj\w{0,2}|write"
    r"|writing|drafts?|napisz\w{0,3}|pisalismy|pisano|schreib\w{0,2}|headlines?|essay|literatur\w{0,2}|quellen"
    r"|knowledge base|baz\w{1,2} wiedzy|wissens\w{1,8}|news|nachricht\w{0,3}|wiadomosc\w{0,3}|web|internet\w{0,2}"
    r"|netz|sieci|raport\w{0,2}|our (?:piece|story)|tekst\w{0,2}|(?:we|have we) (?:wrote|written|say|said)"
    r"|research\w{0,2}|recherch\w{1,5}|abschnitt|absatz|redaktion|section|paragraph|akapit\w{0,2})\b"
)
# What concerns everybody.
GENERAL_MATTERS = re.compile(
    r"\b(?:directives?|regulations?|laws?|legislation|polic(?:y|ies)|mandat\w{1,4}|e ?invoic\w{1,4}|factoring"
    r"|markets?|sector|economy|economic\w{0,1}|industry|surveys?|statistics?|average|europe\w{0,2}|eu|governments?"
    r"|congress|senate|parliament|commons|house|treasury|t bills?|gdp|inflation|earnings|stocks?|shares|outage"
    r"|mortgages?|smes?|companies|richtlinie\w{0,1}|\w{1,20}richtlinie|verordnung|gesetz\w{0,2}|\w{0,20}pflicht"
    r"|e ?rechnung\w{0,2}|\w{0,5}rechnungshof|mittelstand\w{0,2}|wirtschaft\w{0,6}|branche|statistik\w{0,2}"
    r"|durchschnitt\w{0,5}|europa\w{0,6}|insolvenz\w{0,2}|zahlungsmoral|aktien?|kurs|storung|zahlungsbilanz|bip"
    r"|firmen|unternehmen|dyrektyw\w{1,2}|ustaw\w{1,2}|rozporzadz\w{1,4}|ksef\w{0,2}|e ?faktur\w{1,6}|faktoring\w{0,2}"
    r"|rynk\w{1,4}|rynek|sektor\w{0,2}|gospodark\w{1,2}|statystyk\w{0,2}|sredni\w{1,4}|ue|europ\w{1,6}|zator\w{0,4}"
    r"|akcji|gield\w{1,4}|awari\w{1,2}|bilans\w{0,2}|podatk\w{1,5}|firmy nie)\b"
)
DEFINES = re.compile(
    r"(?:(?:what|whats|what s) (?:(?:is|are) )?(?:an?|accounts|the difference|meant)|what does|define|explain"
    r"|was (?:ist|sind|bedeute[tn]) (?:ein\w{0,2}|der unterschied)|erklar\w{0,2}|czym (?:jest|sa)|co (?:to|oznacza)"
    r"(?! za)|wyjasnij(?: mi)? czym)\b"
)
