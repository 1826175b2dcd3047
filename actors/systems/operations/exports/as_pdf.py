"""Approved results as a PDF, for people who file and sign: the report, set by Typst.

The template (`configs/operations/report.typ`) is given the report as JSON, and nothing else: a text in it is
text, never Typst's markup or code, and the template reads no file and no package. Fonts are those within
Typst, the same on each machine, so that the same results make the same bytes.
"""

import asyncio
import json
import logging
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from actors.platform import node_places
from actors.systems.operations.exports.report import OperationReport, kind_words, report, share, side_agent
from actors.systems.operations.exports.shown_evidence import EvidencePair, EvidenceSide, MarkedEvidence
from models.errors import ConfigInvalid, PdfNotMade
from models.operations.exports import ApprovedResults
from models.record import Record
from models.text import cut, one_line, shortened

_log = logging.getLogger(__name__)
_SETTER = Path(__file__).with_name("pdf_setter.py")
# How many are set at once on a node; how long one may take, and how long another waits for its turn.
_PLACES, _SECONDS = 2, 30.0
# Of one document, so that it is made in seconds and can be read.
MOST_FINDINGS = 60
MOST_MATCHES = 5
MOST_LINES = 100
MOST_TEXT = 1_000
MOST_WORDS = 300
_MOST_NAME = 200
# Of scripts that Typst's own fonts have no letters for: East Asia's and India's, Arabic, emoji and more.
_WITHOUT_LETTERS = re.compile(
    r"[\u0530-\u058f\u0600-\u1cff\u2c00-\ua63f\ua700-\ufaff\uff00-\uffef\U00010000-\U0010ffff]"
)
T = TypeVar("T")


async def as_pdf(approved: ApprovedResults, template: Path) -> bytes:
    """The report as a PDF, A4, with tags for screen readers, dated by its approval.

    Args:
        template: `report.typ`.

    Raises:
        ConfigInvalid: the template can't be read.
        PdfNotMade: it could not be set, or not in time.
        PlacesTaken: this node sets as many as it may, and went on doing so.
    """
    given = await asyncio.to_thread(_given, approved, template)
    async with node_places.taken("pdf-setter", _PLACES, seconds=_SECONDS):
        return await _set(given)


def _given(approved: ApprovedResults, template: Path) -> bytes:
    try:
        text = template.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"operations.report_file: {template} can't be read: {error}") from error
    moment = int(approved.approval.approved_at.timestamp())
    told = {"template": text, "report": json.dumps(report_data(approved)), "timestamp": str(moment)}
    return json.dumps(told).encode()


async def _set(given: bytes) -> bytes:
    """What the setter makes of it. It is killed when its time is up, or ours."""
    # By its path and without its folder, which holds modules that others are called like.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", str(_SETTER)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # It is this very Python, with nothing in it but our code and Typst: where its libraries lie, our own
        # environment may say (PYTHONPATH, LD_LIBRARY_PATH). Templates can't read it.
        env={**os.environ, "RAYON_NUM_THREADS": "1"},
    )
    try:
        async with asyncio.timeout(_SECONDS):
            pdf, said = await process.communicate(given)
    except TimeoutError as error:
        raise PdfNotMade(f"the PDF is not made within {_SECONDS:g} s: export another format") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()  # its end is not seen before its pipes were read to theirs
    if process.returncode:
        why = shortened(said.decode(errors="replace")) or f"it ended with {process.returncode}"
        _log.error("a PDF could not be set: %s", why)
        raise PdfNotMade(f"the PDF could not be set ({why}): export another format")
    return pdf


def report_data(approved: ApprovedResults) -> dict[str, Any]:
    """What the template is given: the report in lines of bounded length, with a note on what was cut."""
    return _Fitting().data(report(approved), [vote.voter for vote in approved.approval.votes])


class _Fitting:
    """Fits a report into a document, and remembers what did not fit."""

    def __init__(self) -> None:
        self._cut = False
        self._boxes = False
        self._left_out: list[str] = []

    def data(self, told: OperationReport, people: Sequence[str]) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "title": self._text(told.title, _MOST_NAME),
            "subtitle": told.subtitle,
            "footer": self._text(told.footer, 100),
            "people": [self._text(person, _MOST_NAME) for person in people[:MOST_LINES]],
            "warning": told.warning,
            "question": self._text(told.question),
            "approval": self._records(told.approval, "lines of the approval"),
            "summary": self._records(told.summary, "sentences"),
            "recommendations": self._records(told.recommendations, "recommendations"),
            "written_by": self._text(told.written_by),
            "figures": self._records(told.figures, "figures"),
            "conflicts": [
                self._finding(one) for one in self._first(told.conflicts, MOST_FINDINGS, "contradictions")
            ],
            "correlations": [
                self._finding(one)
                for one in self._first(told.correlations, MOST_FINDINGS, "pairs that belong together")
            ],
            "agents": self._records(told.agents, "agents"),
            "writes": self._records(told.writes, "calls that change something"),
            "items": self._records(told.items, "items that the evidence is in"),
            "missing": [self._text(text) for text in self._first(told.missing, MOST_LINES, "gaps")],
        }
        return shown | {"notes": self._notes()}

    def _notes(self) -> list[str]:
        notes = []
        if self._left_out:
            notes.append(f"There was no room for {', '.join(self._left_out)}: the JSON export has all.")
        if self._cut:
            notes.append("Long texts end in … here: the JSON export has them whole.")
        if self._boxes:
            notes.append(
                "Letters that this document's fonts lack are shown as boxes: the other exports have them."
            )
        return notes

    def _first(self, every: Sequence[T], most: int, what: str) -> Sequence[T]:
        if len(every) > most:
            self._left_out.append(f"{len(every) - most} more {what}")
        return every[:most]

    def _records(self, every: Sequence[Record], what: str) -> list[dict[str, Any]]:
        return [self._fitted(one.model_dump(mode="json")) for one in self._first(every, MOST_LINES, what)]

    def _fitted(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._fitted(each) for each in value[:MOST_LINES]]
        if isinstance(value, dict):
            return {name: self._fitted(each) for name, each in value.items()}
        return value

    def _finding(self, one: MarkedEvidence) -> dict[str, Any]:
        pairs = self._first(one.pairs, MOST_MATCHES, f"matches of {one.mark}")
        return {
            "mark": one.mark,
            "kind": kind_words(one.kind),
            "about": self._text(one.about, _MOST_NAME),
            "explanation": self._text(one.explanation),
            "score": None if one.score is None else share(one.score),
            "pairs": [self._pair(pair) for pair in pairs],
        }

    def _pair(self, pair: EvidencePair) -> dict[str, Any]:
        return {
            "kind": kind_words(pair.kind),
            "score": None if pair.score is None else share(pair.score),
            "left": self._side(pair.left),
            "right": self._side(pair.right),
        }

    def _side(self, side: EvidenceSide) -> dict[str, Any]:
        return {
            "agent": self._text(side_agent(side.agent), _MOST_NAME),
            "item": self._text(side.item, _MOST_NAME),
            "place": self._text(side.place, _MOST_NAME) or "its top",
            "words": self._text(side.words, MOST_WORDS),
            "mock": side.mock,
        }

    def _text(self, text: str, most: int = MOST_TEXT) -> str:
        line = one_line(text)
        self._cut = self._cut or len(line) > most
        self._boxes = self._boxes or _WITHOUT_LETTERS.search(line) is not None
        return cut(line, most)
