"""Words of a language are data: no module holds a list of them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.platform.text import lexicon

_ROOT = Path(__file__).resolve().parents[3]
_PACKAGES = ("models", "actors", "serve", "pipelines", "cluster")
_WORD = re.compile(r"[^\W\d_]{3,}")
# So many different words of German or Polish in one statement are a list.
_LIST = 5
# What may hold some, and why.
_CODES = "codes of kinds of personal data"
_GRAMMAR = "sentences of figures: how a language says them is grammar, a function for each"
_ROUTING = "expressions before the trained router, which are to become intents of it"
_EXCEPTIONS = {
    "actors/platform/figures/figure_sentences.py": _GRAMMAR,
    "actors/systems/chat/routing/deep_research.py": _ROUTING,
    "actors/systems/chat/routing/operation_words.py": _ROUTING,
    "actors/systems/chat/routing/operations.py": _ROUTING,
    "actors/systems/knowledge/redaction/identities.py": _CODES,
    "actors/systems/knowledge/redaction/labels.py": _CODES,
    "models/knowledge/redaction.py": _CODES,
}


def _words_of(language: str) -> frozenset[str]:
    """The words in a language's files, in small letters."""
    files = (path.stem for path in (lexicon.FOLDER / language).glob("*.yaml"))
    texts = (text for name in files for text in lexicon.lexicon(language, name).values())
    return frozenset(word.lower() for text in texts for word in _WORD.findall(text))


def _foreign() -> frozenset[str]:
    """Words that are German or Polish and not English, as far as the folders tell."""
    return (_words_of("de") | _words_of("pl")) - _words_of("en")


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements that hold no others, and the heads of those that do."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            yield node


def word_lists(source: str, foreign: frozenset[str]) -> list[tuple[int, set[str]]]:
    """The statements of a module with words of other languages than English: line, and the words."""
    found = []
    for statement in _statements(ast.parse(source)):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # a docstring
        texts = [
            node.value
            for node in ast.walk(statement)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        words = {word.lower() for text in texts for word in _WORD.findall(text)} & foreign
        if len(words) >= _LIST:
            found.append((statement.lineno, words))
    return found


def _modules() -> list[str]:
    paths = (path for package in _PACKAGES for path in (_ROOT / package).rglob("*.py"))
    return sorted(str(path.relative_to(_ROOT)) for path in paths if "migrations" not in path.parts)


def test_no_module_holds_the_words_of_a_language() -> None:
    foreign = _foreign()
    found = {
        name: [line for line, _ in lists]
        for name in _modules()
        if (lists := word_lists((_ROOT / name).read_text(encoding="utf-8"), foreign))
    }
    listed = {name: lines for name, lines in found.items() if name not in _EXCEPTIONS}
    assert listed == {}, "move these lists to configs/languages, and read them with platform/text/lexicon"
    assert set(found) == set(_EXCEPTIONS), "an exception that is none any longer goes"


@pytest.mark.parametrize(
    "source",
    [
        'WORDS = ("rechnung", "zahlung", "mahnung", "gutschrift", "betrag")',
        'PATTERN = re.compile(r"faktur\\w*|zapłacono|należność|kwota|płatności|rachunek")',
        'def f():\n    return word_list("nicht kein keine keinen niemals ohne")',
    ],
)
def test_a_list_of_words_is_found(source: str) -> None:
    assert len(word_lists(source, _foreign())) == 1


def test_prose_and_english_are_no_list() -> None:
    source = '"""Rechnung, zahlung, mahnung, gutschrift, betrag."""\nX = ("bill", "payment", "paid", "due")'
    assert word_lists(source, _foreign()) == []
