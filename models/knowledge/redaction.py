"""Personal data that is taken out of texts: its kinds, and what was taken out."""

from collections.abc import Mapping
from typing import Literal, get_args

from models.record import Record

# What is found by its form, and where it has one by its checksum. `us_ssn` and `uk_nino` have none.
PiiKind = Literal[
    "email",
    "phone",
    "card",
    "iban",
    "pl_pesel",
    "pl_nip",
    "pl_regon",
    "pl_id_document",  # identity card and passport
    "us_ssn",  # and the ITIN of who has none
    "de_steuer_id",
    "de_rvnr",  # pension insurance
    "uk_nino",
    "uk_nhs",
    "at_svnr",
    "ch_ahv",
    "cz_rc",  # of Czechia and Slovakia
    "es_dni",  # and the NIE of foreigners
    "fr_nir",
    "it_codice_fiscale",
    "nl_bsn",
    "ip_address",
]
PII_KINDS: tuple[PiiKind, ...] = get_args(PiiKind)


class Redacted(Record):
    """A text with `[email]`, `[pesel]`, … in place of what was found; `counts` says how often each kind was.

    A mark is its kind without the country before it. Names that a model found are counted as `person`.
    """

    text: str
    counts: Mapping[str, int]
