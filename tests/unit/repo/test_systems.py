"""The systems' declarations: all they name is there, no name is given twice, and reading them is light."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi import APIRouter

from actors.platform import systems
from actors.platform.runtime.workflow_graph import load_graph
from actors.platform.system import System, load_named
from models.errors import ConfigInvalid
from models.runtime.workflow_kinds import WorkflowKind

ROOT = Path(__file__).resolve().parents[3]
ONE = System(
    name="one",
    roles={"scribe": ("nowhere:Scribe", lambda config, directory: {})},
    kinds=(WorkflowKind(name="march", graph="nowhere:MARCH", word="march"),),
    tools=("actors.platform.tools.articles:get_article",),
    routers=("serve.routes.health:router",),
)


def test_all_that_they_name_is_there() -> None:
    for name, kind in systems.kinds().items():
        assert (name, bool(load_graph(kind.graph).gates)) == (kind.name, bool(kind.approvals))
    for path, _ in systems.roles().values():
        assert isinstance(load_named(path), type)
    assert len(systems.tools()) == len({tool.name for tool in systems.tools()})
    assert all(isinstance(router, APIRouter) for router in systems.routers())


def test_runners_take_first_what_people_wait_for() -> None:
    """What batches begin comes after all else."""
    batches = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "pipelines").glob("*.py"))
    of_batches = [f'kind="{name}"' in batches for name in systems.graphs()]
    assert any(of_batches)
    assert of_batches == sorted(of_batches)


def test_every_function_of_the_tools_is_declared() -> None:
    """Whoever writes a tool and forgets its line is told."""
    declared = {path for system in systems.declared() for path in system.tools}
    for file in sorted((ROOT / "actors").rglob("*.py")):
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for name in re.findall(r"^@tool\([^@]*?^async def (\w+)", file.read_text("utf-8"), re.MULTILINE):
            assert f"{module}:{name}" in declared


@pytest.mark.parametrize(
    ("two", "ask", "told"),
    [
        (System(name="one"), systems.roles, "the system 'one'"),
        (System(name="two", roles=ONE.roles), systems.roles, "the agent's role 'scribe'"),
        (System(name="two", kinds=ONE.kinds), systems.graphs, "the workflow kind 'march'"),
        (System(name="two", tools=ONE.tools), systems.tools, "the tool 'get_article'"),
        (System(name="two", routers=ONE.routers), systems.routers, "the router 'serve.routes.health:router'"),
    ],
)
def test_a_name_given_twice_is_refused_with_both_systems(
    two: System, ask: Callable[[], object], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "TWO", two, raising=False)
    monkeypatch.setattr(systems, "SYSTEMS", (f"{__name__}:ONE", f"{__name__}:TWO"))
    with pytest.raises(ConfigInvalid) as refused:
        ask()
    assert str(refused.value).startswith(f"{told} is given twice, by the systems ")


def test_reading_them_is_light() -> None:
    """Commands and replicas ask for them: what agents and graphs need is not loaded for that."""
    heavy = ["ray", "langgraph", "openai", "torch", "sqlalchemy", "faiss", "numpy", "fastapi"]
    code = (
        "import sys; from actors.platform import systems; systems.roles(); systems.kinds(); "
        f"print([each for each in {heavy} if each in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert out.stdout.strip() == "[]", out.stderr
