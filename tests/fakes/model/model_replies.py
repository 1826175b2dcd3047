"""What the scripted model server answers when no rule says otherwise, and how it knows who asks.

An agent is recognised by the lines that only its prompt file has, so its kind is that file's name
(`writer`, `fact_check`, …). JSON answers are made from the schema itself, with the words taken from
the prompt's fenced data; verdicts say KEEP. Same prompt, same answer. Vectors are feature hashing.
"""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_DATA = re.compile(r'<data name="([^"]*)" mark="([^"]*)">\n(.*?)\n</data mark="\2">', re.DOTALL)
_CONCERN_ID = re.compile(r"concern[_ ]?(?:id)?\W{0,4}(\d+)", re.IGNORECASE)
_NUMBERED = re.compile(r"^(\d+): (.*)$", re.MULTILINE)
_SHORT_LINE = 12


class AgentKinds:
    """Tells which prompt file a prompt was rendered from, by lines that no other file has."""

    def __init__(self, prompts: Path) -> None:
        lines = {path.stem: _fixed_lines(path.read_text("utf-8")) for path in sorted(prompts.rglob("*.md"))}
        common = Counter(line for own in lines.values() for line in own)
        self._own = {kind: {line for line in own if common[line] == 1} for kind, own in lines.items()}

    def of(self, prompt: str, schema_name: str | None) -> str:
        """The agent's kind; the schema's name where no prompt file fits, `text` without a schema."""
        lines = {line.strip() for line in prompt.splitlines()}
        hits = {kind: len(own & lines) for kind, own in self._own.items()}
        best = max(hits, key=lambda kind: hits[kind], default="")
        return best if best and hits[best] else schema_name or "text"


def _fixed_lines(source: str) -> set[str]:
    lines = {line.strip() for line in source.splitlines()}
    return {line for line in lines if len(line) >= _SHORT_LINE and "{{" not in line and "{%" not in line}


def default_reply(prompt: str, schema: dict[str, Any] | None) -> str:
    """A reply fit for the schema; without one, two review bullets about the draft in the prompt."""
    told = _Told(prompt)
    if schema is None:
        openings = (sentence.partition('"')[0].split()[:8] for sentence in told.draft)
        quotes = [" ".join(words).rstrip(".,;:!?") for words in openings if len(words) >= 4]
        return "".join(f'- "{quote}": check this against the source.\n' for quote in quotes[:2])
    return json.dumps(_Filler(schema, told).fill(schema, field="", concern=told.concerns[0]))


class _Told:
    """What a prompt holds: the source's and the draft's sentences, points' quotes, and the concerns' ids."""

    def __init__(self, prompt: str) -> None:
        blocks = [(name.lower(), text) for name, _, text in _DATA.findall(prompt)]
        anything = max((text for _, text in blocks), key=len, default=prompt)
        self.source = _sentences(_named(blocks, ("source",)) or anything)
        self.draft = _sentences(_named(blocks, ("draft", "article")) or anything)
        self.numbered = {
            int(number): line for number, line in _NUMBERED.findall(_named(blocks, ("points",)) or "")
        }
        self.concerns = sorted({int(number) for number in _CONCERN_ID.findall(prompt)}) or [1]


def _named(blocks: list[tuple[str, str]], names: tuple[str, ...]) -> str | None:
    return next((text for name, text in blocks for wanted in names if wanted in name), None)


def _sentences(text: str) -> list[str]:
    body = text.rpartition("articleBody:\n")[2]
    flat = " ".join(line for line in body.splitlines() if not line.startswith("#"))
    return [s for s in _SENTENCE_END.split(" ".join(flat.split())) if s] or ["Nothing was said."]


class _Filler:
    """Makes a value that fits a JSON schema (the parts of it that pydantic writes)."""

    def __init__(self, root: dict[str, Any], told: _Told) -> None:
        self._root = root
        self._told = told

    def fill(self, node: dict[str, Any], *, field: str, concern: int) -> Any:
        """The value; `concern` is the concern it is about, where there is one."""
        if "$ref" in node:
            return self.fill(
                self._root["$defs"][node["$ref"].rsplit("/", 1)[1]], field=field, concern=concern
            )
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return self._choose(node["enum"], field, concern)
        if choices := node.get("anyOf") or node.get("oneOf"):
            nullable = any(choice.get("type") == "null" for choice in choices)
            return None if nullable else self.fill(choices[0], field=field, concern=concern)
        if "properties" in node:
            about = node["properties"].get("concern_id", {}).get("const", concern)
            return {
                name: self.fill(part, field=name, concern=about) for name, part in node["properties"].items()
            }
        return self._plain(node, field, concern)

    def _plain(self, node: dict[str, Any], field: str, concern: int) -> Any:
        match node.get("type"):
            case "string":
                return self._text(field)[: node.get("maxLength")].ljust(node.get("minLength", 0), ".")
            case "integer" | "number":
                return concern if field == "concern_id" else node.get("minimum", 0)
            case "boolean":
                return False
            case "array":
                return self._list(node, field, concern)
            case "object":
                return {}
            case _:
                return None

    def _list(self, node: dict[str, Any], field: str, concern: int) -> list[Any]:
        if parts := node.get("prefixItems"):
            return [self.fill(part, field=field, concern=concern) for part in parts]
        if field == "mappings":
            return [self.fill(node["items"], field=field, concern=number) for number in self._told.concerns]
        if "points" in node["items"].get("properties", {}):
            return self._cited(node)
        wanted = node.get("minItems", 0)
        return [self.fill(node["items"], field=field, concern=concern) for _ in range(wanted)]

    def _cited(self, node: dict[str, Any]) -> list[dict[str, Any]]:
        """Sentences that cite points: the beginnings of the points' own quotes."""
        offered = node["items"]["properties"]["points"]["items"]["enum"]
        said = [(point, self._told.numbered[point]) for point in offered if point in self._told.numbered]
        return [
            {"text": _sentences(quote)[0], "points": [point]} for point, quote in said[: node["maxItems"]]
        ]

    def _choose(self, choices: Sequence[Any], field: str, concern: int) -> Any:
        if "KEEP" in choices:
            return "KEEP"
        # One specialist after another, so that a few concerns reach all of them.
        return choices[(concern - 1) % len(choices)] if field == "selected_agent" else choices[0]

    def _text(self, field: str) -> str:
        source = self._told.source
        words = " ".join(source[0].split()[:8]).rstrip(".,;:")
        texts = {
            "headline": words,
            "name": words.lstrip("- "),
            "alternativeHeadline": f"In brief: {words}",
            "articleBody": " ".join(source[:4]),
            "description": source[0],
            "rationale": "The source text says the same.",
            "reason": "This is what the specialist is for.",
        }
        return texts.get(field, f"A scripted {field or 'text'}.")


def count_tokens(text: str) -> int:
    """Words and marks: near enough to tokens for a usage number."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def embed(text: str, dimensions: int) -> list[float]:
    """A unit vector from the text's words (feature hashing with signs): shared words bring texts near."""
    vector = [0.0] * dimensions
    for word, count in Counter(_WORD.findall(text.lower())).items():
        digest = hashlib.sha256(word.encode()).digest()
        at = int.from_bytes(digest[:4], "big") % dimensions
        # Short words are mostly articles and prepositions: they say little about what a text is about.
        weight = (1 + math.log(count)) * (0.2 if len(word) <= 3 else 1.0)
        vector[at] += weight if digest[4] % 2 else -weight
    length = math.sqrt(sum(value * value for value in vector))
    if length == 0.0:
        return [1.0, *vector[1:]]
    return [value / length for value in vector]
