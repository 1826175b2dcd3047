"""Notes that set the text of a page right, wherever the page has them: beside it, in its footer, in a banner.

Called by `main_text` when the text was chosen. A note belongs to the text for what it says, or because its
part is called so: without it, what the page takes back would be offered as what it says.
"""

from collections.abc import Iterator
from itertools import islice

from actors.platform.extractive.corrections import corrects
from actors.platform.text.language import Language, language_of
from actors.systems.knowledge.parsing.parts.page_parts import PageBlock, TextRun, names_of_part
from actors.systems.knowledge.parsing.parts.part_names import is_called

# Runs without it that are looked at; the longest part that is a note.
_MOST, _MOST_RUNS, _LONGEST = 2_000, 50, 2_000
_MOST_LINKED = 0.5


def keep_notes(page: PageBlock) -> None:
    """Mark the notes on the text that is marked."""
    told = " ".join(run.text for run in page.runs() if run.kept)
    if told:
        language = language_of(told)
        for part in list(islice(_parts(page), _MOST)):
            _keep_in(part, language)


def _keep_in(part: PageBlock, language: Language) -> None:
    runs = list(islice(part.runs(), _MOST_RUNS))
    is_small = len(runs) < _MOST_RUNS and sum(len(run.text) for run in runs) <= _LONGEST
    if is_small and part.tag != "body" and _is_little_linked(runs):
        name, head = names_of_part(part.element), runs[0].text
        # What stands below its heading, or beside it, is the note.
        if is_called(name, "corrections") or corrects(head, language):
            for run in runs:
                run.kept = True
            return
    for child in part.children:
        if isinstance(child, TextRun) and not child.kept and _is_little_linked([child]):
            child.kept = corrects(child.text[:_LONGEST], language)


def _is_little_linked(runs: list[TextRun]) -> bool:
    return sum(run.linked for run in runs) <= _MOST_LINKED * sum(len(run.text) for run in runs)


def _parts(part: PageBlock) -> Iterator[PageBlock]:
    """The parts that hold something that is not kept, the outer ones first."""
    if any(not run.kept for run in part.runs()):
        yield part
        for child in part.children:
            if isinstance(child, PageBlock):
                yield from _parts(child)
