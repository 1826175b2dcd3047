"""Changing a list of addresses: exactly what was said, or nothing; an address keeps its number."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.research.discovery.pages import Ratings
from actors.systems.research.url_changes import changed_list
from models.config import DomainsConfig
from models.errors import InputInvalid
from models.research.agent_workflows import ResearchOptions
from models.research.candidates import UrlCandidate
from models.research.gate_decisions import Modifications
from models.research.url_lists import UrlList

RATINGS = Ratings(DomainsConfig(never=("never.example",), trust=("trusted.example",)))


def listed(count: int = 3) -> UrlList:
    """A list of so many pages."""
    urls = tuple(
        UrlCandidate(
            number=number,
            url=f"https://example.org/{number}",
            title="T",
            snippet="",
            score=0.5,
            published=None,
            source="searxng",
            language=None,
            domain="example.org",
            rating="neutral",
        )
        for number in range(1, count + 1)
    )
    return UrlList(question="What is said of mills?", urls=urls, config=ResearchOptions())


def changed(shown: UrlList, **changes: Any) -> UrlList:
    """What ann makes of it."""
    given_changes = Modifications.model_validate(changes)
    return changed_list(shown, given_changes, by="ann", ratings=RATINGS, allow_internal=())


def test_some_go_others_come_and_the_way_on_is_changed() -> None:
    made = changed(
        listed(),
        remove_urls=[2],
        add_urls=["HTTPS://Trusted.Example/a#b"],
        modify_config={"scrape_parallel": False},
        notes="not the second",
    )
    assert [(url.number, url.url) for url in made.urls] == [
        (1, "https://example.org/1"),
        (3, "https://example.org/3"),
        (4, "https://trusted.example/a"),
    ]
    assert (made.urls[-1].source, made.urls[-1].rating) == ("user", "trust")
    assert (made.config.scrape_parallel, made.remarks) == (False, "not the second")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"remove_urls": [9]}, "modifications.remove_urls.0: the list has no address 9"),
        ({"remove_urls": [1, 2, 3]}, "no address would be left"),
        ({"add_urls": ["ftp://example.org/"]}, "modifications.add_urls.0"),
        ({"add_urls": ["https://a.example/", "http://127.0.0.1/"]}, "modifications.add_urls.1"),
        ({"add_urls": ["https://www.never.example/"]}, "is never read here"),
        ({"add_urls": [f"https://a.example/{n}" for n in range(199)]}, "200 at most"),
        ({"modify_config": {"max_urls": 5}}, "modifications.modify_config.max_urls: it can't be changed"),
        ({"modify_config": {"language": "polish"}}, "modifications.modify_config.language"),
    ],
)
def test_what_cannot_be_says_which_field_and_why(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputInvalid) as refused:
        changed(listed(), **changes)
    assert said in str(refused.value)


NUMBERS = st.lists(st.integers(1, 5), max_size=4)


@given(NUMBERS, NUMBERS, st.integers(0, 3))
def test_an_address_keeps_its_number_whatever_is_taken_out_and_put_back(
    removed: list[int], added: list[int], new: int
) -> None:
    shown = listed(5)
    urls = [f"https://example.org/{number}" for number in added] + [
        f"https://b.example/{n}" for n in range(new)
    ]
    left = ({1, 2, 3, 4, 5} - set(removed)) | set(added)
    if not left and not new:
        return
    made = changed(shown, remove_urls=removed, add_urls=urls)
    numbers = {url.url: url.number for url in shown.urls}
    assert all(numbers.get(url.url, url.number) == url.number for url in made.urls)
    assert {url.number for url in made.urls if url.url in numbers} == left
    assert sum(url.url not in numbers for url in made.urls) == new


def test_a_list_is_not_grown_past_what_the_plan_allows() -> None:
    more = Modifications.model_validate({"add_urls": ["https://a.example/", "https://b.example/"]})
    how: dict[str, Any] = {"by": "ann", "ratings": RATINGS, "allow_internal": ()}
    assert len(changed_list(listed(), more, **how, most=5).urls) == 5
    with pytest.raises(InputInvalid, match=r"modifications\.add_urls: the list would have 5: 4 at most"):
        changed_list(listed(), more, **how, most=4)
