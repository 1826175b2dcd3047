"""The words that say what a number is: `tel.`, `PESEL:`, `Steuer-ID`, `?phone=`.

Recognisers ask here about numbers that many other things look like. A label counts where nothing but signs
stands between it and the number, or a few words that lead on (`phone number is`), or words up to a colon.
"""

import re

from models.knowledge.redaction import PiiKind

_REACH = 40  # characters between a label and its number
_LONGEST = 40
_WORDS: dict[PiiKind, str] = {
    "phone": (
        r"tel|telef\.|telefon(?:u|y|em|ie|icznie|iczny|nummer|isch)?|tele?phones?|téléphone|tél|teléfono"
        r"|telefono|telefoon|phone|phones|mobile?|mobiltelefon|mobilnummer|komórk[aiąeę]|komórkowy|kom"
        r"|cell|cellphone|handy|handynummer|rufnummer|durchwahl|fernruf|fax|faks|faksu|telefax|infolini[aię]"
        r"|hotline|whatsapp|viber|signal|sms|call|zadzwoń|dzwoń|dzwonić|anrufen|callto|wa\.me"
    ),
    "card": (
        r"cards?|karty|kartą|kartę|karta|kart|kreditkarten?|kreditkartennummer|kartennummer|karte|visa"
        r"|master ?card|amex|american express|maestro|pan|creditcard"
    ),
    "iban": r"iban|kont[oaeu]|rachun(?:ek|ku|kiem)|nrb|account|kontonummer|bankverbindung",
    "pl_pesel": r"pesel(?:u|em|owi)?",
    "pl_nip": r"nip|vat|tin|tax id|ust-id(?:nr)?",
    "pl_regon": r"regon(?:u|em)?",
    "pl_id_document": (
        r"dow[oó]d(?:u|em)?(?: osobist(?:y|ego|ym))?|seria i (?:numer|nr)|serii i numerze|id card"
        r"|identity card|personalausweis|paszport(?:u|em)?|passport|reisepass"
    ),
    "us_ssn": r"ssn|ssns|social security|soc\.? sec\.?|itin|taxpayer id(?:entification)?",
    "de_steuer_id": (
        r"steuer-?id(?:nr|entnummer|entifikationsnummer)?|steuer-?identnummer"
        r"|steuerliche identifikationsnummer|id-?nr|identifikationsnummer|tin|tax id"
    ),
    "de_rvnr": r"(?:renten|sozial)?versicherungsnummer|rvnr|sv-?nummer|svnr",
    "uk_nino": r"nino|national insurance|ni (?:number|no)",
    "uk_nhs": r"nhs",
    "at_svnr": r"svnr|sv-nr|vsnr|(?:sozial)?versicherungsnummer|sv-nummer",
    "ch_ahv": r"ahv|ahvn13|avs|ahv-?nummer|sozialversicherungsnummer",
    "cz_rc": r"rodn[ée] č[íi]slo|rč|r\.? ?č|birth number",
    "es_dni": r"dni|nif",
    "fr_nir": r"nir|insee|sécurité sociale|sécu",
    "it_codice_fiscale": r"codice fiscale|c\.?f",
    "nl_bsn": r"bsn|burgerservicenummer|sofi-?nummer",
    "ip_address": r"ip|ipv4|ipv6|ip-adresse|adresu? ip|host|server|serwer",
}
_LABELS = {
    kind: re.compile(rf"(?<![^\W\d_])(?:{words})(?![^\W\d_])|[☎☏✆📞📱📠]", re.IGNORECASE)
    for kind, words in _WORDS.items()
}
_LEADS = (
    "number no nr num numer numeru numerem nummer is are to jest ist lautet on at under pod unter us me "
    "my mi mnie do of the and or und oder i lub oraz albo et o la le card id kom mobile home work office "
    "biuro dom private prywatny służbowy domowy kontaktowy direct line pacjenta osoby code kod"
)
_LEADING_ON = frozenset(_LEADS.split())
_LETTERS = re.compile(r"[^\W\d_]+")
_TO_A_COLON = re.compile(r":[\s*_]*\Z")
_NEW_SENTENCE = re.compile(r"[.!?]\s+[A-ZŁŚŻŹĆÓÄÖÜ]")


def labelled(text: str, start: int, kind: PiiKind) -> bool:
    """Whether what begins at `start` is said to be of the kind, just before it."""
    labels = _LABELS.get(kind)
    if labels is None:
        return False
    window = text[max(start - _REACH - _LONGEST, 0) : start]
    return any(_leads_on(window[label.end() :]) for label in labels.finditer(window))


def _leads_on(between: str) -> bool:
    if len(between) > _REACH:
        return False
    words = _LETTERS.findall(between)
    if not words:
        return between.count("\n") <= 2
    if "\n" in between or _NEW_SENTENCE.search(between):
        return False
    return bool(_TO_A_COLON.search(between)) or all(word.lower() in _LEADING_ON for word in words)
