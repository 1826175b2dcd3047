"""From a review's Markdown bullets to concerns (seed 004 §6.1.1).

Called by the editorial steps on what the article reviewer wrote. A bullet starts on a line that begins
with `- ` or `* `; an indented one belongs to the bullet above it. A review that says something without
a bullet is an error: what can't be read is not "no concerns".
"""

import re

from models.content.editorial import ArticleReviewResult, Concern
from models.errors import ReviewUnreadable

_LINE_END = re.compile(r"\r\n|\r|\n")
_SHOWN = 120


def parse_bullets(markdown: str) -> ArticleReviewResult:
    """The concerns in bullet order, numbered from 1; none for an empty review.

    What stands before the first bullet, and a bullet without a word, is passed over. `review_note` is the
    bullet's text as it was written, without its mark.

    Raises:
        ReviewUnreadable: the review is not empty, and no bullet holds a word.
    """
    bullets: list[list[str]] = []
    for line in _LINE_END.split(markdown):
        if line.startswith(("- ", "* ")):
            bullets.append([line[2:]])
        elif bullets:
            bullets[-1].append(line)
    notes = [note for lines in bullets if (note := "\n".join(lines).strip())]
    if not notes and markdown.strip():
        shown = markdown.strip()[:_SHOWN]
        raise ReviewUnreadable(
            f"the review is not empty, but no line of it begins a bullet (“- ” or “* ”, and a text): "
            f"{shown!r}. Have the article_review prompt or its model's settings ask for a bullet list"
        )
    return ArticleReviewResult(
        concerns=[
            Concern(concern_id=number, excerpt=_quotation(note) or note, review_note=note)
            for number, note in enumerate(notes, start=1)
        ]
    )


def _quotation(note: str) -> str | None:
    """The first quotation that is not blank: between “ and ”, else between two straight quotes."""
    start = note.find("“")
    while start >= 0 and (end := note.find("”", start)) >= 0:
        if note[start + 1 : end].strip():
            return note[start + 1 : end]
        start = note.find("“", end)
    # Every second piece stands between two quotes, but for the last when its quote is never closed.
    pieces = note.split('"')
    return next((piece for piece in pieces[1:-1:2] if piece.strip()), None)
