"""A fourth language is a folder: Czech, of a few sentences, without a change of the code."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from actors.platform.text import lexicon

_FILES = {
    "language": {
        "function_words": "je jsou není který která podle jako pro nebo ale jsem jsme se jak kdy proč",
        "letters": "á č ď ě é í ň ř š ť ů ú ý ž",
        "endings": "ovat ného ních ování ostí",
    },
    "walls": {"not_found": "stránka nenalezena", "login": "přihlaste se"},
    "search_terms": {"openers": "proč kdy kdo faktura faktury"},
    "opposites": {
        "negations": "ne neni nejsou",
        "not_only": "jen",
        "denies": "popira",
        "up": "roste vzrostla",
        "down": "klesa klesla",
    },
    "confirmation": {"yes_as_a_whole": "ano; ano prosim", "answers": "ano; souhlasím"},
}
# What is asked in a process of its own, so that nothing of the shipped folders is kept in this one.
_ASKED = """
import json, sys
from pathlib import Path
from actors.platform.text import lexicon
lexicon.FOLDER = Path(sys.argv[1])
from actors.platform.extractive.quotable import quotable
from actors.platform.text.bearing import bears_on
from actors.platform.text.language import is_of_another, language_of
from actors.platform.text.quotation_marks import quoted
from actors.systems.chat.turn.confirmation import is_yes
from actors.systems.knowledge.scraping.block_detection import _NOT_FOUND
from actors.systems.operations.search_terms import search_terms_in
from actors.systems.research.synthesis.opposites import is_negated, turns_direction
czech = "Inflace je podle banky vyšší než loni, ale sazby se nezměnily."
print(json.dumps({
    "languages": lexicon.languages(),
    "language": language_of(czech),
    "another": is_of_another(czech),
    "others": [language_of(each) for each in (
        "The bank raised its rates.", "Die Bank hat die Zinsen erhöht.", "Bank podniósł stopy procentowe.",
    )],
    "yes": [is_yes("Ano"), is_yes("Ano, prosím"), is_yes("Tak")],
    "missing": bool(_NOT_FOUND.search("stránka nenalezena")),
    "terms": search_terms_in("Kdy Alza zaplatila?"),
    "negated": is_negated("Zpráva není pravdivá."),
    "quotable": [each.text for each in quotable(czech, "cs")],
    "quoted": quoted("Inflace roste", "cs"),
    "bears": bears_on("Jaká je podle banky inflace?", czech, 0.5),
    "turned": turns_direction("Inflace roste.", ["Inflace klesa."]),
}))
"""


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is found with a folder more than there are."""
    folder = tmp_path_factory.mktemp("languages") / "languages"
    shutil.copytree(lexicon.FOLDER, folder)
    (folder / "cs").mkdir()
    for name, texts in _FILES.items():
        lines = (f"{key}: {json.dumps(text, ensure_ascii=False)}\n" for key, text in texts.items())
        (folder / "cs" / f"{name}.yaml").write_text("".join(lines), encoding="utf-8")
    root = Path(__file__).resolve().parents[3]
    asked = subprocess.run(
        [sys.executable, "-c", _ASKED, str(folder)], cwd=root, capture_output=True, text=True, check=False
    )
    assert asked.returncode == 0, asked.stderr
    return dict(json.loads(asked.stdout))


def test_its_texts_are_told_from_those_of_the_others(answered: dict[str, Any]) -> None:
    assert answered["languages"] == ["en", "cs", "de", "pl"]
    assert (answered["language"], answered["another"]) == ("cs", False)
    assert answered["others"] == ["en", "de", "pl"]


def test_what_it_has_no_words_for_is_done_without(answered: dict[str, Any]) -> None:
    assert answered["quotable"] == ["Inflace je podle banky vyšší než loni, ale sazby se nezměnily."]
    assert answered["quoted"] == "“Inflace roste”"
    assert answered["bears"] is True


def test_its_words_count_beside_those_of_the_others(answered: dict[str, Any]) -> None:
    assert answered["yes"] == [True, True, True]
    assert answered["missing"] is True
    assert answered["terms"] == ["Alza"]
    assert (answered["negated"], answered["turned"]) == (True, True)
