"""People who chat while faults strike, and what must hold of it: an answer that was acknowledged is kept.

They ask in conversations, streamed and whole, two at once too; one of them lets the chat write, and says yes.
Half of the messages carry a request id and are sent until they are answered; the others are sent once.
"""

import asyncio
import contextlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.faults.people.work import People, Work
from tests.faults.site.world import World

_TALKERS = ("uma", "vic")
_WRITER = "eve"
# The site, or what it needs, is away; None: no answer came.
_AWAY = (None, 499, 502, 503, 504)
_INSIST_SECONDS = 90.0
_SAYINGS = (
    "Hello, how are you today? ({})",
    "Thank you, that helps me a lot. ({})",
    "What have we written about the Fed and its rates? ({})",
    "Explain in one sentence what inflation is. ({})",
)


@dataclass(frozen=True)
class Message:
    """A message that was sent, and the answer that was acknowledged; None: there was none."""

    who: str
    conversation: str
    text: str
    answer: dict[str, Any] | None


@dataclass
class Chats:
    """The conversations of a run."""

    world: World
    people: People
    work: Work
    rng: random.Random
    sent: list[Message] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    # An article whose publication was asked for in the chat, and how the yes was answered.
    article: int | None = None
    said_yes: bool = False
    yes: dict[str, Any] | None = None
    _count: int = 0

    @property
    def conversations(self) -> dict[str, str]:
        """Who talks in each conversation."""
        return {message.conversation: message.who for message in self.sent}

    async def carry(self, over: asyncio.Event) -> None:
        """Chat until `over` is set, each answer that is insisted on to its end."""
        await asyncio.gather(self._write(), *(self._talk(who, over) for who in _TALKERS))

    async def _talk(self, who: str, over: asyncio.Event) -> None:
        first = await self._insist(who, self._saying(), None)
        if first is None:
            return
        conversation = first["conversation_id"]
        while not over.is_set():
            sends = [self._say(who, conversation) for _ in range(self.rng.choice((1, 1, 2)))]
            await asyncio.gather(*sends)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), self.rng.uniform(0.3, 1.5))

    async def _say(self, who: str, conversation: str) -> None:
        text = self._saying()
        if self.rng.random() < 0.5:
            await self._insist(who, text, conversation)
        else:
            await self._send(who, {"message": text, "conversation_id": conversation})

    async def _write(self) -> None:
        """Ask for a publication, and say yes to what the chat asks back."""
        self.article = await self.people.article(self.work, "chat")
        text = f"Please publish article {self.article}"
        asked = await self._insist(_WRITER, text, None)
        if asked is None:
            return
        if asked["status"] != "asks":
            self.wrong.append(f"{text!r} was answered with {asked['status']}: {asked['response'][:200]}")
            return
        self.said_yes = True
        if self.rng.random() < 0.5:
            self.yes = await self._insist(_WRITER, "yes", asked["conversation_id"])
        else:
            body = {"message": "yes", "conversation_id": asked["conversation_id"]}
            self.yes = await self._send(_WRITER, body)

    def _saying(self) -> str:
        self._count += 1
        return self.rng.choice(_SAYINGS).format(f"{self.work.run}, {self._count}")

    async def _insist(self, who: str, text: str, conversation: str | None) -> dict[str, Any] | None:
        """The same request until it is answered."""
        self._count += 1
        body = {"message": text, "request_id": f"{self.work.run}/{self._count}"}
        if conversation is not None:
            body["conversation_id"] = conversation
        try:
            async with asyncio.timeout(_INSIST_SECONDS):
                while (answer := await self._send(who, body)) is None and not self.wrong:  # noqa: ASYNC110
                    await asyncio.sleep(0.3)
        except TimeoutError:
            self.wrong.append(f"{who} got no answer to {text!r} in {_INSIST_SECONDS:g} s")
            return None
        return answer

    async def _send(self, who: str, body: dict[str, Any]) -> dict[str, Any] | None:
        status, told = await self.people.chat(who, body, stream=self.rng.random() < 0.5)
        if status not in (200, *_AWAY):
            self.wrong.append(f"{who} got {status} for {body}: {json.dumps(told)[:300]}")
        answer = told if status == 200 else None
        conversation = answer["conversation_id"] if answer else body.get("conversation_id")
        if conversation is not None:
            self.sent.append(Message(who, conversation, body["message"], answer))
        return answer

    async def check(self) -> list[str]:
        """What is wrong with the conversations, now that all is well."""
        for conversation, who in self.conversations.items():
            await self._insist(who, self._saying(), conversation)
        wrong = list(self.wrong)
        rows = await self.world.rows(
            "SELECT id, conversation_id, role, content, answers, status FROM messages"
            " WHERE conversation_id = ANY(%s)",
            list(self.conversations),
        )
        wrong += kept(self.sent, rows)
        for conversation, who in self.conversations.items():
            wrong += await self._in_order(who, conversation)
        return wrong + await self._acted()

    async def _in_order(self, who: str, conversation: str) -> list[str]:
        found = await self.people.insist(who, f"/api/conversations/{conversation}", method="GET")
        return list(in_order(found.json()["messages"]))

    async def _acted(self) -> list[str]:
        """What was agreed to is done once, or not at all where the yes was lost, and not without one."""
        if self.article is None:
            return []
        found = await self.world.rows("SELECT id FROM approvals WHERE about = %s", f"article:{self.article}")
        name = f"the publication of article {self.article}, asked for in the chat,"
        return [f"{name} {odd}" for odd in agreed(len(found), said_yes=self.said_yes, answer=self.yes)]


def agreed(begun: int, *, said_yes: bool, answer: dict[str, Any] | None) -> Iterator[str]:
    """What the chat asked back for is done once after a yes, and not without one.

    Args:
        begun: how many times it was begun.
        answer: how the yes was answered; None: it was lost, and may have been heard or not.
    """
    if begun > 1:
        yield f"was begun {begun} times"
    elif begun and not said_yes:
        yield "was begun without a yes"
    elif answer is not None and (answer["status"] != "processing" or not begun):
        yield f"was begun {begun} times, and the yes was answered: {answer}"


def in_order(shown: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Each answer of a conversation stands after its question."""
    for before, after in pairwise(shown):
        if after["role"] == "assistant" and after["answers"] != before["id"]:
            yield f"message {after['id']} stands after {before['id']}, and answers {after['answers']}"


def kept(sent: list[Message], rows: list[dict[str, Any]]) -> list[str]:
    """Each question is there once at most, with one answer at most: the one that was acknowledged."""
    wrong = []
    questions = {(row["conversation_id"], row["content"]): row for row in rows if row["role"] == "user"}
    answers = {row["answers"]: row for row in rows if row["role"] == "assistant"}
    twice = Counter((row["conversation_id"], row["content"]) for row in rows if row["role"] == "user")
    wrong += [f"{text!r} stands {n} times" for (_, text), n in twice.items() if n > 1]
    often = Counter(row["answers"] for row in rows if row["role"] == "assistant")
    wrong += [f"message {question} has {n} answers" for question, n in often.items() if n > 1]
    for message in sent:
        if message.answer is None:
            continue
        question = questions.get((message.conversation, message.text))
        answer = answers.get(question["id"]) if question else None
        told = message.answer
        if answer is None:
            wrong.append(f"{message.text!r} was answered, and the answer is lost")
        elif (answer["id"], answer["content"]) != (told["message_id"], told["response"]):
            wrong.append(f"{message.text!r} was answered {told['response'][:60]!r}, kept is {answer}")
    return wrong
