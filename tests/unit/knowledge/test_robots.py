"""robots.txt: the cases of google/robotstxt's tests but for Google's own, and RFC 9309 beyond them."""

import pickle
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from protego import Protego

from actors.platform.web.politeness.patterns import escaped
from actors.platform.web.politeness.robots import MOST_BYTES, Robots, path_of, product_token

SITE = "http://foo.bar"


def robots(text: str) -> Robots:
    """A file; `;` ends its lines where there is no other end."""
    return Robots.from_answer(200, (text if "\n" in text else text.replace(";", "\n")).encode())


def allowed(text: str, path: str, agent: str = "FooBot") -> bool:
    return robots(text).allows(SITE + path, agent)


# A file, a robot, and the paths that it may fetch and may not. After robots_test.cc, test by test.
_THREE_GROUPS = (
    "allow: /foo/bar/;;user-agent: FooBot;disallow: /;allow: /x/;user-agent: BarBot;disallow: /;allow: /y/;;;"
    "allow: /w/;user-agent: BazBot;;user-agent: FooBot;allow: /z/;disallow: /"
)
_GLOBAL = "user-agent: *;allow: /;user-agent: FooBot;disallow: /"
_SPECIFIC = "user-agent: FooBot;allow: /;user-agent: BarBot;disallow: /;user-agent: BazBot;disallow: /"
CASES = [
    # LineSyntax_Line
    ("user-agent: FooBot;disallow: /", "FooBot", "", "/x/y"),
    ("foo: FooBot;bar: /", "FooBot", "/x/y", ""),
    ("user-agent FooBot;disallow /", "FooBot", "", "/x/y"),
    # LineSyntax_Groups
    (_THREE_GROUPS, "FooBot", "/x/b /z/d", "/y/c /foo/bar/"),
    (_THREE_GROUPS, "BarBot", "/y/c /w/a", "/z/d /foo/bar/"),
    (_THREE_GROUPS, "BazBot", "/z/d", "/foo/bar/"),
    # LineSyntax_Groups_OtherRules
    *(
        (f"User-agent: {first};{other};User-agent: *;Disallow: /", agent, "", "/")
        for first, other in (
            ("BarBot", "Sitemap: https://foo.bar/sitemap"),
            ("FooBot", "Invalid-Unknown-Line: unknown"),
        )
        for agent in ("FooBot", "BarBot")
    ),
    # REPLineNamesCaseInsensitive
    *(
        (f"{agent}: FooBot;{allow}: /x/;{disallow}: /", "FooBot", "/x/y", "/a/b")
        for agent, allow, disallow in (
            ("USER-AGENT", "ALLOW", "DISALLOW"),
            ("user-agent", "allow", "disallow"),
            ("uSeR-aGeNt", "AlLoW", "dIsAlLoW"),
        )
    ),
    # UserAgentValueCaseInsensitive
    *(
        (f"User-Agent: {value};Allow: /x/;Disallow: /", agent, "/x/y", "/a/b")
        for value in ("FOO BAR", "foo bar", "FoO bAr")
        for agent in ("Foo", "foo")
    ),
    # GlobalGroups_Secondary
    ("", "FooBot", "/x/y", ""),
    (_GLOBAL, "FooBot", "", "/x/y"),
    (_GLOBAL, "BarBot", "/x/y", ""),
    (_SPECIFIC, "QuxBot", "/x/y", ""),
    # AllowDisallow_Value_CaseSensitive
    ("user-agent: FooBot;disallow: /x/", "FooBot", "", "/x/y"),
    ("user-agent: FooBot;disallow: /X/", "FooBot", "/x/y", ""),
    # LongestMatch
    ("user-agent: FooBot;disallow: /x/page.html;allow: /x/", "FooBot", "", "/x/page.html"),
    ("user-agent: FooBot;allow: /x/page.html;disallow: /x/", "FooBot", "/x/page.html", "/x/"),
    ("user-agent: FooBot;disallow: ;allow: ", "FooBot", "/x/page.html", ""),
    ("user-agent: FooBot;disallow: /;allow: /", "FooBot", "/x/page.html", ""),
    ("user-agent: FooBot;disallow: /x;allow: /x/", "FooBot", "/x/", "/x"),
    ("user-agent: FooBot;disallow: /x/page.html;allow: /x/page.html", "FooBot", "/x/page.html", ""),
    ("user-agent: FooBot;allow: /page;disallow: /*.html", "FooBot", "/page", "/page.html"),
    ("user-agent: FooBot;allow: /x/page.;disallow: /*.html", "FooBot", "/x/page.html", "/x/y.html"),
    ("User-agent: *;Disallow: /x/;User-agent: FooBot;Disallow: /y/", "FooBot", "/x/page", "/y/page"),
    # Encoding
    (
        "User-agent: FooBot;Disallow: /;Allow: /foo/bar?qux=taz&baz=http://foo.bar?tar&par",
        "FooBot",
        "/foo/bar?qux=taz&baz=http://foo.bar?tar&par",
        "",
    ),
    ("User-agent: FooBot;Disallow: /;Allow: /foo/bar/ツ", "FooBot", "/foo/bar/%E3%83%84", "/foo/bar/ツ"),
    (
        "User-agent: FooBot;Disallow: /;Allow: /foo/bar/%E3%83%84",
        "FooBot",
        "/foo/bar/%E3%83%84",
        "/foo/bar/ツ",
    ),
    (
        "User-agent: FooBot;Disallow: /;Allow: /foo/bar/%62%61%7A",
        "FooBot",
        "/foo/bar/%62%61%7A",
        "/foo/bar/baz",
    ),
    # SpecialCharacters
    (
        "User-agent: FooBot;Disallow: /foo/bar/quz;Allow: /foo/*/qux",
        "FooBot",
        "/foo/quz /foo//quz /foo/bax/quz",
        "/foo/bar/quz",
    ),
    (
        "User-agent: FooBot;Disallow: /foo/bar$;Allow: /foo/bar/qux",
        "FooBot",
        "/foo/bar/qux /foo/bar/ /foo/bar/baz",
        "/foo/bar",
    ),
    ("User-agent: FooBot;# Disallow: /;Disallow: /foo/quz#qux;Allow: /", "FooBot", "/foo/bar", "/foo/quz"),
    # LinesNumbersAreCountedCorrectly: all ends of lines are known
    *(
        (end.join(("User-Agent: foo", "Allow: /some/path", "User-Agent: bar", "", "", "Disallow: /")), *rest)
        for end in ("\n", "\r\n", "\r", "\n\r\n")
        for rest in (("bar", "", "/some/path /"), ("foo", "/some/path /", ""))
    ),
    ("User-Agent: foo\nAllow: /a\r\nUser-Agent: bar\n\r\n\nDisallow: /", "bar", "", "/a"),
    ("User-Agent: foo\nAllow: /a\r\nUser-Agent: bar\n\r\n\nDisallow: /", "foo", "/a", ""),
    # and RFC 9309 beyond them
    ("User-agent: *;Disallow: /a%7eb", "FooBot", "/a~c", "/a~b /a%7Eb /a%7eb/c"),
    ("User-agent: *;Disallow: /~ann", "FooBot", "/ann", "/%7Eann/ /~ann/"),
    ("User-agent: *;Disallow: /%c3%a9", "FooBot", "/e", "/%C3%A9 /%c3%a9 /é"),
    ("User-agent: *;Disallow: /a-%2A.html", "FooBot", "/a-b.html", "/a-*.html /a-%2a.html"),
    ("User-agent: *;Disallow: /a%24", "FooBot", "/a", "/a$ /a%24"),
    # The last byte of this letter is a white space elsewhere.
    ("User-agent: *;Disallow: /à", "FooBot", "/%C3 /%C3%A9", "/%C3%A0"),
    ("User-agent: *;Disallow: /a$b", "FooBot", "/a /ab", "/a$b /a%24bc"),
    ("User-agent: *;Disallow: /a*b$", "FooBot", "/abc /a", "/ab /axbxb /abb"),
    ("User-agent: *;Disallow: /a*$", "FooBot", "/b", "/a /abc"),
    ("User-agent: *;Disallow: /ab*b$", "FooBot", "/ab", "/abb"),
    ("User-agent: *;Disallow: /a***b", "FooBot", "/a", "/ab /axb"),
    ("User-agent: *;Disallow: *.php", "FooBot", "/", "/x.php?y"),
    ("User-agent: *;Disallow: a", "FooBot", "/a /", ""),
    ("User-agent: *;Disallow: /a b", "FooBot", "/a", "/a%20b"),
    # Octets as they are written count, not those of escapes: protego has it the other way round.
    ("User-agent: *;Disallow: /*?;Allow: /abc", "FooBot", "/abc?x", "/ab?x"),
    ("User-agent: *;Allow: /*?a=1;Disallow: /secret", "FooBot", "/x?a=1", "/secret?a=1"),
    # Names of robots are whole.
    ("User-agent: Foo;Disallow: /a;User-agent: FooBotNews;Disallow: /b", "FooBot", "/a /b", ""),
    ("User-agent: foobot/2.0;Disallow: /", "FooBot/1.0 (+https://foo.example)", "", "/"),
    ("User-agent: *bot;User-agent: * x;Disallow: /", "FooBot", "", "/"),
    ("User-agent: FooBot;User-agent: *;Disallow:", "FooBot", "/", ""),
    ("User-agent: FooBot;;User-agent: *;User-agent: Bar;Disallow: /b", "FooBot", "/", "/b"),
    ("User-agent: 7;Disallow: /", "8", "/", ""),
    ("User-agent: *;Crawl-delay: 9;User-agent: BarBot;Disallow: /", "FooBot", "", "/"),
    ("User-agent: *;Disallow: /", "FooBot", "/robots.txt", "/robots.txt2 /x/robots.txt"),
    ("User-agent: *;Dissallow: /a;Disallow\t/b;Disallow /c: d;Allow", "FooBot", "/d /c:", "/a /b"),
]


@pytest.mark.parametrize(
    ("text", "agent", "path", "expected"),
    [
        pytest.param(text, agent, path, expected, id=f"{text[:60]!r} {agent} {path}")
        for text, agent, yes, no in CASES
        for paths, expected in ((yes, True), (no, False))
        for path in paths.split()
    ],
)
def test_what_may_be_fetched(text: str, agent: str, path: str, expected: bool) -> None:
    assert allowed(text, path, agent) is expected


@pytest.mark.parametrize("name", ["Foobot", "Foobot-Bar", "Foo_Bar"])
def test_a_name_that_groups_are_looked_up_by(name: str) -> None:
    assert product_token(name) == name
    assert product_token(f"{name}/1.0 (+https://foo.example)") == name


@pytest.mark.parametrize("name", ["", "ツ", "Foobot*", " Foobot ", "Foobot/2.1", "Foobot Bar"])
def test_what_is_no_such_name(name: str) -> None:
    assert product_token(name) == ("Foobot" if "Foobot" in name else "")
    assert not name or product_token(name) != name


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        (b"\xef\xbb\xbf", False),
        (b"\xef\xbb", False),
        (b"\xef", False),
        (b"", False),
        # The first line is none, and its rules are nobody's.
        (b"\xef\x11\xbf", True),
        (b"User-agent: bar\nAllow: /\n\xef\xbb\xbf", True),
    ],
)
def test_a_byte_order_mark_is_passed_over_at_the_beginning(mark: bytes, expected: bool) -> None:
    body = mark + b"User-Agent: foo\nDisallow: /AnyValue\n"
    assert Robots.from_answer(200, body).allows(f"{SITE}/AnyValue", "foo") is expected


@pytest.mark.parametrize(
    "text",
    [
        "User-Agent: foo\nAllow: /some/path\nUser-Agent: bar\n\n\nSitemap: http://foo.bar/sitemap.xml\n",
        "Sitemap: http://foo.bar/sitemap.xml\nUser-Agent: foo\nAllow: /some/path\nUser-Agent: bar\n\n\n",
        "sitemap http://foo.bar/sitemap.xml\n",
    ],
)
def test_sitemaps_may_be_named_anywhere(text: str) -> None:
    assert robots(text).sitemaps == ("http://foo.bar/sitemap.xml",)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("", "/"),
        ("http://www.example.com", "/"),
        ("http://www.example.com/", "/"),
        ("http://www.example.com/a", "/a"),
        ("http://www.example.com/a/", "/a/"),
        ("http://www.example.com/a/b?c=http://d.e/", "/a/b?c=http://d.e/"),
        ("http://www.example.com/a/b?c=d&e=f#fragment", "/a/b?c=d&e=f"),
        ("http://www.example.com?a#/b", "/?a"),
        ("example.com", "/"),
        ("example.com/", "/"),
        ("example.com/a", "/a"),
        ("example.com/a/", "/a/"),
        ("example.com/a/b?c=d&e=f#fragment", "/a/b?c=d&e=f"),
        ("a", "/"),
        ("a/", "/"),
        ("/a", "/a"),
        ("a/b", "/b"),
        ("example.com?a", "/?a"),
        ("example.com/a;b#c", "/a;b"),
        ("//a/b/c", "/b/c"),
    ],
)
def test_the_path_of_an_address(url: str, path: str) -> None:
    assert path_of(url) == path


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("http://www.example.com", "http://www.example.com"),
        ("/a/b/c", "/a/b/c"),
        ("á", "%C3%A1"),
        ("%aa", "%AA"),
    ],
)
def test_a_pattern_is_escaped(pattern: str, expected: str) -> None:
    assert escaped(pattern.encode().decode("latin-1")) == expected


def test_bytes_that_are_no_utf8_are_those_of_the_address() -> None:
    said = Robots.from_answer(200, b"User-agent: *\nDisallow: /caf\xe9\nSitemap: http://x/\xe9\n")
    assert not said.allows(f"{SITE}/caf%E9", "FooBot")
    assert said.allows(f"{SITE}/caf%C3%A9", "FooBot")
    assert said.sitemaps == ("http://x/\ufffd",)


@pytest.mark.parametrize(
    ("status", "open_", "busy"),
    [
        *((status, True, False) for status in (200, 204, 301, 308, 400, 401, 403, 404, 410, 451, 499)),
        *((status, False, status == 503) for status in (500, 502, 503, 504, 599, 600, 199)),
        (429, False, True),
    ],
)
def test_an_answer_without_a_file(status: int, open_: bool, busy: bool) -> None:
    said = Robots.from_answer(status, b"" if status < 300 else b"User-agent: *\nDisallow: /private")
    assert (said.allows(f"{SITE}/private", "FooBot"), said.busy) == (open_, busy)
    assert (said.closed is None) is open_
    assert open_ or str(status) in str(said.closed)
    assert said.allows(f"{SITE}/robots.txt", "FooBot")


def test_where_there_is_none_and_where_it_can_not_be_had() -> None:
    assert Robots.everything_allowed().allows(f"{SITE}/a", "FooBot")
    assert not Robots.unreachable().allows(f"{SITE}/a", "FooBot")
    assert not Robots.unreachable().busy


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("user-agent: *;crawl-delay: 2.5", 2.5),
        ("user-agent: *;crawl-delay: 7;user-agent: foobot;disallow: /a", None),
        ("user-agent: foobot;crawl-delay: 3;crawl-delay: 2;user-agent: bar;crawl-delay: 9", 3.0),
        ("user-agent: bar;crawl-delay: 9;user-agent: foobot;crawl-delay: 1", 1.0),
        ("user-agent: bar;user-agent: foobot;crawl-delay: 4;user-agent: FooBot;crawl-delay: 5", 5.0),
        *(
            (f"user-agent: *;crawl-delay: {value}", None)
            for value in ("-1", "0", "inf", "nan", "1e999", "soon", "", "5 s", "9" * 30)
        ),
        ("crawl-delay: 5", None),
    ],
)
def test_the_crawl_delay(text: str, delay: float | None) -> None:
    assert robots(text).crawl_delay("FooBot/1.0") == delay


def test_half_a_megabyte_is_read_and_no_half_line_of_it() -> None:
    head = b"user-agent: *\ndisallow: /a\n"
    fill = b"#" * (MOST_BYTES - len(head) - 20) + b"\n"
    body = head + fill + b"disallow: /bbb\ndisallow: /ccc\n"
    assert len(body) > MOST_BYTES > len(head + fill + b"disallow: /bbb\n")
    said = Robots.from_answer(200, body)
    assert [said.allows(SITE + path, "FooBot") for path in ("/a", "/bbb", "/ccc", "/c")] == [
        False,
        False,
        True,
        True,
    ]


def test_a_file_goes_from_one_process_to_another() -> None:
    said = pickle.loads(pickle.dumps(robots("user-agent: *;crawl-delay: 2;user-agent: foobot;disallow: /a")))
    assert said.crawl_delay("bar") == 2
    assert not said.allows(f"{SITE}/a", "FooBot")
    assert not said.allows(f"{SITE}/a", "bar")


_LONG = "/" + "a" * 1990


@pytest.mark.parametrize(
    ("text", "allows"),
    [
        ("user-agent:*\n" + "Disallow: /*a*a*a*a*a*a*b\n" * 20_000, False),
        ("user-agent:*\n" + "".join(f"Allow: /*a*a*a*a*a*a*b{i}\n" for i in range(20_000)), True),
        ("user-agent:*\n" + "".join(f"Allow: /*{'a' * 500}b{i}{'a' * 490}\n" for i in range(500)), True),
        ("user-agent:*\nDisallow: /" + "*" * 450_000 + "b", False),
        ("user-agent:*\nDisallow: /" + "*a" * 24_000 + "b", True),
        ("".join(f"user-agent:{'a' * (i % 90)}\n" for i in range(5_000)) + "allow:/\n" * 30_000, True),
        ("user-agent:*\ncrawl-delay:1\n" * 8_000 + "allow:/\n" * 20_000, True),
        ("user-agent:*\n" + "".join(f"allow:/{'a' * i}\n" for i in range(980)), True),
        ("user-agent:*\ndisallow:/" + "%7e" * 160_000, True),
        ("user-agent:*\ncrawl-delay:" + "9" * 480_000, True),
        ("a " * 250_000, True),
    ],
    ids=[
        *("stars", "many patterns", "long pieces", "nothing but stars", "many pieces", "many robots"),
        *("many groups", "many lengths", "escapes", "digits", "words"),
    ],
)
def test_a_hostile_file_is_judged_in_linear_time(text: str, allows: bool) -> None:
    begun = time.process_time()
    rules = Robots.from_answer(200, text.encode()).rules_for("FooBot")
    read = time.process_time()
    assert rules.allows(SITE + _LONG) is allows
    assert read - begun < 2
    assert time.process_time() - read < 0.2


def test_patterns_over_the_limit_disallow_more_and_never_less() -> None:
    fill = "".join(f"allow: /fill*{i}\n" for i in range(10_000))
    said = robots(f"user-agent: *\n{fill}disallow: /a/*/secret\nallow: /a\nallow: /a/*/secret/not\n")
    assert not said.allows(f"{SITE}/a/b/secret", "x")
    assert not said.allows(f"{SITE}/a/b/secret/not", "x")
    assert not said.allows(f"{SITE}/a/b/open", "x")
    assert said.allows(f"{SITE}/a", "x")
    assert not robots(f"user-agent: *\n{fill}disallow: *secret\nallow: /\n").allows(f"{SITE}/secret", "x")


_words = st.text("abc/", max_size=6).map(lambda text: f"/{text}")
_patterns = st.text("ab/*", max_size=6).map(lambda text: f"/{text}") | st.text("ab/*", max_size=5).map(
    lambda text: f"/{text}$"
)
_rules = st.lists(st.tuples(st.booleans(), _patterns), max_size=6)


def matches(pattern: str, path: str) -> bool:
    """By all places that a beginning of the pattern may lead to: robots.cc's way."""
    places = {0}
    for at, letter in enumerate(pattern):
        if letter == "$" and at == len(pattern) - 1:
            return len(path) in places
        if letter == "*":
            places = set(range(min(places), len(path) + 1))
        else:
            places = {place + 1 for place in places if path[place : place + 1] == letter}
        if not places:
            return False
    return True


@given(_rules, _words)
@example([(False, "/a*a$")], "/a")
@example([(True, "/ab"), (False, "/a*")], "/ab")
@example([(False, "/*a*a")], "/a")
@example([(False, "/*a"), (True, "/*ab")], "/ab")
def test_the_longest_pattern_that_matches_counts(rules: list[tuple[bool, str]], path: str) -> None:
    text = "user-agent: *\n" + "".join(
        f"{'allow' if may else 'disallow'}: {pattern}\n" for may, pattern in rules
    )
    found = [(len(pattern), may) for may, pattern in rules if matches(pattern, path)]
    assert allowed(text, path) is max(found, default=(0, True))[1]


@given(_rules, _words)
def test_protego_agrees_on_what_is_plain(rules: list[tuple[bool, str]], path: str) -> None:
    text = "user-agent: *\n" + "".join(
        f"{'allow' if may else 'disallow'}: {pattern}\n" for may, pattern in rules
    )
    # It reads a beginning of `//` as a host, here and there.
    if "//" not in text + path:
        assert allowed(text, path) is Protego.parse(text).can_fetch(SITE + path, "FooBot")


@given(
    st.binary(max_size=300) | st.text("user-agent:dislow* /$%#\r\n2aé", max_size=120).map(str.encode),
    st.text(),
)
def test_whatever_is_said_is_read(body: bytes, path: str) -> None:
    said = Robots.from_answer(200, body)
    assert said.allows(f"{SITE}/{path}", "FooBot") in (True, False)
    assert said.allows(f"{SITE}/robots.txt", "FooBot")
    for sitemap in said.sitemaps:
        sitemap.encode()
