"""An article's text without its footnotes, for whoever reads it as a source: its own words, and no others.

Called by searches of what is stored here, and by the branch of drafting that reads own articles. A footnote's
mark in a sentence, or after its quotation marks, hides whose words these are.
"""

import re

_DEFINITION = re.compile(r" {0,3}\[\^[^\[\]\n]{1,100}\]:")
# A run of spaces is tried from its start only, so that a long one is not read again from each of them.
_MARK = re.compile(r"(?:(?<![ \t])[ \t]+)?\[\^[^\[\]\n]{1,100}\]")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|\Z)")


def without_footnotes(markdown: str) -> str:
    """The text without marks (`[^1]`), their definitions, and a heading that only these stand under."""
    kept: list[str] = []
    in_note = after_blank = False
    for line in markdown.splitlines():
        if _DEFINITION.match(line):
            if not in_note:
                _drop_heading(kept)
            in_note = True
        elif line.strip() and after_blank and not line.startswith(("    ", "\t")):
            in_note = False
        after_blank = not line.strip()
        if not in_note:
            kept.append(_MARK.sub("", line))
    return "\n".join(kept).strip()


def _drop_heading(kept: list[str]) -> None:
    last = next((n for n in range(len(kept) - 1, -1, -1) if kept[n].strip()), None)
    if last is not None and _HEADING.match(kept[last]):
        del kept[last:]
