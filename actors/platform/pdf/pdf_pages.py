"""What the pages of a PDF have in common: lines along their edges, words and sentences broken at their ends.

Called by `pdf_reader`, which loads it by its path: it imports nothing of ours. A word is put together only
where the rest of the document says how it is spelled: a hyphen that stays at the end of a line keeps its
sentence from being quoted.
"""

import re
from collections.abc import Iterator, Sequence

# What ends like these may be a sentence with a figure of its own: it runs only where more pages have it.
_ENDS = (".", "!", "?", "”", '"', "…")
_INTEGER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BROKEN = re.compile(r"([^\W\d_]{1,40})-\Z")
_RUN = 3
# Of other lines: how long a heading is at most; of a line that may be one where there are no others.
_SHORT, _SHORTEST = 0.6, 40
_HOLE = "\ufffc"
_Form = tuple[str, int | None]


def without_running_lines(pages: Sequence[list[str]]) -> tuple[list[list[str]], list[str]]:
    """The pages without what stands at their edges again and again, numbers aside; and what that is.

    A line is one if half of the pages have it, or of the left or the right ones; or three near each other.
    """
    seen: dict[_Form, list[int]] = {}
    for place, lines in enumerate(pages):
        for form in {form for line in _edges(lines) for form in _forms(line, place)}:
            seen.setdefault(form, []).append(place)
    running = {form for form, places in seen.items() if _runs(form, places, len(pages))}
    kept: list[list[str]] = []
    gone: list[str] = []
    for place, lines in enumerate(pages):
        edges = set(_edges(lines, fewest=1))
        left: list[str] = []
        for line in lines:
            is_running = line in edges and not running.isdisjoint(_forms(line, place))
            (gone if is_running else left).append(line)
        kept.append(left)
    return kept, gone


def _runs(form: _Form, places: Sequence[int], count: int) -> bool:
    line, number = form
    if len(places) < (_RUN if number is not None and line.endswith(_ENDS) else 2):
        return False
    if 2 * len(places) >= count:
        return True
    for side in (0, 1):
        same = [place for place in places if place % 2 == side]
        if len(same) > 1 and 2 * len(same) >= (count + 1 - side) // 2:
            return True
    near = zip(places, places[_RUN - 1 :], strict=False)
    return any(last - first <= 2 * (_RUN - 1) for first, last in near)


def _forms(line: str, place: int) -> Iterator[_Form]:
    """A line as it stands; and without each number that may count pages, with what it is on the first."""
    yield line, None
    for number in list(_INTEGER.finditer(line))[:4]:
        yield f"{line[: number.start()]}#{line[number.end() :]}", int(number[0]) - place


def with_open_beginnings(pages: Sequence[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """The pages, by their numbers, with holes where one may begin in the middle of a sentence."""
    told: list[tuple[int, list[str]]] = []
    last, is_open = 0, False
    for number, lines in pages:
        goes_on = is_open or number != last + 1
        told.append((number, _with_holes(lines) if goes_on else [*lines]))
        last, is_open = number, _is_open(lines)
    return told


def _is_open(lines: Sequence[str]) -> bool:
    """Whether a paragraph of a page breaks off; a heading doesn't, which is shorter than other lines."""
    paragraphs = _paragraphs(lines)
    usual = sorted(len(line) for one in paragraphs if len(one) > 1 for line in one)
    least = _SHORT * usual[len(usual) // 2] if usual else _SHORTEST
    return any(
        not one[-1].endswith((*_ENDS, ":", "|"))
        and any(map(str.isalpha, one[-1]))
        and (len(one) > 1 or len(one[0]) > least)
        for one in paragraphs
    )


def _paragraphs(lines: Sequence[str]) -> list[list[str]]:
    parts = [[line for line in part if line.strip(_HOLE)] for part in _parted(lines)]
    return [part for part in parts if part]


def _parted(lines: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for line in lines:
        if line:
            part.append(line)
        else:
            yield part
            part = []
    yield part


def _with_holes(lines: Sequence[str]) -> list[str]:
    """What goes on may stand below a heading: each paragraph begins with a hole, up to the first of prose."""
    told: list[str] = []
    is_reached = False
    for part in _parted(lines):
        told.extend(["", *part] if is_reached or not part else ["", _HOLE, *part])
        is_reached = is_reached or len(part) > 1 or len("".join(part)) > _SHORTEST
    return told[1:]


def _edges(lines: Sequence[str], fewest: int = 5) -> list[str]:
    said = [line for line in lines if line.strip(_HOLE)]
    return said[:2] + said[-2:] if len(said) >= fewest else []


def with_whole_words(pages: Sequence[list[str]]) -> tuple[list[list[str]], int]:
    """The pages with words put together that are broken at ends of lines; how many are left as they were."""
    known = {
        word.casefold() for lines in pages for line in lines for word in _WORD.findall(_BROKEN.sub("", line))
    }
    doubtful = 0
    told = []
    for lines in pages:
        whole: list[str] = []
        for line in lines:
            broken = _BROKEN.search(whole[-1]) if whole and line else None
            rest = _WORD.match(line)
            if broken is None or rest is None:
                whole.append(line)
                continue
            stays = _hyphen_stays(broken[1], rest[0], known)
            if stays is None:
                doubtful += 1
                whole.append(line)
                continue
            end, _, below = line.partition(" ")
            whole[-1] = (whole[-1] if stays else whole[-1][:-1]) + end
            if below:
                whole.append(below)
        told.append(whole)
    return told, doubtful


def _hyphen_stays(above: str, below: str, known: set[str]) -> bool | None:
    """Whether the hyphen is one of the word; None where that is not certain."""
    if below[:1].isupper():
        return True if below[1:].islower() else None
    parted, whole = f"{above}-{below}".casefold() in known, f"{above}{below}".casefold() in known
    return parted if parted is not whole else None
