"""The words that say what a number is: `tel.`, `PESEL:`, `Steuer-ID`, `?phone=`.

Recognisers ask here about numbers that many other things look like. A label counts where nothing but signs
stands between it and the number, or a few words that lead on (`phone number is`), or words up to a colon.
"""

import re

from actors.platform.text.lexicon import pattern, words_of_all
from models.knowledge.redaction import PiiKind

_REACH = 40  # characters between a label and its number
_LONGEST = 40
_FILE = "labels"
_BEFORE = r"(?<![^\W\d_]){}(?![^\W\d_])|[☎☏✆📞📱📠]"
_KINDS: tuple[PiiKind, ...] = (
    *("phone", "card", "iban", "pl_pesel", "pl_nip", "pl_regon", "pl_id_document", "us_ssn", "de_steuer_id"),
    *("de_rvnr", "uk_nino", "uk_nhs", "at_svnr", "ch_ahv", "cz_rc", "es_dni", "fr_nir", "it_codice_fiscale"),
    *("nl_bsn", "ip_address"),
)
_LABELS = {kind: pattern(_FILE, kind, _BEFORE) for kind in _KINDS}
_LEADING_ON = words_of_all(_FILE, "leads")
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
