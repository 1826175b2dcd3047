"""The footnote rules: what a draft may cite and link to, and nothing else."""

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text.links import link_key, links, offered_links
from actors.systems.editorial.agents.footnotes import footnote_faults
from models.content.editorial import ArticleResponse
from tests.examples import examples, hostile

URL = "https://example.org/rates"
PASSAGE = "factbook-fr.md#3"


def article(
    body: str = "A plain body.", *, headline: str = "Rates rise", description: str = "What changed."
) -> ArticleResponse:
    return ArticleResponse(
        headline=headline, alternativeHeadline="Up again", articleBody=body, description=description
    )


def faults(body: str, *, source: str = "A source.", citations: tuple[str, ...] = (URL, PASSAGE)) -> list[str]:
    return footnote_faults(article(body), source_text=source, citations=citations)


def only(found: list[str]) -> str:
    assert len(found) == 1, found
    return found[0]


def test_no_footnotes_and_no_links_is_fine() -> None:
    assert faults("Text with [brackets], a carat^1 and 3 [sic](see below).", citations=()) == []


@pytest.mark.parametrize(
    "definition",
    [
        f"[^1]: Example, {URL}.",
        f"[^1]: [Example]({URL})",
        f"[^1]: <{URL}>",
        f"[^1]: The Factbook ({PASSAGE}).",
        f"[^1]: **{PASSAGE}**",
        f"   [^1]: {PASSAGE}",
        f"[^1]: The Factbook\n    says so, {PASSAGE}",
        f"[^1]: The Factbook\nsays so\n\n\t{PASSAGE}".replace("\nsays", "\n  says"),
        f"[^1]:\n\n    {PASSAGE}",
        "[^1]: HTTPS://Example.ORG/rates",
    ],
)
def test_a_footnote_may_cite_what_was_supplied(definition: str) -> None:
    assert faults(f"Rates rose.[^1]\n\n## Footnotes\n\n{definition}\n") == []


def test_windows_line_ends_are_line_ends() -> None:
    assert faults(f"Rates rose.[^1]\r\n\r\n## Footnotes\r\n\r\n[^1]: {PASSAGE}\r\n") == []


def test_a_citation_may_be_wrapped_over_lines() -> None:
    body = "Yes.[^1]\n\n## Footnotes\n[^1]: Smith and Jones,\n    Journal of Rates 12"
    assert faults(body, citations=("Smith and Jones, Journal  of Rates 12",)) == []


@pytest.mark.parametrize("body", ["Rates rose.[^1]", "Rates rose.[^1]\n\n## Footnotes\n"])
def test_a_reference_needs_a_definition(body: str) -> None:
    assert "[^1] has no definition" in only(faults(body))


def test_a_reference_inside_a_footnote_needs_a_definition_too() -> None:
    assert "[^2] has no definition" in only(faults(f"Yes.[^1]\n## Footnotes\n[^1]: {PASSAGE}, see [^2]"))


@pytest.mark.parametrize(
    "heading", ["### Footnotes", "# Footnotes", "Footnotes", "**Footnotes**", "## Footnotes and more"]
)
def test_definitions_stand_under_the_exact_heading(heading: str) -> None:
    found = faults(f"Yes.[^1]\n\n{heading}\n\n[^1]: {PASSAGE}")
    assert any("does not stand under a last heading" in fault for fault in found)


def test_a_definition_before_the_section_is_out_of_place() -> None:
    found = faults(f"Yes.[^1]\n\n[^1]: {PASSAGE}\n\nMore text.\n\n## Footnotes\n")
    assert any("does not stand under" in fault for fault in found)


def test_a_second_definition_is_a_fault() -> None:
    found = faults(f"Yes.[^1]\n\n## Footnotes\n[^1]: {PASSAGE}\n[^1]: {URL}")
    assert "defined 2 times" in only(found)


def test_labels_are_compared_as_markdown_does() -> None:
    assert faults(f"Yes.[^Note]\n\n## Footnotes\n[^note]: {PASSAGE}") == []
    assert "defined 2 times" in only(faults(f"Yes.[^a]\n## Footnotes\n[^a]: {PASSAGE}\n[^A]: {PASSAGE}"))


@pytest.mark.parametrize(
    "after", ["A closing paragraph.", "## More", "## Footnotes", " a paragraph", "- a list", "---"]
)
def test_the_section_is_the_last_thing(after: str) -> None:
    found = faults(f"Yes.[^1]\n\n## Footnotes\n[^1]: {PASSAGE}\n\n{after}\n")
    assert "only lines like" in only(found)


def test_a_link_in_a_line_out_of_place_is_named_too() -> None:
    found = faults(f"Yes.[^1]\n\n## Footnotes\n[^1]: {PASSAGE}\n\nMore at www.evil.org")
    assert len(found) == 2
    assert found[1].startswith("articleBody holds www.evil.org,")


def test_text_between_heading_and_first_definition_is_a_fault() -> None:
    assert "only lines like" in only(faults(f"Yes.[^1]\n\n## Footnotes\n    Sources:\n[^1]: {PASSAGE}"))


def test_a_footnote_must_cite_something_supplied() -> None:
    found = only(faults("Yes.[^1]\n\n## Footnotes\n[^1]: Common knowledge."))
    assert "cites none of the supplied citations" in found
    assert PASSAGE in found


def test_without_citations_the_writer_is_told_to_remove_the_footnote() -> None:
    found = faults("Yes.[^1]\n\n## Footnotes\n[^1]: Common knowledge.", citations=())
    assert "none was supplied, so remove" in only(found)


@pytest.mark.parametrize(
    "invented",
    [
        "factbook-fr.md#31",
        "factbook-fr.md#3.5",
        "old/factbook-fr.md#3",
        "my-factbook-fr.md#3",
        f"{URL}x",
        f"{URL}/2",
        "Example.org/rates",
    ],
)
def test_part_of_a_citation_is_not_the_citation(invented: str) -> None:
    found = faults(f"Yes.[^1]\n\n## Footnotes\n[^1]: See {invented}")
    assert any("cites none" in fault for fault in found), found


@pytest.mark.parametrize(
    "invented",
    ["https://evil.org/x", "10.1234/abc", "doi:10.1234/abc", "www.evil.org", "[b](evil.org)", "gone.md#9"],
)
def test_a_footnote_holds_no_link_that_was_not_supplied(invented: str) -> None:
    found = faults(f"Yes.[^1]\n\n## Footnotes\n[^1]: {PASSAGE} and {invented}")
    assert "which no supplied citation holds" in only(found)


def test_the_sources_links_are_for_the_main_text_not_for_footnotes() -> None:
    source = "Read https://example.net/report today."
    assert faults("See https://example.net/report.", source=source) == []
    found = faults(f"Yes.[^1]\n\n## Footnotes\n[^1]: {PASSAGE}, https://example.net/report", source=source)
    assert "which no supplied citation holds" in only(found)


LINKS = [
    "https://evil.org/x",
    "see.https://evil.org/x",
    "HTTP://EVIL.org",
    "ftp://evil.org/x",
    "gopher+x://evil.org",
    "<https://evil.org>",
    "<mailto:a@evil.org>",
    "www.evil.org",
    "//evil.org/x",
    "doi:10.1234/abc",
    "10.1234.5/abc",
    "https://doi.org/10.1234/abc",
    "[text](https://evil.org)",
    "[https://example.org/rates](https://evil.org)",
    "[text](evil.org/page)",
    "[text](<evil.org/a b>)",
    "[text]( evil.org 'title')",
    "![image](data:image/png;base64,AAAA)",
    "[text](javascript:alert(1))",
    "[text][ref]\n\n[ref]: //evil.org/x",
    "[text][ref]\n\n[ref]: evil.org/x 'A title'",
    '<a href="https://evil.org">x</a>',
    "`https://evil.org`",
    "```\nhttps://evil.org\n```",
    "**https://evil.org**",
    "| a | https://evil.org |",
    "https://example.org/rates,https://evil.org",
    'https://example.org/rates"@evil.org/',
    "https://example.org\\@evil.org/rates",
    "[t](https://example.org/rates\\)@evil.org)",
    "https://example.org/ratesx",
    "https://example.org/Rates",
    "https://example.org/rates?x",
    "http://example.org/rates",
    "https://example.org",
    "other.md#3",
    "factbook-fr.md#33",
]


@pytest.mark.parametrize("link", LINKS)
def test_the_main_text_holds_no_link_of_its_own(link: str) -> None:
    found = faults(f"A paragraph.\n\n{link}\n\nAnother.")
    assert found, link
    assert all(fault.startswith("articleBody holds") for fault in found)


@pytest.mark.parametrize("link", LINKS)
def test_a_link_of_the_source_may_be_used(link: str) -> None:
    assert faults(f"A paragraph.\n\n{link}\n", source=f"Said so:\n\n{link}\n", citations=()) == []


@pytest.mark.parametrize("name", ["headline", "description", "alternativeHeadline"])
def test_the_other_fields_are_read_too(name: str) -> None:
    draft = article().model_copy(update={name: "Rates rise, says www.evil.org!"})
    found = only(footnote_faults(draft, source_text="A source.", citations=()))
    assert found.startswith(f"{name} holds www.evil.org,")


@pytest.mark.parametrize(
    ("in_text", "in_source"),
    [
        ("(https://example.net/a).", "https://example.net/a"),
        ("**https://example.net/a**", "https://Example.NET/a,"),
        ("[a](https://example.net/a_\\(b\\))", "https://example.net/a_(b)"),
        ("https://example.net/a\\_b", "https://example.net/a_b"),
        ("https://example.net", "https://example.net/"),
        ("https://example.net/?a=1&amp;b=2", "https://example.net/?a=1&b=2"),
        ("https://doi.org/10.1234/ABC", "doi:10.1234/abc"),
        ("10.1234/abc.", "https://publisher.net/doi/10.1234/abc"),
        ("www.example.net/a", "https://www.example.net/a"),
        ("https://example.net/a", '{"url":"https://example.net/a","b":1}'),
        ("So it is.https://example.net/a", "https://example.net/a"),
        ("https://b.net", "https://a.net,https://b.net;https://c.net"),
        ("https://b.net", "[https://a.net](https://b.net)"),
    ],
)
def test_one_link_may_be_written_in_more_than_one_way(in_text: str, in_source: str) -> None:
    assert faults(f"See {in_text}", source=in_source, citations=()) == []


def test_a_bracket_that_a_link_opened_is_its_own() -> None:
    assert link_key("https://example.net/a_(b)") == "https://example.net/a_(b)"
    assert link_key("https://example.net/a_(b))") == "https://example.net/a_(b)"


def test_a_prefix_of_a_link_is_another_link() -> None:
    source = "https://a.com/xy and https://a.com/x/y"
    assert faults("See https://a.com/x", source=source, citations=())


def test_what_the_writer_reads_stays_short() -> None:
    body = "\n".join(f"[^{n}] https://evil{n}.org/{'x' * 5000}" for n in range(500))
    found = faults(body, citations=tuple("c" * 5000 + str(n) for n in range(50)))
    assert len(found) == 11
    assert found[-1] == "There are 990 more faults like these."
    assert sum(map(len, found)) < 5000


SLOW = ["[^", "](", "](](", "[x](a\\", "](<", "10.1234/", "10.1234.", "://", "// a", "www.", ".", ",", "<a:"]


@pytest.mark.parametrize("piece", [*SLOW, "[x]: a\n", "a.md#1/", "\\", "](x \n", "a-", "\n", "(", " "])
def test_a_text_made_to_be_slow_is_not(piece: str) -> None:
    """These take about a second; quadratic time would be minutes."""
    large = piece * (hostile(200_000) // len(piece))
    started = time.process_time()
    for text in (large, f"https://a.com/{large}", f"## Footnotes\n[^1]: {large}"):
        footnote_faults(article(text), source_text=large, citations=[URL])
    assert time.process_time() - started < 15


def test_a_megabyte_of_prose_is_quick() -> None:
    prose = f"Rates rose again.[^1] See https://example.net/a. {'word ' * 50}\n\n" * 3400
    started = time.process_time()
    found = faults(f"{prose}\n## Footnotes\n[^1]: {PASSAGE}\n", source=prose)
    assert found == []
    assert len(prose) > 1_000_000
    assert time.process_time() - started < 10


WORDS = st.text(string.ascii_letters + " ,.-", max_size=60)
PATHS = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=12)


@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_any_text_gets_an_answer_and_always_the_same(body: str, source: str, citations: list[str]) -> None:
    first = footnote_faults(article(body), source_text=source, citations=citations)
    assert first == footnote_faults(article(body), source_text=source, citations=citations)


@given(st.text("[]()^:<>/\\#.w1a \n\"'&;-", max_size=80))
def test_a_text_that_is_its_own_source_holds_no_unknown_link(text: str) -> None:
    assert links(text) <= offered_links(text)
    found = footnote_faults(article(headline=text), source_text=text, citations=())
    assert found == []


@given(PATHS, st.sampled_from(["{}", "({}).", "**{}**,", "“{}”", "<{}>", "`{}`;", "[x]({})", "[{}]({})"]))
def test_what_stands_around_a_url_is_no_part_of_it(path: str, around: str) -> None:
    url = f"https://site.org/{path}"
    assert links(around.replace("{}", url)) == {link_key(url)}


@given(WORDS, st.lists(PATHS, min_size=1, max_size=6, unique=True), st.booleans())
def test_a_draft_that_keeps_the_rules_is_fine(words: str, paths: list[str], as_link: bool) -> None:
    citations = [f"https://site.org/{path}" for path in paths]
    notes = [
        f"[^{n}]: " + (f"[{words}]({c})" if as_link else f"{words} {c}") for n, c in enumerate(citations)
    ]
    text = " ".join(f"{words}[^{n}]" for n in range(len(citations)))
    body = f"{text}\n\n## Footnotes\n\n" + "\n".join(notes)
    assert faults(body, citations=tuple(citations)) == []


@given(PATHS, PATHS)
def test_only_the_same_url_is_the_same(one: str, other: str) -> None:
    found = faults(f"See https://site.org/{one}", source=f"https://site.org/{other}", citations=())
    assert (found == []) == (one == other)


@examples(50)
@given(st.sampled_from(LINKS), WORDS)
def test_a_smuggled_link_is_found_wherever_it_stands(link: str, words: str) -> None:
    assert faults(f"{words}\n\n{link}\n\n{words}")
    assert faults(f"{words}\n\n## Footnotes\n\n[^1]: {PASSAGE} {words}\n\n    {link}\n")
