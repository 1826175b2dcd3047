"""What a message says of deep research: that one is to begin, or which one it is about, and to be stopped.

Asked by the router before it compares, and by the agents that answer. Deep research ends in a tree of
knowledge, another research in a draft, so it must be named; one that is there is named by its number. Pure.
"""

import re
from typing import NamedTuple

from actors.text.normal_form import words

# Of messages whose words are lower-case and without accents.
_ASKS = (
    r"(?:do|run|start|make|begin|conduct|launch|perform|carry out|need|want|like|please|can you|could you"
    r"|zrob|zrobic|przeprowadz|przeprowadzic|wykonaj|wykonac|rozpocznij|uruchom|zacznij|potrzebuje|chce"
    r"|chcialbym|chcialabym|prosze|poprosze|mach|mache|machen|fuhre|fuhren|starte|starten|beginne|brauche"
    r"|mochte|bitte)"
)
_DEEP = (
    r"(?:deep research|in depth research|deep badan\w{1,4}|tiefenrecherche|deep recherche"
    r"|(?:poglebion|gleboki|dogleb|gruntown)\w{0,4} (?:research\w{0,2}|badani\w{1,3})"
    r"|(?:tiefe|tiefgehende|grundliche)\w{0,2} recherche)"
)
_BEGUN = re.compile(rf"(?:^|\b{_ASKS} (?:\w{{1,20}} ){{0,4}}){_DEEP}\b")
_NAMED = re.compile(
    r"\b(?:research|researchu|badani[ea]\w{0,2}|recherche)(?: (?:no|nr|number|numer|nummer|id))?"
    r" ([0-9]{1,9})\b"
    r"(?! [a-z]{0,20} ?(?:companies|stocks|firms|spolek|firm|aktien))"
)
_STOPS = re.compile(
    r"\b(?:stop|cancel|abort|halt|end|zatrzymaj|przerwij|anuluj|zakoncz|stoppe|stoppen|beende|beenden"
    r"|abbrechen|brich)\b"
)
_ASKS_AFTER = re.compile(
    r"\b(?:how|status|progress|where|what|state|finished|done|ready|jak|gdzie|stan|postep\w{0,3}|gotow\w{0,2}"
    r"|wie|stand|fertig|fortschritt)\b"
)
# Longer messages have other business.
_MOST = 200


class ResearchNamed(NamedTuple):
    """A deep research that a message is about; `stops`: it is to be stopped."""

    number: int
    stops: bool


def asks_for_deep_research(message: str) -> bool:
    """Whether a message asks for a deep research to begin: it names one, with a word of asking before it."""
    return _BEGUN.search(words(message[:_MOST])) is not None


def research_named(message: str) -> ResearchNamed | None:
    """The deep research that a message asks after, or wants stopped, by its number."""
    if len(message) > _MOST:
        return None
    said = words(message)
    if (found := _NAMED.search(said)) is None:
        return None
    stops = _STOPS.search(said) is not None
    if not stops and _ASKS_AFTER.search(said) is None:
        return None
    return ResearchNamed(number=int(found[1]), stops=stops)
