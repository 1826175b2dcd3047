"""What a reader of a page does not see is not read, and what only looks hidden by its rules is."""

import pytest

from actors.systems.knowledge.parsing.main_text import read_html
from actors.systems.knowledge.parsing.parts import style_rules

SENTENCE = "The committee met on Tuesday and talked for three hours about the water supply."
TEXT = "".join(f"<p>{SENTENCE} Point {n} was the repair of pump {n}.</p>" for n in range(1, 6))
SAID = "The mayor resigned on Monday."


def _text(inside: str, style: str = "") -> str:
    html = (
        f"<html lang=en><head><style>{style}</style></head><body><main><article><h1>Water</h1>{TEXT}{inside}"
        "<p>The session was closed at nine.</p></article></main></body></html>"
    )
    return read_html(html.encode(), url="https://example.org/a", content_type="text/html; charset=utf-8").text


UNSEEN = [
    "hidden",
    "aria-hidden=true",
    "style='display:none'",
    "style='display: NONE !important; color:red'",
    "style='visibility: hidden'",
    "style='font-size:0'",
    "style='font-size: 0px; line-height:0'",
    "style='color:#fff'",
    "style='color: white; background-color: white'",
    "style='color:rgb(255, 255, 255)'",
    "style='color:#123456;background:#123456'",
    "style='color:transparent'",
    "style='opacity:0'",
    "style='position:absolute;left:-9999px'",
    "style='text-indent:-9999px'",
    "style='position:fixed;top:-999em'",
    "style='color:hsl(0, 0%, 100%)'",
    "style='color:#fefefe'",
    "style='color:rgba(0,0,0,0)'",
    "style='background:#fff none;color:#fff'",
    "style='font-size:1px'",
    "style='opacity:.01'",
    "style='filter:opacity(0)'",
    "style='transform:scale(0)'",
    "style='transform:translateX(-9999px)'",
    "style='clip-path:inset(100%)'",
    "style='content-visibility:hidden'",
    "style='max-height:0;overflow:hidden'",
    "style='height:0;overflow:hidden'",
    "style='position:absolute;clip:rect(0,0,0,0);width:1px;height:1px;overflow:hidden'",
    "class=visually-hidden",
    "class='sr-only x'",
]
HIDING = [
    (".z{RULE}", "class=z"),
    ("#z { RULE }", "id=z"),
    ("p.z, div.z, span.z{RULE}", "class='y z'"),
    (".a, .z, #b {RULE}", "class=z"),
    ("article .z{RULE}", "class=z"),
    ("article > .z, p > .z{RULE}", "class=z"),
    ("[data-z]{RULE}", "data-z=1"),
    ("/* a */ .z /* b */ {/* c */RULE}", "class=z"),
    ("@media screen{.z{RULE}}", "class=z"),
    (".z{display:block;visibility:visible} .z{RULE}", "class=z"),
    ("h1 ~ .z, p + .z, p > .z{RULE}", "class=z"),
    (":is(.z, .y){RULE}", "class=z"),
    ("article :not(.y).z{RULE}", "class=z"),
    ("[class^=z], [data-a$=b], [data-c*='d e']{RULE}", "class=zz"),
    ("[lang|=en].z, [class~=z]{RULE}", "class='a z'"),
    ("@layer a{@supports (display:grid){.z{RULE}}}", "class=z"),
    ("@media (min-width:700px) and (max-width:200em){.z{RULE}}", "class=z"),
    ("@media print, only screen{.z{RULE}}", "class=z"),
    (".z.z{RULE} .z{display:block;visibility:visible}", "class=z"),
]
RULES = ["display:none", "visibility:hidden", "font-size:0", "color:#fff", "position:fixed;left:-10000px"]


@pytest.mark.parametrize("names", UNSEEN)
@pytest.mark.parametrize(
    "form", ["<p {}>{}</p>", "<div {}><p>{}</p></div>", "<p>It rained. <span {}>{}</span> It is so.</p>"]
)
def test_what_an_element_hides_by_itself_is_not_read(form: str, names: str) -> None:
    text = _text(form.format(names, SAID))
    assert SAID not in text
    assert SENTENCE in text
    if "It rained" in form:
        assert "It rained." in text
        assert "It is so." in text


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("sheet", "names"), HIDING)
def test_what_a_style_sheet_of_the_page_hides_is_not_read(sheet: str, names: str, rule: str) -> None:
    for form in ("<p {}>{}</p>", "<div {}><p>{}</p></div>", "<p>It rained. <span {}>{}</span> It is so.</p>"):
        text = _text(form.format(names, SAID), sheet.replace("RULE", rule))
        assert SAID not in text
        assert SENTENCE in text


@pytest.mark.parametrize(
    ("style", "inside"),
    [
        ("@media print{.z{display:none}}", "<p class=z>{}</p>"),
        ("@media (max-width:600px){.z{display:none}}", "<p class=z>{}</p>"),
        (".z{display:none} .z.on{display:block}", "<p class='z on'>{}</p>"),
        (".z{display:none} @media (min-width:700px){.z{display:block}}", "<p class=z>{}</p>"),
        ("@media (min-width:3000px), (prefers-color-scheme:dark){.z{display:none}}", "<p class=z>{}</p>"),
        (".z:not(.y){display:none}", "<p class='y z'>{}</p>"),
        ("h2 + .z, h1 + .z, .z + .z{display:none}", "<p class=z>{}</p>"),
        ("body{background:#000}", "<p>{}</p>"),
        ("body{color:#fff} article{background:#fff}", "<p>{}</p>"),
        (".z{color:#fff} .z p{background:#fff}", "<div class=z><p>{}</p></div>"),
        (".z{color:#fff;background:linear-gradient(#000,#111)}", "<p class=z>{}</p>"),
        ("", "<table bgcolor=black><tr><td><font color=white>{}</font></td></tr></table>"),
        (".z{display:none} .z{display:block}", "<p class=z>{}</p>"),
        (".z{display:none}", "<p class=z style='display:block'>{}</p>"),
        (".z .y{display:none}", "<p class=z>{}</p>"),
        ("nav > .z{display:none}", "<p class=z>{}</p>"),
        (".z:hover{display:none}", "<p class=z>{}</p>"),
        (".z::before{display:none}", "<p class=z>{}</p>"),
        (".z{color:#fff;background:#00f}", "<p class=z>{}</p>"),
        (".z{color:#fff;background-image:url(a.png)}", "<div class=z><p>{}</p></div>"),
        ("body{background:#000} .z{color:#fff}", "<p class=z>{}</p>"),
        ("body{background:#000;color:#fff}", "<p>{}</p>"),
        (".z{visibility:hidden} .z p{visibility:visible}", "<div class=z><p>{}</p></div>"),
        (".z{font-size:0} .z p{font-size:16px}", "<div class=z><p>{}</p></div>"),
        ("body{opacity:0;visibility:hidden}", "<p>{}</p>"),
        ("article{display:none}", "<p>{}</p>"),
        (
            "@keyframes a{from{visibility:hidden}to{visibility:visible}} .z{animation:a 1s}",
            "<p class=z>{}</p>",
        ),
        (".z{opacity:0;transition:opacity 1s}", "<p class=z>{}</p>"),
        ("", "<div style='opacity:0;transform:translateY(20px)'><p>{}</p></div>"),
        ("", "<div hidden style='display:block'><p>{}</p></div>"),
        ("", "<div aria-hidden=false><p>{}</p></div>"),
        ("", "<div hidden id='S:0'><p>{}</p></div>"),
        (".answer{display:none}", "<div class=question><p>Who?</p><div class=answer><p>{}</p></div></div>"),
        ("", "<div class=accordion><div aria-hidden=true><p>{}</p></div></div>"),
        ("{{{((", "<p>{}</p>"),
    ],
)
def test_what_is_seen_in_the_end_is_read(style: str, inside: str) -> None:
    assert SAID in _text(inside.format(SAID), style)


@pytest.mark.parametrize("name", ["aria-hidden=true", "style='visibility:hidden'", "style='color:white'"])
def test_a_sentence_whose_words_others_see_otherwise_has_a_hole(name: str) -> None:
    assert "It cost \ufffc euros." in _text(f"<p>It cost <span {name}>30</span> euros.</p>")


def test_what_a_font_hides_is_not_read() -> None:
    assert SAID not in _text(f"<p><font color=WHITE>{SAID}</font></p>")


def test_a_sentence_that_begins_with_such_words_has_a_hole_too() -> None:
    assert "\ufffc Boats sank." in _text("<p><span aria-hidden=true>20</span> Boats sank.</p>")
    assert "Boats sank →" in _text("<p>Boats sank <span aria-hidden=true>→</span></p>")


def test_of_many_rules_and_looks_so_many_count_as_are_read_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = "b div div div .z{color:red} .z{display:none}"
    inside = f"{'<div>' * 20}<p class=z>{SAID}</p>{'</div>' * 20}"
    assert SAID not in _text(inside, sheet)
    for name, most in (("_MOST_LOOKS", 100), ("_MOST_RULES", 1)):
        with monkeypatch.context() as patched:
            patched.setattr(style_rules, name, most)
            assert SAID in _text(inside, sheet)


@pytest.mark.parametrize(
    "inside",
    [
        "It cost<span class=dots>...</span><span style='display:none'> 30 euros.</span><button>More</button>",
        "It cost … <span hidden>30 euros.</span> <a href='#'>Read on</a>",
        "It cost [...]<span style='display:none'> 30 euros.</span>",
    ],
)
def test_what_dots_stand_for_until_it_is_asked_for_is_read_in_their_place(inside: str) -> None:
    assert "\nIt cost 30 euros." in _text(f"<p>{inside}</p>").replace("  ", " ")


def test_what_is_hidden_behind_dots_that_stand_for_something_else_is_not() -> None:
    assert "30 euros" not in _text("<p>It cost... so much.<span hidden> It cost 30 euros.</span></p>")
