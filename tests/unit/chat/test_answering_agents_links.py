"""Links in answers: whatever a model writes, only sources become links, and nothing is torn by streaming."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text.markdown import escaped, link, web_address
from actors.systems.chat.turn.cited_text import CitedText
from models.text import shortened
from tests.unit.chat.links_in_text import links

OURS = "http://127.0.0.1:8000/api/tools/articles/7"
PIECES = st.sampled_from(
    (
        "[|]|(|)|!|1|9|[1]| [9]|[2, 9]|【1】|click|click here| |\n|\n\n|:|https://evil.example/a|www.evil.example|http|"
        "s://evil.example|//evil.example|<|>|a|<a href=x>|<https://evil.example>|&#58;|&colon;|\\|mailto:a|"
        'javascript:alert(1)|[1]: |[x]: |](|][|![|`|*|evil.example|f(x)|x < 3|"t"|^1|.|' + OURS
    ).split("|")
)
TEXTS = st.lists(PIECES, max_size=25).map("".join)


def said(*pieces: str, numbers: tuple[int, ...] = (1, 2), urls: tuple[str, ...] = (OURS,)) -> str:
    text = CitedText(numbers=numbers, urls=urls)
    return "".join([*(text.feed(piece) for piece in pieces), text.close()])


@given(TEXTS)
def test_nothing_but_sources_is_a_link(text: str) -> None:
    assert {found.rstrip(".,:;!*_`\\") for found in links(said(text))} <= {OURS}


@given(st.lists(TEXTS, max_size=6))
def test_how_a_text_is_cut_into_pieces_does_not_matter(pieces: list[str]) -> None:
    whole = "".join(pieces)
    assert said(*pieces) == said(whole)
    assert said(*whole) == said(whole)


@given(
    st.text(max_size=80), st.sampled_from(["", OURS, "javascript:alert(1)", "https://x.example/)(", "//x"])
)
def test_a_title_is_shown_as_text(title: str, url: str) -> None:
    shown = link(f"{title}](https://evil.example) [x](https://evil.example) <https://evil.example>", url)
    expected = {target} if (target := web_address(url)) else set()
    assert {found for found in links(shown)} <= expected | {shown}
    assert all("evil.example" not in found for found in links(shown) - {shown})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Rates held [1].", "Rates held [1]."),
        ("Rates held [9].", "Rates held."),
        ("Held [1][2] and [1, 9] and [^2] and 【1】.", "Held [1][2] and [1] and [2] and [1]."),
        ("See [click](https://evil.example).", "See click."),
        (f"See [the article]({OURS}).", f"See [the article]({OURS})."),
        ("Read https://evil.example/x, now", "Read (link removed), now"),
        (f"Read {OURS}.", f"Read {OURS}."),
        ("[1](https://evil.example) says", "[1] says"),
        ("[1]: https://evil.example", "[1] : (link removed)"),
        ("P/E < 10 and a[0] = f(x)", "P/E < 10 and a = f(x)"),
        ("![x](https://evil.example/p.png)", "x"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert said(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "htt[p](x)://evil.example",
        "ww[w](x).evil.example",
        "[b][(/evil)](x)",
        "[b]![](x)(/evil)",
        "[b][9](/evil)",
        "<[a](x) href=/evil>",
        "&[#58;](x)",
        "https:\\/\\/evil.example",
        "[b\nc](/evil)",
        "[a [b] c](/evil)",
        f"{OURS} [9]1",
    ],
)
def test_no_link_is_put_together_from_what_is_left(text: str) -> None:
    assert {found.rstrip(".") for found in links(said(text))} <= {OURS}


def test_text_is_shown_as_it_comes() -> None:
    text = CitedText(numbers=(1,), urls=())
    assert text.feed("The Fed held rates. It") == "The Fed held rates."
    assert text.feed(" said [") == " It said"
    assert text.feed("1] so") == " [1]"
    assert text.close() == " so"
    assert text.cited == {1}


@pytest.mark.parametrize("text", ["a" * 9000, "[" * 9000, "[" + "a " * 5000 + "](https://evil.example)"])
def test_what_never_ends_is_not_held_for_ever(text: str) -> None:
    cited = CitedText(numbers=(), urls=())
    shown = "".join(cited.feed(text[i : i + 50]) for i in range(0, len(text), 50))
    assert len(shown) > len(text) - 3000
    assert not links(shown + cited.close())


def test_a_headline_is_one_line() -> None:
    assert shortened("The\nFed\x1b[31m  holds") == "The Fed [31m holds"
    assert len(shortened("x" * 1000)) == 300
    assert escaped("A_b [c] <d>") == r"A\_b \[c\] < d>"
