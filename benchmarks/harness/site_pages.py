"""The pages of the site on loopback: 20 kB of HTML each, all different, the same in every run.

`site_server` answers with them, and `loopback_site` names them. The prose is of `configs/samples`, its
sentences in another order on each page; around it stand a menu, links, a footer, styles and scripts.
"""

import html
import json
import random
import re
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Literal

_SAMPLES = Path(__file__).resolve().parents[2] / "configs/samples"
# Slow ones take so long, and limited ones are refused once, with so long a Retry-After.
SLOW_SECONDS, RETRY_AFTER_SECONDS = 1.0, 1.0
CLOSED = "/private/"
ROBOTS = f"User-agent: *\nDisallow: {CLOSED}\n".encode()
# Of a hundred pages, so many are slow, are limited, and lie where robots.txt lets nobody.
_SLOW, _LIMITED, _CLOSED = 5, 2, 2

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_LEAST, _MOST = 40, 320
_BLOCKS, _PARAGRAPHS = 2_000, 22
_SECTIONS = (
    "News",
    "Science",
    "Energy",
    "Cities",
    "Sea",
    "Health",
    "Economy",
    "Farming",
    "Opinion",
    "Archive",
)

PageKind = Literal["plain", "slow", "limited", "closed"]


def kind_of(number: int) -> PageKind:
    """What becomes of who asks for a page."""
    place = zlib.crc32(b"kind of page %d" % number) % 100
    for kind, share in (("slow", _SLOW), ("limited", _LIMITED), ("closed", _CLOSED)):
        if place < share:
            return kind  # type: ignore[return-value]
        place -= share
    return "plain"


def path_of_page(number: int) -> str:
    """Where a page is, on its host."""
    return f"{CLOSED if kind_of(number) == 'closed' else '/news/'}{number}"


def number_at(path: str) -> int | None:
    """The page that is there; None where there is none."""
    number = path.rpartition("/")[2]
    return int(number) if number.isdigit() and path == path_of_page(int(number)) else None


class SitePages:
    """Makes pages out of blocks that are made once: a page costs a few microseconds."""

    def body(self, number: int) -> bytes:
        """A page's bytes."""
        chance = random.Random(number)
        blocks = chance.sample(self._blocks, _PARAGRAPHS)
        title = f"{chance.choice(_SECTIONS)} report {number}: {chance.choice(self._titles)}"
        day = f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}"
        about = {
            "@context": "https://schema.org",
            "@type": "NewsArticle",
            "headline": title,
            "datePublished": f"{day}T06:00:00Z",
            "author": {"@type": "Person", "name": f"Writer {number % 97}"},
        }
        parts = (
            "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
            f"<title>{title} | The Daily Loopback</title>"
            f'<meta name=description content="{title}"><meta name=date content={day}>'
            f'<script type="application/ld+json">{json.dumps(about)}</script>{_STYLES}</head><body>{_MENU}'
            f"<main><article><h1>{title}</h1><p class=byline>By Writer {number % 97}, <time datetime={day}>"
            f"{day}</time></p>".encode(),
            *blocks[: _PARAGRAPHS // 2],
            b"<h2>What comes next</h2>",
            *blocks[_PARAGRAPHS // 2 :],
            f"<p>Write to desk{number}@daily-loopback.example about this report.</p></article>"
            f"<aside><h3>Read on</h3><ul>{''.join(_read_on(number))}</ul></aside></main>".encode(),
            _FOOTER,
        )
        return b"".join(parts)

    @cached_property
    def _titles(self) -> list[str]:
        return [html.escape(each.rstrip(".")) for each in _sentences() if len(each) < 90]

    @cached_property
    def _blocks(self) -> list[bytes]:
        chance, sentences = random.Random(0), [html.escape(each) for each in _sentences()]
        return [f"<p>{' '.join(chance.sample(sentences, 4))}</p>\n".encode() for _ in range(_BLOCKS)]


def _sentences() -> list[str]:
    texts = [
        json.loads(path.read_text(encoding="utf-8"))["source_text"]
        for path in sorted((_SAMPLES / "topics").glob("*.json"))
    ]
    texts += [path.read_text(encoding="utf-8") for path in sorted((_SAMPLES / "knowledgebase").iterdir())]
    blocks = (" ".join(block.split()) for text in texts for block in text.split("\n\n"))
    found = (each for block in blocks if not block.startswith("#") for each in _SENTENCE_END.split(block))
    return list(dict.fromkeys(each for each in found if _LEAST <= len(each) <= _MOST and each.endswith(".")))


def _read_on(number: int) -> Iterator[str]:
    for other in range(number + 1, number + 31):
        link = f'<a href="/news/{other}" data-track="aside-{other}">Report {other}</a>'
        yield f'<li class="teaser small">{link}</li>'


def _links(what: str, count: int) -> str:
    return "".join(
        f'<li class="{what}-item"><a href="/{what}/{name.lower()}/{number}" title="{name}">{name}</a></li>'
        for number, name in zip(range(count), _SECTIONS * count, strict=False)
    )


_STYLES = (
    "<style>"
    + "".join(
        f".{name.lower()}-box{{margin:0 {at}px;padding:{at}px;color:#33{at}3{at}f;"
        f"font:1{at % 9}px/1.5 serif}}"
        for at, name in enumerate(_SECTIONS, start=1)
    )
    + "</style>"
)
_MENU = f'<header><nav class="menu"><ul>{_links("menu", 40)}</ul></nav></header>'
_FOOTER = (
    f'<footer><ul class="links">{_links("about", 40)}</ul><p>The Daily Loopback is made up.</p></footer>'
    "<script>window.dataLayer=window.dataLayer||[];function track(){dataLayer.push(arguments)}"
    "track('page',document.title);document.querySelectorAll('[data-track]').forEach("
    "function(link){link.addEventListener('click',function(){track('click',link.dataset.track)})})</script>"
    "</body></html>"
).encode()
