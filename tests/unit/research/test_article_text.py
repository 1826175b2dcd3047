"""A research as an article: each sentence leads by its footnote to exact words, and to who let them in."""

import re
from datetime import UTC, datetime

import pytest

from actors.systems.research.article_text import article_text, evidence_texts
from models.research.following import LetIn, LineagePoint, LineageSource, ResearchLineage, ResultSentence

AT = datetime(2026, 11, 26, tzinfo=UTC)


def sentence(
    number: int, text: str, *points: int, heading: str = "Mills", outcome: str = "kept"
) -> ResultSentence:
    return ResultSentence.model_validate(
        {
            "number": number,
            "node": heading,
            "heading": heading,
            "text": text,
            "points": points,
            "outcome": outcome,
            "reason": "so",
        }
    )


def point(number: int, source: int, quote: str) -> LineagePoint:
    return LineagePoint(
        point_id=number, kind="fact", statement=quote, start=3, end=3 + len(quote), quote=quote, source=source
    )


def source(url: str, title: str | None, let_in: LetIn | None) -> LineageSource:
    return LineageSource(
        url=url,
        final_url=None,
        title=title,
        source_id=1,
        sha256="b" * 64,
        text_sha256="a" * 64,
        let_in=let_in,
    )


LINEAGE = ResearchLineage(
    workflow_id=12,
    sentences=(
        sentence(1, "Nine mills turn.", 7, 8),
        sentence(2, "- They *stop* <b>in winter</b>.", 7, outcome="unverified"),
        sentence(3, "Ann runs them.", 9, heading="[Who](http://evil.example)"),
    ),
    points=(
        point(9, 1, "Ann"),
        point(7, 0, "nine mills"),
        point(8, 1, "turn ] again"),
        point(5, 0, "unused"),
    ),
    sources=(
        source(
            "https://example.org/mill",
            "The Mill",
            LetIn(workflow_id=12, number=2, by="bob", approval_id="3", digest="d" * 64, at=AT),
        ),
        source("urn:sha256:abc", None, None),
    ),
)


def test_each_sentence_has_a_footnote_with_the_words_that_it_rests_on() -> None:
    text = article_text(LINEAGE, {0: 50, 1: 51})
    assert text.startswith(
        "## Mills\n\nNine mills turn.[^1][^2] - They \\*stop\\* \\<b\\>in winter\\</b\\>.[^1] (unverified"
    )
    assert "\n\nAnn runs them.[^3]\n\n[^1]: " in text
    assert (
        "[^1]: The Mill — <https://example.org/mill>, characters 3 to 13: “nine mills” (resource 50)" in text
    )
    assert (
        "[^2]: urn:sha256:abc, as somebody gave it, characters 3 to 15: “turn \\] again” (resource 51)"
        in text
    )
    assert "http://evil" not in text
    assert "unused" not in text


@pytest.mark.parametrize(
    ("said", "doubt", "mill", "pasted"),
    [
        (
            "Młyn pracuje i nie stoi w zimie, bo woda nie zamarza.",
            "(niesprawdzone: ",
            ", znaki od 3 do 13: „nine mills” (zasób 50)",
            "abc, w postaci, w jakiej ktoś to podał, znaki od 3 do 15: „turn \\] again” (zasób 51)",
        ),
        (
            "Die Mühle läuft und steht auch im Winter nicht still.",
            "(ungeprüft: ",
            ", Zeichen 3 bis 13: „nine mills“ (Ressource 50)",
            "abc, wie jemand es angegeben hat, Zeichen 3 bis 15: „turn \\] again“ (Ressource 51)",
        ),
    ],
)
def test_what_code_says_in_an_article_is_in_its_language(
    said: str, doubt: str, mill: str, pasted: str
) -> None:
    sentences = (sentence(1, said, 7, 8, outcome="unverified"),)
    text = article_text(LINEAGE.model_copy(update={"sentences": sentences}), {0: 50, 1: 51})
    assert f"{said}[^1][^2] {doubt}" in text
    assert f"[^1]: The Mill — <https://example.org/mill>{mill}\n" in text
    assert f"[^2]: urn:sha256:{pasted}\n" in text
    assert not {"characters", "resource", "unverified", "somebody"} & set(re.findall(r"\w+", text))


def test_each_document_says_its_digests_and_who_let_it_in() -> None:
    mill, pasted = evidence_texts(LINEAGE)
    assert (mill.source, mill.name, mill.description) == (0, "The Mill", "A document of deep research 12")
    assert mill.content.splitlines() == [
        "Read at https://example.org/mill",
        f"SHA-256 of its bytes: {'b' * 64}",
        f"SHA-256 of its text: {'a' * 64}",
        f"Let in by bob at 2026-11-26T00:00:00+00:00: approval 3 of {'d' * 64}, number 2 in deep research 12",
        "",
        "What the article rests on:",
        "- characters 3 to 13: “nine mills”",
    ]
    assert "Nobody of a research let it in" in pasted.content
    assert pasted.content.startswith("A text that somebody gave")
    assert [line for line in pasted.content.splitlines() if line.startswith("- ")] == [
        "- characters 3 to 15: “turn ] again”",
        "- characters 3 to 6: “Ann”",
    ]


def test_no_line_of_a_quote_looks_like_one_of_the_evidence() -> None:
    forged = f"nine mills\n\nLet in by eve: approval 99\r\nSHA-256 of its text: {'0' * 64}"
    points = (point(7, 0, forged), *LINEAGE.points[2:])
    [mill, *_] = evidence_texts(LINEAGE.model_copy(update={"points": points}))
    own = [one for one in mill.content.splitlines() if one.startswith(("Let in by", "SHA-256 of its text"))]
    assert len(own) == 2


def test_no_sentence_makes_a_link() -> None:
    text = "See _www.evil.example/login now, or mail a@evil.example."
    hostile = LINEAGE.sentences[0].model_copy(update={"text": text})
    shown = article_text(LINEAGE.model_copy(update={"sentences": (hostile,)}), {0: 50, 1: 51})
    assert "www.evil" not in shown
    assert "a@evil" not in shown
    assert "evil.example/login now" in shown


def test_no_title_makes_a_link_or_a_line_of_its_own() -> None:
    title = "[Mills](http://evil.example)\n[^9]: <b>forged</b>, www.evil.example"
    sources = (LINEAGE.sources[0].model_copy(update={"title": title}), LINEAGE.sources[1])
    hostile = LINEAGE.model_copy(update={"sources": sources})
    shown = article_text(hostile, {0: 50, 1: 51})
    [note] = [line for line in shown.splitlines() if line.startswith("[^1]:")]
    assert "[Mills]" not in note
    assert "<b>" not in note
    assert "http://evil" not in shown
    assert "www.evil" not in shown
    assert not [line for line in shown.splitlines() if line.startswith("[^9]:")]
    [mill, _] = evidence_texts(hostile)
    assert len(mill.name.splitlines()) == 1
