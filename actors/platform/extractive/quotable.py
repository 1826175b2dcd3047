"""Which sentences of a text can be quoted by themselves, and which only together with the one before.

Called where candidates are looked for, and where the quotations of an article are found again. By rules that
are strict: what is left out costs little, what says something else by itself costs the reader's trust.
"""

import re
import sys
from bisect import bisect_right

from actors.platform.extractive.corrections import Corrections, corrects, is_verdict, leads_to_verdict
from actors.platform.extractive.pointers import leads_to, turns_round
from actors.platform.extractive.self_contained import makes_no_statement, why_not_quotable
from actors.platform.extractive.single_quotes import SingleQuotations
from actors.platform.extractive.speakers import is_reported, says_whose, speaks_first, takes_the_word
from actors.platform.extractive.voices import Voices
from actors.platform.text.language import Language
from actors.platform.text.lexicon import pattern_in, words_of_all
from actors.platform.text.quotation_marks import can_be_quoted
from actors.platform.text.sentences.sentence_boundaries import OpenQuotations
from actors.platform.text.sentences.sentences import ITEM, Sentence, as_read, sentences

# Sentences of one source that are looked at: those of a long one are ranked by words and place first.
_MOST_OF_SOURCE = 4000
# Characters of what is quoted in one piece.
_LONGEST = 400
_OPENING, _CLOSING = "“„«»", "”“»«"
_PARAGRAPH = re.compile(r"[^\n]{0,8000}(?:\n[ \t]{0,20}[^\s][^\n]{0,8000}){0,200}")
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(?P<words>[^\n]{1,200})", re.MULTILINE)
_MARKS = frozenset("“„«»”")
_NONE = -1
# A word that was broken at the end of a line: whether its hyphen stays is not known.
_JOINS = "|".join(sorted(words_of_all("quoting", "joins_lines")))
_BROKEN = re.compile(rf"[^\W_][-\u00ad\u2010\u2011][ \t]{{0,20}}\r?\n[ \t]{{0,20}}(?!(?:{_JOINS})\b)[^\W_]")


def quotable(text: str, language: Language) -> list[Sentence]:
    """What of a text can be quoted by itself, in order.

    A sentence that leans on the one before comes along with it: "The bank cut its rate. It gave no reason."
    One that is taken back at once is quoted with what takes it back, or not at all; one that is set right
    anywhere in the text is not. What somebody says is quoted with the name that stands before it, in the same
    paragraph, or not at all.
    """
    return _Quotable(text, language).read()


class OwnWords:
    """What of a text can be quoted by itself (`quotable`), and which places are not its own words.

    Those are what others say without their name beside it, what is said to be false, and what is set right.
    """

    def __init__(self, text: str, language: Language) -> None:
        reader = _Quotable(text, language)
        self.quotable = reader.read()
        self._voices = reader.voices
        self._withheld = sorted((one.start, one.end) for one in reader.withheld)

    def are_withheld(self, place: int) -> bool:
        """Whether what stands at a place may not be taken for what the text says."""
        at = bisect_right(self._withheld, (place, sys.maxsize)) - 1
        return self._voices.are_others(place) or (at >= 0 and place < self._withheld[at][1])


def takes_back(sentence: str, language: Language) -> bool:
    """Whether a sentence begins by taking back what was said before it."""
    return pattern_in(language, "quoting", "takes_back", r"{}\b").match(sentence) is not None


class _Quotable:
    """Reads a text once, and keeps the sentence or the run of sentences that is under way."""

    def __init__(self, text: str, language: Language) -> None:
        self._text = text
        self._language = language
        self._found: list[Sentence] = []
        self._run: Sentence | None = None
        self._quotations = OpenQuotations()
        self._singles = SingleQuotations(text)
        self._turn: int | None = None
        self.voices = Voices(text, language)
        self.withheld: list[Sentence] = []
        self._read_to = 0
        self._is_headed = False

    def read(self) -> list[Sentence]:
        """All of it."""
        everything = [_without_marks(one, self._text) for one in sentences(self._text, self._language)]
        transcript = speaks_first(everything, self._text)
        corrections = Corrections(self._text, everything, self._language)
        paragraph = above = _NONE
        for one in everything:
            if one.paragraph != paragraph:
                paragraph, above = one.paragraph, paragraph
                above = self._read_headings(above, one.start)
                self._begin_paragraph(one)
            is_inside = self._is_inside(one)
            is_withheld = is_inside or self.voices.are_others(one.start) or corrections.withhold(one)
            if is_withheld:
                self.withheld.append(one)
            spoken = transcript is not None and one.start > transcript
            leans, stands = self._judged(one, is_spoken=spoken)
            if leans and not is_withheld and self._joined(one):
                continue
            if is_verdict(one.text, self._language):
                self._withdraw(above, one)
                stands = False
            elif self._is_against_run(one) and self._come_along(one, is_withheld=is_withheld):
                continue
            self._settle()
            if stands and not is_withheld:
                self._run = one
            if len(self._found) >= _MOST_OF_SOURCE:
                return self._found
        self._read_headings(paragraph, len(self._text))
        self._settle()
        return self._found

    def _goes_on(self, one: Sentence) -> bool:
        """Whether a sentence stands behind the run in its paragraph."""
        return self._run is not None and self._run.paragraph == one.paragraph

    def _is_against_run(self, one: Sentence) -> bool:
        return self._goes_on(one) and (
            turns_round(one.text, self._language) or corrects(one.text, self._language)
        )

    def _come_along(self, one: Sentence, *, is_withheld: bool) -> bool:
        """Join to the run what turns it round, or withhold the run; whether it was joined."""
        if not is_withheld and not one.text.endswith("?") and self._joined(one):
            return True
        if self._run is not None:
            self.withheld.append(self._run)
            self._run = None
        return False

    def _read_headings(self, above: int, end: int) -> int:
        """Read the headings before a place: one may be a verdict (`## False`).

        Gives the paragraph that a verdict behind them is on: none, where they begin something else.
        """
        self._is_headed = False
        for line in _HEADING.finditer(self._text, self._read_to, end):
            self._is_headed = True
            if is_verdict(line["words"], self._language) and not self.voices.is_claim(line["words"]):
                self._withdraw(above)
            elif not leads_to_verdict(line["words"], self._language):
                above = _NONE
        return above

    def _withdraw(self, above: int, verdict: Sentence | None = None) -> None:
        """Take back what a verdict is on: what stands right before it, or the paragraph or the list above."""
        if verdict is not None and self._run is not None and self._run.paragraph == verdict.paragraph:
            self.withheld.append(self._run)
            self._run = None
            return
        self._settle()
        while self._found and self._found[-1].paragraph == above:
            taken = self._found.pop()
            self.withheld.append(taken)
            if self._found and self._is_item(taken) and self._is_item(self._found[-1]):
                above = max(above - 1, self._found[-1].paragraph)

    def _is_item(self, one: Sentence) -> bool:
        return ITEM.match(self._text, self._text.rfind("\n", 0, one.start) + 1) is not None

    def _begin_paragraph(self, one: Sentence) -> None:
        if not self._quotations.are_open:
            return
        paragraph = _PARAGRAPH.match(self._text, one.start)
        if paragraph is not None:
            self._quotations.begin(paragraph[0], under_heading=self._is_headed)

    def _is_inside(self, one: Sentence) -> bool:
        """Whether it stands within a quotation that was opened before it and is not closed yet."""
        is_bare = (
            self._text[one.start - 1 : one.start] in _MARKS and self._text[one.end : one.end + 1] in _MARKS
        )
        start, end = (one.start - 1, one.end + 1) if is_bare else (one.start, one.end)
        self._quotations.read(self._text[self._read_to : start])
        is_inside = self._quotations.are_open
        self._quotations.read(self._text[start:end])
        self._read_to = end
        return is_inside or (not is_bare and self._singles.hold(one.start, one.end))

    def _judged(self, one: Sentence, *, is_spoken: bool) -> tuple[bool, bool]:
        """Whether a sentence leans on the one before, and whether it stands by itself."""
        wrong = why_not_quotable(one.text, self._language)
        is_empty = wrong == ("fragment",) and makes_no_statement(one.text)
        is_under_way = self._turn == one.paragraph
        if _BROKEN.search(self._text, one.start, one.end):
            return False, False
        if (
            takes_the_word(one.text, is_under_way=is_under_way)
            or self.voices.leads_in(one.text)
            or (leads_to(one.text, self._language) and not self._goes_on(one))
        ):
            self._turn = one.paragraph
            return False, not wrong or is_empty
        if is_spoken or is_under_way:
            return not wrong or is_empty or wrong == ("needs_antecedent",), False
        if is_reported(one.text, self._language):
            is_named = self._run is not None and says_whose(self._run.text, self._language)
            return is_named and wrong in ((), ("needs_antecedent",)), False
        return wrong == ("needs_antecedent",), not wrong

    def _joined(self, one: Sentence) -> bool:
        """Whether a sentence that leans on the run goes on with it: with nothing between them."""
        run = self._run
        if run is None or run.paragraph != one.paragraph:
            return False
        if as_read(self._text[run.end : one.start]).strip():
            return False
        joined = run.model_copy(update={"text": f"{run.text} {one.text}", "end": one.end})
        if len(joined.text) > _LONGEST:
            if takes_back(one.text, self._language):
                self._run = None
            return False
        self._run = joined
        return True

    def _settle(self) -> None:
        run, self._run = self._run, None
        if run is not None and not makes_no_statement(run.text) and can_be_quoted(run.text):
            self._found.append(run)


def _without_marks(one: Sentence, text: str) -> Sentence:
    """The words of a quotation whose footnote says who said them, without its quotation marks.

    So a text of quotations, an article of this site's own, can be quoted again.
    """
    if not text.startswith("[^", one.end) or one.text[:1] not in _OPENING or one.text[-1:] not in _CLOSING:
        return one
    start, end = one.start + 1, one.end - 1
    inner = as_read(text[start:end])
    return (
        one.model_copy(update={"text": inner, "start": start, "end": end}) if one.text[1:-1] == inner else one
    )
