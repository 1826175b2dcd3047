"""Rendering a researched draft: every statement has its footnotes, and no text becomes Markdown."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from actors.platform.text.markdown import unlinked
from actors.systems.drafting.desk_notes import Searched, desk_notes
from actors.systems.drafting.draft import Draft, Source, Statement
from actors.systems.drafting.markdown import render
from models.content.drafting import Finding
from models.content.quoting import SourcePlace
from models.text import one_line

_REFERENCE = re.compile(r"(?<!\\)\[\^(\d+)\](?!:)")
_DEFINITION = re.compile(r"\[\^(\d+)\]: (.*)")
# What Markdown cares about, and all the rest.
_ANY = st.text(st.one_of(st.sampled_from("\\`*_{}[]()<>#+-.!|~^:&$/ \n\t1aż"), st.characters()), max_size=40)
# What makes a line a heading, a list, a rule or a quote, before whatever comes.
_OPENINGS = st.sampled_from(
    ["", "", "# ", "- ", "+ ", "* ", "1. ", "12) ", "> ", "---", "===", "```", "    ", "| "]
)
WORDS = st.builds("{}{}".format, _OPENINGS, _ANY)
URLS = st.one_of(
    st.none(),
    WORDS,
    st.builds("https://example.org/{}".format, WORDS),
    st.just("javascript://e.org/%0Aalert(1)"),
)


def source(number: int = 7, **more: Any) -> Source:
    """A source with a text."""
    told: dict[str, Any] = {"name": "Minutes", "source": "searxng", "url": None, "content": "Words."}
    return Source(resource_id=number, finding=Finding(kind="text", description=None, **{**told, **more}))


def sources_of(names: list[tuple[str, str, str | None]]) -> list[Source]:
    """Sources with these names, origins and addresses."""
    return [source(n, name=name, source=origin, url=url) for n, (name, origin, url) in enumerate(names, 1)]


@st.composite
def drafts(draw: st.DrawFn) -> tuple[Draft, list[Source]]:
    """A draft as it is kept, with sources that say anything."""
    sources = sources_of(draw(st.lists(st.tuples(WORDS, WORDS, URLS), min_size=1, max_size=4)))
    numbers = st.lists(st.integers(1, len(sources)), min_size=1, max_size=3, unique=True).map(tuple)
    statement = st.builds(
        Statement, text=WORDS.map(lambda t: f"{t}a"), sources=numbers, new_paragraph=st.booleans()
    )
    return Draft(headline="H", statements=tuple(draw(st.lists(statement, min_size=1, max_size=4)))), sources


@given(drafts())
def test_every_statement_has_footnotes_and_every_footnote_one_definition(
    made: tuple[Draft, list[Source]],
) -> None:
    draft, sources = made
    blocks = render(draft, sources).rstrip("\n").split("\n\n")
    defined = [found for block in blocks if (found := _DEFINITION.fullmatch(block))]
    told = "\n\n".join(blocks[: len(blocks) - len(defined)])
    referred = [int(number) for number in _REFERENCE.findall(told)]
    assert referred == [number for statement in draft.statements for number in statement.sources]
    assert [int(found[1]) for found in defined] == sorted(set(referred))
    for found in defined:
        assert _REFERENCE.search(found[2]) is None
        assert found[2].endswith(f"(resource {sources[int(found[1]) - 1].resource_id})")


@given(drafts())
def test_nothing_in_it_becomes_markdown_but_addresses_of_sources(made: tuple[Draft, list[Source]]) -> None:
    draft, sources = made
    markdown = MarkdownIt("commonmark")
    links: list[str] = []
    for block in render(draft, sources).rstrip("\n").split("\n\n"):
        definition = _DEFINITION.fullmatch(block)
        tokens = markdown.parse(definition[2] if definition else block)
        assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"], block
        kinds = {child.type for child in tokens[1].children or ()}
        assert kinds <= ({"text", "link_open", "link_close"} if definition else {"text"}), block
        links += [str(c.attrs["href"]) for c in tokens[1].children or () if c.type == "link_open"]
    assert all(link.startswith(("http://", "https://")) for link in links)
    assert len(links) <= len(sources)


@given(WORDS)
def test_plain_text_reads_as_it_was_written(text: str) -> None:
    shown = MarkdownIt("commonmark").parseInline(unlinked(f"a {text} b"))[0].children or []
    told = "".join(child.content for child in shown)
    assert {child.type for child in shown} == {"text"}
    if "@" not in text and "://" not in text and "www." not in text.lower():
        assert told == one_line(f"a {text} b")


@given(WORDS)
def test_plain_text_holds_nothing_that_renderers_make_a_link_of(text: str) -> None:
    for wish in (
        f"https://{text}",
        f"hthttps://tps://{text}",
        f"www.{text}",
        f"http:www.//{text}",
        f"mailto:{text}",
    ):
        assert not re.search(r"https?://|ftp://|\bwww\.|\bmailto:", unlinked(f"see {wish}"), re.IGNORECASE)


def test_addresses_are_links_only_where_they_are_plain_http() -> None:
    def shown(url: str) -> str:
        draft = Draft(headline="H", statements=(Statement(text="So.", sources=(1,)),))
        return render(draft, [source(url=url)]).splitlines()[-1].partition(" — ")[2]

    assert shown("https://e.org/a?b=c#d") == "searxng, <https://e.org/a?b=c#d> (resource 7)"
    assert shown("https://e.org/a b") == "searxng, <https://e.org/a%20b> (resource 7)"
    assert shown("https://e.org/a><b>") == "searxng, <https://e.org/a%3E%3Cb%3E> (resource 7)"
    for told in (
        "javascript:alert(1)",
        "javascript://e.org/%0Aalert(1)",
        "https://bank.example@evil.example/",
        "https://",
        "x",
    ):
        assert "<" not in shown(told)
    assert shown("https://e.org/" + "a" * 3000).count("a") < 400
    assert shown(" ") == "searxng (resource 7)"


def test_paragraphs_are_as_the_draft_says() -> None:
    said = [("One.", False), ("Two.", False), ("Three.", True)]
    statements = tuple(Statement(text=text, sources=(1,), new_paragraph=new) for text, new in said)
    content = render(Draft(headline="H", statements=statements), [source()])
    assert content == "One.[^1] Two.[^1]\n\nThree.[^1]\n\n[^1]: Minutes — searxng (resource 7)\n"


def test_the_desk_is_told_what_was_not_searched_not_used_and_what_is_a_sample() -> None:
    finding = source().finding
    searched = [
        Searched(branch="web_search", failure="the *search* is\naway"),
        Searched(branch="data_download", note="nothing fits"),
        Searched(branch="resource_query", found=(finding,), note="by words only"),
    ]
    statements = (Statement(text="So.", sources=(1,)), Statement(text="So.", sources=(3,)))
    draft = Draft(headline="H", statements=statements, unsupported=("4.2",))
    sources = [source(), source(name="Prices", source="sample"), source(name="Rate", source="sample")]
    assert desk_notes(draft, sources, searched, ["A battery\nrecycler", *"bcdefg"]) == (
        "In no source, so check them: 4.2",
        "Not searched: web search: the *search* is away",
        "Nothing found: data download: nothing fits",
        "Only in part: stored resources: by words only",
        "Found and not used, for it is not about what was asked: “A battery recycler”, “b”, “c”, “d”, “e” "
        "and 2 more",
        "Found and named in no footnote: “Prices”",
        "Sample data, to try things on and not for publication: “Rate”",
    )
    shown = render(draft, sources)
    assert shown == (
        "So.[^1] So.[^3]\n\n[^1]: Minutes — searxng (resource 7)\n\n"
        "[^3]: Rate — source: sample (resource 7)\n"
    )
    quoted = draft.model_copy(update={"unsupported": (), "written": "quotes", "statements": statements[:1]})
    whole = [Searched(branch="web_search", found=(finding,))]
    [guarantee] = desk_notes(quoted, [source()], whole, [])
    assert "word for word" in guarantee
    plain = draft.model_copy(update={"unsupported": (), "statements": statements[:1]})
    assert desk_notes(plain, [source()], whole, []) == ()
    assert desk_notes(plain, [], [Searched(branch="web_search")], []) == ("Nothing found: web search",)


@pytest.mark.parametrize(
    ("language", "article", "resource"),
    [("en", "article 3", "resource 7"), ("pl", "artykuł 3", "zasób 7"), ("de", "Artikel 3", "Ressource 7")],
)
@pytest.mark.parametrize("written", ["prose", "quotes"])
def test_footnotes_are_in_the_language_of_the_text_and_name_own_articles_as_such(
    language: Any, article: str, resource: str, written: Any
) -> None:
    url = "http://127.0.0.1:8000/api/tools/articles/3"
    own = source(name="ECB waits", source="local", url=url, article_id=3)
    place = SourcePlace(source=1, start=0, end=6)
    statements = (Statement(text="Words.", sources=(1,), place=place),)
    draft = Draft(headline="H", statements=statements, written=written, language=language)
    [note] = [line for line in render(draft, [own]).splitlines() if line.startswith("[^1]:")]
    assert note.startswith(f"[^1]: ECB waits — {article}, <{url}> ({resource})")
