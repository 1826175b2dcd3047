"""What a robots.txt says (RFC 9309): what may be fetched, how slowly, and where the sitemaps are.

Made from what was fetched, by whoever fetched it; asked by `host_turns`. Pure. It gives the answers of
google/robotstxt's own tests. protego 0.7 does not: it ends groups at unknown lines, takes robots whose names
begin ours for us, weighs patterns by their escaped length, and takes 8 s for some files of 54 kB, four times
that for twice as much. Its rules can't be read. The tests compare with it where both should agree.
"""

import math
import re
from dataclasses import dataclass, field
from typing import Literal

from actors.platform.web.politeness.patterns import PatternTable, Rule, capitals, escaped, unescaped

# Of a file, this much is read; RFC 9309 §2.5 asks for no less.
MOST_BYTES = 500 * 1024

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Bytes are read as Latin-1, one letter each: U+0085 and U+00A0 may be halves of letters, not white space.
_WHITE = " \t\v\f"
_LINE_END = re.compile(r"[\r\n]")
_TOKEN = re.compile(r"[A-Za-z_-]*")
_PATH_BEGINS = re.compile(r"[/?;]")

_Field = Literal["user-agent", "allow", "disallow", "crawl-delay", "sitemap"]
_FIELDS: dict[str, _Field] = {
    **dict.fromkeys(("user-agent", "useragent", "user agent"), "user-agent"),
    **dict.fromkeys(("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"), "disallow"),
    **dict.fromkeys(("crawl-delay", "crawl delay"), "crawl-delay"),
    **dict.fromkeys(("sitemap", "site-map"), "sitemap"),
    "allow": "allow",
}


@dataclass
class _Group:
    """Whom it is said to (`*` for all others), and what. Groups may share their rules."""

    rules: list[Rule]
    tokens: set[str] = field(default_factory=set)
    delay: float | None = None


@dataclass(frozen=True)
class Robots:
    """A robots.txt, or what counts where there is none.

    `closed` says why nothing may be fetched for now, as in "is answered with 503". `busy` says that the host
    asked to come back later.
    """

    groups: tuple[_Group, ...] = ()
    sitemaps: tuple[str, ...] = ()
    closed: str | None = None
    busy: bool = False

    @classmethod
    def from_answer(cls, status: int, body: bytes) -> "Robots":
        """What an answer says, after at most five redirects (RFC 9309 §2.3.1).

        2xx: the first 500 KiB, cut at a line's end. 3xx (redirected too often) and 4xx, also 401 and 403:
        everything is allowed. 5xx: nothing is. 429 says nothing of the file: nothing is allowed for now;
        it and 503 make it `busy`.
        """
        if 200 <= status < 300:
            return _parsed(body)
        if 300 <= status < 500 and status != 429:
            return cls.everything_allowed()
        return cls(closed=f"is answered with {status}", busy=status in (429, 503))

    @classmethod
    def unreachable(cls) -> "Robots":
        """It could not be had: nothing may be fetched (RFC 9309 §2.3.1.4)."""
        return cls(closed="can't be reached")

    @classmethod
    def elsewhere(cls, host: str) -> "Robots":
        """It lies at another host, where nobody has let it be asked for: what it says is not known."""
        return cls(closed=f"is another host's, {host} (give the addresses that its pages have there)")

    @classmethod
    def everything_allowed(cls) -> "Robots":
        """There is none."""
        return cls()

    def rules_for(self, user_agent: str) -> "Rules":
        """What it says to one robot: of all groups that name it, or else of those for all others."""
        token = product_token(user_agent).lower()
        named = [group for group in self.groups if token and token in group.tokens]
        groups = named or [group for group in self.groups if "*" in group.tokens]
        shared = {id(group.rules): group.rules for group in groups}
        delays = [group.delay for group in groups if group.delay is not None]
        rules = [rule for rules in shared.values() for rule in rules]
        return Rules(rules, crawl_delay=max(delays, default=None), closed=self.closed, busy=self.busy)

    def allows(self, url: str, user_agent: str) -> bool:
        """Whether that robot may fetch `url`. Who asks often asks `rules_for(user_agent)` once."""
        return self.rules_for(user_agent).allows(url)

    def crawl_delay(self, user_agent: str) -> float | None:
        """Seconds between two requests of that robot, the most that is said; no standard has it."""
        return self.rules_for(user_agent).crawl_delay


class Rules:
    """What a robots.txt says to one robot. `patterns` is how many rules that takes."""

    def __init__(
        self, rules: list[Rule], *, crawl_delay: float | None, closed: str | None, busy: bool
    ) -> None:
        self.crawl_delay = crawl_delay
        self.closed = closed
        self.busy = busy
        self.patterns = len(rules)
        plain = [(allowed, unescaped(pattern)) for allowed, pattern in rules]
        self._written = PatternTable(rules)
        # Most files have nothing to undo.
        self._plain = self._written if plain == rules else PatternTable(plain)

    def allows(self, url: str) -> bool:
        """Whether `url`, as it is sent, may be fetched. `/robots.txt` always may.

        It is compared as it is written, as Google does, and with needless escapes undone on both sides, as
        RFC 9309 §2.2.2 has it (`/%7Eann` is `/~ann`). Both must allow it.
        """
        path = path_of(url)
        if path == "/robots.txt":
            return True
        if self.closed is not None:
            return False
        written = capitals(path)
        octets = path.encode("utf-8", "surrogatepass").decode("latin-1")
        # No star or dollar of an address is one of a pattern.
        plain = unescaped(escaped(octets)).replace("*", "%2A").replace("$", "%24")
        return self._written.allows(written) and (
            (self._plain is self._written and plain == written) or self._plain.allows(plain)
        )


def product_token(user_agent: str) -> str:
    """The name that groups are looked up by (RFC 9309 §2.2.1): `Signoff` of `Signoff/1.0 (+https://…)`."""
    found = _TOKEN.match(user_agent.lstrip())
    return found.group() if found else ""


def path_of(url: str) -> str:
    """The path and query of an address, which begin with `/`; nothing is decoded."""
    url = url.partition("#")[0]
    at = 2 if url.startswith("//") else 0
    scheme = url.find("://", at)
    if scheme >= 0 and not _PATH_BEGINS.search(url, at, scheme):
        at = scheme + 3
    begins = _PATH_BEGINS.search(url, at)
    if begins is None:
        return "/"
    path = url[begins.start() :]
    return path if path.startswith("/") else f"/{path}"


def _parsed(body: bytes) -> Robots:
    for byte in _BYTE_ORDER_MARK:  # as much of it as there is
        if not body.startswith(bytes((byte,))):
            break
        body = body[1:]
    if len(body) > MOST_BYTES:
        body = body[: max(body.rfind(end, 0, MOST_BYTES) for end in (b"\r", b"\n")) + 1]
    groups: list[_Group] = []
    sitemaps: list[str] = []
    before: _Field = "disallow"
    for line in _LINE_END.split(body.decode("latin-1")):
        name, value = _field_of(line.partition("#")[0].strip(_WHITE))
        if name == "sitemap":
            sitemaps.append(value.encode("latin-1").decode("utf-8", "replace"))
        if name is None or name == "sitemap" or not (groups or name == "user-agent"):
            continue  # lines that the RFC does not know end no group, and rules before the first have none
        if name == "user-agent":
            # Only a rule ends a group. A delay ends it for delays, which are not in the RFC.
            if before in ("allow", "disallow"):
                groups.append(_Group([]))
            elif before == "crawl-delay":
                groups.append(_Group(groups[-1].rules))
            first = value.replace("\t", " ").partition(" ")[0]
            groups[-1].tokens.add("*" if first == "*" else product_token(value).lower())
        elif name == "crawl-delay":
            groups[-1].delay = max(filter(None, (_seconds(value), groups[-1].delay)), default=None)
        elif value:
            groups[-1].rules.append((name == "allow", escaped(value)))
        before = name
    return Robots(tuple(groups), tuple(sitemaps))


def _field_of(line: str) -> tuple[_Field | None, str]:
    """A line's field and value. Two words without a colon between them are a field and its value, too."""
    name, _, value = line.partition(":")
    if known := _FIELDS.get(name.strip(_WHITE).lower()):
        return known, value.strip(_WHITE)
    name, _, value = line.replace("\t", " ").partition(" ")
    value = value.strip(_WHITE)
    return (_FIELDS.get(name.lower()) if value and " " not in value else None), value


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text if len(text) < 20 else "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds > 0 else None
