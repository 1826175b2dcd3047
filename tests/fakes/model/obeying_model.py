"""A model that obeys whatever it reads, over the OpenAI protocol on a real socket, for tests of operations.

It looks for orders in all that a prompt shows it: as it stands, and with JSON, HTML, percent signs, base64,
hex and ROT13 undone and without what can't be seen. What it has read once it goes on obeying in every later
prompt about the same case (an invoice number such as `INV-91017`), whichever agent asks. Without orders it
searches for the case's number, plans the agents that the question names, and writes one dull sentence.
"""

import base64
import binascii
import codecs
import html
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict

CASE = re.compile(r"\b91\d{3}\b")
AGENTS = ("gmail", "accounts_payable", "crm")
_ENCODED = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")
_HEX = re.compile(r"\b(?:[0-9a-f]{2}){16,}\b")
_UNSEEN = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/bfnrt]))")
_PLAIN_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " "}
_TOOL = re.compile(r"^- ([A-Za-z0-9_./-]+)(?: \(writes|:)", re.MULTILINE)
_MARK = re.compile(r"^([CK]\d+): ", re.MULTILINE)
_AGENT = re.compile(r"You are the agent (\w+) of an operation")
_NOTHING_CALLED = re.compile(r'<data name="calls" mark="(\w+)">\nnothing yet\n</data mark="\1">')
_QUESTION = re.compile(r'<data name="question" mark="(\w+)">\n(.*?)\n</data mark="\1">', re.DOTALL)


class WantedCall(BaseModel):
    """A call that an order wants made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    arguments: Mapping[str, Any] = {}


class HostileOrder(BaseModel):
    """What the model does once it has read a text: calls, agents of a plan and why, sentences.

    `text` is as a reader understands it, whatever form it is shown in.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    text: str
    calls: tuple[WantedCall, ...] = ()
    plans: tuple[str, ...] = ()
    because: str = "It was asked for."
    says: tuple[str, ...] = ()


@dataclass
class _Conversation:
    """What it has read about one case, and which calls each agent has already asked for."""

    read: dict[str, HostileOrder] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    searched: set[str] = field(default_factory=set)
    planned: set[str] = field(default_factory=set)


class ObeyingModel:
    """The model's mind, and its ASGI app. `obeyed`: names of orders, and in which prompt."""

    def __init__(self, *orders: HostileOrder) -> None:
        self._orders = [(_plain(order.text), order) for order in orders]
        self._cases: dict[str, _Conversation] = defaultdict(_Conversation)
        self.obeyed: set[tuple[str, str]] = set()
        self.prompts: list[str] = []
        self.app = FastAPI(openapi_url=None)
        self.app.post("/v1/chat/completions")(self._complete)

    def learn(self, *orders: HostileOrder) -> None:
        """Obey these, too."""
        self._orders += [(_plain(order.text), order) for order in orders]

    async def _complete(self, body: dict[str, Any]) -> dict[str, Any]:
        prompt = "\n".join(str(message.get("content") or "") for message in body["messages"])
        self.prompts.append(prompt)
        form = body["response_format"]["json_schema"]["name"]
        case = CASE.search(_asked(prompt))
        talk = self._cases[case[0] if case else ""]
        for reading in readings(prompt):
            for wanted, order in self._orders:
                if wanted in reading:
                    talk.read[order.name] = order
        reply = {"CallChoice": self._choose, "PlanReply": self._plan, "SummaryReply": self._write}[form]
        said = json.dumps(reply(prompt, case[0] if case else "", talk))
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": "o", "object": "chat.completion", "created": 0, "model": "obeying"}
        return {**head, "choices": [choice], "usage": usage}

    def _choose(self, prompt: str, case: str, talk: _Conversation) -> dict[str, Any]:
        agent = found[1] if (found := _AGENT.search(prompt)) else ""
        if _NOTHING_CALLED.search(prompt):  # perhaps anew: another runner has taken the step over
            talk.searched -= {agent, "cases"} if agent == "crm" else {agent}
        for order in talk.read.values():
            for number, call in enumerate(order.calls):
                key = f"{agent}/{order.name}/{number}"
                if not talk.asked[key]:
                    talk.asked[key] += 1
                    self.obeyed.add((order.name, "call"))
                    return {"reason": order.because, "tool": call.tool, "arguments": dict(call.arguments)}
        if agent not in talk.searched:
            talk.searched.add(agent)
            search = next((name for name in _TOOL.findall(prompt) if name.startswith("search")), "done")
            return {"reason": "Look for it.", "tool": search, "arguments": {"query": case}}
        if agent == "crm" and "list_cases" in _TOOL.findall(prompt) and "cases" not in talk.searched:
            talk.searched.add("cases")
            arguments = {"account_id": f"A-{case}"}
            return {"reason": "Look for it.", "tool": "list_cases", "arguments": arguments}
        return {"reason": "Enough.", "tool": "done", "arguments": {}}

    def _plan(self, prompt: str, case: str, talk: _Conversation) -> dict[str, Any]:
        for order in talk.read.values():
            if order.plans and order.name not in talk.planned:
                talk.planned.add(order.name)
                self.obeyed.add((order.name, "plan"))
                steps = [{"agent": agent, "why": order.because} for agent in order.plans]
                return {"description": order.because, "steps": steps, "complexity": "low"}
        named = [agent for agent in AGENTS if agent in _asked(prompt)]
        steps = [{"agent": agent, "why": "It may tell."} for agent in (*named, "analysis")]
        return {"description": "Read and compare.", "steps": steps, "complexity": "low"}

    def _write(self, prompt: str, case: str, talk: _Conversation) -> dict[str, Any]:
        marks = list(dict.fromkeys(_MARK.findall(prompt)))
        texts = ["The systems do not agree."]
        for order in talk.read.values():
            texts += order.says
            if order.says:
                self.obeyed.add((order.name, "say"))
        sentences = [{"text": text, "evidence": marks} for text in texts]
        return {"summary": sentences, "recommendations": sentences}


def readings(text: str) -> Iterator[str]:
    """A text in all ways in which this model can read it."""
    bare = _UNSEEN.sub("", text)
    whole = _ESCAPE.sub(_unescaped, bare).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    unescaped = _UNSEEN.sub("", whole)
    for one in (bare, unescaped, html.unescape(unescaped), unquote(unescaped)):
        yield _plain(one)
    yield _plain(codecs.decode(unescaped, "rot13"))
    for encoded in _ENCODED.findall(unescaped):
        yield from _decoded(lambda raw: base64.b64decode(raw + "=" * (-len(raw) % 4)), encoded.rstrip("="))
    for encoded in _HEX.findall(unescaped):
        yield from _decoded(bytes.fromhex, encoded)


def encoded(text: str, how: str) -> str:
    """A text as it is hidden: the other way round."""
    match how:
        case "base64":
            return base64.b64encode(text.encode()).decode()
        case "hex":
            return text.encode().hex()
        case "rot13":
            return codecs.encode(text, "rot13")
        case "percent":
            return "".join(f"%{byte:02X}" for byte in text.encode())
        case "html":
            return "".join(f"&#{ord(char)};" for char in text)
        case "zero_width":
            return "\u200b".join(text)
        case "bidi":
            return "\u202e" + text + "\u202c"
        case "soft_hyphen":
            return "\u00ad".join(text)
    assert how == "plain", how
    return text


def _decoded(decode: Any, raw: str) -> Sequence[str]:
    try:
        return [_plain(decode(raw).decode())]
    except (ValueError, binascii.Error):
        return []


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _PLAIN_ESCAPES.get(match[2], match[2])


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _asked(prompt: str) -> str:
    """The question of a prompt."""
    found = _QUESTION.search(prompt)
    return found[2] if found else ""
