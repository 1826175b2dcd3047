"""The suite itself (`@modelcontextprotocol/conformance` from npm), under `build/`; one scenario at a time.

`benchmarks.mcp_conformance` runs it. A scenario that asks for what is not offered here counts neither as
passed nor as failed; `not_applicable.yaml` beside this says which, and why. All the same, each message that
we send in it must be valid by the protocol's own schema.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

Side = Literal["server", "client"]
State = Literal["passed", "not applicable", "failed"]
# 0.1 speaks no version of the protocol after 2025-11-25.
VERSION = "0.2.0-alpha.12"
ERAS = ("2026-07-28", "2025-11-25")
_NODE = 22
_ROOT = Path(__file__).resolve().parents[2]
_FOLDER = _ROOT / "build" / f"mcp-conformance-{VERSION}"
_REASONS = Path(__file__).with_name("not_applicable.yaml")
_SCENARIO_SECONDS = 30
_MOST_SECONDS = 600  # of all of a server's
_WIRE = "wire-schema-valid"
# A folder of the suite's, by the scenario and the time.
_RAN = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
_LISTED = re.compile(r"^  - (\S+) \[", re.MULTILINE)


class SuiteMissing(Exception):
    """Why the suite can't run here, and the remedy."""


@dataclass(frozen=True)
class Outcome:
    """One scenario in one era. `reason` says why it is not applicable, `faults` what failed."""

    scenario: str
    passed: int
    faults: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def state(self) -> State:
        """What it counts as."""
        if self.faults:
            return "failed"
        return "passed" if self.reason is None else "not applicable"


@cache
def reasons(side: Side) -> Mapping[str, str]:
    """Why a scenario, or one check of it (`scenario:check`), does not apply."""
    found: dict[Side, dict[str, dict[str, list[str]]]] = yaml.safe_load(_REASONS.read_text(encoding="utf-8"))
    return {name: reason for reason, names in found[side].items() for name in names}


def install() -> None:
    """Install the suite, and a Node for it where there is none of its age.

    Raises:
        SuiteMissing: npm is missing, or gets nothing.
    """
    if (_FOLDER / "node_modules/.bin/conformance").exists():
        return
    npm = shutil.which("npm")
    if npm is None:
        raise SuiteMissing("npm is missing, so the suite can't be installed: on Debian, apt-get install npm")
    _FOLDER.mkdir(parents=True, exist_ok=True)
    (_FOLDER / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    wanted: list[str] = [
        f"@modelcontextprotocol/conformance@{VERSION}",
        *([] if _node_here() >= _NODE else [f"node@{_NODE}"]),
    ]
    done = subprocess.run(
        [npm, "install", "--no-fund", "--no-audit", *wanted], cwd=_FOLDER, capture_output=True, text=True
    )
    if done.returncode:
        raise SuiteMissing(f"npm could not install {' and '.join(wanted)}: {done.stderr.strip()[-500:]}")


def scenarios(side: Side, era: str) -> list[str]:
    """The scenarios of an era, extensions apart."""
    return _LISTED.findall(_run(["list", f"--{side}", "--spec-version", era]).stdout)


def of_extensions(side: Side) -> list[str]:
    """The scenarios of extensions, which a version of the protocol does not ask for."""
    listed = _run(["list", f"--{side}"]).stdout
    return re.findall(r"^  - (\S+) \[extension\]", listed, re.MULTILINE)


def run_server(era: str, url: str) -> list[Outcome]:
    """Run each scenario against a server."""
    with tempfile.TemporaryDirectory(prefix="mcp-conformance-") as folder:
        done = _run(["server", "--url", url, "--suite", "all", *_options(era, folder)])
        written = {
            found[1]: _checks(each)
            for each in Path(folder).iterdir()
            if (found := _RAN.fullmatch(each.name)) is not None
        }
    return [outcome("server", name, written.get(name), done) for name in scenarios("server", era)]


def run_client(era: str, scenario: str, command: str) -> Outcome:
    """Run a scenario against a client."""
    with tempfile.TemporaryDirectory(prefix="mcp-conformance-") as folder:
        done = _run(["client", "--command", command, "--scenario", scenario, *_options(era, folder)])
        written = [_checks(file.parent) for file in Path(folder).rglob("checks.json")]
    return outcome("client", scenario, written[0] if written else None, done)


def outcome(
    side: Side,
    scenario: str,
    checks: Sequence[Mapping[str, Any]] | None,
    done: "subprocess.CompletedProcess[str] | None" = None,
) -> Outcome:
    """What a scenario's checks come to; None where the suite wrote none down, as what it said may tell."""
    excused = reasons(side)
    reason = excused.get(scenario)
    if checks is None:
        said = (done.stdout + done.stderr).strip()[-500:] if done is not None else ""
        return Outcome(scenario, 0, (f"there are no checks of it: {said}",), reason)
    faults = [
        f"{check['id']}: {check.get('errorMessage') or check.get('description')}"
        for check in checks
        if check["status"] == "FAILURE"
        and (check["id"] == _WIRE or (reason is None and f"{scenario}:{check['id']}" not in excused))
    ]
    passed = sum(check["status"] == "SUCCESS" for check in checks)
    return Outcome(scenario, passed, tuple(faults), reason)


def _options(era: str, folder: str) -> list[str]:
    return ["--spec-version", era, "--timeout", f"{_SCENARIO_SECONDS * 1000}", "--output-dir", folder]


def _checks(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "checks.json").read_text(encoding="utf-8"))
    return found


def _node_here() -> int:
    node = shutil.which("node")
    if node is None:
        return 0
    said = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    return int(found[1]) if (found := re.match(r"v(\d+)", said)) else 0


def _run(words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run the suite's command, with the Node beside it before any other."""
    beside = _FOLDER / "node_modules/.bin"
    environment = {**os.environ, "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}"}
    command = [str(beside / "conformance"), *words]
    return subprocess.run(
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, timeout=_MOST_SECONDS
    )
