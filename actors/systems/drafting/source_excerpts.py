"""What a model is given to read of its sources: as much of each as the context window has room for.

Called by the drafter. A long text is cut at its end; of a long table the first and the newest rows stay, and
the figures that code computed from all of it.
"""

from collections.abc import Sequence

from actors.platform.figures.table_figures import table_figures
from actors.platform.llm.client import BYTES_PER_TOKEN, text_tokens
from actors.platform.llm.prompts import TwoPartPrompt
from actors.platform.text.language import Language, language_of
from actors.systems.drafting.draft import DraftBrief
from models.config import ModelSettings
from models.content.articles import Cell
from models.content.drafting import Finding
from models.text import cut_to_bytes, one_line, shortened

_COMPUTED = "Computed from all rows of this table:"
_DESCRIPTION = 300
_FIRST_ROWS = 2
# Room for the line that says how many rows are left out, in bytes.
_GAP = 40
# Figures of one table.
_MOST_FACTS = 12
# Room for what a refused reply is told, in tokens.
_FAULTS = 300


def fitted_prompt(
    prompt: TwoPartPrompt, brief: DraftBrief, *, settings: ModelSettings, each: int
) -> tuple[str, str]:
    """The system and the user message, small enough for the model and its answer.

    Args:
        each: tokens that are read of one source at most.
    """
    threshold = settings.context_window * settings.context_window_threshold // 100
    allowed = min(threshold, settings.context_window - settings.max_tokens - _FAULTS)
    # What the site wrote comes before the sources, but must leave them room.
    instructions = max(allowed, 0) // 4 * BYTES_PER_TOKEN
    size = each * BYTES_PER_TOKEN
    known = facts(brief)
    while True:
        system, user = prompt.render(
            TOPIC_PROMPT=cut_to_bytes(brief.topic_prompt, instructions),
            TONALITY=cut_to_bytes(brief.tonality or "", instructions // 2),
            QUERY=brief.query,
            SOURCES=[
                readable(source.finding, size, told)
                for source, told in zip(brief.sources, known, strict=True)
            ],
        )
        if size == 0 or text_tokens(system) + text_tokens(user) <= allowed:
            return system, user
        size = size * 3 // 4


def facts(brief: DraftBrief) -> list[list[str]]:
    """For each source: the figures that code computed from its table, in the language of the request."""
    language = language_of(brief.query)
    return [_facts(source.finding, language) for source in brief.sources]


def readable(finding: Finding, size: int, told: Sequence[str] = ()) -> str:
    """A finding as text: what it is, where it comes from, and at most `size` bytes of what it says.

    What was computed from it, as `told`, comes before its rows, with as many of them as there is room for.
    """
    head = [one_line(finding.name), f"from: {one_line(finding.source)}"]
    if finding.url:
        head.append(f"url: {shortened(finding.url, _DESCRIPTION)}")
    if finding.description:
        head.append(shortened(finding.description, _DESCRIPTION))
    head_text = cut_to_bytes("\n".join(head), max(size, _DESCRIPTION))
    if finding.kind == "table" and finding.rows:
        computed = [_COMPUTED, *told, ""] if told else []
        body = "\n".join([*computed, _rows(finding, size - sum(len(line.encode()) + 1 for line in computed))])
    else:
        body = finding.content or ""
    return f"{head_text}\n\n{cut_to_bytes(body, size)}".rstrip()


def _facts(finding: Finding, language: Language) -> list[str]:
    found = table_figures(
        finding.name, finding.description, finding.columns or (), finding.rows or (), language
    )
    return [figure.sentence for figure in found[:_MOST_FACTS]]


def _rows(finding: Finding, size: int) -> str:
    """The table's header, its first rows and as many of the newest as there is room for, oldest first."""
    lines = [_line(row) for row in finding.rows or ()]
    if len(lines) > 1 and lines[0] > lines[-1]:  # the date comes first, and here the newest row does
        lines.reverse()
    header = _line(finding.columns or ())
    left = size - len(header.encode()) - _GAP
    start = [line for line in lines[:_FIRST_ROWS] if (left := left - len(line.encode()) - 1) >= 0]
    newest: list[str] = []
    for line in reversed(lines[_FIRST_ROWS:]):
        left -= len(line.encode()) + 1
        if left < 0:
            break
        newest.append(line)
    skipped = len(lines) - len(start) - len(newest)
    gap = [f"… {skipped} rows are left out here"] if skipped > 0 else []
    return "\n".join([header, *start, *gap, *reversed(newest)])


def _line(cells: tuple[Cell, ...]) -> str:
    return " | ".join("" if cell is None else one_line(str(cell)) for cell in cells)
