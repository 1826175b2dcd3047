"""Which findings become resources: each thing once, every branch in turn, as the tools take it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from actors.platform.tools.resources import CreateTableResourceRequest, CreateTextResourceRequest
from actors.systems.drafting.selection import Selection, select, usable
from models.content.drafting import Branch, Finding, Findings


def selected(*found: list[Finding], most: int = 8) -> Selection:
    """What is chosen of what the branches found."""
    branches: tuple[Branch, ...] = ("web_search", "data_download", "resource_query")
    findings = tuple(Findings(branch=b, found=tuple(f)) for b, f in zip(branches, found, strict=False))
    return select(usable(findings), most=most)


def text(name: str, **more: Any) -> Finding:
    """A text whose content is its name."""
    told = {"description": None, "content": f"{name} says so.", "source": "searxng", "url": None}
    return Finding(kind="text", name=name, **{**told, **more})


def table(name: str, rows: Any, columns: tuple[str, ...] = ("date", "rate"), **more: Any) -> Finding:
    """A table."""
    told = {"description": None, "source": "fred", "url": None, **more}
    return Finding(kind="table", name=name, columns=columns, rows=rows, **told)


def names(selection: Selection) -> list[str]:
    """The names of what was chosen."""
    return [finding.name for finding in selection.chosen]


def test_every_branch_gets_its_turn() -> None:
    web = [text(f"web {n}") for n in range(9)]
    data = [table("data", (("2026-01-01", 1),))]
    stored = [text(f"stored {n}", resource_id=n) for n in (1, 2)]
    selection = selected(web, data, stored, most=6)
    assert names(selection) == ["web 0", "data", "stored 1", "web 1", "stored 2", "web 2"]
    assert selection.left_out == 6


def test_what_is_stored_already_stands_for_the_same_thing_found_again() -> None:
    page = "https://e.org/a"
    web = [
        text("same words", content="The  minutes."),
        text("same page", url="HTTPS://E.org/a/#top"),
        text("new"),
    ]
    stored = [
        text("minutes", content="The minutes.", resource_id=1),
        text("page 1", url=page, resource_id=2),
        text("page 2", url=page, resource_id=3),
        text("minutes again", content="Else", resource_id=1),
    ]
    assert names(selected(web, [], stored)) == ["new", "minutes", "page 1", "page 2"]


def test_a_stored_copy_of_an_own_article_is_cited_as_that_article() -> None:
    read = text("ECB waits", content="The ECB waits.", article_id=3, url="http://x/articles/3")
    copy = text(
        "Copy", content="The ECB  waits.", resource_id=9, source="signoff", url="http://x/resources/9"
    )
    for web, stored in ((read, copy), (copy, read)):
        [kept] = selected([web], [], [stored]).chosen
        assert (kept.resource_id, kept.article_id, kept.name, kept.url) == (9, 3, "ECB waits", read.url)
    other = text("Other", content="Else.", resource_id=10)
    assert [one.article_id for one in selected([read], [other]).chosen] == [3, None]


def test_a_stored_resource_is_taken_as_whole_as_it_was_read() -> None:
    snippet = text("found", content="The minutes…", resource_id=1)
    read = text("read", content="The minutes, whole.", resource_id=1)
    rows = (("2026", 1),)
    again = [table("new", rows), table("stored", rows, resource_id=2)]
    assert names(selected([snippet], again[:1], [read, again[1]])) == ["stored", "read"]


def test_a_stored_table_is_its_rows_and_no_snippet_and_stands_for_the_series_that_was_asked_for() -> None:
    rows = (("2026-05-01", 4.0), ("2026-06-01", 4.1))
    series = table("Inflation in Germany", rows, source="sample")
    snippet = text("Inflation in Germany", content="2026-05-01 | 4.0", source="local", resource_id=7)
    stored = table(
        "Inflation in Germany", rows, source="signoff", resource_id=7, description="source: sample\nSeries"
    )
    [chosen] = selected([snippet], [series], [stored]).chosen
    assert (chosen.resource_id, chosen.rows, chosen.is_sample) == (7, rows, True)
    # It is what the question named, whatever a measure of its words says.
    branches = (
        Findings(branch="web_search", found=(snippet,)),
        Findings(branch="data_download", found=(series,)),
        Findings(branch="resource_query", found=(stored,)),
    )
    assert [[one.kind for one in branch.found] for branch in usable(branches)] == [[], ["table"], []]


def test_a_long_series_is_the_stored_one_of_which_the_newest_rows_were_read() -> None:
    rows = tuple((f"{1000 + n}", n) for n in range(600))
    stored = table("stored", rows[-500:], resource_id=3)
    assert names(selected([], [table("new", rows)], [stored])) == ["stored"]


def test_one_page_is_one_text_but_may_hold_many_tables() -> None:
    page = "https://e.org/a"
    web = [text("a", url=page), text("b", url=f"{page}#b"), text("c", url=f"{page}?c")]
    data = [
        table("t1", (("2026", 1),), url=page),
        table("t2", (("2026", 2),), url=page),
        table("t1 again", (("2026", 1),)),
    ]
    assert names(selected(web, data)) == ["a", "t1", "c", "t2"]


def test_a_document_that_the_question_names_is_whole_and_not_what_a_search_shows_of_it() -> None:
    page = "https://e.org/report.pdf"
    parts = [text("part 1", url=page), text("part 2", url=page)]
    assert names(selected([text("shown", url=page)], parts)) == ["part 1", "part 2"]


def test_what_is_empty_is_dropped() -> None:
    nothing = [
        text("a", content=None),
        text("b", content=" \n…\x00"),
        table("c", ()),
        table("d", (("2026",),)),
    ]
    nothing += [table("e", (("2026", 1),), columns=())]
    assert selected(nothing) == Selection(chosen=(), left_out=0)


def test_a_description_says_where_it_comes_from() -> None:
    [one] = selected([text("a", description="About rates.", url="https://e.org/a", source="sample")]).chosen
    assert one.description == "source: sample\nurl: https://e.org/a\nAbout rates."
    [known] = selected([text("a", description="Mine.", resource_id=4)]).chosen
    assert known.description == "Mine."


def test_of_a_table_too_long_the_newest_rows_stay() -> None:
    up = [(f"{1000 + n // 365:04}-{n % 365:03}", n) for n in range(50_002)]
    [ascending] = selected([table("up", tuple(up))]).chosen
    assert ascending.rows is not None
    assert (len(ascending.rows), ascending.rows[-1]) == (50_000, up[-1])
    [descending] = selected([table("down", tuple(reversed(up)))]).chosen
    assert descending.rows is not None
    assert (len(descending.rows), descending.rows[0]) == (50_000, up[-1])


ANYTHING = st.text(st.characters(codec=None, categories=None), max_size=400)
CELLS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), ANYTHING)


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    """A finding as untidy as they come."""
    told = {
        "name": draw(ANYTHING),
        "description": draw(st.none() | ANYTHING | st.just("x" * 5000)),
        "source": draw(ANYTHING),
        "url": draw(st.none() | ANYTHING | st.just("https://[")),
    }
    if draw(st.booleans()):
        return Finding.model_construct(
            kind="text", content=draw(st.none() | ANYTHING), columns=None, rows=None, resource_id=None, **told
        )
    wide = draw(st.integers(0, 3))
    row = st.lists(CELLS, min_size=max(wide - 1, 0), max_size=wide).map(tuple)
    columns = draw(st.lists(ANYTHING, min_size=wide, max_size=wide).map(tuple))
    rows = draw(st.lists(row, max_size=4).map(tuple))
    return Finding.model_construct(
        kind="table", content=None, columns=columns, rows=rows, resource_id=None, **told
    )


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from((None, 1, 2)), st.booleans()), max_size=9))
def test_each_thing_once_whichever_branch_has_it(drawn: list[tuple[str, int | None, bool]]) -> None:
    found = [
        text(name, resource_id=number, url="https://e.org/p" if at else None) for name, number, at in drawn
    ]
    chosen = selected(found[::3], found[1::3], found[2::3], most=99).chosen
    stored = [one.resource_id for one in chosen if one.resource_id]
    assert len(stored) == len(set(stored))
    assert {one.content for one in chosen} <= {one.content for one in found}
    assert bool(chosen) == bool(found)


@given(st.lists(findings(), max_size=6))
def test_whatever_was_found_is_taken_by_the_tools(found: list[Finding]) -> None:
    branch = Findings.model_construct(branch="web_search", found=tuple(found), note=None)
    selection = select(usable((branch,)), most=8)
    for one in selection.chosen:
        head = {"name": one.name, "description": one.description, "topic": "macro"}
        if one.kind == "text":
            CreateTextResourceRequest(**head, content=one.content or "")
        else:
            rows = [list(row) for row in one.rows or ()]
            CreateTableResourceRequest(**head, columns=list(one.columns or ()), rows=rows)
        assert one.description is not None
        assert one.description.startswith("source: ")
        Finding.model_validate_json(one.model_dump_json())
