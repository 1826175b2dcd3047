"""A class name means one thing in the whole tree, and no private one is a public one's twin."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from actors.platform.systems import kinds

_PACKAGES = ("actors", "cluster", "models", "pipelines", "serve")
_ROOT = Path(__file__).parents[3]

# LangGraph's word: each graph has one, and none is imported by another.
_GRAPHS_OWN = "State"
# Names that stand for two things, and why.
_ALLOWED = {
    # The schema's name as the model that routes is told it, and the name in OpenAPI of OpenAI's own.
    "Choice": {"actors/systems/chat/routing/router.py", "serve/openai/wire.py"},
    # A schema's name in OpenAPI: our own record's, and that of OpenAI's API.
    "Message": {"models/chat/conversations.py", "serve/openai/request.py"},
    # A schema's name in OpenAPI, and what an agent replies with.
    "Reply": {"actors/systems/chat/turn/reply.py", "serve/openai/wire.py"},
}


def classes_in(root: Path, packages: tuple[str, ...]) -> dict[str, list[str]]:
    """Where each class of a module's top level is defined, by its name."""
    found: dict[str, list[str]] = defaultdict(list)
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(path.relative_to(root).as_posix())
    return found


def twice(root: Path, packages: tuple[str, ...]) -> dict[str, set[str]]:
    """The public names that are defined more than once."""
    found = classes_in(root, packages)
    return {name: set(paths) for name, paths in found.items() if name[0] != "_" and len(paths) > 1}


def twins(root: Path, packages: tuple[str, ...]) -> set[str]:
    """The private names of which there is a public one, too."""
    found = classes_in(root, packages)
    return {name for name in found if name[0] == "_" and name.lstrip("_") in found}


def test_a_class_name_means_one_thing() -> None:
    more = twice(_ROOT, _PACKAGES)
    graphs = {kind.graph.partition(":")[0].replace(".", "/") + ".py" for kind in kinds().values()}
    assert more.pop(_GRAPHS_OWN) <= graphs
    assert more == _ALLOWED
    assert twins(_ROOT, _PACKAGES) == set()


@pytest.mark.parametrize(("name", "found"), [("Source", {"Source": {"a/x.py", "b/y.py"}}), ("_Own", {})])
def test_the_look_finds_what_is_there_twice(name: str, found: dict[str, set[str]], tmp_path: Path) -> None:
    for module in ("a/x.py", "b/y.py"):
        (tmp_path / module).parent.mkdir()
        (tmp_path / module).write_text(f"class {name}:\n    pass\n")
    assert twice(tmp_path, ("a", "b")) == found


def test_a_private_twin_is_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.py").write_text("class Source:\n    pass\n\n\nclass _Source:\n    pass\n")
    assert twins(tmp_path, ("a",)) == {"_Source"}
