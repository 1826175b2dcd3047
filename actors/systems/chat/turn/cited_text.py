"""Links and citations in a model's answer: none leads anywhere but to its sources.

Called by the agents that answer from sources. A model may cite `[2]` and name a URL of a source, and nothing
else that it writes becomes a link: it may have read a text that wants it to. A link is what CommonMark and
GitHub's dialect make one, and raw HTML.
"""

import re
from collections.abc import Collection

from actors.platform.text.markdown import escaped

# What is held back at most while it is not yet told whether it becomes a link, in characters.
_LABEL = 400
_HELD = 2000
_TAIL = 64
_REMOVED = "(link removed)"

_URL = (
    r"(?:[A-Za-z][A-Za-z0-9+.-]{1,20}:\\?/\\?/|www\\?\.|(?:mailto|javascript|data|file|tel|xmpp):(?=\S))"
    r"[^\s<>\[\]|\"`]*"
)
_CITE = r"\^?\d{1,4}(?:\s?[,;]\s?\^?\d{1,4})*"
_LABELLED = rf"!?\[[^\[\]\n]{{0,{_LABEL}}}"
_INSIDE = r"[^()\n]*(?:\([^()\n]*\)[^()\n]*)*"
_PLAIN = rf"""
    (?P<url>{_URL})
    | <(?P<tag>[A-Za-z/!?])
    | &(?P<entity>\#|[A-Za-z][A-Za-z0-9]{{1,30}};)
"""
_TOKEN = re.compile(
    rf"""
    (?P<image>!?)\[(?P<label>[^\[\]\n]{{0,{_LABEL}}})\]\((?P<target>{_INSIDE})\)
    | (?P<space>[ ]?)[\[【](?P<cite>{_CITE})[\]】](?P<then>[(:]?)
    | \](?P<after>[(:])
    | {_PLAIN}
    """,
    re.VERBOSE | re.IGNORECASE,
)
_JOINED = re.compile(_PLAIN, re.VERBOSE | re.IGNORECASE)
# The start of something that more text may yet make a token: a label, a link, a citation, or just a word.
_OPEN = re.compile(
    rf"""
    [ ]?(?:
        {_LABELLED}\]?
        | {_LABELLED}\]\({_INSIDE}(?:\([^()\n]*)?
        | 【[^】\n]{{0,20}}
        | \S{{1,{_HELD}}}
    )?\Z
    """,
    re.VERBOSE,
)
_START = re.compile(r"[!\[【]|\s|(?<=\s)\S")
_PUNCTUATION = ".,;:!?)'*_~"


class CitedText:
    """A model's text on its way to a person, piece by piece: what leads to sources stays, other links don't.

    `numbers` and `urls` are those that may be named; they may grow meanwhile. `cited` fills up.
    """

    def __init__(self, *, numbers: Collection[int], urls: Collection[str]) -> None:
        self.cited: set[int] = set()
        self._numbers = numbers
        self._urls = urls
        self._held = ""
        # The last character that was let go, as it came.
        self._before = ""

    def feed(self, text: str) -> str:
        """What can be shown by now; the rest is held back until it is told what it is."""
        self._held += text
        return self._take(self._safe())

    def close(self) -> str:
        """What was held back."""
        return self._take(len(self._held))

    def _safe(self) -> int:
        """How much of what is held can't become a token by what follows."""
        held = self._held
        least = max(held.rfind("\n") + 1, len(held) - _LABEL - _HELD)
        starts = (found.start() for found in _START.finditer(held, least))
        # A word longer than any that is held back: its end may still be the beginning of a URL.
        end = max(len(held) - _TAIL, least)
        for start in sorted({least, *starts}):
            if _OPEN.match(held, start):
                end = start
                break
        whole = (token.start() for token in _TOKEN.finditer(held) if token.start() < end < token.end())
        return next(whole, end)

    def _take(self, end: int) -> str:
        ready, self._held = self._held[:end], self._held[end:]
        # Twice: what is left out may have stood between the halves of a URL.
        shown = _JOINED.sub(self._shown, _TOKEN.sub(self._shown, ready))
        self._before = ready[-1:] or self._before
        return shown

    def _shown(self, token: re.Match[str]) -> str:
        found = token.groupdict()
        if found["tag"]:
            return f"< {found['tag']}"
        if found["entity"]:
            return f"& {found['entity']}"
        if found["url"]:
            return self._address(found["url"])
        if found.get("after"):
            return f"] {found['after']}"
        before = token.string[token.start() - 1] if token.start() else self._before
        after = token.string[token.end() : token.end() + 1] or self._held[:1]
        if found["cite"]:
            shown = self._citation(found["cite"], found["space"])
            # Where a citation is left out, what stood around it must not become one word.
            apart = bool(found["then"]) or (not shown and after.strip(".,;) \n\t") != "")
            return f"{shown} {found['then']}" if apart else shown
        label, target = found["label"].strip(), found["target"].strip()
        if re.fullmatch(_CITE, label):
            shown = self._citation(label, "") or " "
        elif not found["image"] and target in self._urls:
            return f"[{escaped(label)}]({target})"
        else:
            shown = _TOKEN.sub(self._shown, label) or " "
        joins = shown[0] in "(:" or before == "]"
        return f"{' ' if joins else ''}{shown}{' ' if after and after in '(:[' else ''}"

    def _citation(self, numbers: str, space: str) -> str:
        right = [n for n in map(int, re.findall(r"\d+", numbers)) if n in self._numbers]
        self.cited.update(right)
        return f"{space}[{', '.join(map(str, right))}]" if right else ""

    def _address(self, url: str) -> str:
        bare = url.rstrip(_PUNCTUATION)
        return url if bare in self._urls else _REMOVED + url[len(bare) :]
