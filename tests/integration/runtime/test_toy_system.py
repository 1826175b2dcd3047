"""A system of one's own is what docs/map.md says: its modules, and one line in the list of systems.

The modules are those of the page, at the places that it gives. Only Ray is left out: its agent lives in this
process.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import actors.systems
from actors.platform import systems
from models.config import Config
from models.errors import ConfigInvalid
from models.store.database import Database
from tests.integration.chat.sites.agents_site import LocalDirectory
from tests.integration.rest import client, served
from tests.integration.workflows import ended, running

ROOT = Path(__file__).resolve().parents[3]
MODULE = re.compile(r"^```python\n# (actors/systems/toys/\w+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r'"(actors\.systems\.toys[\w.]*:SYSTEM)"')


def told() -> tuple[dict[str, str], str]:
    """The page's modules by their paths, and its line for the list."""
    page = (ROOT / "docs/map.md").read_text(encoding="utf-8")
    [line], modules = LINE.findall(page), dict(MODULE.findall(page))
    assert len(modules) == page.count("```python"), "each of the page's modules says where it goes"
    return modules, line


@pytest.fixture
def _toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What the page says is done. The folder lies elsewhere, and is found where the page has it."""
    modules, line = told()
    for path, text in modules.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    monkeypatch.setattr(
        actors.systems, "__path__", [*actors.systems.__path__, str(tmp_path / "actors/systems")]
    )
    monkeypatch.setattr(systems, "SYSTEMS", (line, *systems.SYSTEMS))
    yield
    for name in [name for name in sys.modules if name.startswith("actors.systems.toys")]:
        del sys.modules[name]


def test_the_page_s_modules_are_written_as_ours_are() -> None:
    modules, _ = told()
    for path, text in modules.items():
        # Where it sorts imports it asks whether the folder is there.
        for check in (["format", "--check"], ["check", "--ignore=I001"]):
            ruff = [sys.executable, "-m", "ruff", *check, "--stdin-filename", path, "-"]
            done = subprocess.run(ruff, cwd=ROOT, input=text, capture_output=True, text=True)
            assert done.returncode == 0, f"{path}: {done.stdout}{done.stderr}"


@pytest.mark.usefixtures("_toys")
async def test_a_system_is_a_folder_and_a_line(
    configure: Callable[..., Config], database: Database, database_url: str
) -> None:
    config = configure()
    agents = LocalDirectory(config, database_url)
    runner = running(database, config, kinds=systems.graphs(), directory=agents)
    with served(config, database_url) as base:
        async with client(config, base, "ann", "global:editor") as ann, runner:
            [tool] = [each for each in (await ann.get("/api/tools")).json() if each["name"] == "build_toy"]
            assert tool["path"] == "/api/toys"
            begun = await ann.post(tool["path"], json={"wish": "a horse"})
            assert begun.status_code == 201, begun.text
            task_id = begun.json()["task_id"]
            await ended(database, task_id, "waiting")
            waiting = (await ann.get(f"/api/tasks/{task_id}")).json()
            assert waiting["workflow_state"]["workflow_type"] == "build a toy"
            assert waiting["workflow_state"]["approval_pending"]
            async with client(config, base, "bob", "global:editor") as bob:
                [approval] = (await bob.get("/api/approvals", params={"kind": "toy_plan"})).json()
                assert approval["title"] == "a horse of beech"
                decision = {"decision": "approve", "digest": approval["digest"]}
                path = f"/api/approvals/{approval['id']}/decision"
                refused = await ann.post(path, json=decision)
                assert refused.status_code == 403, "four eyes"
                assert (await bob.post(path, json=decision)).status_code == 200
            await ended(database, task_id, "succeeded")
            [task] = (await ann.get("/api/tasks")).json()
            assert task["result"] == {"toy": "a horse of beech", "decision": "approved"}
            assert (await ann.get(f"/api/workflows/{task_id}")).json()["kind"] == "build_toy"


@pytest.mark.usefixtures("_toys")
def test_its_agent_needs_no_settings_but_may_have_its_own(configure: Callable[..., Config]) -> None:
    assert configure().agents["toymaker"] == configure().agents["writer"]
    assert configure({"agents.toymaker.num_cpus": 0.5}).agents["toymaker"].num_cpus == 0.5
    with pytest.raises(ConfigInvalid, match=r"agents\.toymakr: is no agent's role: did you mean toymaker\?"):
        configure({"agents.toymakr.num_cpus": 0.5})
