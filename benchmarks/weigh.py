"""How much there is to read: `make weigh`.

Counts the lines that bear code, by room, tests apart: no blank line, no comment, no docstring. Imports are
code, and so is a string that is no docstring.
"""

import ast
import io
import sys
import tokenize
from pathlib import Path

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
PRODUCT = ("cluster", "serve", "pipelines", "actors", "models")
BESIDES = ("benchmarks", "tests")
LAYOUT = {getattr(tokenize, name) for name in ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER")}


def code_lines(source: str) -> int:
    """Count the lines of `source` that bear code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return sum(1 for number, line in enumerate(source.split("\n"), 1) if number in lines and line.strip())


def room_of(module: Path) -> str:
    """Name the room of a module: a folder, of a system or of what systems stand on where it is in one."""
    parts = module.parent.parts
    if parts[0] not in {"actors", "models", "tests"}:
        return parts[0]
    return "/".join(parts[: 3 if parts[:2] in {("actors", "systems"), ("actors", "platform")} else 2])


def weigh(floors: tuple[str, ...]) -> None:
    """Print a row for each room of `floors`, and their sum."""
    rooms: dict[str, list[int]] = {}
    for path in (path for floor in floors for path in Path(floor).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for name in (room_of(path), "in all"):
            row = rooms.setdefault(name, [0, 0, 0])
            row[:] = row[0] + code_lines(source), row[1] + source.count("\n"), row[2] + 1
    for name in [*sorted(rooms.keys() - {"in all"}), "in all"]:
        sys.stdout.write(f"{name:30}" + "".join(f"{count:10,}" for count in rooms[name]) + "\n")


if __name__ == "__main__":
    for floors in (PRODUCT, BESIDES):
        sys.stdout.write(f"{'room':30}{'code':>10}{'lines':>10}{'modules':>10}\n")
        weigh(floors)
