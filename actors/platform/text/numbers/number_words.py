"""The words that numbers, months, quarters and shares are written with, in English, Polish and German.

All are in lower case; whether a capital is wanted is said where it matters.
"""

from itertools import product

from actors.platform.text.language import Language
from actors.platform.text.normal_form import without_accents
from models.text import word_list


def _listed(words: str) -> dict[str, int]:
    """`two 2, pair 2` as a dictionary; forms of one number stand together: `dwa/dwie 2`."""
    pairs = (entry.rsplit(" ", 1) for entry in words.split(", "))
    return {form: int(value) for forms, value in pairs for form in forms.split("/")}


_GERMAN_TENS = _listed(
    "zwanzig 20, dreißig 30, vierzig 40, fünfzig 50, sechzig 60, siebzig 70, achtzig 80, neunzig 90"
)
_GERMAN_ONES = _listed("ein 1, zwei 2, drei 3, vier 4, fünf 5, sechs 6, sieben 7, acht 8, neun 9")
_POLISH_TEENS = word_list("jede dwa trzy czter pięt szes siedem osiem dziewięt")

# Numbers below a hundred. One is none of them: it is an article and a pronoun more often than a number.
SMALL: dict[Language, dict[str, int]] = {
    "en": _listed(
        "zero 0, two 2, three 3, four 4, five 5, six 6, seven 7, eight 8, nine 9, ten 10, eleven 11, "
        "twelve 12, thirteen 13, fourteen 14, fifteen 15, sixteen 16, seventeen 17, eighteen 18, nineteen "
        "19, twenty 20, thirty 30, forty 40, fifty 50, sixty 60, seventy 70, eighty 80, ninety 90"
    ),
    "pl": {
        **_listed(
            "zero 0, dwa/dwie/dwóch/dwu/dwóm/dwoma/dwiema/dwoje 2, trzy/trzech/trzem/trzema/troje 3, "
            "cztery/czterech/czterem/czterema/czworo 4, pięć/pięciu/pięcioma/pięcioro 5, "
            "sześć/sześciu/sześcioma 6, siedem/siedmiu/siedmioma 7, osiem/ośmiu/ośmioma 8, "
            "dziewięć/dziewięciu/dziewięcioma 9, dziesięć/dziesięciu/dziesięcioma 10, "
            "dwadzieścia/dwudziestu 20, trzydzieści/trzydziestu 30, czterdzieści/czterdziestu 40, "
            "pięćdziesiąt/pięćdziesięciu 50, sześćdziesiąt/sześćdziesięciu 60, "
            "siedemdziesiąt/siedemdziesięciu 70, osiemdziesiąt/osiemdziesięciu 80, "
            "dziewięćdziesiąt/dziewięćdziesięciu 90, dwunastu 12"
        ),
        **{f"{stem}naście": n for n, stem in enumerate(_POLISH_TEENS, 11)},
        **{f"{stem}nastu": n for n, stem in enumerate(_POLISH_TEENS, 11)},
    },
    "de": {
        **_listed(
            "null 0, zwei/zweier/zweien 2, drei/dreier/dreien 3, vier 4, fünf 5, sechs 6, sieben 7, "
            "acht 8, neun 9, zehn 10, elf 11, zwölf 12, dreizehn 13, vierzehn 14, fünfzehn 15, sechzehn "
            "16, siebzehn 17, achtzehn 18, neunzehn 19"
        ),
        **_GERMAN_TENS,
        **{
            f"{one}und{ten}": value + tens
            for (one, value), (ten, tens) in product(_GERMAN_ONES.items(), _GERMAN_TENS.items())
        },
    },
}
# One counts before these and behind tens: `one million`, `twenty-one`.
ONE: dict[Language, frozenset[str]] = {
    "en": frozenset(["one", "a"]),
    "pl": frozenset(word_list("jeden jedna jedno jednego jednej jedną")),
    "de": frozenset(word_list("ein eine eins einer einem einen")),
}
HUNDREDS: dict[Language, dict[str, int]] = {
    "en": {},
    "pl": _listed(
        "sto/stu 100, dwieście/dwustu 200, trzysta/trzystu 300, czterysta/czterystu 400, "
        "pięćset/pięciuset 500, sześćset/sześciuset 600, siedemset/siedmiuset 700, osiemset/ośmiuset 800, "
        "dziewięćset/dziewięciuset 900"
    ),
    "de": {
        **{
            f"{one}hundert{rest}": 100 * value + small
            for one, value in (*_GERMAN_ONES.items(), ("", 1))
            for rest, small in (*SMALL["de"].items(), ("", 0))
            if (one or rest) and (small or not rest)
        },
        **{f"{one}tausend": 1000 * value for one, value in _GERMAN_ONES.items()},
        **{f"{one}tausend": 1000 * value for one, value in SMALL["de"].items() if value},
    },
}
# What multiplies the number before it. Those in `ALONE` are a number by themselves; `millions` isn't one.
SCALES: dict[Language, dict[str, int]] = {
    "en": {
        "hundred": 100,
        **dict.fromkeys(["thousand", "k"], 10**3),
        **dict.fromkeys(["million", "mn", "mln"], 10**6),
        **dict.fromkeys(["billion", "bn"], 10**9),
        **dict.fromkeys(["trillion", "tn"], 10**12),
    },
    "pl": {
        **_listed(
            "tysiąc/tysiące/tysięcy/tysiącu/tysiącom/tysiącami/tysiącach/tys 1000, "
            "milion/miliony/milionów/miliona/milionom/milionami/milionach/mln 1000000, "
            "miliard/miliardy/miliardów/miliarda/miliardom/miliardami/mld 1000000000, "
            "bilion/biliony/bilionów/biliona/bln 1000000000000"
        ),
    },
    "de": {
        "hundert": 100,
        **dict.fromkeys(word_list("tausend tsd"), 10**3),
        **dict.fromkeys(word_list("million millionen mio"), 10**6),
        **dict.fromkeys(word_list("milliarde milliarden mrd"), 10**9),
        **dict.fromkeys(word_list("billion billionen bio"), 10**12),
    },
}
ALONE = frozenset(word_list("hundred thousand tysiąc milion miliard hundert tausend"))
# Shares are no numbers to compute with: they are compared as they are.
SHARES: dict[Language, dict[tuple[str, ...], str]] = {
    "en": {
        ("half",): "1/2",
        ("a", "third", "of"): "1/3",
        ("one", "third"): "1/3",
        ("two", "thirds"): "2/3",
        ("a", "quarter", "of"): "1/4",
        ("one", "quarter"): "1/4",
        ("three", "quarters"): "3/4",
    },
    "pl": {
        **{(form,): "1/2" for form in ("połowa", "połowę", "połową", "pół")},
        **{(one, f"trzeci{end}"): "1/3" for one, end in (("jedna", "a"), ("jednej", "ej"), ("jedną", "ą"))},
        **{(two, f"trzeci{end}"): "2/3" for two, end in (("dwie", "e"), ("dwóch", "ch"), ("dwiema", "mi"))},
        **{(one, f"czwart{end}"): "1/4" for one, end in (("jedna", "a"), ("jednej", "ej"), ("jedną", "ą"))},
        **{(three, f"czwart{end}"): "3/4" for three, end in (("trzy", "e"), ("trzech", "ych"))},
        ("ćwierć",): "1/4",
    },
    "de": {
        ("hälfte",): "1/2",
        ("drittel",): "1/3",
        ("zwei", "drittel"): "2/3",
        ("viertel",): "1/4",
        ("drei", "viertel"): "3/4",
    },
}
# The first half of a year is no share of it.
ORDINALS: dict[str, int] = {
    **_listed("first 1, second 2, third 3, fourth 4, i 1, ii 2, iii 3, iv 4"),
    **{f"pierwsz{end}": 1 for end in ("y", "ego", "ym", "emu", "a", "ej", "ą")},
    **{f"drug{end}": 2 for end in ("i", "iego", "im", "iemu", "a", "iej", "ą")},
    **{f"trzeci{end}": 3 for end in ("", "ego", "m", "emu", "a", "ej", "ą")},
    **{f"czwart{end}": 4 for end in ("y", "ego", "ym", "emu", "a", "ej", "ą")},
    **{
        f"{stem}{end}": n
        for n, stem in enumerate(("erst", "zweit", "dritt", "viert"), 1)
        for end in ("e", "en", "er", "es", "em")
    },
}
# Behind an ordinal in words only: 3 kW are none.
SHORTENED_QUARTER = "kw"
QUARTERS = frozenset(word_list("quarter kwartał kwartału kwartale kwartałem quartal quartals vierteljahr"))

_ENGLISH = "january february march april may june july august september october november december"
_GERMAN = "januar februar märz april mai juni juli august september oktober november dezember"
_POLISH = (
    "styczeń/stycznia/styczniu/styczniem luty/lutego/lutym marzec/marca/marcu/marcem "
    "kwiecień/kwietnia/kwietniu/kwietniem maj/maja/maju/majem czerwiec/czerwca/czerwcu/czerwcem "
    "lipiec/lipca/lipcu/lipcem sierpień/sierpnia/sierpniu/sierpniem wrzesień/września/wrześniu/wrześniem "
    "październik/października/październiku/październikiem listopad/listopada/listopadzie/listopadem "
    "grudzień/grudnia/grudniu/grudniem"
)
# German and English months have a capital.
CAPITAL_MONTHS = {name: n for names in (_ENGLISH, _GERMAN) for n, name in enumerate(names.split(), 1)}
POLISH_MONTHS = {form: n for n, forms in enumerate(_POLISH.split(), 1) for form in forms.split("/")}
# Only beside a day or a year.
SHORT_MONTHS = _listed(
    "jan/sty 1, feb/lut 2, mar/mär/mrz 3, apr/kwi 4, jun/cze 6, jul/lip 7, aug/sie 8, sep/sept/wrz 9, "
    "oct/okt/paź 10, nov/lis 11, dec/dez/gru 12"
)
# Their names, short ones too, with and without accents.
MONTHS = {
    form: number
    for name, number in (CAPITAL_MONTHS | POLISH_MONTHS | SHORT_MONTHS).items()
    for form in (name, without_accents(name))
}
# These are words as well: alone they are months only behind one of these.
DOUBTFUL_MONTHS = frozenset(["may", "march"])
BEFORE_MONTHS = frozenset(
    word_list(
        "in of since until till by from to and through during last this next early late mid between before "
        "after than or ending"
    )
)
JOINING = frozenset(word_list("to and or bis und oder do i lub a"))
SHORT_QUARTERS = frozenset(["q1", "q2", "q3", "q4"])
# Words that something to be found may begin with.
BEGINNINGS: dict[Language, frozenset[str]] = {
    language: frozenset().union(
        *(SMALL[language], HUNDREDS[language], ONE[language], ALONE, ORDINALS, SHORT_QUARTERS),
        *(CAPITAL_MONTHS, POLISH_MONTHS, SHORT_MONTHS, {words[0] for words in SHARES[language]}),
    )
    for language in SMALL
}
_AND = frozenset(["and", "und"])


def begins_number(word: str, language: Language) -> bool:
    """Whether a number in words may begin with a word."""
    return word in SMALL[language] or word in HUNDREDS[language] or word in ONE[language] or word in ALONE


def number_of(words: list[str], language: Language) -> tuple[int | None, int]:
    """The number that words such as `two hundred and fifty thousand` begin with, and how many it takes."""
    total, part, taken = 0, None, 0
    least = 10**15
    for n, word in enumerate(words):
        scale = SCALES[language].get(word, 0)
        follows = words[n + 1] if n + 1 < len(words) else ""
        if (
            word in _AND
            and part is not None
            and part >= 100
            and part % 100 == 0
            and follows in SMALL[language]
        ):
            continue
        small = SMALL[language].get(word, HUNDREDS[language].get(word))
        if small is None and word in ONE[language]:
            tens = part is not None and word != "a" and part % 10 == 0 and part % 100 >= 20
            small = 1 if tens or (part is None and SCALES[language].get(follows)) else None
        if small is not None and (part is None or _fits(part, small)):
            part = small + (part or 0)
        elif scale == 100 and (part or 0) < 100 and (part is not None or (word in ALONE and not total)):
            part = 100 * (1 if part is None else part)
        elif 100 < scale < least and (part is not None or (word in ALONE and not total)):
            total, part, least = total + scale * (1 if part is None else part), None, scale
        else:
            break
        taken = n + 1
    return (total + (part or 0), taken) if taken else (None, 0)


def _fits(part: int, small: int) -> bool:
    """Whether a number goes on with a smaller one: hundreds with tens, tens with ones."""
    return (part >= 100 and part % 100 == 0 and 0 < small < 100) or (
        part % 100 >= 20 and part % 10 == 0 and 0 < small < 10
    )
