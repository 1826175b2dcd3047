"""Where a sentence ends: behind which full stops it goes on, and which quotation marks and brackets pair.

Called by the splitter of sentences and by whoever judges one. Abbreviations are listed by language; a text is
only ever looked at where it ends.
"""

import re
from itertools import islice

from actors.text.language import Language
from models.text import word_list

_WORD = re.compile(r"[^\W\d_]+")
# Behind these a sentence always goes on: a name, a number or a word follows.
_GOES_ON: dict[Language, frozenset[str]] = {
    "en": frozenset(
        word_list(
            "mr. mrs. ms. messrs. dr. prof. sen. rep. gov. gen. col. capt. lt. sgt. rev. hon. "
            "pres. st. mt. vs. v. approx. ca. cf. e.g. i.e. viz. dept. est. tel."
        )
    ),
    "pl": frozenset(
        word_list(
            "np. tzw. tzn. tj. m.in. ok. ul. al. pl. os. św. im. zob. por. wg. dr. prof. hab. "
            "inż. mgr. lek. red. gen. płk. ks. bp. abp. woj. tel. tys. mln. mld. ds. pt. dot. ww. ang. łac. "
            "niem. dz. dn. p."
        )
    ),
    "de": frozenset(
        word_list(
            "ca. bzw. z.b. d.h. u.a. dr. prof. st. vgl. sog. inkl. exkl. einschl. evtl. ggf. "
            "max. rd. gem. lt. hr. fr. hl. dipl. ing. med. jur. o.g. i.d.r. v.a. u.u. z.t. fam. "
            "dr.-ing. dipl.-ing."
        )
    ),
}
# Behind these only if a number follows: "no." and "Art." are words as well.
_BEFORE_NUMBERS = frozenset(
    word_list(
        "no. nos. fig. figs. eq. sec. ch. vol. pp. p. nr. abs. art. str. bd. abb. s. ust. par. "
        "poz. rys. tab. para. paras. lok. hauptstr."
    )
)
# These may end one as well: then it depends on what comes next.
_MAY_END: dict[Language, frozenset[str]] = {
    "en": frozenset(
        word_list(
            "p.c. pct. etc. al. ave. jan. feb. mar. apr. jun. jul. aug. sep. sept. oct. nov. dec. a.m. p.m. "
            "inc. corp. ltd. co. bros. jr. sr. u.s. u.k. u.n. e.u. d.c. u.s.a. ph.d. min. max. avg. bn. mn. "
            "tn. ft. lb."
        )
    ),
    "pl": frozenset(
        word_list(
            "r. w. proc. pkt. godz. min. itd. itp. zł. gr. szt. kw. m. km. cm. kg. sek. rż. "
            "br. ub. p.p. p.b. pb. ur. zm. n.e. p.n.e. sp.k. o.o. s.a."
        )
    ),
    "de": frozenset(
        word_list(
            "mio. mrd. tsd. usw. etc. jh. jhd. chr. uvm. jan. feb. apr. aug. sept. okt. nov. "
            "dez. co. min. std. ff. f. p.a. n.chr. v.chr. u.s.w. usf."
        )
    ),
}
# Words that `sentencex` takes for abbreviations.
_LIKE_ABBREVIATIONS: dict[Language, frozenset[str]] = {
    "en": frozenset(["may.", "no.", "fed.", "id.", "me.", "ore.", "re."]),
    "pl": frozenset(["port.", "franc.", "rum.", "lit.", "hol."]),
    "de": frozenset(["art.", "fed.", "mich.", "miss."]),
}
# Names follow these as often as sentences do.
_BEFORE_NAMES = frozenset(
    word_list("al. ave. inc. corp. ltd. co. bros. jr. sr. u.s. u.k. u.n. e.u. d.c. u.s.a. a.m. p.m.")
)
# What a sentence begins with, and a name does not.
_OPENERS: dict[Language, frozenset[str]] = {
    "en": frozenset(
        word_list(
            "the a an it he she they we i you this that these those in on at by for from with as but and if "
            "when while after before since although though his her its their our my there what who how why "
            "however meanwhile also some many most all no not one two both more about under over"
        )
    ),
    "pl": frozenset(
        word_list(
            "to w we na po od do z ze za o i a ale jak gdy gdyby jeśli jeżeli tak ten ta te on "
            "ona oni one nie już jego jej ich według zdaniem przy przez dla jednak także również natomiast "
            "tymczasem jest są"
        )
    ),
    "de": frozenset(
        word_list(
            "der die das den dem des ein eine einer einem einen es er sie wir ich in im am an auf aus bei "
            "beim mit nach seit für von vom zu zum zur auch aber doch und so wenn als wie ob da dies diese "
            "dieser dieses damit dazu daher dabei dort man bis durch um unter über vor nun noch nur zwar "
            "laut trotz während jedoch allerdings außerdem zudem bereits insgesamt dagegen hier heute nicht "
            "kein keine alle"
        )
    ),
}
_INITIAL = re.compile(r"(?:\w\.-?)?[^\W\d_a-z]\.")
_ORDINAL = re.compile(r"\d{1,2}\.")
# "W 2024 r. Narodowy Bank …": so far there is only the date.
_DATE_WORDS = frozenset(
    word_list(
        "w we od do z na po przed dnia roku końca końcu początku połowie kwartale półroczu "
        "latach już dopiero jeszcze także również natomiast jednak i a stycznia lutego marca kwietnia maja "
        "czerwca lipca sierpnia września października listopada grudnia styczniu lutym marcu kwietniu maju "
        "czerwcu lipcu sierpniu wrześniu październiku listopadzie grudniu r ii iii iv"
    )
)
_MOST_DATE_WORDS = 10
_TAIL = 40
# What a sentence ends in fits here.
_ENDING = 12
# German closes with what English opens with, and may turn French marks round.
_CLOSES = {"“": "”", "„": '”“"', "«": "»", "»": "«", '"': '"', "(": ")", "[": "]"}
_MARK = re.compile(r"[“”„«»\"()\[\]]")
_QUOTATION_MARK = re.compile(r"[“”„«»\"]")
# At the mark's place, or one before it.
_OPENS_HERE = re.compile(r"(?:[\s(\[–—-])?\"(?=\w)")
_ENDED = re.compile(r"[.!?…][\"'”“»«’)\]]{0,4}\Z")


def goes_on(before: str, after: str, language: Language) -> bool:
    """Whether a sentence goes on behind the full stop that `before` ends in, by the abbreviation there."""
    tail = before[-_TAIL:].lower().split()
    upcoming = _WORD.search(after[:_TAIL])
    if not tail:
        return False
    word = upcoming[0] if upcoming else ""
    abbreviation = _bare(tail[-1])
    pair = _bare("".join(tail[-2:]))
    if abbreviation in _GOES_ON[language] or pair in _GOES_ON[language]:
        return True
    if abbreviation in _BEFORE_NUMBERS and after[:1].isdigit():
        return True
    last = _bare(before[-_TAIL:].split()[-1])
    is_initial = last.isupper() and _INITIAL.fullmatch(last) is not None  # no "m." for metres
    if is_initial or (abbreviation not in _MAY_END[language] and pair not in _MAY_END[language]):
        return _before_a_name(last, word, language)
    if after[:1].isdigit():
        return True
    if language == "de" or abbreviation in _BEFORE_NAMES:
        return word.lower() not in _OPENERS[language]
    return language == "pl" and _goes_on_in_polish(before, abbreviation, word)


def abbreviated(text: str, language: Language) -> bool:
    """Whether the full stop that a text ends in is an abbreviation's."""
    tail = text[-_TAIL:].lower().split()
    known = _GOES_ON[language] | _MAY_END[language] | _BEFORE_NUMBERS
    return bool(tail) and _bare(tail[-1]) in known


def may_end(before: str, after: str, language: Language) -> bool:
    """Whether a sentence ends behind an abbreviation that may end one, or behind a word like one (`May.`)."""
    tail = before[-_TAIL:].lower().split()
    if not tail or not after[:1].isupper():
        return False
    known = _MAY_END[language] | _LIKE_ABBREVIATIONS[language]
    return not known.isdisjoint((_bare(tail[-1]), _bare("".join(tail[-2:])))) and not goes_on(
        before, after, language
    )


def left_open(text: str) -> int:
    """How many quotation marks and brackets are open at the end; -1 where one closes that none opened."""
    opened: list[str] = []
    for found in _MARK.finditer(text):
        mark = found[0]
        if opened and mark in _CLOSES[opened[-1]]:
            opened.pop()
        elif mark in _CLOSES:
            opened.append(mark)
        else:
            return -1
    return len(opened)


class OpenQuotations:
    """Quotation marks that are open at a place of a text, which is read piece by piece."""

    def __init__(self) -> None:
        self._open: list[str] = []

    @property
    def are_open(self) -> bool:
        """Whether what comes next stands within a quotation."""
        return bool(self._open)

    def read(self, piece: str) -> None:
        """Go on by a piece. What closes nothing is passed over; a straight mark opens only before a word."""
        for found in _QUOTATION_MARK.finditer(piece):
            mark = found[0]
            if self._open and mark in _CLOSES[self._open[-1]]:
                self._open.pop()
            elif mark in _CLOSES and (mark != '"' or _OPENS_HERE.match(piece, max(0, found.start() - 1))):
                self._open.append(mark)

    def forget(self) -> None:
        """Begin anew: a paragraph that does not go on with the quotation of the one before."""
        self._open.clear()


def ends(text: str) -> bool:
    """Whether a text ends as a sentence does, inside quotation marks or not."""
    return _ENDED.search(text[-_ENDING:]) is not None


def _bare(word: str) -> str:
    return word.lstrip("([„“\"'«»‚‘").rstrip(")]”“\"'»«’")


def _before_a_name(last: str, word: str, language: Language) -> bool:
    """An initial (`J. Powell`), or in German the number of a day, a century or a war."""
    if _INITIAL.fullmatch(last):
        return word.lower() not in _OPENERS[language]
    return language == "de" and bool(_ORDINAL.fullmatch(last)) and word.lower() not in _OPENERS["de"]


def _goes_on_in_polish(before: str, abbreviation: str, word: str) -> bool:
    if abbreviation in ("proc.", "pkt.") and (word.endswith("ów") or (len(word) > 1 and word.isupper())):
        return True  # "40 proc. Polaków", "3 proc. PKB"
    before = before.rpartition(", że ")[2]  # "…, że do końca 2025 r. Spółka …"
    words = [found[0].lower() for found in islice(_WORD.finditer(before[-200:]), _MOST_DATE_WORDS + 1)]
    return (
        abbreviation in ("r.", "w.")
        and len(before) < 200
        and len(words) <= _MOST_DATE_WORDS
        and all(word in _DATE_WORDS for word in words)
    )
