"""Numbers that states give to people and traders, each with its checksum and the forms it is written in.

Checksums are python-stdnum's, but for those it has none of. Dates within numbers must be days on which
somebody who lives could be born. The forms are strict where a number stands without its label.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

import stdnum.at.vnr
import stdnum.ch.ssn
import stdnum.cz.rc
import stdnum.de.idnr
import stdnum.es.dni
import stdnum.es.nie
import stdnum.fr.nir
import stdnum.gb.nhs
import stdnum.it.codicefiscale
import stdnum.nl.bsn
import stdnum.pl.nip
import stdnum.pl.pesel
import stdnum.pl.regon
import stdnum.us.itin
import stdnum.us.ssn

from actors.systems.knowledge.redaction.finding import Judge, Recogniser
from models.knowledge.redaction import PiiKind

_SEPARATORS = re.compile(r"[ ./-]")
_OLDEST = 120  # years


def _if_valid(valid: Callable[[str], bool]) -> Judge:
    """A judge for the whole of a candidate, without its separators."""

    def judge(match: re.Match[str]) -> int | None:
        return match.end() if valid(_SEPARATORS.sub("", match.group()).upper()) else None

    return judge


def _lived(year: int, month: int, day: int) -> bool:
    try:
        born = date(year, month, day)
    except ValueError:
        return False
    today = date.today()
    return born <= today and today.year - born.year <= _OLDEST


def _of_this_or_last_century(month: int, day: int, year: int) -> bool:
    return any(_lived(century + year, month, day) for century in (1900, 2000))


def _pesel(number: str) -> bool:
    # Twenty is added to the months of this century; who is of another is dead or not born.
    month = int(number[2:4])
    year = int(number[:2]) + (1900 if month <= 12 else 2000)
    born = month <= 32 and _lived(year, month % 20, int(number[4:6]))
    return born and stdnum.pl.pesel.is_valid(number)


def _tax_number(number: str) -> bool:
    return number.removeprefix("PL")[0] != "0" and stdnum.pl.nip.is_valid(number)


def _us(number: str) -> bool:
    return stdnum.us.ssn.is_valid(number) or stdnum.us.itin.is_valid(number)


def _pension(number: str) -> bool:
    """German pension insurance: VKVV §2; the letter counts by its place in the alphabet."""
    born = number[2:4], number[4:6], number[6:8]
    day, month, year = (int(part) for part in born)
    if not _of_this_or_last_century(month, day, year):
        return False
    digits = f"{number[:8]}{ord(number[8]) - 64:02}{number[9:11]}"
    products = (int(digit) * weight for digit, weight in zip(digits, _PENSION, strict=True))
    return sum(product // 10 + product % 10 for product in products) % 10 == int(number[11])


_PENSION = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)


def _identity_document(number: str) -> bool:
    """Polish identity card (3 letters, 6 digits) or passport (2 and 7), with the weights of each."""
    weights = (7, 3, 1, 9, 7, 3, 1, 7, 3) if number[2].isalpha() else (7, 3, 9, 1, 7, 3, 1, 7, 3)
    return sum(int(sign, 36) * weight for sign, weight in zip(number, weights, strict=True)) % 10 == 0


def _austrian(number: str) -> bool:
    day, month, year = int(number[4:6]), int(number[6:8]), int(number[8:])
    return _of_this_or_last_century(month, day, year) and stdnum.at.vnr.is_valid(number)


def _birth_number(number: str) -> bool:
    if len(number) == 9:  # until 1953, without a check digit
        return False
    return stdnum.cz.rc.is_valid(number)


def _french(number: str) -> bool:
    return number[0] in "12" and stdnum.fr.nir.is_valid(number)


@dataclass(frozen=True)
class _Form:
    """How a kind is written, without what stands around it, and what is true of such a number.

    `alone`: it needs no label. `letters`: it begins with one, so a letter before it makes it another word.
    """

    kind: PiiKind
    form: str
    valid: Callable[[str], bool]
    alone: bool = True
    letters: bool = False


_FORMS = (
    # Texts are folded, so that \d is one of ten. A number of 11 digits stands for itself; with blanks between
    # threes it is mostly an amount.
    _Form("pl_pesel", r"\d{6}[ -]?\d{5}", _pesel),
    _Form("pl_pesel", r"\d{2} \d{2} \d{2} \d{5}", _pesel),
    _Form("de_steuer_id", r"[1-9]\d{10}", stdnum.de.idnr.is_valid),
    _Form(
        "de_steuer_id",
        r"[1-9]\d[ ./-]\d{3}[ ./-]\d{3}[ ./-]\d{3}",
        stdnum.de.idnr.is_valid,
        alone=False,
    ),
    _Form(
        "pl_nip",
        r"\d{3}-\d{3}-\d{2}-\d{2}|\d{3}-\d{2}-\d{2}-\d{3}",
        _tax_number,
    ),
    _Form(
        "pl_nip",
        r"(?<![0-9] )(?:\d{3} \d{3} \d{2} \d{2}|\d{3} \d{2} \d{2} \d{3})(?! [0-9])",
        _tax_number,
    ),
    _Form(
        "pl_nip",
        r"PL[ -]?(?:\d{10}|\d{3}[ -]\d{3}[ -]\d{2}[ -]\d{2})",
        _tax_number,
        letters=True,
    ),
    _Form("pl_nip", r"\d(?:[ -]?\d){9}", _tax_number, alone=False),
    _Form("pl_regon", r"\d(?:[ -]?\d){8}|\d{9}[ -]?\d{5}", stdnum.pl.regon.is_valid, alone=False),
    _Form(
        "pl_id_document",
        r"[A-Z]{3} ?\d{6}|[A-Z]{2} ?\d{7}",
        _identity_document,
        alone=False,
        letters=True,
    ),
    _Form("us_ssn", r"\d{3}-\d{2}-\d{4}", _us),
    _Form("us_ssn", r"\d{3}[ .]?\d{2}[ .]?\d{4}", _us, alone=False),
    _Form("de_rvnr", r"\d{2} ?\d{6} ?[A-Z] ?\d{3}", _pension),
    _Form("de_rvnr", r"\d{2} \d{2} ?\d{2} ?\d{2} [A-Z] \d{2} ?\d", _pension),
    _Form("uk_nhs", r"\d{3}[ -]?\d{3}[ -]?\d{4}", stdnum.gb.nhs.is_valid, alone=False),
    _Form("at_svnr", r"(?<![0-9] )[1-9]\d{3}[ -]\d{6}(?! [0-9])", _austrian),
    _Form("at_svnr", r"[1-9]\d{9}|[1-9]\d{3} \d{2} \d{2} \d{2}", _austrian, alone=False),
    _Form("ch_ahv", r"756([ .]?)\d{4}\1\d{4}\1\d{2}", stdnum.ch.ssn.is_valid),
    _Form("cz_rc", r"\d{6}/\d{4}", _birth_number),
    _Form("cz_rc", r"\d{6} ?\d{4}", _birth_number, alone=False),
    _Form("cz_rc", r"\d{6}/?\d{3}", stdnum.cz.rc.is_valid, alone=False),
    _Form("es_dni", r"\d{8}-?[A-Z](?!\w)", stdnum.es.dni.is_valid),
    _Form("es_dni", r"[XYZ]-?\d{7}-?[A-Z](?!\w)", stdnum.es.nie.is_valid, letters=True),
    _Form("fr_nir", r"[12]\d{4}(?:\d|[0-9][AB])\d{8,9}", _french),
    _Form("fr_nir", r"[12] \d{2} \d{2} (?:\d{2}|2[AB]) \d{3} \d{3} \d{2}", _french),
    _Form(
        "it_codice_fiscale",
        r"[A-Z]{3} ?[A-Z]{3} ?[0-9L-NP-V]{2}[A-EHLMPRST][0-9L-NP-V]{2} ?[A-Z][0-9L-NP-V]{3}[A-Z](?!\w)",
        stdnum.it.codicefiscale.is_valid,
        letters=True,
    ),
    _Form(
        "nl_bsn",
        r"\d{4}\.?\d{2}\.?\d{3}|\d{3} \d{3} \d{3}",
        stdnum.nl.bsn.is_valid,
        alone=False,
    ),
)
_NO_LETTER, _NO_DIGIT = r"(?<![^\W_])", r"(?<![0-9])"
RECOGNISERS: tuple[Recogniser, ...] = (
    *(
        Recogniser(
            form.kind,
            re.compile(
                rf"{_NO_LETTER if form.letters else _NO_DIGIT}(?:{form.form})(?![0-9])", re.IGNORECASE
            ),
            _if_valid(form.valid),
            stands_alone=form.alone,
        )
        for form in _FORMS
    ),
    Recogniser(
        "uk_nino",
        # HMRC, NIM39110: the letters that prefixes have.
        re.compile(
            r"(?<![^\W_])(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]"
            r"(?: [0-9]{2} [0-9]{2} [0-9]{2} |[0-9]{6} ?)[A-D](?![^\W_])"
        ),
        re.Match.end,
    ),
)
