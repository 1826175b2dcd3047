"""What is kept of a page is text that can be kept, whatever kind of page it was."""

import time

from actors.systems.knowledge.parsing.charsets import decoded
from actors.systems.knowledge.parsing.page_reading import read_html_page, read_plain_page, read_text_page
from models.knowledge.pages import PageText
from models.text import unstorable

URL = "https://example.com/a"


def test_no_text_holds_what_the_database_refuses() -> None:
    late = b"The mill turns.\n" * 400 + b"And\0 rests.\n"
    reading = read_plain_page(late, "text/plain", (), None)
    assert reading.text.startswith("The mill turns.\nThe mill")
    assert unstorable(reading.text) is None
    said = PageText(
        text="a\0b\ud800", title="t\0t", author="\0", date=None, language="en", links=("https://x.pl/\0",)
    )
    page = read_text_page(said, (), None).page
    assert page is not None
    for value in (page.text, page.title, page.author, *page.links):
        assert unstorable(value or "") is None


def test_what_a_page_says_of_itself_is_storable_too() -> None:
    body = (
        "<title>A&#0; title&#xD800;</title><meta name=author content='J&#0;'><a href='/x&#0;y'>x</a>"
        "<article><p>" + "The mill turns when the river is high. " * 20
    )
    page = read_html_page(body.encode(), URL, "text/html", (), None).page
    assert page is not None
    for value in (page.text, page.title, page.author, *page.links):
        assert unstorable(value or "") is None


def test_lone_euro_signs_in_a_chinese_page_take_linear_time() -> None:
    chinese = "中国人民银行宣布降低存款准备金率".encode("gb18030")
    body = b"\x80 1 " + chinese + b"\x80\x81 9\xff\x80"
    assert decoded(body, "text/plain; charset=gbk") == "€ 1 中国人民银行宣布降低存款准备金率€\ufffd 9\ufffd€"
    begun = time.process_time()
    text = decoded((chinese * 4 + b"\x80") * 70_000, "text/plain; charset=gbk")
    assert text.count("€") == 70_000
    assert time.process_time() - begun < 3
