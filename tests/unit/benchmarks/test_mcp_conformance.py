"""What scenarios of the conformance suite come to, and what is said where it can't be had."""

import re
from pathlib import Path

import pytest

from benchmarks import mcp_conformance
from benchmarks.harness.bench import Bench
from tests.conformance import suite
from tests.conformance.client import calls
from tests.conformance.suite import outcome, reasons


def check(name: str, status: str) -> dict[str, str]:
    """A check, as the suite writes it down."""
    return {"id": name, "status": status, "errorMessage": "Unknown tool: 'x'"}


def test_a_scenario_passes_unless_a_check_of_it_fails() -> None:
    passed = outcome("server", "ping", [check("ping", "SUCCESS"), check("also", "WARNING")])
    assert (passed.state, passed.passed) == ("passed", 1)
    failed = outcome("server", "ping", [check("ping", "FAILURE"), check("wire-schema-valid", "SUCCESS")])
    assert (failed.state, failed.faults) == ("failed", ("ping: Unknown tool: 'x'",))
    assert outcome("server", "ping", None).state == "failed"


def test_what_does_not_apply_is_excused_but_not_what_breaks_the_schema() -> None:
    checks = [check("tools-call-image", "FAILURE"), check("wire-schema-valid", "SUCCESS")]
    assert outcome("server", "tools-call-image", checks).state == "not applicable"
    broken = [check("tools-call-image", "FAILURE"), check("wire-schema-valid", "FAILURE")]
    assert outcome("server", "tools-call-image", broken).state == "failed"


def test_one_check_of_a_scenario_may_be_excused_by_itself() -> None:
    excused = "sep-2549-resources-list-caching-hints"
    assert outcome("server", "caching", [check(excused, "FAILURE")]).state == "passed"
    assert (
        outcome("server", "caching", [check("sep-2549-tools-list-caching-hints", "FAILURE")]).state
        == "failed"
    )


def test_each_reason_is_given_once() -> None:
    text = (Path(suite.__file__).with_name("not_applicable.yaml")).read_text(encoding="utf-8")
    for side in ("server", "client"):
        assert reasons(side)
    names = re.findall(r"^    - (\S+)", text, re.MULTILINE)
    assert len(names) == len(set(names)) == len(reasons("server")) + len(reasons("client"))


def test_without_npm_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(suite, "_FOLDER", tmp_path / "suite")
    report = mcp_conformance.measure(Bench(folder=tmp_path, postgres_url="", quick=True))
    assert report.aims == ()
    assert "npm is missing" in report.notes[0]


def test_the_client_calls_what_its_scenario_is_about() -> None:
    assert calls("initialize", {}, {}) == []
    assert calls("tools_call", {}, {}) == [("add_numbers", {"a": 5, "b": 3})]
    # Nothing that is not listed, as a tool with headers that are not valid is not.
    assert calls("http-custom-headers", {}, {"toolCalls": [{"name": "hidden"}]}) == []
