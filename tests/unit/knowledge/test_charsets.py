"""Charsets of pages: who is believed, and what is told by bytes alone."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.knowledge.parsing.charsets import codec_of, decoded

POLISH = (
    "Zażółć gęślą jaźń. Rada Polityki Pieniężnej podniosła stopy, a inflacja w październiku "
    "wyniosła 6,5 proc., podał urząd w środę. Ceny żywności wzrosły najbardziej."
)
TEXTS = {
    "cp1250": POLISH,
    "iso-8859-2": POLISH,
    "cp1252": "Die Bundesbank erhöht die Prognose. Über größere Maßnahmen für Häuser äußerte sich niemand.",
    "cp1251": "Центральный банк повысил ключевую ставку до двадцати процентов годовых, сообщила служба.",
    "koi8-r": "Центральный банк повысил ключевую ставку до двадцати процентов годовых, сообщила служба.",
    "gb18030": "中国人民银行宣布降低存款准备金率,以支持实体经济的发展。市场普遍欢迎这一决定。",
    "big5hkscs": "中國人民銀行宣布降低存款準備金率以支持實體經濟的發展市場普遍歡迎這一決定",
    "cp932": "日本銀行は金融政策決定会合で、現行の大規模な金融緩和策を維持することを決めた。",
    "euc_jp": "日本銀行は金融政策決定会合で、現行の大規模な金融緩和策を維持することを決めた。",
    "cp949": "한국은행은 기준금리를 동결하기로 결정했다고 밝혔다. 물가 상승률이 둔화되고 있다.",
}
LABELS = {
    "cp1250": "windows-1250",
    "cp1252": "iso-8859-1",
    "cp1251": "windows-1251",
    "gb18030": "gb2312",
    "big5hkscs": "big5",
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "cp949": "euc-kr",
}


def page(text: str, meta: str = "") -> str:
    return f"<html><head>{meta}<title>x</title></head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize("codec", TEXTS)
def test_a_page_is_read_by_its_header_its_meta_or_its_bytes(codec: str) -> None:
    label = LABELS.get(codec, codec)
    plain = page(TEXTS[codec])
    assert decoded(plain.encode(codec), f"text/html; charset={label}") == plain
    assert decoded(plain.encode(codec), None) == plain
    for meta in (
        f"<meta charset={label}>",
        f'<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={label}">',
    ):
        html = page(TEXTS[codec], meta)
        assert decoded(html.encode(codec), "text/html") == html


def test_the_mark_beats_the_header_and_the_header_beats_the_meta() -> None:
    html = page(POLISH, "<meta charset=iso-8859-2>")
    for codec, mark in (
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
    ):
        assert decoded(mark + html.encode(codec), "text/html; charset=windows-1250") == html
    assert decoded(html.encode("cp1250"), "text/html;charset=Windows-1250") == html


def test_a_header_that_the_page_itself_contradicts_is_not_believed() -> None:
    html = page(POLISH, "<meta charset=utf-8>")
    assert decoded(html.encode(), "text/html; charset=ISO-8859-1") == html
    html = page(POLISH, "<meta charset=iso-8859-2>")
    assert decoded(html.encode("iso-8859-2"), "text/html; charset=utf-8") == html


def test_one_foreign_byte_does_not_change_the_charset() -> None:
    body = page(POLISH * 3).encode() + b"<p>\xb1</p>"
    assert "Zażółć gęślą jaźń" in decoded(body, "text/html; charset=utf-8")


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        *(
            ("latin1", "cp1252"),
            (" ISO-8859-1\n", "cp1252"),
            ("us-ascii", "cp1252"),
            ("latin2", "iso-8859-2"),
        ),
        *(
            ("iso8859-15", "iso-8859-15"),
            ("gbk", "gb18030"),
            ("x-sjis", "cp932"),
            ("ks_c_5601-1987", "cp949"),
        ),
        *(("utf8", "utf-8"), ("iso-8859-9", "cp1254"), ("koi8-ru", "koi8-u"), ("iso-8859-11", "cp874")),
        *(("utf-7", None), ("rot13", None), ("", None), ("hex", None), ("iso-2022-kr", None)),
    ],
)
def test_labels_are_the_encoding_standards(label: str, codec: str | None) -> None:
    found = codec_of(label)
    assert (found and codecs.lookup(found).name) == (codec and codecs.lookup(codec).name)


def test_gb18030_has_the_euro_of_gbk() -> None:
    assert "价格€5" in decoded("<p>价格".encode("gbk") + b"\x805</p>", "text/html; charset=gbk")


@given(
    st.binary(max_size=300), st.sampled_from([None, "text/html", "text/html; charset=gbk", "x;charset=utf-8"])
)
def test_whatever_comes_is_decoded(body: bytes, content_type: str | None) -> None:
    assert isinstance(decoded(body, content_type), str)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\ufeff"), max_size=200))
def test_utf_8_is_told_by_its_bytes(text: str) -> None:
    html = page(text.replace("charset", "").replace("<", ""))
    assert decoded(html.encode(), None) == html
