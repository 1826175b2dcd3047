"""Fonts whose letters are read as others than are painted."""

import io
from typing import Any

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject, NumberObject

from tests.fakes.outside.pdfs import assemble
from tests.unit.outside.test_pdf import reading
from tests.unit.outside.test_pdf_layout import HOLE, put

SAID = "The school was built in 1962."


def read_as(
    *ranges: str, differences: tuple[Any, ...] = (), font_file: bool = False, said: str = SAID
) -> str:
    """What is read of a page whose font has a map to Unicode: `31 39 0030` for a range of it."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(assemble([put((50, 700, said))]))))
    font = writer.pages[0]["/Resources"]["/Font"]["/F1"].get_object()  # type: ignore[index]
    told = "\n".join(f"1 beginbfrange <{first}> <{last}> <{into}> endbfrange"
                     for first, last, into in map(str.split, ("20 7e 0020", *ranges)))  # fmt: skip
    stream = DecodedStreamObject()
    stream.set_data(f"begincmap 1 begincodespacerange <00> <ff> endcodespacerange {told} endcmap".encode())
    font[NameObject("/ToUnicode")] = writer._add_object(stream)
    if differences:
        names = ArrayObject(
            NameObject(one) if isinstance(one, str) else NumberObject(one) for one in differences
        )
        font[NameObject("/Encoding")] = DictionaryObject(
            {NameObject("/BaseEncoding"): NameObject("/WinAnsiEncoding"), NameObject("/Differences"): names}
        )
    if font_file:
        file = DecodedStreamObject()
        font[NameObject("/FontDescriptor")] = DictionaryObject(
            {NameObject("/FontFile"): writer._add_object(file), NameObject("/Flags"): NumberObject(32)}
        )
    out = io.BytesIO()
    writer.write(out)
    return str(reading(out.getvalue())["texts"][0][1])


def test_figures_that_are_read_as_others_are_holes() -> None:
    assert read_as("31 39 0030") == f"The school was built in {HOLE * 4}."
    assert read_as("39 39 0030") == f"The school was built in 1{HOLE}62."


@pytest.mark.parametrize(
    "ranges",
    [(), ("31 39 0031",), ("2e 2e 2024",), ("54 54 0074",), ("31 ffff 0031",)],
    ids=["the same", "twice", "another full stop", "small letters", "endless"],
)
def test_letters_that_are_read_as_they_are_painted_stay(ranges: tuple[str, ...]) -> None:
    told = read_as(*ranges)
    assert told.casefold().removesuffix("\u2024").removesuffix(".") == SAID.casefold().removesuffix(".")


def test_the_names_of_letters_count_where_they_mean_something() -> None:
    assert read_as(differences=(0x31, "/nine")) == f"The school was built in {HOLE}962."
    assert read_as(differences=(0x31, "/g17", "/g18")) == SAID
    names = (0x30, *(f"/{name}" for name in ("A", "B", "C", "D", "E", "F", "G", "H", "I", "J")))
    assert HOLE in read_as(differences=names)
    # Names that nearly all differ are those of a program, in a font that comes along.
    assert HOLE not in read_as(differences=names, font_file=True)
    assert HOLE in read_as(
        differences=(0x30, "/zero", "/one", "/two", "/three", "/four", "/five", "/nine"), font_file=True
    )
