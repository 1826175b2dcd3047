"""A small site about watermills, what a model finds in it, and a search engine that knows its pages."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.fakes.outside.page_site import Answer, PageSite, article, serving
from tests.fakes.outside.search_providers import Page, SearchServer

MILL = "The Mill Company runs nine mills in Łódź. It was founded in 1871, when the river was high. " * 6
ICE = "In winter the wheel is kept free of ice by warm water from the works. " * 8
SECRET = "This page was never approved by anybody, and is about watermills in winter too. " * 8
FOUND = json.dumps(
    {
        "entities": [],
        "relationships": [],
        "facts": [
            {
                "statement": "It has nine mills.",
                "quote": "runs nine mills in Łódź",
                "sentence": 1,
                "score": 0.9,
            }
        ],
        "categories": [],
        "insights": [],
    }
)
NOTHING = json.dumps({key: [] for key in ("entities", "relationships", "facts", "categories", "insights")})


@contextmanager
def mill_site() -> Iterator[PageSite]:
    """Pages about mills; one is for those who log in."""
    pages: dict[str, Any] = {
        "/mill": article("The Mill Company", MILL),
        "/ice": article("Ice on wheels", ICE),
        "/secret": article("Not approved", SECRET),
        "/login": Answer(b"<h1>Log in</h1>", status=401),
    }
    with serving(pages) as site:
        yield site


@contextmanager
def mill_search(site: PageSite) -> Iterator[SearchServer]:
    """A search engine that knows them all."""
    with SearchServer() as server:
        server.found = [
            Page(
                "The Mill Company and its watermills", f"{site.origin}/mill", "Who runs the mills in winter."
            ),
            Page("Ice on wheels of watermills", f"{site.origin}/ice", "How watermills turn in winter."),
            Page("Watermills in winter, a secret", f"{site.origin}/secret", "How watermills turn in winter."),
            Page("Watermills for members", f"{site.origin}/login", "How watermills turn in winter."),
        ]
        yield server
