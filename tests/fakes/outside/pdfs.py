"""PDFs written by hand: pages with lines of text and ruled tables, and documents that nobody should read.

Text is Helvetica in WinAnsi. Tables are ruled, which is how `pdfplumber` finds them.
"""

import io
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from pypdf import PdfReader, PdfWriter

_LEFT, _TOP, _LINE, _CELL = 50, 780, 16, 90


@dataclass(frozen=True)
class Sheet:
    """A page: lines of text from the top, then a table."""

    lines: Sequence[str] = ()
    table: Sequence[Sequence[str]] = ()


def make_pdf(*sheets: Sheet, title: str | None = None) -> bytes:
    """A PDF of pages."""
    return assemble([_content(sheet) for sheet in sheets], title=title)


def encrypted_pdf(data: bytes, password: str) -> bytes:
    """The PDF under a password, by AES-256; an empty one opens for everybody."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.encrypt(user_password=password, owner_password="the owner's", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def bomb_pdf(megabytes: int) -> bytes:
    """A small PDF whose one page unpacks into so many megabytes."""
    packer = zlib.compressobj(9)
    block = b"(bang) Tj " * 100_000
    packed = b"".join(
        [packer.compress(b"BT /F1 12 Tf "), *(packer.compress(block) for _ in range(megabytes))]
    )
    return assemble([packed + packer.compress(b"ET") + packer.flush()], packed=True)


def assemble(contents: Sequence[bytes], *, title: str | None = None, packed: bool = False) -> bytes:
    """A PDF of pages whose content streams are given, `packed` if by zlib."""
    count = len(contents)
    kids = " ".join(f"{4 + 2 * place} 0 R" for place in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    way = b" /Filter /FlateDecode" if packed else b""
    for place, content in enumerate(contents):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * place} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        head = f"<< /Length {len(content)}".encode() + way + b" >>"
        objects.append(head + b"\nstream\n" + content + b"\nendstream")
    info = b""
    if title is not None:
        objects.append(b"<< /Title (" + _escaped(title) + b") >>")
        info = f" /Info {len(objects)} 0 R".encode()
    out = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R".encode() + info + b" >>\n"
    return bytes(out + f"startxref\n{start}\n%%EOF\n".encode())


def _escaped(text: str) -> bytes:
    raw = text.encode("cp1252")
    return raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _content(sheet: Sheet) -> bytes:
    parts = [_text(_LEFT, _TOP - _LINE * place, line) for place, line in enumerate(sheet.lines)]
    top = _TOP - _LINE * (len(sheet.lines) + 1)
    rows, columns = len(sheet.table), len(sheet.table[0]) if sheet.table else 0
    for number, row in enumerate(sheet.table):
        parts += [
            _text(_LEFT + _CELL * place + 4, top - _LINE * (number + 1) + 4, cell)
            for place, cell in enumerate(row)
        ]
    if rows:
        right, bottom = _LEFT + _CELL * columns, top - _LINE * rows
        parts += [f"{_LEFT} {y} m {right} {y} l S".encode() for y in range(bottom, top + 1, _LINE)]
        parts += [f"{x} {bottom} m {x} {top} l S".encode() for x in range(_LEFT, right + 1, _CELL)]
    return b"\n".join(parts)


def _text(x: int, y: int, text: str) -> bytes:
    return f"BT /F1 11 Tf {x} {y} Td (".encode() + _escaped(text) + b") Tj ET"
