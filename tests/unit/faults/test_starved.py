"""What is said of processes that waited for a processor."""

from pathlib import Path

from tests.faults.site.starved import Starved


def test_what_a_process_waited_lately_is_told(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    starved = Starved(tmp_path)
    for waited in (1_000_000_000, 1_250_000_000, 1_750_000_000):
        (tmp_path / "7/schedstat").write_text(f"5 {waited} 3\n")
        starved.look([7, 8])
    assert starved.seconds(7) == 0.75
    assert starved.seconds(8) == 0.0
