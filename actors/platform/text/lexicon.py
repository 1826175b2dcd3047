"""The words of a language that rules are about: from its folder, `configs/languages/<code>`.

Called by whoever reads sentences. A file is a mapping of names to words between blanks; it is read once in a
process. Which words these are is for who knows the language: no module holds any.
"""

import re
from functools import cache
from pathlib import Path

import yaml

from actors.platform.text.language import Language
from models.errors import ConfigInvalid
from models.text import word_list

FOLDER = Path(__file__).resolve().parents[3] / "configs/languages"


@cache
def lexicon(language: Language, name: str) -> dict[str, str]:
    """A file of the language's folder: words between blanks, or phrases between semicolons, by their names.

    Raises:
        ConfigInvalid: it isn't there, or isn't such a mapping.
    """
    path = FOLDER / language / f"{name}.yaml"
    try:
        read = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, yaml.YAMLError) as error:
        raise ConfigInvalid(f"{path}: {error}. Take it from the release.") from error
    if not isinstance(read, dict) or not all(isinstance(one, str) for one in read.values()):
        raise ConfigInvalid(f"{path}: it maps names to words, each a text. Take it from the release.")
    return read


@cache
def word_set(language: Language, name: str, key: str) -> frozenset[str]:
    """The words under a key of such a file; none where it has no such key."""
    return frozenset(word_list(lexicon(language, name).get(key, "")))


@cache
def phrase_set(language: Language, name: str, key: str) -> frozenset[str]:
    """The phrases under a key, in small letters, between semicolons."""
    told = lexicon(language, name).get(key, "").casefold().split(";")
    return frozenset(" ".join(one.split()) for one in told if one.strip())


@cache
def phrase_pattern(language: Language, *keys: tuple[str, str]) -> re.Pattern[str]:
    """A pattern that finds any of the phrases of some files and keys as whole words; `*` is any ending.

    Its time is linear in a text: a phrase has no more than blanks and endings of bounded length in it.
    """
    some = sorted(
        {one for name, key in keys for one in phrase_set(language, name, key)}, key=len, reverse=True
    )
    told = (r"\s{1,3}".join(map(re.escape, one.split())) for one in some)
    # In small letters `ß` is `ss`.
    spelled = "|".join(
        one.replace(r"\*", r"\w{0,30}").replace("'", "['’]").replace("ss", "(?:ss|ß)") for one in told
    )
    return re.compile(rf"(?<!\w)(?:{spelled or '(?!)'})(?!\w)", re.IGNORECASE)
