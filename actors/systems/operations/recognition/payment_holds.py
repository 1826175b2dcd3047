"""Whether something may be paid: it is held back, disputed, approved, or a hold was lifted.

Called by `claims`. By the value of a status and by what a sentence says, in three languages; what is asked,
denied or might be says nothing.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Literal, NamedTuple

from actors.platform.text.normal_form import without_accents
from actors.systems.operations.recognition.sentences import SentenceSpan, sentences
from models.text import word_list

Release = Literal["hold", "disputed", "approved", "cleared"]

_VALUES: dict[str, Release] = {
    **dict.fromkeys(
        ["on hold", "hold", "payment hold", "held", "blocked", "payment blocked", "suspended", "gesperrt"],
        "hold",
    ),
    **dict.fromkeys(["zahlungssperre", "wstrzymana", "wstrzymane", "zablokowana", "angehalten"], "hold"),
    **dict.fromkeys(["disputed", "in dispute", "dispute", "contested", "strittig", "reklamiert"], "disputed"),
    **dict.fromkeys(["beanstandet", "bestritten", "sporna", "reklamacja", "zakwestionowana"], "disputed"),
    **dict.fromkeys(
        ["approved", "scheduled", "authorized", "authorised", "released", "freigegeben"], "approved"
    ),
    **dict.fromkeys(["approved for payment", "ready to pay", "payment scheduled", "genehmigt"], "approved"),
    **dict.fromkeys(
        ["eingeplant", "zur zahlung freigegeben", "zatwierdzona", "zaplanowana", "zaakceptowana"], "approved"
    ),
}
_LIFTED = re.compile(
    r"(?<![^\W_])(?:no longer (?:on hold|disputed|blocked|in dispute)"
    r"|(?:hold|block|dispute)s? (?:is |are |was |were |has been |have been )?(?:now )?"
    r"(?:lifted|removed|released|resolved|settled|cleared|withdrawn)"
    r"|(?:lifted|removed|released|resolved|settled) the (?:hold|block|dispute)"
    r"|nicht mehr (?:gesperrt|strittig)|sperre (?:ist |wurde )?(?:wieder )?(?:aufgehoben|entfernt)"
    r"|(?:reklamation|beanstandung) (?:ist |wurde )?(?:erledigt|beigelegt|geklärt|zurückgezogen)"
    r"|odblokowan[aey]|blokad[aęy] (?:została |jest )?(?:zdjęt[aą]|zniesion[aą])|zdjęto blokadę"
    r"|nie jest już (?:wstrzyman|sporn)[ay]|reklamacj[aęi] (?:została )?(?:rozpatrzon|zamknięt|wycofan)[aą])",
    re.IGNORECASE,
)
_DISPUTED = re.compile(
    r"(?<![^\W_])(?:disput(?:ed|es?|ing)|contest(?:ed|ing)|reklam(?:iert|ation|ieren)|beanstand(?:et|en|ung)"
    r"|strittig|bestritten|bestreiten|reklamacj[aąęi]|(?:za)?reklam(?:ujemy|owana|owaliśmy|owano)"
    r"|sporn[aey]|kwestionuj(?:ę|emy)|zakwestionowa(?:na|no|liśmy))(?![^\W_])",
    re.IGNORECASE,
)
_HELD = re.compile(
    r"(?<![^\W_])(?:(?:put |is |are |still |placed |was )?on hold"
    r"|(?:do not|don['’]t|must not|mustn['’]t|should not|shouldn['’]t|shall not|not to|may not)"
    r" (?:be )?(?:pay|paid|go out|release|released)"
    r"|no payments?(?= ?(?:[,.;:]|\Z|until|before|to |till))"
    r"|(?:hold|stop|withhold|suspend|freeze) (?:back )?(?:the |all |any |our )?payments?"
    r"|payments?(?: [^\s.,;]{1,20}){0,4} (?:stopped|suspended|withheld|frozen|held back)"
    r"|(?:blocked for|not released for) payment|payment block"
    r"|nicht (?:be|aus)?zahlen|nicht (?:zu )?überweisen|nicht freigegeben|nicht (?:zur zahlung )?freigeben"
    r"|zahlungs(?:sperre|stopp)|(?:zur|für die) zahlung gesperrt|zahlung(?: [^\s.,;]{1,20}){0,4} "
    r"(?:gestoppt|ausgesetzt|angehalten|gesperrt|zurückgehalten|zurückgestellt)"
    r"|zahlen wir (?:erst|vorerst nicht|nicht)"
    r"|h[aä]lt(?:en|et|e)?(?: \w{1,12}){0,4} zahlung(?: \w{1,12}){0,3} zurück"
    r"|zahlung(?: \w{1,12}){0,3} zurückhalten|wstrzyman[aey]|wstrzyma(?:ć|jcie|liśmy|no)"
    r"|nie (?:płac(?:ić|imy|ić)|opłacać|wypłacać|realizować płatności)|proszę nie płacić"
    r"|zablokowan[aey]|blokad[aą] płatności)(?![^\W_])",
    re.IGNORECASE,
)
_APPROVED = re.compile(
    r"(?<![^\W_])(?:(?:is|was|are|been|now) (?:approved|scheduled|authorised|authorized)"
    r"|(?:approved|scheduled|cleared|released) for payment|in (?:the|our|this) (?:next )?payment run"
    r"|(?:zur zahlung )?(?:freigegeben|eingeplant)|zur zahlung vorgemerkt|(?:im|nächsten) zahlungslauf"
    r"|zatwierdzon[ay](?: do (?:za)?płaty)?|zaplanowan[ay] do (?:za)?płaty)(?![^\W_])",
    re.IGNORECASE,
)
# What stands before it takes it back, or leaves it open.
_UNSURE = frozenset(
    word_list(
        "if unless whether might may could would should once when until before not no never without isn't "
        "wasn't aren't cannot can't your undisputed falls sollte sollten wenn sofern ob könnte könnten würde "
        "nicht kein keine keinen ohne nie niemals ihre jeśli jeżeli czy gdy gdyby może nie bez brak "
        "państwa pańska pending awaiting"
    )
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ANEW = re.compile(r",\s(?=(?:now|but|since|jetzt|nun|aber|teraz|ale)\s)")
_LOOKED_BACK = 45
_MOST = 20


class SaidRelease(NamedTuple):
    """What a sentence says, and where the words stand."""

    release: Release
    start: int
    end: int
    sentence: SentenceSpan


def release_of(value: str) -> Release | None:
    """What the value of a status says."""
    plain = " ".join(without_accents(word) for word in value[:80].replace("_", " ").replace("-", " ").split())
    return _VALUES.get(plain)


def releases_in(text: str) -> Iterator[SaidRelease]:
    """What the sentences of a text say of whether it may be paid, one each; a lifted hold before a hold."""
    for sentence in sentences(text):
        if sentence.mark != "?" and (found := _said(text, sentence)):
            yield found


def _said(text: str, sentence: SentenceSpan) -> SaidRelease | None:
    found = _LIFTED.search(text, sentence.start, sentence.end)
    if found:
        return SaidRelease("cleared", found.start(), found.end(), sentence)
    if (disputed := _last(_DISPUTED, text, sentence)) is not None:
        return SaidRelease("disputed", *disputed, sentence)
    held, approved = _last(_HELD, text, sentence), _last(_APPROVED, text, sentence)
    # `was on hold, now released for payment`: what is said last.
    if held is not None and (approved is None or held > approved):
        return SaidRelease("hold", *held, sentence)
    return SaidRelease("approved", *approved, sentence) if approved is not None else None


def _last(pattern: re.Pattern[str], text: str, sentence: SentenceSpan) -> tuple[int, int] | None:
    found = islice(pattern.finditer(text, sentence.start, sentence.end), _MOST)
    sure = [one.span() for one in found if not _is_unsure(text, sentence.start, one.start())]
    return sure[-1] if sure else None


def _is_unsure(text: str, start: int, at: int) -> bool:
    before = _ANEW.split(text[max(start, at - _LOOKED_BACK) : at].casefold())[-1]
    return any(word in _UNSURE for word in _WORD.findall(before)[-4:])
