r"""The links in a text, as keys that can be compared for equality: URLs, DOIs and passage citations.

Called by the footnote rules. `links` reads each link as long as a browser or a Markdown renderer
might, so that `https://a.com"@evil.org` is not taken for `https://a.com`; `offered_links` adds the
shorter readings, for texts whose links a writer may use. Texts come from models and pages, may be
large and made to be slow: every pattern takes time linear in the text.
"""

import re
from collections.abc import Iterator

# A renderer drops a backslash before ASCII punctuation (CommonMark 0.31 §2.4).
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")

_INLINE = re.compile(r"\]\([ \t]*\n?[ \t]*(<?)")
_DESTINATION_END = re.compile(r"\s+[)\"'(]")
_INLINE_STEP = re.compile(r"\\.|[()\s]")
_ANGLED_STEP = re.compile(r"\\.|[<>\n]")
_REFERENCE = re.compile(
    r"""^[ ]{0,3}\[(?!\^)[^\[\]\n]+\]:[ \t]*(\S+)(?:[ \t]+["'(][^\n]*)?[ \t]*$""", re.MULTILINE
)
_AUTOLINK = re.compile(r"<([a-z][a-z0-9+.-]{1,31}:[^\s<>]+)>", re.IGNORECASE)

_DOI_NAME = r"10\.\d{4,9}(?:\.\d{1,9}){0,4}/"
_DOI = re.compile(rf"(?<!\d){_DOI_NAME}[^\s<>]+", re.IGNORECASE)
_DOI_LINK = re.compile(
    rf"(?:doi:|(?:(?:https?:)?//)?(?:(?:dx|www)\.)?doi\.org/)?({_DOI_NAME}.+)", re.IGNORECASE | re.DOTALL
)
# The look-behinds let each run of characters start a match once: that is what keeps this linear.
_PLAIN = re.compile(
    r"(?:(?<![a-z0-9+.-])[a-z0-9+.-]+://"
    r"|(?<![\w:/])//(?=[\w-]+\.\w)"
    r"|(?<!\w)www\.(?=\w)"
    rf"|(?<!\d){_DOI_NAME}(?=[^\s<>]))"
    r"[^\s<>]*",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"[a-z0-9+.-]+", re.IGNORECASE)
_LISTED = re.compile(r"[,;|](?=[a-z0-9+.-]{1,20}://)", re.IGNORECASE)
_HOST_END = re.compile(r"[/?#\\]")
_CUT = re.compile(r"[\"`\[\]|“”‘’«»。，、；：！？（）「」『』【】]")

_PASSAGE_TOKEN = re.compile(r"[^\s<>()\[\]{}\"'`“”‘’«»,;:!?|…—–]+")
_PASSAGE = re.compile(r"\.(?:md|txt)#\d", re.IGNORECASE)

_TRAILING = frozenset(".,;:!?\"'`*_~|\\…“”‘’«»([{。，、；：！？（）「」『』【】")
_CLOSERS = {")": "(", "]": "[", "}": "{"}


def links(text: str) -> set[str]:
    """The links a reader could follow, each in its longest reading, as keys."""
    text = text.replace("&amp;", "&")
    found: set[str] = set()
    plain: list[str] = []
    at = 0
    for start, end in _inline_destinations(text):
        destination = text[start:end]
        if not destination.startswith("#"):
            found.add(link_key(_unescaped(destination)))
        plain.append(text[at:start])
        at = end
    rest = _unescaped(" ".join([*plain, text[at:]]))
    found.update(link_key(match[1]) for match in _AUTOLINK.finditer(rest))
    # "[Anna]: Yes" is speech; the definition of a link has something of an address in it.
    references = (match[1] for match in _REFERENCE.finditer(rest))
    found.update(link_key(target) for target in references if re.search(r"[/:.]\w|//", target))
    found.update(link_key(run) for run in _plain_runs(rest))
    found.update(_passages(_unescaped(text)))
    return found - {""}


def offered_links(text: str) -> set[str]:
    """The links of a source text or a citation in every sensible reading, as keys."""
    found = links(text)
    text = _unescaped(text.replace("&amp;", "&"))
    for run in [*_plain_runs(text), *(match[0] for match in _DOI.finditer(text))]:
        found.add(link_key(run))
        found.add(link_key(_CUT.split(run, maxsplit=1)[0]))
    found.update(key.partition("://")[2] for key in list(found) if "://www." in key[:16])
    return found - {""}


def link_key(link: str) -> str:
    """One link made comparable.

    Trailing punctuation goes, scheme and host become lower case, `/` alone is no path, and a DOI is
    `doi:10.…` in lower case however it was written. The rest of a URL stays as it is.
    """
    link = _trimmed(link.strip())
    scheme, mark, rest = link.partition("://")
    if mark and _SCHEME.fullmatch(scheme):
        scheme = scheme.lstrip("0123456789+.-").lower()
        last = scheme.rpartition(".")[2]
        # A sentence that runs into its URL ("see.https://…") is no part of the scheme.
        scheme = last if last in ("http", "https", "ftp") else scheme
    elif link.startswith("//"):
        scheme, mark, rest = "", "//", link[2:]
    elif link[:4].lower() == "www.":
        scheme, mark, rest = "", "", link
    else:
        doi = _DOI_LINK.fullmatch(link)
        return f"doi:{doi[1].lower()}" if doi else link
    end = _HOST_END.search(rest)
    host, path = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
    key = scheme + mark + host.lower() + ("" if path == "/" else path)
    doi = _DOI_LINK.fullmatch(key)
    return f"doi:{doi[1].lower()}" if doi else key


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def _plain_runs(text: str) -> Iterator[str]:
    for match in _PLAIN.finditer(text):
        yield from _LISTED.split(match[0])


def _inline_destinations(text: str) -> Iterator[tuple[int, int]]:
    """Where the destinations of inline links and images stand: `](here)`, `](<here>)`."""
    at = 0
    while match := _INLINE.search(text, at):
        start = at = match.end()
        if match[1]:
            close = next((s for s in _ANGLED_STEP.finditer(text, start) if len(s[0]) == 1), None)
            if close is None or close[0] != ">":
                continue
            at = close.start()
        else:
            depth = 0
            end = len(text)
            for step in _INLINE_STEP.finditer(text, start):
                if step[0] == "(":
                    depth += 1
                elif step[0] == ")" and depth:
                    depth -= 1
                elif len(step[0]) == 1:
                    end = step.start()
                    break
            # "[sic](see below)" is no link; one whose brackets do not match is taken for a link.
            if not depth and text[end : end + 1] != ")" and not _DESTINATION_END.match(text, end):
                continue
            at = end
        yield start, at


def _passages(text: str) -> Iterator[str]:
    """Citations of the knowledge base, such as `factbook-fr.md#3`."""
    for token in _PASSAGE_TOKEN.finditer(text):
        if _PASSAGE.search(token[0]):
            yield token[0].strip("*_~./-")


def _trimmed(link: str) -> str:
    """Without punctuation at the end, and without a closing bracket that the link never opened."""
    surplus = {closer: link.count(closer) - link.count(opener) for closer, opener in _CLOSERS.items()}
    end = len(link)
    while end:
        last = link[end - 1]
        if last in _CLOSERS and surplus[last] > 0:
            surplus[last] -= 1
        elif last not in _TRAILING:
            break
        elif last in "([{":
            surplus[{"(": ")", "[": "]", "{": "}"}[last]] += 1
        end -= 1
    return link[:end]
