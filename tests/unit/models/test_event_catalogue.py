"""The catalogue of events: it is whole, and nothing is told beside it."""

import re
from collections.abc import Iterator
from pathlib import Path

from actors.platform import systems
from models.runtime.event_catalogue import EVENTS, EventData, WorkflowQueued

ROOT = Path(__file__).resolve().parents[3]


def _all(record: type[EventData]) -> Iterator[type[EventData]]:
    for below in record.__subclasses__():
        if "type" in vars(below):
            yield below
        yield from _all(below)


def test_every_record_with_a_type_is_listed_once() -> None:
    listed = [event.type for event in EVENTS]
    assert len(listed) == len(set(listed))
    assert {
        event for event in _all(EventData) if event.__module__ == "models.runtime.event_catalogue"
    } == set(EVENTS)
    assert set(EVENTS) <= set(systems.events())


def test_only_what_was_given_is_said() -> None:
    assert WorkflowQueued(kind="editorial").as_json() == {"kind": "editorial"}
    assert WorkflowQueued(again=True).as_json() == {"again": True}


def test_nothing_is_told_by_a_bare_string() -> None:
    """Statements and callers name a record's `type`; `append` is for `tell` alone."""
    statement = r"INSERT INTO incoming_events(?:(?!VALUES|SELECT).)*(?:VALUES|SELECT)\s*\(?'(?!\{)"
    bare = re.compile(rf"events\.append\(|{statement}", re.DOTALL)
    for folder in ("actors", "models", "serve", "pipelines", "cluster"):
        for file in (ROOT / folder).rglob("*.py"):
            if "migrations" not in file.parts:
                assert not bare.search(file.read_text(encoding="utf-8")), file
