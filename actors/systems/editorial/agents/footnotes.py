"""The footnote rules, checked in code and not by trust (seed 004 §6.2).

Called by the writer on each draft: what comes back tells the model what to mend. A draft may cite only
what the verdicts of its run supplied, in a last section of footnotes, and may link only to what stands
in its source or its citations. Links are compared whole, never by containment.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from actors.platform.text.links import link_key, links, offered_links
from models.content.editorial import ArticleResponse
from models.text import cut

_HEADING = re.compile(r" {0,3}## +Footnotes[ \t]*")
NOTES = "## Footnotes"
_SECTION = re.compile(rf"^{_HEADING.pattern}$", re.MULTILINE)
_DEFINITION = re.compile(r" {0,3}\[\^([^\[\]\n]*)\]:(.*)", re.DOTALL)
_REFERENCE = re.compile(r"\[\^([^\[\]\n]*)\]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_MAX_FAULTS = 10  # a writer with more to mend than this starts best with these
_MAX_QUOTED = 200


def without_footnotes(body: str) -> str:
    """An `articleBody` without its last section of footnotes, which is told by a line of its own."""
    *_, last = (None, *_SECTION.finditer(body))
    return body if last is None else body[: last.start()]


@dataclass
class _Body:
    """An `articleBody` taken apart. Labels are casefolded, as Markdown compares them."""

    text: str = ""
    has_section: bool = False
    definitions: list[tuple[str, str]] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    misplaced: list[str] = field(default_factory=list)
    references: dict[str, None] = field(default_factory=dict)


def footnote_faults(article: ArticleResponse, *, source_text: str, citations: Collection[str]) -> list[str]:
    """What is wrong with the draft's footnotes and links, as sentences for the writer; empty when fine.

    Args:
        article: the draft; headline, alternative headline and description are checked for links too.
        source_text: what the article is written from: its links may be used in the main text.
        citations: what the verdicts of this run supplied: only these may be cited in footnotes.
    """
    supplied = [" ".join(citation.split()) for citation in citations if citation.strip()]
    cited = {link_key(citation) for citation in supplied}.union(*map(offered_links, supplied))
    body = _take_apart(article.articleBody)

    faults = list(_structure_faults(body))
    for label, text in body.definitions:
        faults.extend(_definition_faults(label, text, supplied, cited))
    offered = cited | offered_links(source_text)
    texts = {
        "headline": article.headline,
        "alternativeHeadline": article.alternativeHeadline,
        "description": article.description,
        "articleBody": "\n".join([body.text, *body.strays]),
    }
    faults.extend(
        f"{name} holds {_quoted(link)}, which is in neither the source text nor the supplied citations: "
        "remove it."
        for name, text in texts.items()
        for link in sorted(links(text) - offered)
    )
    if len(faults) > _MAX_FAULTS:
        faults[_MAX_FAULTS:] = [f"There are {len(faults) - _MAX_FAULTS} more faults like these."]
    return faults


def _take_apart(text: str) -> _Body:
    body = _Body()
    lines = _LINE_END.split(text)
    heading = next((n for n, line in enumerate(lines) if _HEADING.fullmatch(line)), len(lines))
    body.has_section = heading < len(lines)
    for line in lines[:heading]:
        if definition := _DEFINITION.fullmatch(line):
            body.misplaced.append(_label(definition[1]))
            _note_references(body, definition[2])
        else:
            _note_references(body, line)
    body.text = "\n".join(lines[:heading])

    notes: list[tuple[str, list[str]]] = []
    after_blank = True
    for line in lines[heading + 1 :]:
        if definition := _DEFINITION.fullmatch(line):
            notes.append((_label(definition[1]), [definition[2]]))
            _note_references(body, definition[2])
        elif line.strip():
            # An indent of four keeps a paragraph in its footnote; right below a line, any indent does.
            indented = line.startswith(("    ", "\t")) or (line[0] in " \t" and not after_blank)
            (notes[-1][1] if notes and indented else body.strays).append(line)
            _note_references(body, line)
        after_blank = not line.strip()
    body.definitions = [(label, "\n".join(parts)) for label, parts in notes]
    return body


def _note_references(body: _Body, line: str) -> None:
    body.references.update(dict.fromkeys(_label(match[1]) for match in _REFERENCE.finditer(line)))


def _label(text: str) -> str:
    return text.strip().casefold()


def _structure_faults(body: _Body) -> Iterable[str]:
    counted = Counter(label for label, _ in body.definitions)
    for label in body.references:
        if label not in counted:
            yield (
                f"{_mark(label)} has no definition: add a line “{_mark(label)}: …” under a last heading "
                f"“## Footnotes”, or remove {_mark(label)} from the text."
            )
    for label in dict.fromkeys(body.misplaced):
        yield (
            f"The definition of {_mark(label)} does not stand under a last heading “## Footnotes”: "
            "move it there."
        )
    for label, times in counted.items():
        if times > 1:
            yield f"{_mark(label)} is defined {times} times: keep one definition."
    for line in body.strays:
        yield (
            "Under “## Footnotes” only lines like “[^1]: …” may stand: move or remove "
            f"“{_quoted(line.strip())}”."
        )


def _definition_faults(label: str, text: str, supplied: list[str], cited: set[str]) -> Iterable[str]:
    found = links(text)
    words = " ".join(text.split())
    if not (found & cited or any(_cites(words, citation) for citation in supplied)):
        choice = "; ".join(_quoted(citation) for citation in supplied[:5])
        yield f"The footnote {_mark(label)} cites none of the supplied citations: " + (
            f"cite one of them word for word ({choice}), or remove the footnote and {_mark(label)}."
            if choice
            else f"none was supplied, so remove the footnote and {_mark(label)}."
        )
    for link in sorted(found - cited):
        yield (
            f"The footnote {_mark(label)} holds {_quoted(link)}, which no supplied citation holds: remove it."
        )


def _cites(text: str, citation: str) -> bool:
    """Whether a footnote holds a citation word for word, and not as a part of another.

    `notes.md#3` is no part of `notes.md#31` or of `old/notes.md#3`.
    """
    at = text.find(citation)
    while at >= 0:
        before, end = text[max(0, at - 1) : at], at + len(citation)
        after = text[end : end + 2]
        if not (_joins(before) or (before and before in "/.-") or _joins(after[:1]) or _runs_on(after)):
            return True
        at = text.find(citation, at + 1)
    return False


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"


def _runs_on(after: str) -> bool:
    """Whether what follows goes on like a name: `-4`, `.5`, `/a`, but not the end of a sentence."""
    return len(after) == 2 and after[0] in "-./#" and _joins(after[1])


def _mark(label: str) -> str:
    return f"[^{_quoted(label)}]"


def _quoted(text: str) -> str:
    return cut(text, _MAX_QUOTED)
