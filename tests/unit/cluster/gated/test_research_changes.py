"""Changes at the gates of a research, as they are typed: what is told of one that is not whole."""

from pathlib import Path

import pytest

from cluster.cli.research.kind import RESEARCH
from models.record import Record
from tests.fakes.research_api import KINDS
from tests.unit.cluster.gated.research_contents import REVIEW, TREE, UNREADABLE, urls
from tests.unit.cluster.gated.site import said_at
from tests.unit.cluster.gated.test_research_view import gate as waiting


def said_to(record: Record, *typed: str) -> str:
    told, answer = said_at(RESEARCH, waiting(record, KINDS[type(record).__name__]), *typed)
    assert answer is None
    return told


@pytest.mark.parametrize(
    ("gate", "typed", "told"),
    [
        (urls(), "remove", "remove: NUMBER is missing: write remove NUMBER ..."),
        (urls(), "look", "look: NUMBER is missing: write look NUMBER"),
        (urls(), "set", "set: NAME=VALUE is missing"),
        (urls(), "approve all", "approve: it takes no more than this: approve"),
        (urls(), "paste 3 page.txt", "'paste' is no answer here"),
        (UNREADABLE, "paste", "paste: NUMBER and FILE are missing: write paste NUMBER FILE"),
        (UNREADABLE, "paste 3", "paste: FILE is missing: write paste NUMBER FILE"),
        (UNREADABLE, "url 3", "url: URL is missing: write url NUMBER URL"),
        (UNREADABLE, "url 3 https://a.example/ b", "url: it takes no more than this: url NUMBER URL"),
        (UNREADABLE, "title 3 Ours", "title: 3 has no text of yours: write paste 3 FILE first"),
        (TREE, "merge n1", "merge: OTHER is missing: write merge ID OTHER ..."),
        (TREE, "drop n1 n2", "drop: it takes no more than this: drop ID"),
    ],
)
def test_what_is_missing_or_too_much_is_told(gate: Record, typed: str, told: str) -> None:
    told_back = said_to(gate, typed)
    assert told in told_back
    assert "nothing was decided" in told_back


@pytest.mark.parametrize(
    ("gate", "forms"),
    [
        (urls(), ("remove NUMBER ... do not read these", "look NUMBER")),
        (UNREADABLE, ("paste NUMBER FILE take the text", "title NUMBER TITLE of a text")),
        (TREE, ("rename ID NAME give it", "move ID UNDER put")),
        (REVIEW, ("reject REASON say no",)),
    ],
)
def test_help_lists_what_can_be_typed_here(gate: Record, forms: tuple[str, ...]) -> None:
    told = said_to(gate, "help")
    assert all(form in told for form in forms)
    assert ("drop ID" in told) == (gate is TREE)


def test_a_text_with_nothing_in_it_is_refused_in_plain_words(tmp_path: Path) -> None:
    file = tmp_path / "page.txt"
    file.write_text("— …", encoding="utf-8")
    told_back = said_to(UNREADABLE, f"paste {UNREADABLE.unreadable[0].number} {file}")
    assert "pasted.text: it holds no letter and no digit: paste the words of the page" in told_back
