"""Forms in which pages hold text: what is kept of each, in which form, and what is never made of it."""

import pytest

from actors.platform.extractive.quotable import quotable
from actors.systems.knowledge.parsing.main_text import read_html
from actors.systems.knowledge.parsing.parts import holes

SENTENCE = "The committee met on Tuesday and talked for three hours about the water supply. "
TEXT = "".join(
    f"<p>{SENTENCE}Point {n} was the repair of pump {n}, for {n}00 euros.</p>" for n in range(1, 6)
)
ITEMS = ("The office says it never got it.", "The receipt is signed.", "The clerk could not say who.")


def text_of(html: str) -> str:
    return read_html(html.encode(), url="https://example.org/a", content_type="text/html; charset=utf-8").text


def article(inside: str, after: str = "") -> str:
    return text_of(
        "<html lang=en><head><title>Water</title></head><body><nav><a href=/>Home</a></nav><main><article>"
        f"<h1>Water</h1>{TEXT}{inside}{after}</article></main><footer>Imprint</footer></body></html>"
    )


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("From 2026 on:<ul><li>100 calls a day</li><li>one seat</li></ul>", "From 2026 on: 100 calls a day; one seat"),  # noqa: E501
        ("<ul><li><p>100 calls a day</p></li><li><p>one seat</p></li></ul>", "100 calls a day; one seat"),
        ("<ol><li>100 calls<ul><li>a day</li></ul></li></ol>", "100 calls; a day"),
        ("<p>It holds.</p><p>For a year.</p>", "It holds. For a year."),
        ("<dl><dt>Calls</dt><dd>100</dd></dl>", "Calls; 100"),
        ("100 calls<br>one seat", "100 calls one seat"),
        ("<table><tr><td>Calls</td><td>100 a day</td></tr><tr><td>Seats</td><td>one</td></tr></table>",
         "Calls 100 a day; Seats one"),
    ],
)  # fmt: skip
def test_what_a_cell_holds_is_kept_in_its_cell(cell: str, told: str) -> None:
    table = f"<table><tr><th>Plan</th><th>Holds</th></tr><tr><td>Basic</td><td>{cell}</td></tr>"
    text = article(f"<h2>Terms</h2>{table}<tr><td>Pro</td><td>plain text</td></tr></table>")
    assert f"| Plan | Holds |\n|---|---|\n| Basic | {told} |\n| Pro | plain text |" in text


@pytest.mark.parametrize("around", ["{}", "<section>{}</section>", "<div>{}</div>", "<center>{}</center>"])
@pytest.mark.parametrize(
    "items",
    [
        "<ul><li>{}</li><li>{}</li><li>{}</li></ul>",
        "<ol><li>{}</li><li>{}</li><li>{}</li></ol>",
        "<ul><li><p>{}</p></li><li><p>{}</p></li><li><p>{}</p></li></ul>",
        "<ul><li><ul><li>{}</li><li>{}</li></ul></li><li>{}</li></ul>",
        "<dl><dt>One</dt><dd>{}</dd><dt>Two</dt><dd>{}</dd><dt>Three</dt><dd>{}</dd></dl>",
        "<table><tr><td>1</td><td>{}</td></tr><tr><td>2</td><td>{}</td></tr><tr><td>3</td><td>{}</td></tr></table>",
    ],
)
def test_lists_stand_between_their_paragraphs_wherever_they_lie(around: str, items: str) -> None:
    inside = (
        f"<h1>Notes</h1><p>Did they admit it?</p>{items.format(*ITEMS)}<p>George asked them, too.</p>{TEXT}"
    )
    text = text_of(f"<html><body>{around.format(inside)}</body></html>")
    places = [text.find(said) for said in ("Did they admit it?", *ITEMS, "George asked them")]
    assert places == sorted(places)
    assert places[0] >= 0


@pytest.mark.parametrize(
    "inside",
    [
        "<div class=accordion><button>Who?</button><div class='panel collapse' aria-hidden=true><p>{}</p></div></div>",  # noqa: E501
        "<div class=faq-item><h3>Who?</h3><div class=faq-answer style='display:none'><p>{}</p></div></div>",
        "<details><summary>Who?</summary><p>{}</p></details>",
        "<details><summary>Who?</summary>{}</details>",
        "<div class=accordion><div hidden=until-found><p>{}</p></div></div>",
        "<figure><img src=a.png alt='Chart'><figcaption>{}</figcaption></figure>",
        "<aside class=note><p>{}</p></aside>",
        "<aside role=note>{}</aside>",
        "<aside><p>{}</p></aside>",
        "<div class=tabs><div class=tab-pane style='display:none'><p>{}</p></div></div>",
        "<div class='admonition warning'><p class=admonition-title>Warning</p><p>{}</p></div>",
        "<div class='alert alert-info'>{}</div>",
        "<dl><dt>Fee</dt><dd>{}</dd></dl>",
        "<ul><li>{}</li></ul>",
        "<blockquote>{}</blockquote>",
    ],
)
@pytest.mark.parametrize("after", ["", "<p>The session was closed at nine in the evening, as planned.</p>"])
def test_what_is_folded_noted_or_captioned_is_read(inside: str, after: str) -> None:
    assert "The buyer pays 40 euros." in article(inside.format("The buyer pays 40 euros."), after)
    assert "The buyer pays 40 euros." in text_of(inside.format("The buyer pays 40 euros."))


@pytest.mark.parametrize(
    "inside",
    [
        "<p><del>The mayor resigned.</del> He did not.</p>",
        "<p><s>The mayor resigned.</s> He did not.</p>",
        "<p><strike>The mayor resigned.</strike> He did not.</p>",
        "<p><span style='text-decoration: line-through'>The mayor resigned.</span> He did not.</p>",
        "<del><p>The mayor resigned.</p></del><p>He did not.</p>",
        "<p>He did not.</p><div style='display:none'>The mayor resigned.</div>",
        "<p>He did not.</p><p hidden>The mayor resigned.</p>",
    ],
)
def test_what_nobody_sees_or_is_struck_is_not_read(inside: str) -> None:
    text = article(inside)
    assert "He did not." in text
    assert "resigned" not in text


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        ("1990<sup><a href='#fn1'>1</a></sup> and 5 million<sup><a href='#fn2'>2</a></sup> euros",
         "1990 and 5 million euros"),
        ("5 million<sup>2</sup> euros", "5 million euros"),
        ("5 million<sup>[2]</sup> euros", "5 million euros"),
        ("5 million<sup>*</sup> euros", "5 million euros"),
        ("5 million<a href='#cite_note-4' class=reference>[4]</a> euros", "5 million euros"),
        ("5 million<a role=doc-noteref href='#n1'>1</a> euros", "5 million euros"),
        ("10<sup>6</sup> m<sup>2</sup> of H<sub>2</sub>O, the 5<sup>th</sup>", "10⁶ m² of H₂O, the 5th"),
        ("410<span class=footnote-ref>12</span> euros", "410 euros"),
        ("410<span class=przypis>[12]</span> euros", "410 euros"),
        ("410<b role=doc-noteref>12</b> euros", "410 euros"),
        ("410<span class='my_footnoteRef'>12</span> euros", "410 euros"),
        ("410<span class=Anmerkungsziffer>12</span> euros", "410 euros"),
        ("410<span id=a class=odnosnik_3>3</span> euros", "410 euros"),
        ("410<span class=preferences>30</span> euros", "41030 euros"),
        ("410<a href='https://example.org/a?b=1#fn12'>12</a> euros", "410 euros"),
        ("410<sup><a href='/a#n12'>12</a></sup> euros", "410 euros"),
        ("410<sup>2</sup> euros", "410\ufffc euros"),
        ("410<span style='vertical-align: super'>12</span> euros", "410\ufffc euros"),
        ("410<font style='font-size:8px;vertical-align:text-top'>2</font> euros", "410\ufffc euros"),
        ("410<span class=superscript>12</span> euros", "410\ufffc euros"),
        ("4 m<small class=sup>2</small> of H<span style='vertical-align:sub'>2</span>O", "4 m² of H₂O"),
        ("<span class=support>30</span> euros", "30 euros"),
        ("<a href='/terms#refunds'>30</a> euros", "30 euros"),
        ("<span class=refund>30</span> euros", "30 euros"),
    ],
)  # fmt: skip
def test_marks_of_footnotes_are_no_text_and_raised_numbers_are(inside: str, told: str) -> None:
    assert f"It cost {told} at the time." in article(f"<p>It cost {inside} at the time.</p>")


@pytest.mark.parametrize(
    ("figure", "told"),
    [
        ("<img class=tex alt='Q = vA' src=q.png>", "Q = vA"),
        ("<img alt='Q = vA' src=q.png>", "Q = vA"),
        ("<math alttext='Q = vA'><mi>Q</mi></math>", "Q = vA"),
        ("<math><semantics><mfrac><mi>Q</mi></mfrac><annotation encoding='application/x-tex'>Q = vA</annotation>"  # noqa: E501
         "</semantics></math>", "Q = vA"),
        ("<math><mi>Q</mi><mo> = </mo><mi>v</mi></math>", "Q = v"),
        ("<script type='math/tex'>Q = vA</script>", "Q = vA"),
        ("<span class=katex><span class=katex-mathml><math><annotation encoding='application/x-tex'>Q = vA"
         "</annotation></math></span><span class=katex-html aria-hidden=true>Q=vA</span></span>", "Q = vA"),
        ("<math><mfrac><mi>Q</mi><mi>v</mi></mfrac></math>", "\ufffc"),
        ("<img src=q.png>", "\ufffc"),
        ("<img src=q.png alt='a drawing of the hall'>", "\ufffc"),
        ("<canvas></canvas>", "\ufffc"),
        ("<select><option>low</option><option>high</option></select>", "\ufffc"),
        ("<button>low</button>", "\ufffc"),
        ("<input value=4>", "\ufffc"),
        ("<svg><text>4</text></svg>", "\ufffc"),
        ("<svg aria-hidden=true></svg>", "\ufffc"),
        ("<i class='fa fa-ban' aria-hidden=true></i>", "\ufffc"),
        ("<span class=value></span>", "\ufffc"),
        ("<span data-value=4></span>", "\ufffc"),
        ("<b><span class=value></span></b>", "**\ufffc**"),
        ("<span class=value></span><i class=unit></i>", "\ufffc"),
        ("<time datetime=2026-01-01></time>", "\ufffc"),
        ("<x-flow></x-flow>", "\ufffc"),
        ("<output></output>", "\ufffc"),
        ("<iframe src=a></iframe>", "\ufffc"),
        ("<embed src=a>", "\ufffc"),
        ("<span style='background:#000'>&nbsp;&nbsp;</span>", "\ufffc"),
        ("<span class=redacted>&nbsp;</span>", "\ufffc"),
        ("<script>document.write(4)</script>", "\ufffc"),
        ("<mjx-container><mjx-math><mjx-c class=a></mjx-c></mjx-math></mjx-container>", "\ufffc"),
        ("<mjx-container><svg></svg><mjx-assistive-mml><math><mi>Q</mi></math></mjx-assistive-mml></mjx-container>",
         "Q"),
        ("low<span class=tooltip-text>Measured in May.</span>", "low\ufffcMeasured in May.\ufffc"),
        ("low <ins class=ads>Buy pumps</ins>", "low \ufffcBuy pumps\ufffc"),
        ("low <object data=a>See <b>Fig. 4</b></object>", "low \ufffcSee **Fig. 4**\ufffc"),
        ("low<wbr>er", "lower"),
        ("<a id=here></a>low", "low"),
        ("<span></span>low<span id=a></span>", "low"),
        ("low<span class=Apple-converted-space>&nbsp;</span>indeed", "low indeed"),
        ("low<input type=hidden><link href=a><meta content=a>", "low"),
    ],
)  # fmt: skip
def test_a_formula_within_a_sentence_is_told_or_leaves_a_sign(figure: str, told: str) -> None:
    text = article(f"<p>The flow through the pipe is {figure}, where v is the speed.</p>")
    assert f"The flow through the pipe is {told}, where v is the speed." in text


@pytest.mark.parametrize("tag", ["wbr", "embed", "source", "object", "keygen"])
def test_what_follows_an_element_that_holds_nothing_is_read_and_counted(tag: str) -> None:
    denied = "The mayor denies all of it, and <b>the council</b> has seen no proof."
    html = f"<article>{TEXT}<p>The mayor resigned. <{tag}>{denied}</p></article>"
    found = read_html(html.encode(), url="https://example.org/a", content_type="text/html; charset=utf-8")
    assert "The mayor denies all of it, and **the council** has seen no proof." in found.text
    assert found.coverage is not None
    assert found.coverage.seen == found.coverage.kept


def test_of_the_line_before_a_raised_mark_only_its_end_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    class Looking:
        def search(self, line: str) -> None:
            looked.append(len(line))

    monkeypatch.setattr(holes, "_WORD_OR_END", Looking())
    article("<p>" + "The price<sup>1</sup> of water " * 300 + "</p>")
    assert len(looked) == 300
    assert sum(looked) <= 300 * 20


def test_a_picture_at_the_edge_of_a_text_is_no_part_of_a_sentence() -> None:
    text = article(
        "<p><img src=a.png alt='Hall'>The flow is low. <img src=b.png alt='Pipe'> It was high.</p>"
    )
    assert "The flow is low. It was high." in text


@pytest.mark.parametrize(
    ("quotation", "told"),
    [
        ("<blockquote><p>{}</p><footer>— Ann Example, spokeswoman</footer></blockquote>",
         "> {}\n> — Ann Example, spokeswoman"),
        ("<blockquote><p>{}</p><cite>Ann Example</cite></blockquote>", "> {}\n> — Ann Example"),
        ("<blockquote>{} <cite>Ann Example</cite></blockquote>", "> {}\n> — Ann Example"),
        ("<blockquote><p>{} <cite>Ann Example</cite></p></blockquote>", "> {}\n> — Ann Example"),
        ("<figure><blockquote><p>{}</p></blockquote><figcaption>Ann Example</figcaption></figure>",
         "> {}\n> — Ann Example"),
        ("<figure class=quote><blockquote>{}</blockquote><figcaption>– Ann Example, <cite>A Book</cite></figcaption>"  # noqa: E501
         "</figure>", "> {}\n> — Ann Example, A Book"),
        ("<blockquote><p>{}</p></blockquote><p>— Ann Example</p>", "> {}\n> — Ann Example"),
        ("<blockquote>{}</blockquote>", "> {}"),
        ("<blockquote><p>{}</p><p>It is so.</p></blockquote>", "> {}\n>\n> It is so."),
        ("<blockquote><blockquote>{}</blockquote>He lied.</blockquote>", "> > {}\n>\n> He lied."),
        ("<div class=quote>{}</div>", "> {}"),
    ],
)  # fmt: skip
def test_a_quotation_keeps_its_marks_and_its_speaker(quotation: str, told: str) -> None:
    said = "The works will be closed before the winter of 2027, and the pumps will be sold."
    text = article(f"<p>The town decided.</p>{quotation.format(said)}<p>The council did not comment.</p>")
    assert f"The town decided.\n\n{told.format(said)}\n\nThe council did not comment." in text


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        ("Ann said that <q>the works close</q> and left.", "Ann said that “the works close” and left."),
        ("<q>The works close.</q>", "“The works close.”"),
        ("<q>They say <q>no</q> to it.</q>", "“They say ‘no’ to it.”"),
        ("“They say <q>no</q> to it.”", "“They say ‘no’ to it.”"),
        ("<q>„No”</q>, he said.", "„No”, he said."),
        ("He reads <cite>The Book</cite> now.", "He reads The Book now."),
    ],
)
def test_quoted_words_in_a_line_keep_their_marks(inside: str, told: str) -> None:
    assert told in article(f"<p>{inside}</p>")


def test_signs_of_code_and_sums_stay_as_they_are() -> None:
    text = article(
        "<p>Write <code>List&lt;String&gt;</code> and a &lt; b &amp;&amp; c; as in 2*3*4 and snake_case_name.</p>"  # noqa: E501
    )
    assert "Write `List<String>` and a < b && c; as in 2*3*4 and snake_case_name." in text


def test_a_sentence_in_no_paragraph_is_read() -> None:
    said = "The pumps of the northern district were sold to the county in May."
    assert said in article(f"<div>{said}</div>", "<p>The session was closed at nine in the evening.</p>")


def test_menus_related_articles_and_comments_stay_out() -> None:
    text = article(
        "<ul class=related><li>Another thing that was said on that day.</li></ul>"
        "<div class=comments><p>I agree with all of it.</p></div>"
        "<ul><li><a href=/1>Read this other one</a></li><li><a href=/2>And this one</a></li></ul>",
        "<p>The session was closed at nine in the evening, as planned.</p>",
    )
    for other in ("Another thing", "I agree", "Read this", "Home", "Imprint"):
        assert other not in text


def test_a_sentence_with_a_hole_is_not_offered() -> None:
    text = article("<p>The flow through the old pipe is <img src=q.png>, as the works said in May.</p>")
    offered = [one.text for one in quotable(text, "en")]
    assert any("repair of pump 5" in one for one in offered)
    assert not any("flow through" in one for one in offered)


_COLUMN = f"<h2>Water</h2><p>{SENTENCE}</p><p>The pump was repaired for 300 euros.</p>"


@pytest.mark.parametrize(
    "cell",
    [_COLUMN, f"<table><tr><td>{_COLUMN}</td></tr></table>", f"<div>{_COLUMN}</div>"],
)  # fmt: skip
def test_a_cell_that_is_a_column_of_a_page_is_read_as_its_text(cell: str) -> None:
    text = text_of(
        f"<html><body><table><tr><td><a href=/>Home</a></td><td>{cell}</td></tr></table></body></html>"
    )
    assert "\n\nThe pump was repaired for 300 euros." in text
    assert [one.text for one in quotable(text, "en")] == [
        SENTENCE.strip(),
        "The pump was repaired for 300 euros.",
    ]


UNSCRIPTED = f"<noscript>{TEXT}</noscript>"


def test_what_stands_in_for_scripts_is_read_where_it_is_the_page() -> None:
    shell = "<html><body><nav>Home</nav><div id=app>{}</div>{}</body></html>"
    assert text_of(shell.format("", UNSCRIPTED)).count("the repair of pump 3") == 1
    short = f"<noscript><p>{SENTENCE}</p><p>It came to an end at nine.</p><p>{ITEMS[0] * 4}</p></noscript>"
    assert SENTENCE.strip() in [one.text for one in quotable(text_of(shell.format("", short)), "en")]
    assert (
        text_of(shell.format(TEXT + TEXT.replace("pump", "well"), UNSCRIPTED)).count("repair of pump 3") == 1
    )
    assert "JavaScript" not in text_of(shell.format(TEXT, "<noscript>Please turn on JavaScript.</noscript>"))


def test_what_stands_in_for_scripts_and_is_not_read_is_told() -> None:
    shell = f"<html><body><main><h1>Water</h1>{TEXT}{TEXT.replace('pump', 'well')}</main>{{}}</body></html>"
    mills = "".join(f"<p>In its cellar mill {n} keeps flour that nobody has sold.</p>" for n in range(9))
    for inside, told in ((mills, True), (TEXT, False)):
        html = shell.format(f"<noscript>{inside}</noscript>").encode()
        page = read_html(html, url="https://example.org/a", content_type="text/html; charset=utf-8")
        assert "mill" not in page.text
        assert page.coverage is not None
        assert any("mill 3" in one for one in page.coverage.left_out) is told


@pytest.mark.parametrize("tag", ["amp-ad", "amp-sticky-ad", "amp-embed"])
def test_what_a_page_marks_as_an_advert_by_its_tag_is_no_text(tag: str) -> None:
    advert = f"<{tag}>Buy two pumps for 90 euros at the shop in the valley today.</{tag}>"
    told = text_of(f"<html amp><body><article>{TEXT}{advert}<p>{ITEMS[0]}</p></article></body></html>")
    assert "Buy two" not in told
    assert ITEMS[0] in told
