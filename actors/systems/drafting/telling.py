"""What tells a question's subject, and whether a text bears it: places, measures, companies, names, the rest.

Called by whoever chooses what a draft is written from. A text on another country or another measure shares
most of a question's words, and its meaning too; so what tells must stand in it, in some form or language.
"""

from actors.platform.text.bearing import names_written
from actors.platform.text.language import Language, language_of
from actors.platform.text.normal_form import words
from actors.platform.text.relevance import QuestionWords, content_words
from actors.platform.text.word_forms import is_general
from actors.systems.market.things_in_text import Things, exchanged, things_in
from models.record import Record

# Letters that a part of a compound has at least: "Gold" of "Goldmine".
_PART = 4


class Borne(Record):
    """What a text bears of a question.

    `elsewhere`: it is about another place, company or measure; `lacks_name`: a place, company or name is not
    in it. `share` is that of the other words that tell, and of what is measured; 1 where there are none.
    `name_borne`: it has a name that stands in no list.
    """

    elsewhere: bool
    lacks_name: bool
    share: float
    name_borne: bool = False


class QuestionSubject:
    """The things and words of a question that tell its subject."""

    def __init__(self, question: str) -> None:
        self.language: Language = language_of(question)
        self._things = things_in(question)
        self._currencies = exchanged(question)
        telling = {
            one
            for one in content_words(self._things.others)
            if not is_general(one, self.language) and not one.isdigit()
        }
        names = names_written(question, self.language) & telling
        self._names = [QuestionWords(name) for name in sorted(names)]
        self._rest = sorted(telling - names)
        self._rest_words = [QuestionWords(word) for word in self._rest]

    def borne_by(self, title: str, text: str) -> Borne:
        """What a text and its title have of it."""
        whole = f"{title}\n{text}"
        there, said = things_in(whole), set(words(whole).split())
        asked = self._things
        lacking = [
            asked.places and not asked.places & there.places,
            asked.companies and not asked.companies & there.companies,
            not self._currencies <= there.currencies,
            *(not name.shared_with(whole) for name in self._names),
        ]
        measured = [bool(asked.subjects & there.subjects)] if asked.subjects else []
        borne = [
            *measured,
            *(
                bool(beginning.shared_with(whole)) or self._has_part(word, said)
                for word, beginning in zip(self._rest, self._rest_words, strict=True)
            ),
        ]
        return Borne(
            elsewhere=self.is_elsewhere(title) or _apart(asked.subjects, there.subjects),
            lacks_name=any(lacking),
            share=sum(borne) / len(borne) if borne else 1.0,
            name_borne=any(name.shared_with(whole) for name in self._names),
        )

    def is_elsewhere(self, words_of_it: str) -> bool:
        """Whether a title names other places, companies or measures, and not those that are asked for."""
        there = things_in(words_of_it)
        return any(_apart(asked, other) for asked, other in _pairs(self._things, there))

    def sentence_is_elsewhere(self, sentence: str) -> bool:
        """Whether a sentence is on another measure, or on the measures of another place.

        Other places stand in many a sentence that is about what was asked: "the highest in Europe".
        """
        there = things_in(sentence)
        asked = self._things
        if _apart(asked.subjects, there.subjects) or _apart(asked.companies, there.companies):
            return True
        return _apart(asked.places, there.places) and bool(there.subjects or not asked.subjects)

    def shared_with(self, text: str) -> bool:
        """Whether a text has any of it."""
        there = things_in(text)
        if any(asked & other for asked, other in _pairs(self._things, there)):
            return True
        return any(each.shared_with(text) for each in (*self._names, *self._rest_words))

    def _has_part(self, word: str, said: set[str]) -> bool:
        """In German: whether a text has a word that this one begins or ends with, or that does so with it."""
        if self.language != "de":
            return False
        return any(
            min(len(one), len(word)) >= _PART
            and (word.startswith(one) or word.endswith(one) or one.startswith(word) or one.endswith(word))
            for one in said
        )


def _pairs(asked: Things, there: Things) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    return (
        (asked.places, there.places),
        (asked.subjects, there.subjects),
        (asked.companies, there.companies),
    )


def _apart(asked: frozenset[str], there: frozenset[str]) -> bool:
    return bool(asked) and bool(there) and not asked & there
