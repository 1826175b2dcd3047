"""Bytes of a page into text: what its charset is, by its mark, its server, itself, or its bytes.

`main_text` and `page_reading` call it, in the readers of pages. Labels are the WHATWG Encoding Standard's:
`latin1` means windows-1252, and `gb2312` gb18030. Who says what is followed in that order, unless the bytes
plainly say otherwise.
"""

import codecs
import re

from charset_normalizer import from_bytes

from actors.platform.text.text_language import language_of_text

# Labels of the standard's encodings (§4.2), by what Python calls the encoding.
_LABELS: dict[str, str] = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "ibm866": "866 cp866 csibm866 ibm866",
    "iso-8859-2": "csisolatin2 iso-ir-101 iso_8859-2:1987 l2 latin2",
    "iso-8859-3": "csisolatin3 iso-ir-109 iso_8859-3:1988 l3 latin3",
    "iso-8859-4": "csisolatin4 iso-ir-110 iso_8859-4:1988 l4 latin4",
    "iso-8859-5": "csisolatincyrillic cyrillic iso-ir-144 iso_8859-5:1988",
    "iso-8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e "
    "iso-8859-6-i iso-ir-127 iso_8859-6:1987",
    "iso-8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso_8859-7:1987 sun_eu_greek",
    "iso-8859-8": "csiso88598e csiso88598i csisolatinhebrew hebrew iso-8859-8-e iso-8859-8-i iso-ir-138 "
    "iso_8859-8:1988 logical visual",
    "iso-8859-10": "csisolatin6 iso-ir-157 l6 latin6",
    "iso-8859-13": "",
    "iso-8859-14": "",
    "iso-8859-15": "csisolatin9 l9",
    "iso-8859-16": "",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac_roman": "csmacintosh mac macintosh x-mac-roman",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
    "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 "
    "latin5 windows-1254 x-cp1254",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "mac_cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb18030 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022_jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
    "windows-949",
    "utf-16-be": "unicodefffe utf-16be",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
}
_BY_LABEL = {label: codec for codec, labels in _LABELS.items() for label in labels.split()} | {
    f"{spelled}{part}": f"iso-8859-{part}"
    for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)
    for spelled in ("iso-8859-", "iso8859-", "iso8859", "iso_8859-")
    if not (spelled == "iso_8859-" and part in (10, 13, 14, 16))
}
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le"))
_IN_HEADER = re.compile(r"""(?:;|^)[ \t]*charset[ \t]*=[ \t]*["']?([^\s;,"']+)""", re.IGNORECASE)
# Browsers look at the first 1,024 bytes; pages that say it later are read wrongly by them, and rightly here.
_PRESCAN = 4096
_META = re.compile(r"<meta[\s/]([^<>]{0,1000})", re.IGNORECASE)
_IN_META = re.compile(
    r"""(?:^|[\s"';/])charset\s{0,20}=\s{0,20}["']?\s{0,20}([^\s;"'/>]{1,100})""", re.IGNORECASE
)
_IN_XML = re.compile(r"""\A\s*<\?xml\s[^<>]{0,200}\sencoding\s*=\s*["']([^"'<>]+)""", re.IGNORECASE)
_LANGUAGE = re.compile(r"""<html\s[^<>]{0,1000}?\blang\s*=\s*["']?([a-z]{2})\b""", re.IGNORECASE)
# Characters of gb18030, four bytes, two or one; a first byte without its second stands for itself.
# Possessive, and to the end where there is no 0x80 any more: each byte is looked at once.
_TO_LONE_80 = re.compile(
    rb"((?:[\x00-\x7f\xff]|[\x81-\xfe](?:[0-9][\x81-\xfe][0-9]|[\x40-\x7e\x80-\xfe])?)*+)(\x80|\Z)", re.DOTALL
)
_EURO = "€".encode("gb18030")
# For bytes that nobody says anything of: how much of them is looked at, where they are not ASCII.
_SAMPLE, _AROUND = 30_000, 40
_HIGH = re.compile(rb"[\x80-\xff]")
_CONTROLS = re.compile(rb"[\x80-\x9f]")
_MARKUP = re.compile(rb"<[^<>]{0,2000}>")
# Languages that are written in Central European encodings, and encodings that detectors take for each other.
_CENTRAL = frozenset(("pl", "cs", "sk", "hu", "sl", "hr", "ro", "bs"))
_LATIN = frozenset(("cp1250", "cp1252", "cp1254", "cp1257", "iso8859_2"))
_DETECTABLE = [
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "iso8859_2", "koi8_r"),
    *("gb18030", "big5", "euc_jp", "cp932", "cp949"),
]


def codec_of(label: str) -> str | None:
    """What Python calls the encoding of a label; None where the standard has none, or one it forbids."""
    return _BY_LABEL.get(label.strip("\t\n\f\r ").lower())


def decoded(body: bytes, content_type: str | None) -> str:
    """The text of a page's bytes, without a byte order mark; U+FFFD stands for what can't be decoded.

    Source: WHATWG HTML §13.2.3 (determining the character encoding), with three departures: an UTF-8 that a
    page declares and keeps to beats its server's label; a declared encoding in which much of what is not
    ASCII can't be decoded is not believed; and what nobody declares is told by its bytes.
    """
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, "replace")
    beginning = body[:_PRESCAN].decode("latin-1")
    own = _declared_in(beginning)
    if own == "utf-8" and (text := _strictly(body, "utf-8")) is not None:
        return text
    for said in (_declared_by_server(content_type), own):
        if said is not None and _fits(declared := _decode(body, said)):
            return declared
    if (valid := _strictly(body, "utf-8")) is not None:
        return valid
    return _decode(body, _detected(body, beginning))


def _declared_by_server(content_type: str | None) -> str | None:
    found = _IN_HEADER.search((content_type or "")[:1000])
    return codec_of(found[1]) if found else None


def _declared_in(beginning: str) -> str | None:
    """What the page says of itself. Whoever can read it as ASCII can't be UTF-16, whatever it says."""
    labels = [found[1]] if (found := _IN_XML.match(beginning)) else []
    for meta in _META.finditer(_without_comments(beginning)):
        if found := _IN_META.search(meta[1]):
            labels.append(found[1])
    for label in labels:
        if (codec := codec_of(label)) is not None:
            return "utf-8" if codec.startswith("utf-16") else codec
    return None


def _without_comments(beginning: str) -> str:
    kept: list[str] = []
    for part in beginning.split("<!--"):
        _, closed, after = part.rpartition("-->") if kept else ("", "", part)
        kept.append(after if closed or not kept else "")
    return "".join(kept)


def _strictly(body: bytes, codec: str) -> str | None:
    try:
        return body.decode(codec)
    except UnicodeDecodeError:
        return None


def _decode(body: bytes, codec: str) -> str:
    if codec == "gb18030":  # the standard's decoder has the euro sign at 0x80, as GBK has it
        body = body if b"\x80" not in body else _with_euro(body)
    return body.decode(codec, "replace")


def _with_euro(body: bytes) -> bytes:
    """The bytes with a lone 0x80 spelled as gb18030 does; as they are, where they decode so."""
    if _strictly(body, "gb18030") is not None:
        return body
    return _TO_LONE_80.sub(lambda found: found[1] + (_EURO if found[2] else b""), body)


def _fits(text: str) -> bool:
    """Whether little of what is not ASCII was lost: a page may be cut off, or hold a foreign byte."""
    lost = text.count("�")
    return not lost or 10 * lost <= len(text.encode(errors="replace")) - len(text)


def _detected(body: bytes, beginning: str) -> str:
    """The encoding of bytes that are no UTF-8 and of which nothing is known."""
    text = _MARKUP.sub(b" ", body[: 20 * _SAMPLE])
    sample = _sample(text)
    best = from_bytes(sample, cp_isolation=_DETECTABLE).best() if sample else None
    if best is None or best.encoding in _LATIN:
        found = _LANGUAGE.search(beginning)
        # Read as the wrong one of them, a text still has most of its letters, and its language.
        language = found[1].lower() if found else language_of_text(text.decode("cp1250", "ignore"))
        return _central(sample, language) if language in _CENTRAL else "cp1252"
    return {"big5": "big5hkscs"}.get(best.encoding, best.encoding)


def _central(sample: bytes, language: str | None) -> str:
    """Which of the two that hold Central European letters: most of these stand in both at the same bytes."""
    if _CONTROLS.search(sample):  # in the one there are letters and quotation marks, in the other nothing
        return "cp1250"
    if language == "pl":  # ą
        return "cp1250" if sample.count(b"\xb9") > sample.count(b"\xb1") else "iso-8859-2"
    return "iso-8859-2"


def _sample(text: bytes) -> bytes:
    """The stretches around what is not ASCII: the rest says nothing, and costs time."""
    parts: list[bytes] = []
    size = end = 0
    for found in _HIGH.finditer(text):
        if found.start() < end:
            continue
        start, end = max(found.start() - _AROUND, end), found.start() + _AROUND
        parts.append(text[start:end])
        size += end - start
        if size > _SAMPLE:
            break
    return b"".join(parts)
