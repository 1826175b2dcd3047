"""What kind of thing an answer is: by what its server says, and by its first bytes where that says nothing.

HTML, PDF and plain text are read; all else is refused by its name. Source: WHATWG MIME Sniffing, as far as it
bears on pages.
"""

import re
from typing import Literal

from actors.platform.web.plain_text import plain_text
from actors.systems.knowledge.parsing.page_reading import UnreadablePage

PageKind = Literal["html", "pdf", "text"]

_KINDS: dict[str, PageKind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    "text/plain": "text",
    "text/markdown": "text",
    "text/x-markdown": "text",
    "text/x-rst": "text",
}
# What servers say of anything that they do not know.
_UNKNOWN = ("", "application/octet-stream", "application/unknown", "unknown/unknown", "binary/octet-stream")
_PDF, _PDF_WITHIN = b"%PDF-", 1024
_TAG = re.compile(
    rb"<(!doctype html|html|head|body|title|meta|script|div|p|h1|table|br|a|!--)[\s>!-]", re.IGNORECASE
)
_XML_OF_HTML = re.compile(rb"<html[\s>]", re.IGNORECASE)
_SNIFFED = 4096
_UNPRINTABLE = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def page_kind(content_type: str | None, body: bytes) -> PageKind:
    """What is to be read.

    Raises:
        UnreadablePage: `unsupported_type`, with the name of what it is.
    """
    said = (content_type or "").partition(";")[0].strip().lower()
    start = body[:_SNIFFED]
    # A PDF is one whatever it is called, and nothing else is.
    if _PDF in start[:_PDF_WITHIN]:
        return "pdf"
    found = _KINDS.get(said)
    if found == "text" and _UNPRINTABLE.search(start):
        found, said = None, "application/octet-stream"
    if found in ("html", "text"):
        return found
    if said in ("application/xml", "text/xml") and _XML_OF_HTML.search(start):
        return "html"
    if said in _UNKNOWN and not _UNPRINTABLE.search(start):
        return "html" if _TAG.search(start) else "text"
    if found == "pdf":
        raise UnreadablePage("what is there is no PDF, though it is called one", "unreadable")
    told = plain_text(said, 60) or "what has no stated kind"
    raise UnreadablePage(f"{told} is not read here: HTML, PDF and plain text are", "unsupported_type")
