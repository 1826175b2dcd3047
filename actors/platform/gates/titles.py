"""What people call kinds, their actions, gates and stages, in their own language.

The words are in `configs/languages/<code>/kinds.yaml`. What has none there is called by its name.
"""

from collections.abc import Iterator

from actors.platform.text.lexicon import ENGLISH, Language, languages, lexicon


def language_wanted(accepted: str | None) -> Language:
    """The first of our languages that an Accept-Language header names (RFC 9110 §12.5.4); else English."""
    named = (each.partition(";")[0].strip().lower()[:2] for each in (accepted or "")[:200].split(","))
    return next((code for code in named if code in languages()), ENGLISH)


def title(language: Language, *path: str) -> str:
    """The words for something, such as `gate`, `operation_plan`."""
    return next(_known(language, "/".join(path)), path[-1].replace("_", " "))


def _known(language: Language, name: str) -> Iterator[str]:
    for code in dict.fromkeys((language, ENGLISH)):
        if told := lexicon(code, "kinds").get(name):
            yield told
