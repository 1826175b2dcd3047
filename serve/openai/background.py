"""What OpenAI clients ask by themselves beside a chat: titles, tags, follow-ups, search queries.

No person said it: it is answered here by code, in the form that it demands, and no agent, tool, open question
or conversation hears of it. So it is known by its structure: a conversation in tags beside a form of JSON
whose keys are known, or one that a message is as a whole, under a system message that demands something in
words of the configuration (`chat.background`). What is quoted demands nothing. What else stands beside a
conversation may be a person's: `main_chat` is told, and has the model alone answer it unless it is plainly a
command.
"""

import json
import re
from collections.abc import Sequence

from actors.platform.text.normal_form import words
from actors.systems.chat.routing.deep_research import research_named
from actors.systems.chat.routing.operations import operation_named
from actors.systems.chat.turn.article_numbers import articles_named
from actors.systems.chat.turn.confirmation import is_yes
from models.chat.messages import Beside, Done
from models.config.background import BackgroundConfig, Demand, Filling
from models.text import cut, one_line
from serve.openai.request import CompletionRequest
from serve.openai.transcript import Quoted, Transcripts

_TOOK_AS = "Taken for what a client asks by itself: answered without the assistant, and nothing is done."
_TITLE_WORDS, _TITLE = 6, 60
_ASKED = 500
# So many of the first messages are looked at for a title, and so much of each.
_EARLIER, _LOOKED_AT = 4, 1000
_SENTENCE = re.compile(r"[.!?。]\s|\n")
# A form is announced by a colon. What has none before it is data.
_FORM = re.compile(r"[:：][\s`]{0,20}(\{[^{}]*\})")
_KEY = re.compile(r'"(\w{1,60})"\s{0,20}:\s{0,20}(["\[]?)')
_LIST = re.compile(r'\[\s{0,20}"')
_QUOTES = " \t\"'`“”„*#"
_PLAIN: dict[Demand, Filling] = {
    "title": "title",
    "tags": "tags",
    "follow_ups": "nothing",
    "queries": "asked",
    "question": "asked",
}


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
        if quoted.found and not quoted.sure:
            return None
        for task in self._tasks(asked, quoted):
            if quoted.found and quoted.around and (self._form(task) is None or _names_something(task)):
                continue
            if (told := self._told(task, asked, quoted)) is not None:
                return Done(
                    response=told,
                    agent_type="main_chat",
                    topic=topic,
                    status="completed",
                    took_as=_TOOK_AS,
                )
        return None

    def beside(self, asked: CompletionRequest) -> Beside | None:
        """What the message says beside a conversation that it quotes; None where it quotes none."""
        quoted = self._transcripts.of(asked.messages[-1].words)
        if not quoted.found or quoted.one_sided:
            return None
        return Beside(words=quoted.around, told=self._told(quoted.around, asked, quoted))

    def is_aside(self, asked: CompletionRequest) -> bool:
        """Whether the message may be a client's, though it quotes nothing."""
        return self._demand(asked.messages[-1].words) is not None

    def _told(self, task: str, asked: CompletionRequest, quoted: Quoted) -> str | None:
        """What a task is answered; None where it is none that is known."""
        form, demand = self._form(task), self._demand(task)
        if demand is None and (form is None or not quoted.sure):
            return None
        texts = self._texts(quoted.people if quoted.found else self._said(asked), quoted)
        told: str | list[str] | dict[str, str | list[str]]
        if form is None and demand is not None:
            is_list = demand in ("tags", "follow_ups", "queries") and _LIST.search(task) is not None
            told = _listed(texts[_PLAIN[demand]], is_list)
        else:
            told = {
                key: _listed(texts[self._settings.keys[key]], is_list)
                for key, is_list in (form or {}).items()
            }
        return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)

    def _tasks(self, asked: CompletionRequest, quoted: Quoted) -> Sequence[str]:
        """Texts that may be such a task: what stands beside what is quoted, else the system messages."""
        if quoted.found and quoted.around:
            return [quoted.around]
        systems = [
            self._transcripts.of(message.words).around
            for message in asked.messages
            if message.role in ("system", "developer")
        ]
        if quoted.found or self._is_announced(asked):
            return systems
        return [each for each in systems if is_yes(asked.messages[-1].words) and self._is_whole(each)]

    def _is_announced(self, asked: CompletionRequest) -> bool:
        """Whether all the messages are quoted by the first, which ends with a colon and is not answered."""
        first, *after = [each for each in asked.messages if each.role in ("user", "assistant")]
        if [each.role for each in (first, *after[:1])] != ["user", "user"]:
            return False
        return first.words.rstrip().endswith((":", "：")) and self._demand(first.words) is not None

    def _is_whole(self, system: str) -> bool:
        """Whether a system message is nothing but a task, and says that only its outcome is wanted."""
        named = [(said, self._first(said)) for said in map(words, _sentences(system))]
        return all(found or self._limits.fullmatch(said) for said, found in named) and any(
            found and self._limits.search(said, 0, found[0]) for said, found in named
        )

    def _demand(self, task: str) -> Demand | None:
        """What a text asks for about a conversation; its first sentence says one or the other."""
        said, begins = (words(text) for text in (task, next(iter(_sentences(task)), "")))
        found = self._first(said) if self._conversations.search(said) else None
        return found[1] if found and (self._first(begins) or self._conversations.search(begins)) else None

    def _first(self, said: str) -> tuple[int, Demand] | None:
        """What is asked for first, and where."""
        found = [(match.start(), name) for name, of in self._demands.items() if (match := of.search(said))]
        # A follow-up that is to be put in other words is a question, and no follow-up.
        return next((each for each in found if each[1] == "question"), min(found, default=None))

    def _form(self, task: str) -> dict[str, bool] | None:
        """The keys of the JSON form that is demanded, and whether each holds a list; all are known."""
        for match in _FORM.finditer(task):
            keys = {key: begins == "[" for key, begins in _KEY.findall(match[1])}
            if keys and keys.keys() <= self._settings.keys.keys():
                return keys
        return None

    def _texts(self, said: Sequence[str], quoted: Quoted) -> dict[Filling, str]:
        # Only what is quoted is said again.
        last = (quoted.asked or quoted.people)[-1:]
        return {
            "title": _title(said[0] if said else "") or self._settings.untitled,
            "tags": self._settings.general,
            "asked": cut(one_line("".join(last)), _ASKED),
            "nothing": "",
        }

    def _said(self, asked: CompletionRequest) -> tuple[str, ...]:
        """What the person said in the first messages themselves."""
        users = [each.words[:_LOOKED_AT] for each in asked.messages if each.role == "user"]
        return tuple(each for each in users[:_EARLIER] if self._demand(each) is None and not is_yes(each))


def _names_something(task: str) -> bool:
    """Whether it names something of the site's by its number: no client does."""
    return bool(articles_named(task, bare=False) or research_named(task) or operation_named(task))


def _sentences(text: str) -> list[str]:
    """Its sentences and lines, without headings and tags."""
    parts = (part.strip() for part in _SENTENCE.split(text))
    return [part for part in parts if part and part[0] not in "#<"]


def _listed(text: str, is_list: bool) -> str | list[str]:
    return ([text] if text else []) if is_list else text


def _title(said: str) -> str:
    return cut(" ".join(one_line(said).strip(_QUOTES).split()[:_TITLE_WORDS]), _TITLE).strip(_QUOTES)


def _any_of(phrases: Sequence[str]) -> re.Pattern[str]:
    """Any of some phrases as whole words, with any ending after a star; Chinese anywhere."""
    return re.compile("|".join(_pattern(phrase) for phrase in phrases))


def _pattern(phrase: str) -> str:
    said = re.escape(words(phrase))
    if not said.isascii():
        return said
    return rf"(?<!\w){said}" if phrase.endswith("*") else rf"(?<!\w){said}(?!\w)"
