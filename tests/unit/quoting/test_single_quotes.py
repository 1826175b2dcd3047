"""Words in single quotation marks are somebody's, and apostrophes are no such marks."""

import pytest

from actors.platform.extractive.quotable import quotable
from actors.platform.text.language import Language

THEIRS = "The dredging has killed the whole herring stock."
OWN = "The council met on Monday in the hall."


def _told(text: str, language: Language = "en") -> list[str]:
    return [one.text for one in quotable(text, language)]


@pytest.mark.parametrize(
    "quotation",
    [
        "‘{0} {0}’",
        "‘We lost it. {0} The men’s nets are empty.’",
        "‘We lost it. {0} We left, all of us,’ said one.",
        "‘The fishermens’ nets are empty. {0} We left.’",
        "‘The fishermens’ nets are empty. {0} We left’.",
        "‘We lost it, said one. {0} Nobody came’ and that was it.",
        "‘They said “no” to us. {0} We left.’",
        "'We lost it. {0} The men's nets are empty. {0}'",
        "‘We lost it.\n\n‘{0}\n\n‘{0}’",
        "'We lost it.\n\n'{0}\n\n'{0}'",
        "‘We lost it.\n\n{0} The men’s nets are empty.\n\n{0}’",
        "‘We lost it. {0}",
        "‚We lost it. {0} We left.‘",
        "›We lost it. {0} We left.‹",
        "‹We lost it. {0} We left.›",
        "One spoke: ‘We lost it. {0} We left.’",
        "‘We lost it,’ said Mia Holm. ‘{0} {0}’",
    ],
)
def test_what_stands_in_single_marks_is_not_the_text_s_own(quotation: str) -> None:
    told = _told(f"{OWN}\n\n{quotation.format(THEIRS)}\n\n{OWN[:-1]} again.")
    assert not any(THEIRS in one for one in told)
    assert (told[0], told[-1]) == (OWN, f"{OWN[:-1]} again.")


def test_they_go_with_the_name_beside_them() -> None:
    for said in (f"‘{THEIRS[:-1]},’ said Mia Holm, a diver.", f"Mia Holm, a diver, said: ‘{THEIRS}’"):
        assert _told(said) == [said]


@pytest.mark.parametrize(
    "own",
    [
        "The fishermen’s nets and the girls’ school stay where they are. The harbour stays open in June.",
        "The fishermen's nets and the girls' school stay where they are. The harbour stays open in June.",
        "The ‘quiet’ floor is open until ten. The harbour stays open in June.",
        "The 'quiet' floor is open until ten. The harbour stays open in June.",
        "The ‘zombies’ of the bank market are sold. The harbour stays open in June.",
        "Rock ’n’ roll bands play there, and 'em all. The harbour stays open in June.",
        "The '90s and the ‘80s were good years. The harbour stays open in June.",
        "The port ›Nord‹ is open until ten. The harbour stays open in June.",
    ],
)
def test_apostrophes_and_single_words_take_nothing_away(own: str) -> None:
    assert " ".join(_told(own)) == own
