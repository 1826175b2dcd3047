"""Text that others wrote, on a terminal: nothing in it can steer the terminal or hide."""

import unicodedata


def plain(text: str) -> str:
    r"""The text with line ends and tabs, and all else that is no visible character written out.

    So are escape sequences (`\x1b[2J`), marks that turn the direction of writing, and lone surrogates.
    """
    return "".join(char if char in "\n\t" else _visible(char) for char in text)


def one_line(text: str) -> str:
    """The same for what belongs on one line: line ends and tabs are written out too."""
    return "".join(_visible(char) for char in text)


def last_line(told: object) -> str:
    """The last line of what a program or an error said that is not empty: of a trace, the reason."""
    lines = [line.strip() for line in str(told).splitlines() if line.strip()]
    return lines[-1] if lines else "it gave no reason"


def _visible(char: str) -> str:
    if char.isprintable() or unicodedata.category(char) == "Zs":
        return char
    return char.encode("unicode_escape").decode("ascii")
