"""The links in a text, as readers follow them."""

import re

from markdown_it import MarkdownIt


def links(text: str) -> set[str]:
    """What a renderer of GitHub's dialect links to, shows, or embeds."""
    found = set()
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(text)
    for token in tokens:
        for part in [token, *(token.children or ())]:
            found |= {str(part.attrs[key]) for key in ("href", "src") if key in part.attrs}
            if part.type in ("html_inline", "html_block"):
                found.add(part.content)
    # Autolinks of GitHub's dialect (§6.9), wherever they stand.
    return found | set(re.findall(r"(?i)(?:https?://|ftp://|www\.)[^\s<>()\[\]\"`]+", text))
