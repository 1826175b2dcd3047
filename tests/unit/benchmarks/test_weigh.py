"""What `make weigh` counts."""

from pathlib import Path

from benchmarks.weigh import code_lines, room_of

SOURCE = '''"""A module's docstring,
over two lines."""

import os  # counted, the comment is not the reason


# a comment
class Shelf:
    """A class's docstring."""

    HEADING = """counted,

    but for the blank line in it"""

    def path(
        self,
    ) -> str:
        """A verb's docstring."""
        return os.sep
'''


def test_code_is_counted_without_blank_lines_comments_and_docstrings() -> None:
    assert code_lines(SOURCE) == len(["import", "class", "HEADING", "in it", "def", "self", ")", "return"])


def test_rooms_are_folders_of_their_floor() -> None:
    rooms = {
        "serve/routes/chat.py": "serve",
        "models/store/schema/tables.py": "models/store",
        "actors/logs.py": "actors",
        "actors/systems/chat/turn/reply.py": "actors/systems/chat",
        "tests/unit/repo/test_docs.py": "tests/unit",
    }
    assert {module: room_of(Path(module)) for module in rooms} == rooms
