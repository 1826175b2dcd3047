"""How the gates of a research look on a terminal: all that is decided on, whatever it is.

`signoff research` prints with it, as `cluster.cli.printing` says.
"""

from collections.abc import Sequence

from rich.console import Console

from cluster.cli.approval_view import as_yaml
from cluster.cli.gated.gate import WaitingContent
from cluster.cli.printing import in_words, put, row, rows
from cluster.cli.research.view import outline
from cluster.cli.research.words import cited
from models.record import Record
from models.research.candidates import UrlCandidate
from models.research.results import ResearchReview, ReviewSource, TreeReview
from models.research.synthesis import SynthesisSection
from models.research.url_lists import UnreadableList, UrlList
from models.text import how_many

_PAGE_COLUMNS = "number, score, date, language, rating, source and domain; title; address; why"


def show_content(found: Record | None, gate: WaitingContent, console: Console) -> None:
    """Print a gate's content; what is of another kind or shape, as it is."""
    match found:
        case UrlList():
            _show_urls(found, console)
        case UnreadableList():
            _show_unreadable(found, console)
        case TreeReview():
            row(console, "question", found.question)
            row(console, "tree", found.tree.title)
            rows(console, "note", found.notes)
            outline(found.tree.nodes, console, examples=found.examples)
            joined = (f"{each.source} and {each.target}: {len(each.points)}" for each in found.tree.relations)
            rows(console, "related", joined)
            if found.tree.dropped:
                row(console, "dropped", how_many(len(found.tree.dropped), "point"))
        case ResearchReview():
            _show_review(found, console)
        case _:
            put(console, "content", as_yaml(dict(gate.content)))


def _show_urls(found: UrlList, console: Console) -> None:
    row(console, "question", found.question)
    row(console, "pages", f"{are_read(len(found.urls))}: {_PAGE_COLUMNS}")
    for url in found.urls:
        _page(url, console)
    row(
        console, "settings", ", ".join(f"{name} {value}" for name, value in found.config if value is not None)
    )
    rows(
        console,
        "stored here",
        (f"{text.stored_as} ({text.score:.2f}, {text.source}): {text.title}" for text in found.stored),
    )
    rows(console, "not read", (f"{one.url} ({one.rating}): {one.reason}" for one in found.refused))
    if found.left_out:
        row(console, "left out", ", ".join(f"{one.count} {in_words(one.reason)}" for one in found.left_out))
    rows(console, "notes", found.notes)
    if found.remarks:
        put(console, "remarks", found.remarks)


def _page(url: UrlCandidate, console: Console) -> None:
    when = f"{url.published or '-':10}  {url.language or '-':2}"
    facts = f"{url.score:.2f}  {when}  {url.rating:7}  {url.source}  {url.domain}"
    row(console, f"{url.number:>10}", facts, style="bold")
    row(console, "", url.title)
    row(console, "", url.url)
    known = f"known as source {url.known}" if url.known is not None else ""
    also = f"{how_many(len(url.folded), 'other address', 'other addresses')} of it" if url.folded else ""
    if told := "; ".join(part for part in (url.why, known, also) if part):
        row(console, "", told, style="dim")


def show_page(url: UrlCandidate, console: Console) -> None:
    """Print all that is known of an address."""
    _page(url, console)
    put(console, "", url.snippet or "without a snippet")
    rows(console, "also at", url.folded)


def are_read(count: int) -> str:
    """How many pages are read, in a sentence."""
    return f"{count} {'is' if count == 1 else 'are'} read once this is approved"


def _show_unreadable(found: UnreadableList, console: Console) -> None:
    row(console, "question", found.question)
    row(console, "unread", f"{how_many(len(found.unreadable), 'page')}; {found.read} could be read")
    for one in found.unreadable:
        row(console, f"{one.number:>10}", one.url, style="bold")
        row(console, "", f"{in_words(one.fault or 'unknown')}: {one.reason or 'no reason was given'}")
    for given in found.instead:
        what = given.url
        if given.pasted is not None:
            size = how_many(len(given.pasted.text), "character")
            what = f"{size}: {given.pasted.title or 'without a title'}"
        by = f", given by {given.by}" if given.by else ""
        row(console, "instead", f"of {given.number}: {what}{by}")
        if given.pasted is not None:
            put(console, "", given.pasted.text)


def _show_review(found: ResearchReview, console: Console) -> None:
    row(console, "question", found.question)
    number = 0
    for section in found.synthesis.sections:
        row(
            console,
            "section",
            f"{section.heading} ({section.node}, written as {section.written})",
            style="bold",
        )
        if section.fallback:
            row(console, "", f"not by the writer: {section.fallback}")
        if section.left:
            row(console, "", f"not written: {section.left.reason}")
        for sentence in section.sentences:
            number += 1
            told = f"{sentence.outcome}: {sentence.text} [{cited(sentence.points)}]"
            put(console, f"{number:>10}", told)
            if sentence.reason:
                row(console, "", sentence.reason, style="dim")
        if section.refused:
            refused = ", ".join(f"{count} {in_words(why)}" for why, count in section.refused.items())
            row(console, "", f"not taken of what the model wrote: {refused}")
        if places := _rests_on(section, found.sources):
            row(console, "", f"sources: {', '.join(map(str, places))}", style="dim")
    row(console, "counts", ", ".join(f"{count} {name}" for name, count in found.synthesis.counts))
    for place, source in enumerate(found.sources, 1):
        row(console, "" if place > 1 else "sources", f"{place}: {source.title or 'without a title'}")
        address = "a text that somebody gave" if source.url.startswith("urn:") else source.url
        row(console, "", f"{address}; {_on_whose_word(source)}")
    if found.tree_id is not None:
        row(console, "tree", found.tree_id)


def _rests_on(section: SynthesisSection, sources: Sequence[ReviewSource]) -> list[int]:
    """The places, from 1, of the documents that a section's sentences cite."""
    cited = {point for sentence in section.shown for point in sentence.points}
    return [place for place, source in enumerate(sources, 1) if cited.intersection(source.points)]


def _on_whose_word(source: ReviewSource) -> str:
    if source.let_in_by is None:
        return "the project had it from elsewhere"
    if source.approval_id is None:
        return f"read on the word of {source.let_in_by}: no gate stood"
    given = "" if source.given_by is None else f"given by {source.given_by}, "
    return f"{given}let in by {source.let_in_by}, approval {source.approval_id}"
