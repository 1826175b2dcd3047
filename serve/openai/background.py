"""What OpenAI clients ask by themselves beside a chat: titles, tags, follow-ups, search queries.

No person said it: it is answered here by code, in the form that it demands, and no agent, tool, open question
or conversation hears of it. It is known by its structure, a conversation together with a demanded form, or by
words of the configuration (`chat.background`). What is quoted demands nothing.
"""

import json
import re
from collections.abc import Sequence
from typing import get_args

from actors.text.normal_form import words
from models.chat.messages import Done
from models.config.background import BackgroundConfig, Demand, Filling
from models.text import cut, one_line
from serve.openai.request import CompletionRequest
from serve.openai.transcript import Quoted, Transcripts, paragraphs

_TOOK_AS = "Taken for what a client asks by itself: answered without the assistant, and nothing is done."
_TITLE_WORDS, _TITLE = 6, 60
_ASKED = 500
# So many of the first messages are looked at for a title, and so much of each.
_EARLIER, _LOOKED_AT = 4, 1000
# A system message says at once what it is for.
_SENTENCES = 3
_SENTENCE = re.compile(r"[.!?。\n]\s|\n")
_FLAT = re.compile(r"\{[^{}]*\}")
_KEY = re.compile(r'"(\w{1,60})"\s{0,20}:\s{0,20}(["\[]?)')
_LIST = re.compile(r'\[\s{0,20}"')
_SMALL_NUMBER = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_QUOTES = " \t\"'`“”„*#"


class Background:
    """Tells what a client asks by itself from what a person asks, and answers it."""

    def __init__(self, settings: BackgroundConfig) -> None:
        self._settings = settings
        self._transcripts = Transcripts(settings)
        self._demands = {name: _any_of(phrases) for name, phrases in settings.demands.items()}
        self._conversations = _any_of(settings.conversations)
        self._limits = _any_of(settings.limits)

    def answer(self, asked: CompletionRequest, topic: str | None) -> Done | None:
        """The answer to what a client asks by itself; None where it may be a person who asks."""
        quoted = self._transcripts.of(asked.messages[-1].words)
        systems = [
            self._transcripts.of(message.words)
            for message in asked.messages
            if message.role in ("system", "developer")
        ]
        around = "\n\n".join(each.around for each in (quoted, *systems))
        form = self._form(around)
        demand = self._demand(quoted, systems)
        if form is not None and (quoted.sure or demand is not None):
            text = self._filled(form, asked, quoted)
        elif demand is not None:
            text = self._plain(demand, asked, quoted, as_list=_LIST.search(around) is not None)
        else:
            return None
        return Done(
            response=text,
            agent_type="main_chat",
            topic=topic,
            status="completed",
            took_as=_TOOK_AS,
        )

    def _demand(self, quoted: Quoted, systems: Sequence[Quoted]) -> Demand | None:
        """What is asked for about a conversation, in a paragraph, or where a system message begins."""
        places = []
        if quoted.found:  # beside a conversation all the words are about it
            places.append(quoted.around)
        elif self._wants_nothing_else(quoted.around):
            places += paragraphs(quoted.around)
        for each in systems:
            if quoted.found or self._wants_nothing_else(each.around):
                places += [part for part in _SENTENCE.split(each.around) if part.strip()][:_SENTENCES]
        return next((demand for place in places if (demand := self._named(place))), None)

    def _wants_nothing_else(self, around: str) -> bool:
        return self._form(around) is not None or self._limits.search(_normal(around)) is not None

    def _named(self, place: str) -> Demand | None:
        said = _normal(place)
        if not self._conversations.search(said):
            return None
        found = [(match.start(), name) for name in get_args(Demand) if (match := self._at(name, said))]
        # A follow-up that is to be put in other words is a question, and no follow-up.
        if any(name == "question" for _, name in found):
            return "question"
        return min(found)[1] if found else None

    def _at(self, name: Demand, said: str) -> re.Match[str] | None:
        pattern = self._demands.get(name)
        return None if pattern is None else pattern.search(said)

    def _form(self, around: str) -> dict[str, bool] | None:
        """The keys of the JSON form that is demanded, and whether each holds a list; all are known."""
        for match in _FLAT.finditer(around):
            keys = {key: begins == "[" for key, begins in _KEY.findall(match[0])}
            if keys and keys.keys() <= self._settings.keys.keys():
                return keys
        return None

    def _filled(self, form: dict[str, bool], asked: CompletionRequest, quoted: Quoted) -> str:
        filled: dict[str, str | list[str]] = {}
        for key, is_list in form.items():
            text = self._text(self._settings.keys[key], asked, quoted)
            filled[key] = ([text] if text else []) if is_list else text
        return json.dumps(filled, ensure_ascii=False)

    def _plain(self, demand: Demand, asked: CompletionRequest, quoted: Quoted, *, as_list: bool) -> str:
        fillings: dict[Demand, Filling] = {
            "title": "title",
            "tags": "tags",
            "follow_ups": "nothing",
            "queries": "asked",
            "question": "asked",
        }
        text = self._text(fillings[demand], asked, quoted)
        if as_list and demand in ("tags", "follow_ups", "queries"):
            return json.dumps([text] if text else [], ensure_ascii=False)
        return text

    def _text(self, filling: Filling, asked: CompletionRequest, quoted: Quoted) -> str:
        if filling == "nothing":
            return ""
        if filling == "tags":
            return self._settings.general
        said = quoted.people or quoted.asked or (() if quoted.sure else self._told(asked))
        if filling == "title":
            return _title(said[0] if said else "") or self._settings.untitled
        last = quoted.asked or said
        return cut(one_line(last[-1]), _ASKED) if last else ""

    def _told(self, asked: CompletionRequest) -> tuple[str, ...]:
        """What the person said in the messages themselves, or in what stands beside the demand."""
        *earlier, last = [message.words for message in asked.messages if message.role == "user"]
        looked_at = [text[:_LOOKED_AT] for text in (*earlier[:_EARLIER], *earlier[-1:])]
        if said := tuple(text for text in looked_at if text.strip(_QUOTES) and self._named(text) is None):
            return said
        rest = [part for part in paragraphs(last) if self._named(part) is None]
        lines = [line for part in rest for line in part.split("\n") if not line.rstrip().endswith(":")]
        after = last.partition(":")[2]
        return tuple(line for line in (*lines, after) if line.strip(_QUOTES))


def _title(said: str) -> str:
    return cut(" ".join(one_line(said).strip(_QUOTES).split()[:_TITLE_WORDS]), _TITLE).strip(_QUOTES)


def _normal(text: str) -> str:
    return _SMALL_NUMBER.sub("0", words(text))


def _any_of(phrases: Sequence[str]) -> re.Pattern[str]:
    """Any of some phrases as whole words, with any ending after a star; Chinese anywhere."""
    return re.compile("|".join(_pattern(phrase) for phrase in phrases))


def _pattern(phrase: str) -> str:
    said = re.escape(_normal(phrase))
    if not said.isascii():
        return said
    return rf"(?<!\w){said}" if phrase.endswith("*") else rf"(?<!\w){said}(?!\w)"
