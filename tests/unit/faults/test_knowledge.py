"""What the campaign's checks of batches of knowledge tell of, and what they let be."""

from pathlib import Path
from typing import Any

import pytest

from actors.systems.knowledge.index.segment_files import SegmentFiles
from tests.faults import ledger
from tests.faults.checks.knowledge import asked_after_it_was_kept, of_index, of_source
from tests.faults.ledger import Known

URL = "http://127.0.0.1:1/knowledge-0-0/mill"
SOURCE = {"id": 1, "url": URL, "text": "Flour went by boat. Timber went by road.", "points": 2}
PASSAGES = [{"start": 0, "end": 19, "segment_id": 4}, {"start": 20, "end": 40, "segment_id": 4}]
WHOLE = [Known(URL, what, 10.0 + n) for n, what in enumerate((ledger.KEPT, ledger.INDEXED, ledger.EXTRACTED))]
MADE = [Known(URL, ledger.PASSAGE, 11.0)] * 2


@pytest.mark.parametrize(
    ("changes", "known", "passages", "said"),
    [
        ({}, [*WHOLE, *MADE], PASSAGES, []),
        ({}, [*WHOLE, *MADE, WHOLE[0]], PASSAGES, ["was kept 2 times"]),
        ({}, [*WHOLE[:2], *MADE], PASSAGES, ["was extracted 0 times"]),
        ({}, WHOLE, [], ["is in no passage from 0 on"]),
        ({}, [*WHOLE, MADE[0]], PASSAGES[:1], ["is in no passage from 19 on"]),
        ({}, [*WHOLE, MADE[0]], PASSAGES[1:], ["is in no passage from 0 on"]),
        ({}, [*WHOLE, *MADE, MADE[0]], PASSAGES, ["has 2 passages, and 3 were made"]),
        ({"points": 1}, [*WHOLE, *MADE], PASSAGES, ["has 1 points, and says 2"]),
    ],
)
def test_a_source_is_known_once_and_whole(
    changes: dict[str, Any], known: list[Known], passages: list[dict[str, Any]], said: list[str]
) -> None:
    assert list(of_source(SOURCE | changes, 2, known, passages)) == [f"{URL} {one}" for one in said]


def test_what_is_kept_is_not_asked_for_again() -> None:
    assert list(asked_after_it_was_kept(URL, WHOLE, [8.0, 9.0])) == []
    assert list(asked_after_it_was_kept(URL, [], [8.0, 9.0])) == []
    [odd] = asked_after_it_was_kept(URL, WHOLE, [9.0, 10.5])
    assert odd == f"{URL} was asked for 1 times more once it was kept"


def test_a_passage_is_in_a_segment(tmp_path: Path) -> None:
    files = SegmentFiles(tmp_path)
    assert list(of_index(files, [], [], "b")) == []
    assert list(of_index(files, [], PASSAGES, "b")) == [
        "2 of 2 passages of b are in no segment",
        "the segments of b hold 0 of 2 passages",
    ]
