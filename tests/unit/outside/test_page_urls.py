"""Addresses of pages: one form for what browsers read as the same, and a clear word for what is none."""

import ipaddress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.platform.web.page_urls import BLOCKED_PORTS, host_of, page_url
from models.errors import PageFailed


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (
            "HTTPS://pl.wikipedia.org:443/wiki/Łódź?x=ą b#frag",
            "https://pl.wikipedia.org/wiki/%C5%81%C3%B3d%C5%BA?x=%C4%85%20b",
        ),
        ("  http://example.com  ", "http://example.com/"),
        ("http://żółw.pl/../a", "http://xn--w-uga1v8h.pl/a"),
        ("http://example.com./x", "http://example.com/x"),
        ("http://ex\tample.com/a\n/b", "http://example.com/a/b"),
        ("http:\\\\example.com\\a", "http://example.com/a"),
        ("http://EXAMPLE.com:80/%7Ea", "http://example.com/%7Ea"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
    ],
)
def test_what_browsers_read_as_the_same_has_one_form(text: str, url: str) -> None:
    assert page_url(text) == url
    assert page_url(url) == url


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "bad_url"),
        ("example.com/page", "bad_url"),
        ("//example.com/", "bad_url"),
        ("ftp://example.com/", "bad_url"),
        ("javascript:alert(1)", "bad_url"),
        ("file:///etc/passwd", "bad_url"),
        ("data:text/html,x", "bad_url"),
        ("http://user:pass@example.com/", "bad_url"),
        ("http://user@example.com/", "bad_url"),
        ("http://exa mple.com/", "bad_url"),
        ("http://example.com:25/", "bad_url"),
        ("http://example.com:99999/", "bad_url"),
        ("http://" + "a" * 3000 + ".com/", "bad_url"),
        ("http://127.0.0.1/", "refused_by_guard"),
        ("http://0x7f.1/", "refused_by_guard"),
        ("http://2130706433/", "refused_by_guard"),
        ("http://①②⑦.0.0.1/", "refused_by_guard"),
        ("http://[::ffff:10.0.0.1]/", "refused_by_guard"),
        ("http://localhost./", "refused_by_guard"),
        ("http://169.254.169.254/latest", "refused_by_guard"),
    ],
)
def test_what_is_no_public_page_is_refused_with_its_fault(text: str, fault: str) -> None:
    with pytest.raises(PageFailed, match=r"^url: ") as refused:
        page_url(text)
    assert refused.value.facts["fault"] == fault


# What the URL standard's own tests are about, for hosts: spellings that its parsers read as an address.
SPELLINGS = [
    *("{0}", "{0}.", "{0}:80", "\t{0}", "\\{0}", "/{0}", "@{0}", "%2531%00@{0}", "example.com%40x@{0}"),
    *("{0}\\@example.com", "{0}#@example.com", "{0}?@example.com/", "{0}\n", "\u00ad{0}", "\u2060{0}"),
]
DIGITS = ["0123456789", "０１２３４５６７８９", "⓪①②③④⑤⑥⑦⑧⑨"]
INSIDE = st.sampled_from(["127.0.0.0/8", "10.0.0.0/8", "192.168.0.0/16", "169.254.0.0/16", "172.16.0.0/12"])


@st.composite
def disguises(draw: st.DrawFn) -> str:
    """A URL of an internal address in one of the ways in which browsers take it."""
    network = ipaddress.IPv4Network(draw(INSIDE))
    address = network[draw(st.integers(0, network.num_addresses - 1))]
    if draw(st.booleans()):
        mapped = [f"[::ffff:{address}]", f"[{ipaddress.IPv6Address(f'::ffff:{address}')}]"]
        host = draw(st.sampled_from([*mapped, f"[0:0:0:0:0:FFFF:{address}]", f"[64:ff9b::{address}]"]))
        return f"http://{draw(st.sampled_from(['', '@', 'a:b@', '//']))}{host}/"
    leading = draw(st.integers(0, 3))
    numbers = [*address.packed[:leading], int.from_bytes(address.packed[leading:], "big")]
    spell = st.sampled_from(["{:d}", "0{:o}", "0x{:x}", "0X{:08X}"])
    host = ".".join(draw(spell).format(number) for number in numbers)
    host = host.translate(str.maketrans(DIGITS[0], draw(st.sampled_from(DIGITS))))
    host = host.replace(".", draw(st.sampled_from([".", "。", "．", "%2e", "%E3%80%82", ".\t"])))
    if draw(st.booleans()):
        host = "".join(f"%{byte:02x}" for byte in host.encode()) if "%" not in host else host
    start = draw(st.sampled_from(["http://", "HTTPS://", "http:\\\\", "ht\ntp://", " http:/"]))
    return start + draw(st.sampled_from(SPELLINGS)).format(host) + draw(st.sampled_from(["", "/", "/x?y"]))


@given(disguises())
@example("http://1.2.3.08./")
def test_an_internal_address_is_refused_in_every_disguise(url: str) -> None:
    for base in (None, "https://example.com/a/b"):
        with pytest.raises(PageFailed):
            page_url(url, base=base)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        # Only what the standard calls white space is left out; the rest is the address's own.
        ("\x00\x1f http://example.com/\x0b ", "http://example.com/"),
        ("http://example.com/a\u00a0", "http://example.com/a%C2%A0"),
        ("http://example.com/?\\a", "http://example.com/?%5Ca"),
        ("http://例え。テスト/", "http://xn--r8jz45g.xn--zckzah/"),
        ("http://XN--R8JZ45G.XN--ZCKZAH/", "http://xn--r8jz45g.xn--zckzah/"),
        ("http://faß.de/", "http://xn--fa-hia.de/"),
        ("http://example.com/%2e%2E/a/./%2E/b", "http://example.com/a/b"),
        ("http://example.com:00080/", "http://example.com/"),
        ("http://[2606:4700:0:0::1111]/", "http://[2606:4700::1111]/"),
    ],
)
def test_it_reads_as_the_standard_does(text: str, url: str) -> None:
    assert page_url(text) == url


@pytest.mark.parametrize(
    "text",
    [
        "\u3000http://example.com/",
        "http://example.com:8_1/",
        "http://exa%23mple.com/",
        "http://exa%00mple.com/",
        "http://a%b/",
        "http://xn--a.ß/",
        "http://a..b/",
        "http://256.256.256.256/",
        "http://1.2.3.4.5/",
        "http://[::1%25lo]/",
        "http://[::ffff:1.2.3]/",
        "http://a.0x7f000001z.1/",
        "http://\ud800/",
    ],
)
def test_what_no_browser_opens_is_no_address(text: str) -> None:
    with pytest.raises(PageFailed) as refused:
        page_url(text)
    assert refused.value.facts["fault"] == "bad_url"


def test_a_relative_address_is_relative_to_its_base() -> None:
    assert page_url("../b?c#d", base="https://example.com/x/a/") == "https://example.com/x/b?c"
    with pytest.raises(PageFailed):
        page_url("//127.0.0.1/", base="https://example.com/")


def test_an_internal_address_that_is_allowed_is_taken() -> None:
    assert page_url("http://127.0.0.5:8080/a", allow_internal=("127.0.0.5/32",)) == "http://127.0.0.5:8080/a"


def test_ports_of_other_protocols_are_no_web_servers() -> None:
    for port in BLOCKED_PORTS:
        with pytest.raises(PageFailed, match="no web server"):
            page_url(f"http://example.com:{port}/")


@given(st.text(max_size=80), st.sampled_from(["", "http://", "https://example.com/", "http://127.0.0.1/"]))
def test_whatever_is_written_is_refused_or_stays_as_it_is(text: str, start: str) -> None:
    try:
        url = page_url(start + text)
    except PageFailed as refused:
        assert refused.facts["fault"] in ("bad_url", "refused_by_guard")  # noqa: PT017  # or there is none
        return
    assert url.isascii()
    assert page_url(url) == url
    assert host_of(url)
