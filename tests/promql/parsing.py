"""A parser for PromQL that is stricter than Prometheus': what it does not know, it refuses.

It knows what `configs/deploy` uses: selectors, ranges, the functions and aggregations below, and operators
with `on`, `ignoring` and `group_left`. No promtool is among the packages that we may install.
Grammar: https://prometheus.io/docs/prometheus/latest/querying/basics/ and …/operators/.
"""

import re
from dataclasses import dataclass

AGGREGATIONS = frozenset(("sum", "max", "min", "avg", "count", "topk"))
FUNCTIONS = frozenset(("rate", "increase", "histogram_quantile", "absent", "clamp_min", "time", "vector"))
# By how tightly they bind; those of one rank from left to right.
_RANKS = (("or",), ("and", "unless"), ("==", "!=", "<=", "<", ">=", ">"), ("+", "-"), ("*", "/", "%"))
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<duration>(?:\d+(?:ms|[smhdwy]))+)(?![\w.])
      | (?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?!\w)
      | (?P<name>[a-zA-Z_:][\w:]*)
      | (?P<text>"(?:[^"\\\n]|\\.)*")
      | (?P<sign>==|!=|=~|!~|<=|>=|[-+*/%<>=(){}\[\],])
    )""",
    re.VERBOSE,
)
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_536_000}


class NotUnderstood(Exception):
    """The expression is none, or uses what this parser does not know."""


@dataclass(frozen=True)
class Number:
    """A scalar."""

    value: float


@dataclass(frozen=True)
class Matcher:
    """A condition on a label."""

    label: str
    op: str
    value: str


@dataclass(frozen=True)
class Selector:
    """Series of a name; with a range, their samples of the last `seconds`."""

    name: str
    matchers: tuple[Matcher, ...] = ()
    seconds: float | None = None


@dataclass(frozen=True)
class Call:
    """A function."""

    function: str
    arguments: "tuple[Expression, ...]"


@dataclass(frozen=True)
class Aggregation:
    """An aggregation; `by` keeps labels, `without` drops them, neither drops all."""

    op: str
    argument: "Expression"
    parameter: "Expression | None" = None
    by: tuple[str, ...] | None = None
    without: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Binary:
    """An operator between two; `group_left` holds the labels that are taken over from the right."""

    op: str
    left: "Expression"
    right: "Expression"
    on: tuple[str, ...] | None = None
    ignoring: tuple[str, ...] | None = None
    group_left: tuple[str, ...] | None = None


Expression = Number | Selector | Call | Aggregation | Binary


def parse(text: str) -> Expression:
    """The expression that a text is. NotUnderstood where it is none that is known here."""
    parser = _Parser(_tokens(text))
    found = parser.binary(0)
    if parser.kind != "end":
        raise NotUnderstood(f"{parser.word!r} after the end of an expression")
    return found


def seconds_of(duration: str) -> float:
    """`1h30m` in seconds. NotUnderstood where it is no duration."""
    if not re.fullmatch(r"(?:\d+(?:ms|[smhdwy]))+", duration):
        raise NotUnderstood(f"{duration!r} is no duration")
    return sum(int(n) * _SECONDS[unit] for n, unit in re.findall(r"(\d+)(ms|[smhdwy])", duration))


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise NotUnderstood(f"{text[at : at + 20]!r}")
        tokens.append((found.lastgroup, found[found.lastgroup]))
        at = found.end()
    return [*tokens, ("end", "")]


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def kind(self) -> str:
        return self._tokens[self._at][0]

    @property
    def word(self) -> str:
        return self._tokens[self._at][1]

    def _take(self, *words: str) -> str:
        kind, word = self._tokens[self._at]
        if (words and word not in words) or kind == "end":
            raise NotUnderstood(f"{word!r} where {' or '.join(words) or 'more'} should be")
        self._at += 1
        return word

    def _took(self, *words: str) -> bool:
        if self.kind != "text" and self.word in words:
            self._at += 1
            return True
        return False

    def binary(self, rank: int) -> Expression:
        if rank == len(_RANKS):
            return self._primary()
        left = self.binary(rank + 1)
        while self.kind in ("name", "sign") and self.word in _RANKS[rank]:
            op = self._take()
            on = self._names() if self._took("on") else None
            ignoring = self._names() if on is None and self._took("ignoring") else None
            group = None
            if (on is not None or ignoring is not None) and self._took("group_left"):
                group = self._names() if self.word == "(" else ()
            left = Binary(op, left, self.binary(rank + 1), on, ignoring, group)
        return left

    def _primary(self) -> Expression:
        if self._took("("):
            inner = self.binary(0)
            self._take(")")
            return inner
        if self.kind == "number":
            return Number(float(self._take()))
        if self.kind != "name":
            raise NotUnderstood(f"{self.word!r} where an expression should begin")
        name = self._take()
        if name in AGGREGATIONS:
            return self._aggregation(name)
        if self.word == "(":
            if name not in FUNCTIONS:
                raise NotUnderstood(f"the function {name}")
            return Call(name, tuple(self._arguments()))
        return self._selector(name)

    def _aggregation(self, op: str) -> Expression:
        grouped = self._grouping()
        arguments = self._arguments()
        by, without = grouped or self._grouping() or (None, None)
        *parameter, argument = arguments
        if len(parameter) != (op == "topk"):
            raise NotUnderstood(f"{op} of {len(arguments)} arguments")
        return Aggregation(op, argument, parameter[0] if parameter else None, by, without)

    def _grouping(self) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None] | None:
        if self._took("by"):
            return self._names(), None
        if self._took("without"):
            return None, self._names()
        return None

    def _arguments(self) -> list[Expression]:
        self._take("(")
        found: list[Expression] = []
        while not self._took(")"):
            if found:
                self._take(",")
            found.append(self.binary(0))
        return found

    def _names(self) -> tuple[str, ...]:
        self._take("(")
        names: list[str] = []
        while not self._took(")"):
            if names:
                self._take(",")
            if self.kind != "name":
                raise NotUnderstood(f"{self.word!r} where a label should be")
            names.append(self._take())
        return tuple(names)

    def _selector(self, name: str) -> Selector:
        matchers: list[Matcher] = []
        if self._took("{"):
            while not self._took("}"):
                if matchers:
                    self._take(",")
                label, op = self._take(), self._take("=", "!=", "=~", "!~")
                if self.kind != "text":
                    raise NotUnderstood(f"{self.word!r} where the text of {label} should be")
                value = self._take()[1:-1]
                if "\\" in value:
                    raise NotUnderstood(f"a backslash in {value!r}")
                re.compile(value)
                matchers.append(Matcher(label, op, value))
        seconds = None
        if self._took("["):
            seconds = seconds_of(self._take())
            self._take("]")
        return Selector(name, tuple(matchers), seconds)
