"""How well sentences were chosen: beside TextRank and LexRank of `sumy`, by the ROUGE of `rouge-score`.

Their packages are needed nowhere else, so they have an environment of their own under `build/`, made with uv
when it is first needed. Run there, this file is the program that answers.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

PACKAGES = ("sumy==0.12.0", "rouge-score==0.1.2", "numpy", "setuptools<81")


class ChosenText(NamedTuple):
    """A text as its sentences, what was chosen of it, and what people chose."""

    sentences: list[str]
    chosen: str
    reference: str


class Scores(NamedTuple):
    """Means over all texts: F1 of ROUGE-1, -2 and -L, and recall of ROUGE-L."""

    rouge_1: float
    rouge_2: float
    rouge_l: float
    recall: float


def compare(texts: Sequence[ChosenText], *, folder: Path) -> dict[str, Scores]:
    """The scores of what was chosen (`signoff`), and of each way to choose as many words."""
    asked = folder / "choices.json"
    asked.write_text(json.dumps([one._asdict() for one in texts]), encoding="utf-8")
    done = subprocess.run(
        [_python(), __file__, str(asked)], stdout=subprocess.PIPE, text=True, check=True, timeout=1800
    )
    return {name: Scores(*found) for name, found in json.loads(done.stdout).items()}


def _python() -> Path:
    """The interpreter that has the packages."""
    environment = Path(__file__).resolve().parents[2] / "build" / "summaries"
    python = environment / "bin" / "python"
    if not python.exists():
        uv = Path(sys.executable).parent / "uv"
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", version, environment], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", python, *PACKAGES], check=True)
    return python


def _scores(texts: list[dict[str, Any]]) -> dict[str, list[float]]:
    """For each way to choose: the means."""
    import re

    from rouge_score.rouge_scorer import RougeScorer
    from sumy.parsers.plaintext import PlaintextParser
    from sumy.summarizers.lex_rank import LexRankSummarizer
    from sumy.summarizers.text_rank import TextRankSummarizer

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    found: dict[str, list[list[float]]] = {}
    for text in texts:
        told = text["sentences"]
        room = len(text["chosen"].split())

        class Tokens:
            """The sentences as they are given: all contestants have the same."""

            def to_sentences(self, _: str, own: list[str] = told) -> list[str]:
                return own

            def to_words(self, sentence: str) -> list[str]:
                return re.findall(r"\w+", sentence.lower())

        document = PlaintextParser(" ".join(told), Tokens()).document
        choices = {
            "signoff": text["chosen"],
            "lead": _filled(told, told, room),
            "lead-3": " ".join(told[:3]),
        }
        for name, summarizer in (("TextRank", TextRankSummarizer()), ("LexRank", LexRankSummarizer())):
            choices[name] = _filled(_best(summarizer, document, room), told, room)
        for name, choice in choices.items():
            score = scorer.score(text["reference"], choice)
            row = [score[one].fmeasure for one in ("rouge1", "rouge2", "rougeL")]
            found.setdefault(name, []).append([*row, score["rougeL"].recall])
    return {
        name: [sum(column) / len(rows) for column in zip(*rows, strict=True)] for name, rows in found.items()
    }


def _best(summarizer: Any, document: Any, room: int) -> list[str]:
    """The best sentences, best first: each is the one that a longer summary has more. Enough to fill it."""
    best: list[str] = []
    while len(best) < len(document.sentences) and sum(len(one.split()) for one in best) < 2 * room:
        longer = [str(one) for one in summarizer(document, len(best) + 1)]
        best += [one for one in longer if one not in best] or longer[:1]
    return best


def _filled(best: list[str], told: list[str], room: int) -> str:
    """As many of the best as there is room for, at least one, in the order of the text."""
    kept: list[str] = []
    words = 0
    for sentence in best:
        more = len(sentence.split())
        if not kept or words + more <= room:
            kept.append(sentence)
            words += more
    return " ".join(sorted(kept, key=told.index))


if __name__ == "__main__":
    print(json.dumps(_scores(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
