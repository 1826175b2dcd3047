"""The language that a text is in, of some hundred; or nothing, where that is not plain.

By py3langid (langid.py, Lui and Baldwin 2012), which reads the text itself: what a page declares is often its
template's language. `actors.platform.text.language` is for sentences of our three languages and always
answers.
"""

import re
from functools import cache
from typing import Any

# So many letters at least, but of scripts that say a word in a character or two.
_LEAST, _LEAST_DENSE = 40, 12
_SURE = 0.95
_LOOKED_AT = 6_000
_LETTERS = re.compile(r"[^\W\d_]+")
_KANA, _HANGUL, _HAN = re.compile(r"[぀-ヿ]"), re.compile(r"[가-힯]"), re.compile(r"[㐀-䶿一-鿿]")
# Code, addresses and the signs of Markdown are in no language.
_NO_PROSE = re.compile(r"```[^`]*```|`[^`\n]*`|https?://\S+|[|#*_>\[\]()]")


def language_of_text(text: str) -> str | None:
    """The ISO 639-1 code of a text's language; None where it is short, or in none that is plain."""
    prose = " ".join(_LETTERS.findall(_NO_PROSE.sub(" ", text[: 4 * _LOOKED_AT])))[:_LOOKED_AT]
    if (dense := _by_script(prose)) is not None:
        return dense
    if len(prose) < _LEAST:
        return None
    language, sureness = _identifier().classify(prose)
    # Codes of three letters are of languages that ISO 639-1 has no code for, and of what is no language.
    return str(language) if sureness >= _SURE and len(language) == 2 else None


def _by_script(prose: str) -> str | None:
    """Chinese, Japanese or Korean, where most of a text is in their script."""
    kana, hangul, han = (len(script.findall(prose)) for script in (_KANA, _HANGUL, _HAN))
    if kana + hangul + han < max(_LEAST_DENSE, len(prose) // 2):
        return None
    return "ko" if hangul > kana + han else "ja" if 10 * kana > han else "zh"


@cache
def _identifier() -> Any:
    """The model; loading it takes half a second, and is done once in each process that reads."""
    from py3langid import langid

    identifier: Any = langid.LanguageIdentifier
    return identifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
