"""What a model is given to read of its sources: as much of each as the context window has room for.

Called by the drafter. A long text is cut at its end; of a long table the first and the newest rows stay.
"""

from actors.drafting.draft import DraftBrief
from actors.llm.client import BYTES_PER_TOKEN, text_tokens
from actors.llm.prompts import TwoPartPrompt
from models.config import ModelSettings
from models.content.articles import Cell
from models.content.drafting import Finding
from models.text import cut_to_bytes, one_line, shortened

_DESCRIPTION = 300
_FIRST_ROWS = 2
# Room for the line that says how many rows are left out, in bytes.
_GAP = 40
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
    while True:
        system, user = prompt.render(
            TOPIC_PROMPT=cut_to_bytes(brief.topic_prompt, instructions),
            TONALITY=cut_to_bytes(brief.tonality or "", instructions // 2),
            QUERY=brief.query,
            SOURCES=[readable(source.finding, size) for source in brief.sources],
        )
        if size == 0 or text_tokens(system) + text_tokens(user) <= allowed:
            return system, user
        size = size * 3 // 4


def readable(finding: Finding, size: int) -> str:
    """A finding as text: what it is, where it comes from, and at most `size` bytes of what it says."""
    head = [one_line(finding.name), f"from: {one_line(finding.source)}"]
    if finding.url:
        head.append(f"url: {shortened(finding.url, _DESCRIPTION)}")
    if finding.description:
        head.append(shortened(finding.description, _DESCRIPTION))
    head_text = cut_to_bytes("\n".join(head), max(size, _DESCRIPTION))
    body = _rows(finding, size) if finding.kind == "table" and finding.rows else finding.content or ""
    return f"{head_text}\n\n{cut_to_bytes(body, size)}".rstrip()


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
