"""The folders of languages: what a file may hold, by the schema beside them."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from actors.platform.text import lexicon as words
from models.errors import ConfigInvalid

_SHIPPED = words.FOLDER
_FILES = sorted(path.relative_to(_SHIPPED) for path in _SHIPPED.glob("*/*.yaml"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the shipped folders, to be spoiled."""
    shutil.copytree(_SHIPPED, tmp_path / "languages")
    monkeypatch.setattr(words, "FOLDER", tmp_path / "languages")
    caches = (words.lexicon, words.languages, words.folders)
    for each in caches:
        each.cache_clear()
    yield tmp_path / "languages"
    for each in caches:
        each.cache_clear()


@pytest.mark.parametrize("file", _FILES, ids=str)
def test_a_shipped_file_has_the_names_of_the_schema_and_says_its_source(file: Path) -> None:
    assert words.lexicon(file.parent.name, file.stem)
    assert (_SHIPPED / file).read_text(encoding="utf-8").startswith("# ")


def test_english_has_every_file_and_each_other_language_has_it_too() -> None:
    listed = yaml.safe_load((_SHIPPED / "schema.yaml").read_text(encoding="utf-8"))
    assert words.languages() == ("en", "de", "pl")
    for name in listed:
        assert words.folders(name)[:3] == ("en", "de", "pl"), name


def test_an_unknown_name_is_refused_with_file_and_name(folder: Path) -> None:
    path = folder / "pl" / "days.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "\nweekdys: pn wt\n", encoding="utf-8")
    with pytest.raises(ConfigInvalid, match=re.escape(f"{path}: weekdys: unknown.")):
        words.lexicon("pl", "days")


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_missing_name_is_refused_with_file_and_name(folder: Path, language: str) -> None:
    path = folder / language / "days.yaml"
    kept = yaml.safe_load(path.read_text(encoding="utf-8"))
    del kept["weekdays"]
    path.write_text(yaml.safe_dump(kept), encoding="utf-8")
    with pytest.raises(ConfigInvalid, match=re.escape(f"{path}: weekdays: missing.")):
        words.lexicon(language, "days")


def test_a_language_may_lack_a_name_with_a_question_mark_and_a_whole_file(folder: Path) -> None:
    assert words.word_set("de", "abbreviations", "date_words") == frozenset()
    (folder / "de" / "days.yaml").unlink()
    assert words.lexicon("de", "days") == {}
    assert words.folders("days") == ("en", "pl")
    (folder / "en" / "days.yaml").unlink()
    with pytest.raises(ConfigInvalid, match=r"en/days.yaml: .*Take it from the release"):
        words.lexicon("en", "days")


def test_a_file_that_the_schema_does_not_list_is_refused(folder: Path) -> None:
    (folder / "de" / "weather.yaml").write_text("rain: regen\n", encoding="utf-8")
    with pytest.raises(ConfigInvalid, match=r"de/weather.yaml: .*schema.yaml lists no such file"):
        words.lexicon("de", "weather")


@pytest.mark.parametrize("content", ["- a\n- b\n", "weekdays: [a, b]\n", "weekdays: {a: b}\n", "a: b: c\n"])
def test_what_is_no_mapping_of_texts_is_refused(folder: Path, content: str) -> None:
    (folder / "de" / "days.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigInvalid, match=r"de/days.yaml: "):
        words.lexicon("de", "days")


def test_expressions_of_all_languages_are_one_pattern_english_first() -> None:
    assert words.alternatives("walls", "loading").split("|")[:2] == ["loading", "please wait"]
    assert words.pattern("walls", "loading", words.WHOLE).search("Die Seite wird geladen")


def test_what_is_no_regular_expression_is_refused_with_file_and_name(folder: Path) -> None:
    path = folder / "de" / "walls.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("lädt", "(lädt"), encoding="utf-8")
    words.alternatives.cache_clear()
    with pytest.raises(ConfigInvalid, match=r"walls.yaml: loading: no regular expression"):
        words.pattern.__wrapped__("walls", "loading")
    words.alternatives.cache_clear()
