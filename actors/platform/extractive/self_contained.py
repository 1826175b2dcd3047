"""What keeps a sentence from being quoted by itself: it leans on others, or is no statement.

Called by whoever offers sentences to a model that picks among them. By signs that are simple and strict: a
good sentence left out costs little, a bad one in an article much. Takes time linear in the sentence.
"""

import re
from typing import Literal

from actors.platform.extractive.phrases import BOILERPLATE, BOILERPLATE_AT_START, CONNECTS, LEANS, stands_at
from actors.platform.text.language import Language
from actors.platform.text.normal_form import words
from actors.platform.text.sentences.sentence_boundaries import ends, left_open

Fault = Literal[
    "needs_antecedent",
    "fragment",
    "boilerplate",
    "question",
    "unbalanced",
    "too_long",
    "heading_like",
    "address",
]

_MOST_CHARACTERS = 400
_MOST_READ = 2_000
_FEWEST_WORDS = 4
_FEWEST_LETTERS = 8
_CAPITALS = 0.6
_ENDING = 12
_GREETING_WORDS = 4
# "III. dismisses the rest": an item of a list whose beginning stands above it.
_ITEM_GOES_ON = re.compile(r"(?:[IVXLC]{1,6}|\d{1,3}|[a-z])[.)]\s+[^\W\d_A-ZÀ-Ž]")
_AGENDA = re.compile(r"(?:TOP|Punkt|Pkt|Item|Agenda item) \d{1,3}[:.]")
_MONEY = "$€£¥"
_QUOTES = "\"'“„«»‚‘"
_OPENING = "\"'“„«»‚‘”([¿¡ "
_WORD = re.compile(r"[^\W_]+")
_ASKED = re.compile(r"\?[.!?…]{0,4}[\"'”“»«’)\]]{0,4}\Z")
# "The county counted 212 dry wells in the …": what is cut off there may say otherwise.
_TRAILS_OFF = re.compile(r"(?:\.\.|…|\[…\])[\"'”“»«’)\]]{0,4}\Z")
# Lengths are bounded, so that a run of letters is not read again from each of them.
_ADDRESS = re.compile(
    r"[a-z][a-z+.-]{1,10}://|\bwww\.|\bmailto:|[\w.+-]@\w|(?<![\w@])@\w{2}"
    r"|(?<![\w.@-])[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,3}\.(?:com|org|net|gov|edu|info|io|eu|pl|de|uk|at|ch)\b"
    r"|\]\(|\b(?:tel|fon|phone)\b\.?:? ?[+(]?\d"
    r"|(?<![\w+])\+\d{1,3}[ ()/.-]{0,2}\d(?:[ ()/.-]{0,2}\d){6,14}(?!\w)"
    r"|(?<![\w.,])\(?0\d{1,4}\)?[ /-]\d{3,8}(?:[ -]\d{2,4}){0,3}(?![\w%])"
    r"|(?<![\w.,-])\(?\d{3}\)?[ .-]\d{3}[-.]\d{4}(?!\w)"
    r"|(?<![\w.,-])\d{3}-\d{3}-\d{3}(?!\w)",
    re.IGNORECASE,
)
_LEFT_OVER = re.compile(
    r"\*\*|__|```|~~|</?[a-z!][^<>]{0,200}>|&(?:[a-z]{2,8}|#\d{1,6});|\|| › | » .{1,60} » |[©®]|\{\{|<\|",
    re.IGNORECASE,
)

_CREDIT = re.compile(
    r"(?:photos?|image|picture|credits?|caption|source|advert|zdjęcie|fot\.?|źródło|foto|bild|quelle|grafik)\s?:",
    re.IGNORECASE,
)

# Behind the first words of a clause they point back as well.
_POINTS_BACK: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"[^,;:]{1,60}, (?:however|therefore|though|too|instead|(?:by|in) contrast|in turn"
        r"|for (?:example|instance)|moreover|nevertheless|nonetheless|likewise|conversely|on the other hand),"
        r"|(?:in|at|on|after|by|for|since|from|during|under|until|before|within|around|last|next"
        r"|according to)\b(?:[^;:.]{1,60}, (?:it|they|he|she)\b"
        r"|[^,;:.]{1,40} (?:it|they|he|she) (?:is|are|was|were|has|have|had|will)\b)"
        # "Members have waited for it": nothing before it that it could be.
        r"|(?:(?!\b(?:the|an?|his|her|its|their|our|my|your|this|that|no|every|each)\b)[^.;:,]){1,80}"
        r"\b(?:for|to|of|about|with|on|by|from) (?:it|them)\b",
        re.IGNORECASE,
    ),
    # "Dodał, że …": the one who did is named before.
    "pl": re.compile(
        r"\w{2,20}(?:ł|ła|li|ły)(?:,| że\b| też\b| także\b| również\b| przy tym\b)|[Jj]ak \w{2,20},"
        r"|(?:\w{1,20} ){1,2}(?:się )?(?:on|ona|ono|one|oni)\b|\w{3,20} (?:ten|ta|te|ci) \w"
        # "Kosztowała 138 mln zł": what did was named before.
        r"|\w{2,20}(?:ł|ła|ło|li|ły) (?:(?:ok\.|około|ponad|prawie|blisko|aż|tylko) )?\d"
    ),
    "de": re.compile(
        # A noun has a capital: "Das Amt in der Stadt".
        r"das (?-i:[a-zäöüß])\w{1,19}te?"
        r" (?:der|die|das|den|dem|sich|auf|in|an|im|am|von|bei|für|nicht|auch|jedes|jede|vor|zu"
        r"|k?ein\w{0,2})\b"
        r"|das (?-i:[a-zäöüß])\w{1,19}t (?-i:[A-ZÄÖÜ])"
        r"|(?:der|die|das) (?:ist|war|sind|waren|hatt?e?n?|haben|wird|wurden?|würden?|kann|könnte"
        r"|sollt?e?|muss|darf|gilt|zeigte?|bedeutete?|liegt|lag|heißt|hieß|machte?|geht|ging|gibt|lässt|führte?"
        r"|entspricht|entsprach|sagte?|erklärte|teilte|berichtete?|sei|wäre|habe|reicht|dürfte)\b"
        r"|(?:im|am|in|an|auf|bei|beim|mit|nach|seit|vor|zum|zur|zu|unter|laut)\b[^,;:.]{1,50}"
        r" (?:er|sie|(?<!gibt )(?<!gab )(?<!geht )es)\b"
        # "Der Verband verlangt dies": what it is stands before.
        r"|[^.]{1,200}\bdies\b(?!,? da(?:ss|ß))",
        re.IGNORECASE,
    ),
}
# "It is clear that …": such a pronoun stands for what follows.
_EXPLETIVE: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"it(?:['’]s| is| was| will be| would be| has been| remains| became| becomes| seems| appears)"
        r"(?: not)?(?! (?:an?|the|one|his|her|its|their|this)\b)"
        r"(?:(?: [\w-]{1,20}){0,3} (?:that|whether|how|why)\b"
        r"|(?: (?:too|also|still|yet|often|more|very|now|almost|\w{1,12}ly))?"
        r" (?:(?:im)?possible|important|necessary|essential|vital|difficult|hard(?:er)?|eas(?:y|ier)|useful"
        r"|early|better|(?:un)?clear|wise|reasonable|time|common|rare|customary|appropriate|prudent|tempting|worth)"
        r"(?: for [^,;.]{1,60})? (?:to\b|\w{1,20}ing\b)| (?:raining|snowing|freezing)\b)"
        r"|it (?:rained|rains|snowed|snows|takes|took)\b",
        re.IGNORECASE,
    ),
    "pl": re.compile(r"to (?:prawda|możliwe|jasne|oczywiste), że\b|im [^.]{1,120}, tym\b", re.IGNORECASE),
    "de": re.compile(
        r"es (?:gibt|gab|regnete?|schneite?|fehlt|fehlen|fehlte|besteht|bestehen|kam zu|kommt zu)\b"
        r"|es (?:ist|war|bleibt|blieb|wird|wurde|scheint|gilt)(?: [\w-]{1,20}){0,4}"
        r"(?:, (?:dass|daß|ob|wie|wenn|warum)\b|,? [^,.;]{0,60}\bzu \w{1,20}n\b)",
        re.IGNORECASE,
    ),
}
_STANDS = re.compile(
    r"(?:instead of|other than|so-called|so far|but for|in this (?:paper|study|report)"
    r"|both [^.,;]{1,80} and|either .{1,80} or|this (?:year|month|week|quarter|summer|winter)"
    r"|w tym (?:roku|miesiącu|tygodniu|kwartale)"
    r"|in diesem (?:jahr|monat|quartal|sommer|winter)|diese woche)\b",
    re.IGNORECASE,
)
# A speaker's name hides the pronoun behind it: "Ruth Adeyemi: They help."
_NAMED = re.compile(
    r"(?:[^\W\d_][\w.'’-]{0,30} ){0,7}[^\W\d_][\w.'’-]{0,30}(?: \([^()]{1,40}\)){0,2}: (?=\S)"
)
# To a model, whatever it is told to do.
_TO_MODELS = re.compile(
    r"\b(?:ai|ki|si|llm)[ -]?(?:assistant\w*|assistent\w*|agents?|systems?|models?)\b.{0,80}"
    r"\b(?:should|must|shall|please|summari[sz]\w+|write|say|mention|sollen|sollten|müssen|dürfen)\b"
    r"|\b(?:note|notice|message|hint) to (?:ai|llm|language models?|assistants?|chatbots?)\b"
    r"|\bhinweis (?:an|für) (?:ki|sprachmodelle|assistenten|chatbots)\b"
    r"|\basystencie\b|\bsprachmodelle?n?\b.{0,60}\b(?:sollen|müssen|fassen|schreiben)\b"
    r"|\bmodele? językow\w+\b.{0,60}\b(?:powinn\w+|muszą|mają|należy)\b"
    r"|\blanguage models?\b.{0,60}\b(?:should|must|shall|please)\b"
    r"|\bdo (?:modeli|asystentów|modelu)\b.{0,30}:",
    re.IGNORECASE,
)


def faults(sentence: str, language: Language) -> tuple[Fault, ...]:
    """All that keeps a sentence from being quoted by itself; nothing where it can be."""
    said = sentence[:_MOST_READ].strip()
    told = words(said).split()
    found: dict[Fault, bool] = {
        "needs_antecedent": _leans(said, told, language),
        "fragment": _is_fragment(said),
        "boilerplate": _is_boilerplate(said, told),
        "question": _ASKED.search(said[-_ENDING:]) is not None,
        "unbalanced": left_open(said) != 0,
        "too_long": len(said) > _MOST_CHARACTERS,
        "heading_like": _is_heading(said),
        "address": _ADDRESS.search(said) is not None,
    }
    return tuple(fault for fault, there in found.items() if there)


def _leans(said: str, told: list[str], language: Language) -> bool:
    start = said.lstrip(_OPENING)
    if (label := _NAMED.match(start)) is not None:
        start = start[label.end() :].lstrip(_OPENING)
        told = words(start).split()
    if _EXPLETIVE[language].match(start) or _STANDS.match(start):
        return False
    return (
        stands_at(LEANS[language], told, 0)
        or not CONNECTS[language].isdisjoint(told[1:4])
        or _POINTS_BACK[language].match(start) is not None
        or _is_bare_speech(said)
    )


def _is_bare_speech(said: str) -> bool:
    """All of it stands in one pair of quotation marks: who says so was named before."""
    return said[:1] in _QUOTES and left_open(said[:-1].rstrip(".!?…")) == 1 and left_open(said) == 0


def _is_fragment(said: str) -> bool:
    start = said.lstrip(_QUOTES)[:2]
    begun = start[:1].isupper() or start[:1].isdigit() or (start[:1] in _MONEY and start[1:].isdigit())
    return (
        not begun
        or says_nothing(said)
        or _ITEM_GOES_ON.match(said) is not None
        or not ends(said)
        or _TRAILS_OFF.search(said[-_ENDING:]) is not None
        or not any(character.isalpha() for character in said)
    )


def says_nothing(said: str) -> bool:
    """Whether it only calls on somebody ("My lords!") or has too few words, its speaker's name apart."""
    label = _NAMED.match(said)
    bare = said[label.end() if label else 0 :].strip()
    calls = bare.split("!")
    greets = len(calls) > 1 and not calls[-1] and all(len(call.split()) <= _GREETING_WORDS for call in calls)
    return greets or len(_WORD.findall(bare)) < _FEWEST_WORDS


def _is_boilerplate(said: str, told: list[str]) -> bool:
    return (
        stands_at(BOILERPLATE_AT_START, told, 0)
        or any(stands_at(BOILERPLATE, told, place) for place in range(len(told)))
        or _CREDIT.search(said) is not None
        or _TO_MODELS.search(said) is not None
        or _LEFT_OVER.search(said) is not None
    )


def _is_heading(said: str) -> bool:
    if _AGENDA.match(said):
        return True
    letters = [character for character in said if character.isalpha()]
    if len(letters) >= _FEWEST_LETTERS and sum(map(str.isupper, letters)) > _CAPITALS * len(letters):
        return True
    spoken = _WORD.findall(said)
    capitals = sum(not word[:1].islower() for word in spoken)
    return not ends(said) and capitals > _CAPITALS * len(spoken)
