"""A conversation as a client quotes it within one message: what its people said, and what stands around it.

`serve.openai.background` asks. What is quoted is never the sender's own demand. All takes linear time.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from models.config.background import BackgroundConfig
from models.record import Record

_BLANK = re.compile(r"\n[ \t\r]*(?:\n[ \t\r]*)+")
_AROUND = " \t\"'`“”„*#>-"


class Quoted(Record):
    """A message apart: `around` is its own words, `people` what persons say in what it quotes.

    `found`: it quotes a conversation, both sides of it or nothing else; `sure`: by tags, by JSON, or nothing
    else. `one_sided`: it is nothing but what one side said. `asked` is what follows such words as `Follow Up
    Input:`.
    """

    around: str
    found: bool
    sure: bool
    one_sided: bool = False
    people: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()


class Transcripts:
    """Finds conversations by the names of tags, by the words before what is said, or by roles in JSON."""

    def __init__(self, words: BackgroundConfig) -> None:
        self._words = words
        self._people = _labels(words.people)
        self._both = _labels((*words.people, *words.assistants))
        self._assistants = _labels(words.assistants)
        self._asked = _labels(words.asked)
        self._any = _labels((*words.people, *words.assistants, *words.asked))

    def of(self, text: str) -> Quoted:
        """The message apart."""
        if spoken := list(_in_json(text)):
            people = tuple(said for role, said in spoken if role == "user")
            return Quoted(around="", found=True, sure=True, people=people)
        around = text
        for name in self._words.sources:
            around, _ = _without(around, name)
        around, inside = around.strip(), []
        for name in self._words.enclosures:
            around, taken = _without(around, name)
            if taken:
                around = around and f"{around}\n\n{name}"
                inside += taken
        if inside:
            said = "\n".join(inside)
            people = self._said(said, self._people) or _in_tags(said, self._words.people)
            people = people or tuple(self._first_line(said))
            asked = self._said(around, self._asked)
            return Quoted(around=around, found=True, sure=True, people=people, asked=asked)
        people, asked = self._said(around, self._people), self._said(around, self._asked)
        both = bool(people) and bool(self._said(around, self._assistants))
        around = self._unlabelled(around)
        alone = bool(people) and not around
        return Quoted(
            around=around,
            found=both or alone,
            sure=alone,
            one_sided=alone and not both,
            people=people,
            asked=asked,
        )

    def _said(self, text: str, labels: re.Pattern[str]) -> tuple[str, ...]:
        """What follows the labels, one line each; on the next line where the label's own holds nothing."""
        found = []
        lines = iter(text.split("\n"))
        for line in lines:
            if (match := labels.match(line)) is None:
                continue
            said = line[match.end() :].strip(_AROUND)
            while not said and (after := next(lines, None)) is not None and not self._both.match(after):
                said = after.strip(_AROUND)
            if said:
                found.append(said)
        return tuple(found)

    def _unlabelled(self, text: str) -> str:
        """The text before the first words that are somebody's, and the last paragraph after them."""
        lines = text.split("\n")
        at = [number for number, line in enumerate(lines) if self._any.match(line)]
        if not any(self._both.match(lines[number]) for number in at):
            return text
        before = "\n".join(lines[: at[0]])
        _, *after = _BLANK.split("\n".join(lines[at[-1] :]))
        return "\n\n".join((before, *after[-1:])).strip()

    def _first_line(self, text: str) -> Iterator[str]:
        for line in text.split("\n"):
            if line.strip(_AROUND) and not self._both.match(line):
                yield line.strip(_AROUND)
                return


def _labels(names: Sequence[str]) -> re.Pattern[str]:
    """A line that begins with one of the names and a colon: `**User**:`, `- You:`, `### User Message:`.

    A heading needs no colon: `# USER`.
    """
    any_of = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(
        rf"[\s#*>\[(-]{{0,12}}(?:{any_of})[\s*\])]{{0,4}}[:：]|#{{1,6}} (?:{any_of})\s*\Z", re.IGNORECASE
    )


def _without(text: str, tag: str) -> tuple[str, list[str]]:
    """A text without what stands from the first such tag to the last, which a quotation can't shut early."""
    folded = text.lower()
    if len(folded) != len(text):  # a letter whose small form is longer
        folded = text
    start, end = folded.find(f"<{tag}>"), folded.rfind(f"</{tag}>")
    if start < 0 or end < start:
        return text, []
    inside = text[start + len(tag) + 2 : end]
    return f"{text[:start]}\n\n{text[end + len(tag) + 3 :]}".strip(), [inside]


def _in_tags(text: str, people: Sequence[str]) -> tuple[str, ...]:
    """What the first `<user>` says."""
    for name in people:
        start = text.find(f"<{name}>")
        end = text.find(f"</{name}>", start)
        if 0 <= start < end and (said := text[start + len(name) + 2 : end].strip()):
            return (said,)
    return ()


def _in_json(text: str) -> Iterator[tuple[str, str]]:
    """The roles and texts of messages, where the whole text is one of them, or a list of them, in JSON."""
    if text.strip()[:1] not in ("[", "{"):
        return
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return
    for message in read if isinstance(read, list) else [read]:
        if isinstance(message, dict) and isinstance(message.get("role"), str):
            yield message["role"], _spoken(message)


def _spoken(message: dict[str, Any]) -> str:
    for key in ("content", "text", "mainText", "parts"):
        match message.get(key):
            case str(said):
                return said
            case list(parts):
                texts = (part.get("text") for part in parts if isinstance(part, dict))
                return "\n".join(text for text in texts if isinstance(text, str))
    return ""
