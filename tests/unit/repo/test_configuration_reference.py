"""docs/configuration.md is what `make docs` writes, and leaves no setting without a word on what it means."""

import re
from pathlib import Path

from cluster.config_reference import FILE, RecordTable, places, render
from models.config import Config
from tests.profile import local_profile

ROOT = Path(__file__).resolve().parents[3]


def named(text: str) -> set[str]:
    """The words that stand as code in a text."""
    return {word for code in re.findall(r"`([^`]+)`", text) for word in re.findall(r"\w+", code)}


def untold(place: RecordTable) -> list[str]:
    """Settings of a record that neither it, nor a comment, nor a record of their own says anything of."""
    rows = [row for row in place.rows if not row.meaning and "](#" not in row.value]
    return [row.key for row in rows if row.key not in named(place.text)]


def test_the_file_is_what_is_written() -> None:
    """If this fails, type `make docs`."""
    written = FILE.read_text(encoding="utf-8")
    assert written == render(written)


def test_every_setting_is_told_of() -> None:
    one_value = {"provider"}  # its only value says it
    assert [(place.path, key) for place in places() for key in untold(place) if key not in one_value] == []


def test_every_section_is_there() -> None:
    paths = {place.path for place in places()}
    assert sorted(Config.model_fields.keys() - paths - {"data_dir", "agents"}) == []


def test_the_links_in_it_lead_somewhere() -> None:
    """As GitHub makes them of headings: lower case, without what is no letter, digit or `_`."""
    text = FILE.read_text(encoding="utf-8")
    headings = re.findall(r"^##+ (.+)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert len(anchors) == len(headings)
    assert sorted(set(re.findall(r"\]\(#([^)]+)\)", text)) - anchors) == []


def test_the_shipped_settings_are_all_known_to_it() -> None:
    raw = local_profile()
    keys = {f"{place.path}.{row.key}" for place in places() for row in place.rows}
    shipped = {f"{name}.{key}" for name, said in raw.items() if isinstance(said, dict) for key in said}
    assert sorted(name for name in shipped - keys if not name.startswith("agents.")) == []
