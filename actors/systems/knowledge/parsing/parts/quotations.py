"""Which parts of a page are what somebody said, and which say whose words it is.

Called once the parts are made (`page_parts`). A block quotation is one by its tag; other parts are where they
are called so, where a figure has words and a caption and shows nothing, or where a name is called a name
behind a few of them. A byline (`By Ann Example`), at the beginning or the end of a text, names its author.
"""

from actors.platform.text.lexicon import languages, phrase_pattern
from actors.systems.knowledge.parsing.parts.page_parts import PageBlock, TextRun
from actors.systems.knowledge.parsing.parts.part_names import is_called
from models.text import word_list

_SAYS_WHO = frozenset(("footer", "figcaption", "cite"))
_MAY_QUOTE = frozenset(("div", "section", "article", "aside", "ul", "ol", "li", "dd", "td", "figure", "p"))
_MAY_NAME = frozenset(("p", "div", "li", "cite", "address", "footer"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_SHOWN = frozenset(
    word_list(
        "img picture svg video audio canvas iframe table pre object math input select button textarea form"
    )
)
# What pages declare to be somebody's, by schema.org.
_SOMEBODY_S = frozenset(("Quotation", "Review", "UserReview", "Comment", "UserComments", "Claim", "Message"))
_NO_BOX = frozenset(("article", "ul", "ol", "p"))
# Blocks at the end of a box: a name, and what its bearer is.
_MOST_BEHIND = 2
_LONGEST_NAME = 120
# Of a page's text: what holds more is the text itself, whatever it is called.
_MOST_QUOTED = 0.5


def marked(page: PageBlock) -> PageBlock:
    """A page's parts, its quotations and their speakers marked."""
    _Marking(page).go(page)
    return page


def speakers_of(quotation: PageBlock) -> list[PageBlock]:
    """The parts of a quotation that say whose words it is."""
    found: list[PageBlock] = []
    for child in quotation.children:
        if isinstance(child, PageBlock):
            says_who = child.tag in _SAYS_WHO or child.is_speaker
            found.extend([child] if says_who else speakers_of(child))
    return found


class _Marking:
    def __init__(self, page: PageBlock) -> None:
        self._most = _MOST_QUOTED * _size(page)

    def go(self, part: PageBlock, *, is_quoted: bool = False) -> tuple[int, bool]:
        """Mark what lies in a part, innermost first. Gives how much it holds, and whether a heading.

        Args:
            is_quoted: it lies in a block quotation.
        """
        size, has_heading = sum(len(run.text) for run in part.children if isinstance(run, TextRun)), False
        for child in _blocks(part):
            held, heads = self.go(child, is_quoted=is_quoted or part.tag == "blockquote")
            size, has_heading = size + held, has_heading or heads or child.tag in _HEADINGS
        may_quote = part.tag in _MAY_QUOTE and size <= self._most and not has_heading and not is_quoted
        if part.tag == "blockquote" or (part.tag == "figure" and _quotes_of(part) == 1):
            part.is_quotation = True
        elif may_quote:
            part.is_quotation = _says_so(part) or _is_captioned(part) or _is_named_last(part)
        if not part.is_quotation:
            self._gather(part)
        return size, has_heading

    def _gather(self, part: PageBlock) -> None:
        """Put names that stand behind a paragraph of a text, in its middle, together with it."""
        for place in range(len(part.children) - 1, 0, -1):
            said, named = part.children[place - 1 : place + 1]
            if not (isinstance(said, PageBlock) and isinstance(named, PageBlock) and _names(named)):
                continue
            if said.is_quotation:
                said.children.append(named)
                named.is_speaker = True
            elif said.tag == "p" and not _is_byline(named) and _is_within_text(part, place):
                named.is_speaker = True
                both = PageBlock(
                    tag="blockquote", element=said.element, around=part.around, is_quotation=True
                )
                both.children = [said, named]
                part.children[place - 1] = both
            else:
                continue
            del part.children[place]


def _is_captioned(figure: PageBlock) -> bool:
    """Whether a part is a figure of words and a name for its caption, which shows nothing."""
    captions = [child for child in _blocks(figure) if child.tag == "figcaption"]
    is_told = figure.tag == "figure" and 0 < len(captions) < len(figure.children)
    shows = is_told and any(element.tag in _SHOWN for element in figure.element.iter())
    return is_told and not shows and all(map(_is_short, captions))


def _is_named_last(part: PageBlock) -> bool:
    """Whether the last of a few blocks is called a name, as in a box."""
    behind = [child for child in part.children[1:][-_MOST_BEHIND:] if isinstance(child, PageBlock)]
    named = next((child for child in behind if _names(child) and not _is_byline(child)), None)
    if part.tag in _NO_BOX or named is None or not all(map(_is_short, behind[behind.index(named) :])):
        return False
    named.is_speaker = True
    return True


def _names(part: PageBlock) -> bool:
    """Whether a part is called a name, and has no more than that."""
    if part.tag not in _MAY_NAME or any(isinstance(child, PageBlock) for child in part.children):
        return False
    return (part.tag == "cite" or _is_called(part, "speakers")) and _is_short(part)


def _is_short(part: PageBlock) -> bool:
    said = "".join(run.text for run in part.runs()).strip()
    return 2 <= len(said) <= _LONGEST_NAME and said[-1] not in ".!?"


def _is_byline(part: PageBlock) -> bool:
    said = "".join(run.text for run in part.runs()).strip(" *_")
    return any(phrase_pattern(language, ("page_parts", "bylines")).match(said) for language in languages())


def _is_within_text(part: PageBlock, place: int) -> bool:
    """Whether text stands before the paragraph at the place before this one, and behind this."""
    before, behind = part.children[: place - 1], part.children[place + 1 :]
    return any(map(_is_text, before)) and any(map(_is_text, behind))


def _is_text(child: PageBlock | TextRun) -> bool:
    return isinstance(child, TextRun) or (child.tag not in _HEADINGS and _size(child) > _LONGEST_NAME // 2)


def _quotes_of(figure: PageBlock) -> int:
    return sum(child.tag == "blockquote" for child in _blocks(figure))


def _says_so(part: PageBlock) -> bool:
    kind = (part.element.get("itemtype") or "").rpartition("/")[2]
    return kind in _SOMEBODY_S or _is_called(part, "quotations")


def _is_called(part: PageBlock, key: str) -> bool:
    return is_called((part.element.get("class") or "")[:300], key)


def _blocks(part: PageBlock) -> list[PageBlock]:
    return [child for child in part.children if isinstance(child, PageBlock)]


def _size(part: PageBlock) -> int:
    return sum(len(run.text) for run in part.runs())
