"""Text that others wrote, on a terminal: nothing in it can steer the terminal or hide."""

from models.visible import with_spaces_told, without_hidden


def plain(text: str) -> str:
    r"""The text with line ends and tabs, and all else that is no visible character written out.

    So are escape sequences (`\x1b[2J`), marks that turn the direction of writing, spaces that are not the
    common one, and what hides behind a letter; joiners stay where a script or an emoji is written with them.
    """
    return with_spaces_told(without_hidden(text, _written_out), _written_out).replace("\r", "\\r")


def one_line(text: str) -> str:
    """The same for what belongs on one line: line ends and tabs are written out too."""
    return plain(text).replace("\n", "\\n").replace("\t", "\\t")


def last_line(told: object) -> str:
    """The last line of what a program or an error said that is not empty: of a trace, the reason."""
    lines = [line.strip() for line in str(told).splitlines() if line.strip()]
    return lines[-1] if lines else "it gave no reason"


def _written_out(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
