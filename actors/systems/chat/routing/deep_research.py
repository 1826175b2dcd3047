"""What a message says of deep research: that one is to begin, or which one it is about, and to be stopped.

Asked by the router before it compares, and by the agents that answer. Deep research ends in a tree of
knowledge, another research in a draft, so it must be named; one that is there is named by its number. Pure.
"""

import re
from typing import NamedTuple

from actors.platform.text.normal_form import words

# Of messages whose words are lower-case and without accents.
_DEEP = re.compile(
    r"\b(?:deep research\w{0,2}|(?:in depth|thorough) (?:research|investigation|study)|tiefenrecherche"
    r"|(?:deep|poglebion|gleboki|dogleb|gruntown)\w{0,4} (?:research\w{0,2}|badani\w{1,3}|kwerend\w{1,3})"
    r"|(?:tief|vertieft|eingehend|grundlich|ausfuhrlich)\w{0,8} (?:recherche|untersuchung))\b"
)
# What begins so asks of something that is there, or wants it told.
_QUESTIONS = re.compile(
    r"(?:what|who|whose|when|where|why|which|did|does|is|are|was|were|has|how|summari[sz]e|show|read|our|the|translate"
    r"|co|kto|kiedy|gdzie|dlaczego|czy(?! (?:mozesz|mozecie|moglbys|moglabys|mozna|da sie))|jak\w{0,4}|ile"
    r"|wer|wann|wo|warum|welche\w?|ist|sind|hat|haben|gibt|wie|unser\w?|nasz\w?|przetlumacz|ubersetze?)\b"
)
_NAMED = re.compile(
    r"\b(?P<deep>(?:deep|poglebion\w{1,3}|dogleb\w{2,4}) )?(?:research|researchu|badani[ea]\w{0,2}|recherche)"
    r"(?P<counted> (?:no|nr|number|numer|nummer|id))? (?P<number>[0-9]{1,9})\b"
    r"(?! [a-z]{0,20} ?(?:companies|stocks|firms|spolek|firm|aktien))"
)
_STOPS = re.compile(
    r"\b(?:stop\w{0,4}|cancel|abort|halt|end|kill|terminate|quit|zatrzym\w{1,4}|przerw\w{1,4}"
    r"|anul(?:uj|owac)|zakoncz\w{0,2}|beende\w?|abbrechen|brich)\b"
)
_ASKS_AFTER = re.compile(
    r"\b(?:how|status|progress|where|what|state|finished|done|ready|news|update|jak\w{0,3}|gdzie|stan|etap\w{0,2}"
    r"|postep\w{0,3}|gotow\w{0,2}|skoncz\w{0,3}|wie|stand|fertig|fortschritt)\b"
)
# Longer messages have other business.
_MOST = 200


class ResearchNamed(NamedTuple):
    """A deep research that a message is about; `stops`: it is to be stopped."""

    number: int
    stops: bool


def asks_for_deep_research(message: str) -> bool:
    """Whether a message asks for a deep research to begin: it names one, and asks after none that is there.

    It need not be sure: whoever sent it is asked before anything begins.
    """
    said = words(message[:_MOST])
    if _DEEP.search(said) is None or _QUESTIONS.match(said) is not None:
        return False
    # "Stop" is a Polish word for rates, too: only where it comes first it is one of these.
    return _NAMED.search(said) is None and _STOPS.match(said) is None


def research_named(message: str, *, is_asked_after: bool = False) -> ResearchNamed | None:
    """The deep research that a message asks after, or wants stopped, by its number.

    `is_asked_after`: that it asks after something is known.
    """
    if len(message) > _MOST:
        return None
    said = words(message.replace("#", " number "))
    if (found := _NAMED.search(said)) is None:
        return None
    stops = _STOPS.search(said) is not None
    is_plain = found["deep"] is not None or found["counted"] is not None
    if not stops and not is_plain and not is_asked_after and _ASKS_AFTER.search(said) is None:
        return None
    return ResearchNamed(number=int(found["number"]), stops=stops)
