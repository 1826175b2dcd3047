"""The words of a language that rules are about: from its folder, `configs/languages/<code>`.

A file gives texts by names: words between blanks, phrases between semicolons, or an expression in each line.
`schema.yaml` beside the folders lists files and names. A name with `?` may be missing, and so may a file:
then the language has no such words. A folder with `language.yaml` is a language that texts are read in; `mul`
has what is said in languages without a folder, or in all of them alike.
"""

import re
from functools import cache
from pathlib import Path

import yaml

from models.errors import ConfigInvalid
from models.text import word_list

Language = str

FOLDER = Path(__file__).resolve().parents[3] / "configs/languages"
# The language of texts that are in none; its files are whole.
ENGLISH: Language = "en"
MANY = "mul"
# A pattern's place for what the languages say: as whole words.
WHOLE = r"(?<![^\W_]){}(?![^\W_])"
_REMEDY = "Take it from the release."


@cache
def languages() -> tuple[Language, ...]:
    """The languages that texts are read in: English, then the others by their codes."""
    return tuple(code for code in folders("language") if code != MANY)


@cache
def folders(name: str) -> tuple[str, ...]:
    """The folders that hold such a file: of English, of other languages by their codes, of many."""
    codes = (path.parent.name for path in FOLDER.glob(f"*/{name}.yaml"))
    return tuple(sorted(codes, key=lambda code: (code == MANY, code != ENGLISH, code)))


@cache
def lexicon(language: Language, name: str) -> dict[str, str]:
    """A file of the language's folder, its texts by their names; empty where it has no such file.

    Raises:
        ConfigInvalid: it is no such mapping, or has other names than the schema; or English lacks it.
    """
    path = FOLDER / language / f"{name}.yaml"
    if language != ENGLISH and not path.exists():
        return {}
    texts, listed = _mapping(path), _mapping(FOLDER / "schema.yaml").get(name)
    if not isinstance(listed, dict):
        raise ConfigInvalid(
            f"{path}: {FOLDER / 'schema.yaml'} lists no such file. Add it there, or remove it."
        )
    known = [key for keys in listed.values() for key in word_list(keys)]
    for key, text in texts.items():
        if key not in known and f"{key}?" not in known:
            raise ConfigInvalid(f"{path}: {key}: unknown. Remove it, or list it in schema.yaml.")
        if not isinstance(text, str):
            raise ConfigInvalid(f"{path}: {key}: it is to be one text. {_REMEDY}")
    if missing := [key for key in known if key not in texts and not key.endswith("?") and language != MANY]:
        raise ConfigInvalid(f"{path}: {missing[0]}: missing. Give its words.")
    return {key: str(text) for key, text in texts.items()}


@cache
def _mapping(path: Path) -> dict[str, object]:
    try:
        read = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, yaml.YAMLError) as error:
        raise ConfigInvalid(f"{path}: {error}. {_REMEDY}") from error
    if not isinstance(read, dict):
        raise ConfigInvalid(f"{path}: it is to give texts by names. {_REMEDY}")
    return read


@cache
def word_set(language: Language, name: str, key: str) -> frozenset[str]:
    """The words under a name of such a file; none where it has no such name."""
    return frozenset(words_listed(language, name, key))


def words_listed(language: Language, name: str, key: str) -> list[str]:
    """The words under a name, in their order."""
    return word_list(lexicon(language, name).get(key, ""))


@cache
def words_of_all(name: str, key: str) -> frozenset[str]:
    """The words under a name, of all folders."""
    return frozenset().union(*(word_set(code, name, key) for code in folders(name)))


@cache
def phrases_of_all(name: str, key: str) -> frozenset[str]:
    """The phrases under a name, of all folders."""
    return frozenset().union(*(phrase_set(code, name, key) for code in folders(name)))


@cache
def phrases_listed(name: str, key: str) -> tuple[str, ...]:
    """The phrases under a name in their order, of all folders."""
    told = (lexicon(code, name).get(key, "").split(";") for code in folders(name))
    return tuple(" ".join(one.split()) for some in told for one in some if one.strip())


@cache
def alternatives(name: str, key: str) -> str:
    """The regular expressions under a name, of all folders, as one."""
    lines = (line for code in folders(name) for line in lexicon(code, name).get(key, "").splitlines())
    return "|".join(line for line in lines if line)


@cache
def pattern_in(language: Language, name: str, key: str, form: str = "{}") -> re.Pattern[str]:
    """What finds the regular expressions of one language under a name, whatever their case."""
    some = "|".join(lexicon(language, name).get(key, "").splitlines())
    return re.compile(form.replace("{}", f"(?:{some or '(?!)'})"), re.IGNORECASE)


@cache
def pattern(name: str, key: str, form: str = "{}", flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """What finds the regular expressions under a name, of all folders; they stand for `{}` of a form.

    Raises:
        ConfigInvalid: they are none.
    """
    some = alternatives(name, key)
    try:
        return re.compile(form.replace("{}", f"(?:{some or '(?!)'})"), flags)
    except re.error as error:
        fault = f"{FOLDER}/*/{name}.yaml: {key}: no regular expression ({error}). {_REMEDY}"
        raise ConfigInvalid(fault) from error


@cache
def phrase_set(language: Language, name: str, key: str) -> frozenset[str]:
    """The phrases under a name, in small letters, between semicolons."""
    told = lexicon(language, name).get(key, "").casefold().split(";")
    return frozenset(" ".join(one.split()) for one in told if one.strip())


@cache
def phrase_pattern(language: Language, *keys: tuple[str, str]) -> re.Pattern[str]:
    """A pattern that finds any of the phrases of some files and names as whole words; `*` is any ending.

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
