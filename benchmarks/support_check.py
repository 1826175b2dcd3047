"""support_check: how often the checks of a synthesis are right that a citation supports a sentence. On WiCE.

WiCE (Kamoi et al. 2023, `ryokamoi/wice`) has sentences of Wikipedia, the pages that they cite, and what
people say of that. It is not kept here: `--texts` names a checkout, or its folder of oracle chunks, where the
evidence is what people marked among other sentences of the page. A sentence is supported where one of its
chunks supports it. No model writes or judges here: code takes the first look.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from actors.systems.research.synthesis.support_precheck import FirstLook, first_look
from benchmarks.harness import machine
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Report, Table

_INSIDE = ("code_and_resources/entailment_inputs/oracle_chunks/claim", "oracle_chunks/claim", "claim", ".")
_PARTS = ("dev", "test")
_QUICK = 40


@dataclass(frozen=True)
class _Pair:
    """A sentence and what it cites. `marked` are those of the quotes that people marked."""

    claim: str
    label: str
    sentence: str
    title: str
    quotes: tuple[str, ...]
    marked: tuple[str, ...]


@dataclass(frozen=True)
class _Seen:
    """What code finds of a pair."""

    claim: str
    label: str
    look: FirstLook


_Measure = Callable[[_Seen], bool]


@dataclass(frozen=True)
class _Rates:
    """Of what was taken for supported how much is, of what is supported how much was found, and F1."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def cells(self) -> tuple[str, ...]:
        return tuple(f"{rate:.3f}" for rate in (self.precision, self.recall, self.f1))


def measure(bench: Bench) -> Report:
    """Look at all pairs of both parts."""
    folder = next((found for text in bench.texts if (found := _folder(text))), None)
    about = machine.describe_host(repetitions=1)
    if folder is None:
        note = "nothing was measured: --texts names no checkout of ryokamoi/wice"
        return Report("support_check", "Nothing: see the notes.", about, [], [], [note])
    pairs = {part: list(_pairs(folder / f"{part}.jsonl", bench.quick)) for part in _PARTS}
    seen = {part: _seen(pairs[part], lambda pair: pair.quotes) for part in _PARTS}
    cited = _seen([pair for pair in pairs["test"] if pair.marked], lambda pair: pair.marked)
    wrong = _seen(_mixed_up(pairs["test"]), lambda pair: pair.marked)
    claims = {part: len({pair.claim for pair in pairs[part]}) for part in _PARTS}
    supported = [one for one in seen["test"] if one.label == "supported"]
    refused = sum(one.look.refuses for one in supported) / max(1, len(supported))
    return Report(
        name="support_check",
        measured=f"WiCE's claims with their oracle chunks: {claims['dev']} of dev, and {claims['test']} of "
        "test. No model judges: code takes the first look.",
        machine=about,
        tables=[_by_measure(seen), _as_cited(cited, wrong)],
        aims=[],
        notes=[
            f"Code refuses {refused:.0%} of the chunks of supported claims, most for a date, a number or a "
            "name that none of their sentences has. A sentence of ours that is refused so is rewritten or "
            "dropped.",
            "The rules were written with dev's examples in view. WiCE's train part was not at hand, and is "
            "not used.",
        ],
    )


def _by_measure(seen: Mapping[str, Sequence[_Seen]]) -> Table:
    measures: list[tuple[str, _Measure]] = [
        ("always yes", lambda one: True),
        ("code: it finds nothing foreign or contradicted", lambda one: not one.look.refuses),
        ("code: it says supported", _says_supported),
    ]
    rows = []
    for name, takes in measures:
        dev, strict = (_rates(seen[part], takes) for part in _PARTS)
        lenient = _rates(seen["test"], takes, partly=True)
        rows.append((name, f"{dev.f1:.3f}", *strict.cells(), *lenient.cells()))
    return Table(
        title="Is the claim supported? Of test, partially supported counted as not, and then as supported",
        columns=(
            *("measure", "F1, dev", "precision", "recall", "F1"),
            *("precision, partly too", "recall", "F1"),
        ),
        rows=rows,
    )


def _as_cited(cited: Sequence[_Seen], wrong: Sequence[_Seen]) -> Table:
    rows = []
    for name, some in (
        ("supported, its own", [one for one in cited if one.label == "supported"]),
        ("partially supported, its own", [one for one in cited if one.label == "partially_supported"]),
        ("supported, another claim's", wrong),
    ):
        refused = sum(one.look.refuses for one in some) / max(1, len(some))
        rows.append((name, str(len(some)), f"{refused:.3f}"))
    return Table(
        title="Citing only the sentences that people marked: each chunk by itself",
        columns=("claim, and whose evidence", "chunks", "code refuses"),
        rows=rows,
    )


def _says_supported(one: _Seen) -> bool:
    return one.look.look in ("exact", "supported")


def _rates(some: Sequence[_Seen], takes: _Measure, *, partly: bool = False) -> _Rates:
    """Of claims: one is taken for supported where one of its chunks is."""
    labels = {
        one.claim: one.label == "supported" or (partly and one.label == "partially_supported") for one in some
    }
    taken = {one.claim for one in some if takes(one)}
    right = sum(labels[claim] for claim in taken)
    return _Rates(right / max(1, len(taken)), right / max(1, sum(labels.values())))


def _seen(pairs: Sequence[_Pair], quotes_of: Callable[[_Pair], tuple[str, ...]]) -> list[_Seen]:
    return [
        _Seen(
            claim=pair.claim,
            label=pair.label,
            look=first_look(pair.sentence, quotes_of(pair), language="en", titles=[pair.title]),
        )
        for pair in pairs
    ]


def _mixed_up(pairs: Sequence[_Pair]) -> list[_Pair]:
    """Supported claims, each with what was marked for the next one of another page."""
    supported = [pair for pair in pairs if pair.label == "supported" and pair.marked]
    mixed = []
    for at, pair in enumerate(supported):
        others = (supported[(at + step) % len(supported)] for step in range(1, len(supported)))
        other = next((one for one in others if one.title != pair.title), None)
        if other is not None:
            mixed.append(
                _Pair(pair.claim, pair.label, pair.sentence, other.title, other.quotes, other.marked)
            )
    return mixed


def _pairs(file: Path, quick: bool) -> Iterator[_Pair]:
    with file.open(encoding="utf-8") as lines:
        for line in islice(lines, _QUICK if quick else None):
            row: dict[str, Any] = json.loads(line)
            meta = row["meta"]
            places = dict(zip(meta["chunk_idx"], row["evidence"], strict=True))
            # A chunk has room for so much: not all that was marked is in it.
            marked = (places.get(place, "") for place in meta.get("oracle_idx", ()))
            yield _Pair(
                claim=meta["id"],
                label=row["label"],
                sentence=row["claim"],
                title=meta["claim_title"],
                quotes=tuple(text for text in row["evidence"] if text.strip()),
                marked=tuple(text for text in marked if text.strip()),
            )


def _folder(given: Path) -> Path | None:
    tried = (given / inside for inside in _INSIDE)
    return next((one for one in tried if all((one / f"{part}.jsonl").is_file() for part in _PARTS)), None)
