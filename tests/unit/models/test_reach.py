"""The reach of a page: the host that was approved, by both of its doors, and no other."""

import pytest

from models.errors import PageFailed
from models.knowledge.reach import PageReach


@pytest.mark.parametrize(
    ("approved", "url"),
    [
        ("http://example.org/a", "https://example.org/b?c"),
        ("https://example.org/", "http://example.org:80/"),
        ("https://example.org:8443/", "https://example.org:8443/x"),
        ("http://127.0.0.1:8930/", "http://127.0.0.1:8930/index.html"),
        ("http://[2001:db8::1]/", "https://[2001:db8::1]/"),
    ],
)
def test_a_page_goes_on_at_the_host_that_was_approved(approved: str, url: str) -> None:
    PageReach.of([approved]).check(url)


@pytest.mark.parametrize(
    ("approved", "url"),
    [
        ("https://example.org/", "https://www.example.org/"),
        ("https://example.org/", "https://example.org.evil.test/"),
        ("https://example.org/", "https://evil.test/example.org"),
        ("https://example.org/", "https://example.org:8443/"),
        ("http://127.0.0.1:8930/", "http://127.0.0.1:8931/"),
        ("http://127.0.0.1:8930/", "http://127.0.0.1/"),
        ("http://[2001:db8::1]/", "http://[2001:db8::2]/"),
    ],
)
def test_another_host_or_port_is_another_place(approved: str, url: str) -> None:
    with pytest.raises(PageFailed, match="was not approved") as failed:
        PageReach.of([approved]).check(url)
    assert failed.value.facts["fault"] == "other_host"


@pytest.mark.parametrize(
    "path",
    ["secret", "%73ecret", "secret/", "secret?", "secret?utm_source=x", "/secret", "secret/index.htm"],
)
def test_what_was_left_out_is_out_of_reach_however_it_is_written(path: str) -> None:
    reach = PageReach.of(["https://a.test/1"], left_out=["https://a.test/secret"])
    with pytest.raises(PageFailed, match="was left out"):
        reach.check(f"https://a.test/{path}")
    reach.check("https://a.test/secrets")


def test_of_several_addresses_each_host_is_in_reach() -> None:
    reach = PageReach.of(["https://a.test/1", "https://b.test/2"])
    assert reach.admits("B.test", 443)
    assert not reach.admits("c.test", 443)


def test_nothing_approved_reaches_nowhere() -> None:
    with pytest.raises(PageFailed):
        PageReach.of([]).check("https://example.org/")
