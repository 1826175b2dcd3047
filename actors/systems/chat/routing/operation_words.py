"""Words by which a message is known to be about bills, systems and payments of one's own, in three languages.

For `operations` beside this, which says what they come to. All are searched in messages whose words are
lower-case and without accents (`actors.platform.text.normal_form.words`). In each list English comes first,
then German, then Polish. Pure.
"""

import re

# Of whom people speak in general, and what is no name: a bill of one of these is nobody's in particular.
_GENERAL = (
    r"(?:an?|the|any|all|some|more|most|many|other|each|every|this|that|what|who|how|it|in|on|over"
    r"|about|between"
    r"|versus|and|or|per|suppliers?|vendors?|companies|firms?|business(?:es)?|smes?|customers?|clients?"
    r"|banks?"
    r"|states?|governments?|hospitals?|households?|exporters|importers|consumers|farmers|europe|germany"
    r"|poland"
    r"|france|uk|us|eu|china|ukraine|russia|greece|italy|spain|hungary|turkey|imf|world|country|today"
    r"|finance"
    r"|financing|credits?|chains?|power|payments?|prices?|rules|law|money|electronic|average|open"
    r"|typical|single"
    r"|unternehmen|firmen|betrieben?|kommunen|banken|kunden|lieferanten|handwerkern?|deutschland|polen"
    r"|europa"
    r"|staat\w{0,2}|bund|dem|den|der|die|und|oder|uber|zu|im|am"
    r"|firm|przedsiebior\w{1,8}|bankow|klientow|dostawcow|eksporterow|szpitali|gmin|polsce|polski|niemczech"
    r"|europie|panstw\w{1,3}|i|w|na|o|oraz|nie)"
)
_NAME = rf"(?!{_GENERAL}\b)[a-z0-9]{{2,30}}"
_OWN = r"(?:our|my|unser\w{0,2}|mein\w{0,2}|nasz\w{0,3}|moj\w{0,3})"
_INVOICE = (
    r"(?:invoice|credit note|dunning letter|(?:eingangs|lieferanten)?rechnung|mahnung"
    r"|zahlungserinnerung|gutschrift"
    r"|faktur(?:[aey]|ze|ach)|rachunek|ponagleni\w{1,2}|wezwani\w{1,2} do zaplaty|korekt\w{1,2} faktury)"
)
_BILLS = (
    rf"(?:{_INVOICE}|invoices|credit notes|dunning letters|payment reminders?|payables"
    rf"|(?:eingangs)?rechnungen"
    r"|mahnungen|gutschriften|offenen? posten|faktur\w{0,3}|rachunk\w{1,3})"
)
_PARTNERS = (
    r"(?:vendor|supplier|customer|client|lieferant(?:en)?|kreditor|kunden?|firma|firmy|firmie"
    r"|dostawc\w{1,3}"
    r"|kontrahent\w{0,4}|klient\w{0,3})"
)

BILL = re.compile(
    rf"\b(?:{_BILLS}|(?:{_OWN}|their|its|s|unpaid|overdue|outstanding|duplicate) (?:[a-z]{{1,20}} )?bills?"
    r"|bills? from|billing)\b"
)
# One bill of one named partner.
ITS_BILL = re.compile(rf"\b(?:{_INVOICE} (?:from|by|for|von|od|dla) {_NAME}|{_NAME} s invoice)\b")
# A bill by its number: in a form that only bills have, or after their name. A year may be just a year.
CODED = re.compile(r"\b(?:inv|fv|fvs|fvat)(?: (?:no|nr|number))? ?[0-9]")
COUNTED = re.compile(
    r"\b(?:invoice|rechnung|rechnungsn(?:umme)?r|rgnr|faktur(?:[aey]|ze))"
    r"(?: (?:no|nr|number|num|numer|nummer|id))? (?:(?!in|of|by|im|am|zu|on|at|to|w|z|o|i)[a-z]{1,3} )?"
    r"(?!(?:19[0-9]{2}|20[0-3][0-9])\b)[a-z]{0,3}[0-9]"
)
# What bills are also called, where something else says that they are meant.
SHORT = re.compile(
    r"\b(?:re|rg|fs|fa|re nr|po nr|po no|rechnung|invoice|faktur[ay]) (?!(?:19|20)[0-9]{2}\b)[0-9]"
    r"|\bpo [0-9]{4}[0-9]"
)

# A partner by name.
NAMED = re.compile(
    rf"\b(?:{_NAME} s (?:[a-z]{{1,20}} )?(?:invoices?|bills?)|(?:{_BILLS}|bills?) (?:from|by|for|von"
    rf"|vom|bei|od|dla"
    rf"|firmy|do) (?:the )?{_NAME}|{_PARTNERS} {_NAME}|{_NAME} invoice|gmbh|inc|ltd|llc|sp z o o)\b"
)
# Somebody's bill, or a partner, without a name.
OWN = re.compile(
    rf"\b(?:{_OWN} (?:[a-z]{{1,20}} )?(?:{_BILLS}|bills?|vendors?|suppliers?|lieferant(?:en)?"
    rf"|dostawc\w{{1,3}})"
    rf"|(?:the|this|that|diese|die|der|ta|te|tej) (?:[a-z0-9]{{1,30}} )?(?:invoice|rechnung|mahnung"
    rf"|faktur[aey]))\b"
)
# What is there to be settled, rather than what is usual.
LEFT = re.compile(
    r"\b(?:which|still (?:open|unpaid|outstanding|missing|overdue)|welche|noch|ktore|jakies|jeszcze)\b"
)
# How it stands with a bill, or what does not fit.
STATE = re.compile(
    r"\b(?:late|overdue|unpaid|paid|pay|owed?|owes|due|open|outstanding|missing|missed|duplicates?"
    r"|duplicated|twice"
    r"|identical|bounced|returned|wrong|mismatch\w{0,4}|match(?:es)?|fit|status|settled|disput\w{1,3}"
    r"|discrepanc\w{1,3}|differ\w{0,3}|going on|happen\w{0,3}|cleared"
    r"|offen\w{0,2}|bezahl\w{1,2}|gezahlt|unbezahlt\w{0,2}|uberfallig\w{0,2}|fallig\w{0,2}"
    r"|(?:an)?gemahnt|mahnt"
    r"|uberwiesen|beglichen|passiert|doppelt\w{0,2}|identisch\w{0,2}|fehl(?:t|en)|stimm(?:t|en)"
    r"|pass(?:t|en)|los"
    r"|(?:nie)?zaplac\w{1,8}|(?:nie)?oplac\w{1,6}|przetermin\w{1,8}|zalegl\w{1,3}|otwart\w{1,2}|(?:s"
    r"|o)pozni\w{1,6}"
    r"|termin\w{0,3}|duplikat\w{0,3}|dwa razy|podwojn\w{1,3}|brak\w{0,4}|zgadza\w{0,3}|dzieje|stalo"
    r"|uregulowan\w{1,2}|rozliczon\w{1,2}|wisimy)\b"
)
# Paying, or not, of ours: with whom, a partner's name says.
PAYS = re.compile(
    r"\b(?:paid|pay|owe|missed payment|(?:his|her|its|their) money|geld|bezahlt|gezahlt|uberwiesen"
    r"|zaplac\w{1,8}"
    r"|pieniedzy|wisimy)\b"
)
# What is owed by us, whoever says so.
OWES = re.compile(
    r"\b(?:we (?:still |really |actually )?owe|do we (?:still )?owe|owe to|schulden wir"
    r"|wir (?:\w{1,12} )?schulden"
    r"|jestesmy (?:\w{1,12} )?winni|winni jestesmy|wisimy)\b"
)
CLAIMS = re.compile(
    r"\b(?:claim(?:s|ed|ing)?|say(?:s|ing)?|said|insists?|complain(?:s|ed|ing)?|behauptet|sagt|meint"
    r"|schreibt"
    r"|beschwert|twierdz\w{1,2}|mowi\w{0,2}|pisz[ea]|skarz\w{1,2}|uwaza\w{0,2})\b"
)
WE_PAID = re.compile(
    r"\b(?:we (?:have |haven t |havent |did |didn t |didnt |never |not |already |still ){0,3}(?:paid"
    r"|pay|owe|settled)"
    r"|(?:did|have|had|should|do) we (?:\w{1,10} )?(?:pay|paid)|haben wir (?:\w{1,15} ){0,5}(?:bezahlt"
    r"|uberwiesen)"
    r"|wir (?:\w{1,12} ){0,3}(?:bezahlt|gezahlt|uberwiesen|schulden)"
    r"|(?:nie )?zaplacilismy|nie placimy|zalegamy|wisimy)\b"
)
# Reminders that came to us; bills that were made out to us.
REMINDS = re.compile(
    r"\b(?:payment reminders?|dunning|mahn(?:t|en|te|ten) uns|uns (?:an)?(?:gemahnt|mahnt)|mahnung(?:en)?"
    r"|zahlungserinnerung(?:en)?|mahnstufe|ponagl\w{1,6}|wezwani\w{1,2} do zaplaty|windykacj\w)\b"
)
BILLED = re.compile(
    r"\b(?:(?:we|us) (?:\w{1,10} ){0,2}(?:been )?(?:double )?(?:billed|invoiced|charged)"
    r"|(?:double )?(?:bill|bills|billed|billing|invoic\w{1,3}|charg\w{1,3}) us"
    r"|uns (?:\w{1,12} ){0,3}(?:abgerechnet|berechnet|in rechnung gestellt)"
    r"|(?:wystaw\w{1,5}|policzy\w{1,2}|obciazy\w{1,2}) nam|nam (?:\w{1,12} ){0,2}(?:wystaw|policzy"
    r"|faktur)\w{1,5})\b"
)
WHY = re.compile(
    r"\b(?:why|whys|whether|check|investigate|look (?:into|it|up|in)|find (?:out|why)|figure out|know"
    r"|has|hasn|hasnt"
    r"|warum|wieso|weshalb|pruf\w{0,3}|schau\w{0,2}|nachsehen|finde? (?:raus|heraus)|klar\w{0,2}|hat|wurde"
    r"|dlaczego|czemu|czy|sprawdz\w{0,3}|zobacz|zbadaj|dowiedz|wyjasni\w{0,2})\b"
)
# "Why hasn't Parkview been paid", "the Kestrel bill is not paid": who waits for money of ours, by name.
WAITS = re.compile(
    rf"\b(?:why (?:has|hasn t|hasnt|was|wasn t|wasnt|is|isn t"
    rf"|isnt) (?!{_GENERAL}\b)(?:[a-z0-9]{{2,30}} ){{1,3}}"
    r"(?:not )?(?:been |getting |being )?paid|the (?!(?:energy|electricity|gas|water|tax"
    r"|pension) )[a-z0-9]{2,30} bill"
    r" (?:is |was |still |hasn t been |not |been |over ){0,3}(?:paid|unpaid|overdue|due|late)"
    rf"|{_NAME} has (?:not|never) (?:received|got) (?:the |its |his |any )?(?:payment|money))\b"
)
SENT = re.compile(
    rf"\b(?:(?:the|our) (?!(?:interest|coupon|debt|bond|dividend|pension|first|last|next) ){_NAME} payment"
    rf"|{_NAME} s payment|(?:payments?|transfers?) to {_NAME}|(?:zahlung(?:en)?|uberweisung) an {_NAME}"
    rf"|przelew\w{{0,2}} (?:do|dla) {_NAME})\b"
)
TRANSFER = re.compile(
    r"\b(?:payments?|transfers?|money|zahlung|uberweisung|geld|przelew\w{0,2}|pieni\w{2,5})\b"
)
CAME_BACK = re.compile(
    r"\b(?:bounc\w{1,3}|return\w{0,3}|fail\w{0,3}|reject\w{0,3}|missing|missed|stuck|arriv\w{1,3}"
    r"|zuruck\w{0,10}"
    r"|geplatzt|fehlgeschlagen|abgelehnt|angekommen|wroci\w{1,3}|zwroc\w{1,4}|odrzuc\w{1,5}|utkn\w{1,4}"
    r"|dotar\w{1,3}"
    r"|doszed\w|doszla)\b"
)
# What is there of a partner: what is left to pay, a balance, a bill that is not paid or is disputed.
LEFT_WITH = re.compile(
    r"\b(?:(?:unpaid|overdue|outstanding|uberfallig\w{0,2}|zalegl\w{1,4}|przetermin\w{1,6})"
    rf" (?!(?:work|care|labou?r|intern) )(?:[a-z]{{1,20}} ){{0,2}}(?:from|for|with|at|von|bei|od|wobec"
    rf"|dla) {_NAME}"
    rf"|(?:our|open|unser\w{{0,2}}|offene\w|nasze|mamy) (?:[a-z]{{1,20}} )?(?:balance|saldo)"
    rf" (?:with|at|bei|mit|z|u) {_NAME}"
    rf"|(?:unpaid|overdue|unbezahlt\w{{1,2}}|offene[nr]?|niezaplacon\w{{1,3}}|zaleg\w{{1,3}}) {_INVOICE}"
    r"|(?:chas(?:es|ing)|pressing|pestering) us)\b"
)
DISPUTE = re.compile(r"\b(?:disput\w{1,3}|angry|streit\w{0,3}|reklam\w{1,6}|spor\w{0,4}|kwestion\w{1,5})\b")
BILL_DISPUTED = re.compile(rf"\b(?:{_BILLS}|{_NAME} bill)\b")
# Papers by their number, which may be of anything, and what becomes of such papers in the books.
PAPER = re.compile(
    r"\b(?:bill|voucher|payment ref\w{0,6}|beleg|dokument|dokumentu) (?:(?:no|nr|number|nummer) )?[0-9]{3}"
)
BOOKED = re.compile(
    r"\b(?:on hold|blocked|booked|posted|released|gesperrt|gebucht|verbucht|freigegeben|zablokowan\w{1,2}"
    r"|zaksiegowan\w{1,2}|zatwierdz\w{1,5})\b"
)
REFUND = re.compile(r"\b(?:refunds?|ruckerstattung(?:en)?|erstattung(?:en)?|zwrot\w{0,2})\b")
# Partners as they stand in the books.
LISTED = re.compile(
    r"\b(?:(?:vendor|supplier) (?:list|records?|master|table)|(?:lieferanten|kreditoren)(?:liste"
    r"|stamm\w{0,7})"
    r"|(?:lieferant|kreditor)(?:en)? (?:\w{1,20} ){1,4}(?:im system|in der liste)"
    r"|(?:list|kartote)\w{1,3} (?:dostawcow|kontrahentow))\b"
)
TWICE = re.compile(
    r"\b(?:twice|duplicat\w{1,3}|double|doppelt\w{0,2}|zweimal|dwa razy|podwojn\w{1,3}|duplikat\w{0,3})\b"
)
ACCOUNT = re.compile(
    r"\b(?:bank (?:details|account|data)|account number|iban|bankdaten|bankverbindung|kontonummer"
    r"|kontodaten"
    r"|numer\w{0,2} (?:konta|rachunku)|dan\w{1,3} bankow\w{1,3})\b"
)
CHANGED = re.compile(
    r"\b(?:chang\w{1,3}|new|swapped|neue\w?|geander\w{1,3}|gewechselt|zmieni\w{1,4}|now\w{1,3}|inn[ye])\b"
)
# Systems that agents read, each by the names that people give it.
SYSTEMS = (
    re.compile(r"\b(?:gmail\w{0,2}|in ?box|e ?mails?|mails?|mail(?:ach|ami|e|i)|poczt\w{1,2}|postfach)\b"),
    re.compile(
        r"\b(?:accounts? payable|accounting|payables|ap|bill com|(?:our|mails? and) bills"
        r"|buchhaltung|kreditoren\w{0,12}|offenen? posten|zobowiazani\w{1,4}|rozrachunk\w{1,4}"
        r"|ksiegowo\w{1,4})\b"
    ),
    re.compile(r"\b(?:crm\w{0,2}|salesforce\w{0,2}|sales force)\b"),
)
# The systems that hold nothing but what is one's own.
BOOKS = re.compile(
    r"\b(?:accounts? payable|accounting|bill com|buchhaltung|ksiegowo\w{1,4}|crm\w{0,2}|salesforce)\b"
)
# Mail from somebody by name.
MAIL_FROM = re.compile(
    rf"\b(?:e ?mails?|mails?|mail(?:e|i|ach|ami)) (?:gibt es |there are )?(?:from|von|od) {_NAME}"
)
ABOUT_MONEY = re.compile(
    r"\b(?:payments?|paid|(?:be)?zahlung\w{0,2}|platnosc\w{0,2}|zaplat\w{1,2}|przelew\w{0,2})\b"
)
COMPARES = re.compile(
    r"\b(?:reconcil\w{1,5}|match|cross ?check|compare|agrees?|belongs?|discrepanc\w{1,3}"
    r"|contradict\w{1,5}|look in"
    r"|check|(?:does|doesn|doesnt|do|don) (?:t )?(?:fit|match)|mismatch\w{0,4}"
    r"|abgleich\w{0,3}|gleiche?|vergleiche?n?|gehort|widerspruch\w{0,2}|abweichung\w{0,2}|schau\w{0,2}"
    r"|such(?:e|t|en)?"
    r"|uzgodni\w{0,4}|porown\w{1,4}|zestaw\w{0,2}|rozbieznosc\w{0,3}|rozlicz\w{0,2}|sprawdz\w{0,3}"
    r"|poszukaj)\b"
)

# What is published, or is to be written or looked for elsewhere.
PUBLISHED = re.compile(
    r"\b(?:articles?|publi[cs]\w{1,10}|write|writing|drafts?|headlines?|essay|our (?:piece|story)|news"
    r"|web|google"
    r"|(?:we|have we) (?:wrote|written|say|said)|knowledge base|section|paragraph|research\w{0,2}"
    r"|artikel\w{0,2}|veroffentlich\w{0,3}|schreib\w{0,2}|literatur\w{0,2}|quellen|wissens\w{1,8}"
    r"|nachricht\w{0,3}"
    r"|internet\w{0,2}|netz|recherch\w{1,5}|abschnitt|absatz|redaktion"
    r"|artyku\w{1,5}|opublikuj\w{0,2}|napisz\w{0,3}|pisalismy|pisano|baz\w{1,2} wiedzy|wiadomosc\w{0,3}"
    r"|sieci"
    r"|raport\w{0,2}|tekst\w{0,2}|akapit\w{0,2})\b"
)
# What concerns everybody.
GENERAL_MATTERS = re.compile(
    r"\b(?:directives?|regulations?|laws?|legislation|polic(?:y|ies)|mandat\w{1,4}|e ?invoic\w{1,4}"
    r"|factoring"
    r"|markets?|sector|economy|economics?|industry|surveys?|statistics?|average|europe\w{0,2}|eu"
    r"|governments?"
    r"|congress|senate|parliament|commons|house|treasury|t bills?|gdp|inflation|earnings|stocks?|shares"
    r"|outage"
    r"|mortgages?|smes?|companies|pricing"
    r"|\w{0,20}richtlinien?|verordnung|gesetz\w{0,2}|\w{0,20}pflicht|e ?rechnung\w{0,2}|\w{0,5}rechnungshof"
    r"|mittelstand\w{0,2}|wirtschaft\w{0,6}|branche|statistik\w{0,2}|durchschnitt\w{0,5}|europa\w{0,6}|bip"
    r"|insolvenz\w{0,2}|zahlungsmoral|aktien?|kurs|storung|zahlungsbilanz|firmen|unternehmen"
    r"|rechnung (?:geht|ging|ohne)|prasentiert\w{0,2} \w{1,12} die rechnung"
    r"|dyrektyw\w{1,2}|ustaw\w{1,2}|rozporzadz\w{1,4}|ksef\w{0,2}|e ?faktur\w{1,6}|faktoring\w{0,2}"
    r"|rynk\w{1,4}|rynek"
    r"|sektor\w{0,2}|gospodark\w{1,2}|statystyk\w{0,2}|sredni\w{1,4}|ue|europ\w{1,6}|zator\w{0,4}|akcji"
    r"|gield\w{1,4}"
    r"|awari\w{1,2}|bilans\w{0,2}|podatk\w{1,5}|firmy nie)\b"
)
DEFINES = re.compile(
    r"(?:(?:what|whats|what s) (?:(?:is|are) )?(?:an?|accounts|the difference|meant)|what does|define"
    r"|explain"
    r"|was (?:ist|sind|bedeute[tn]) (?:ein\w{0,2}|der unterschied)|erklar\w{0,2}"
    r"|czym (?:jest|sa)|co (?:to|oznacza)(?! za)|wyjasnij(?: mi)? czym)\b"
)
