"""The dashboards: whole, without hosts or secrets, and each of their expressions asks for what there is."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.promql.naming import check, there_are
from tests.promql.parsing import parse

FOLDER = Path(__file__).resolve().parents[3] / "configs/deploy/grafana"
FILES = sorted(FOLDER.glob("*.json"))
BOARDS: list[dict[str, Any]] = [json.loads(file.read_text(encoding="utf-8")) for file in FILES]
# Whichever Prometheus is chosen above the panels: no site's own is written into the file.
CHOSEN = {"type": "prometheus", "uid": "${datasource}"}
UNITS = {"short", "s", "ops", "reqps", "percentunit"}
boards = pytest.mark.parametrize("board", BOARDS, ids=[file.stem for file in FILES])


def panels(board: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that show something."""
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def test_there_is_one_for_the_site_one_for_approvals_and_one_for_research() -> None:
    assert [file.stem for file in FILES] == ["approvals", "research", "site"]
    assert len({board["uid"] for board in BOARDS}) == len(BOARDS)
    assert all(re.fullmatch(r"signoff-[a-z]+", board["uid"]) for board in BOARDS)


@boards
def test_it_is_what_grafana_11_reads(board: dict[str, Any]) -> None:
    assert board["schemaVersion"] >= 39
    assert "id" not in board, "an id is of one Grafana's database"
    assert "__inputs" not in board, "is for imports by hand, and refused by provisioning"
    [variable] = board["templating"]["list"]
    assert (variable["name"], variable["type"], variable["query"]) == (
        "datasource", "datasource", "prometheus",
    )  # fmt: skip
    ids = [panel["id"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in panels(board):
        assert panel["type"] in ("timeseries", "stat", "bargauge")
        assert panel["title"]
        assert panel["datasource"] == CHOSEN
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
        refs = [target["refId"] for target in panel["targets"]]
        assert refs
        assert len(set(refs)) == len(refs)
        assert all(target["datasource"] == CHOSEN for target in panel["targets"])


@boards
def test_panels_lie_side_by_side(board: dict[str, Any]) -> None:
    places = [panel["gridPos"] for panel in board["panels"]]
    assert all(place["x"] >= 0 and place["x"] + place["w"] <= 24 for place in places)
    for one, other in combinations(places, 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart, (one, other)


@boards
def test_no_host_and_no_secret_is_in_it(board: dict[str, Any]) -> None:
    text = json.dumps(board)
    assert "://" not in text
    assert re.search(r"\b\d+\.\d+\.\d+\.\d+\b|localhost|password|token=|bearer", text, re.IGNORECASE) is None


@boards
def test_each_expression_asks_for_what_there_is_and_its_legend_for_labels_that_it_has(
    board: dict[str, Any],
) -> None:
    for panel in panels(board):
        for target in panel["targets"]:
            expression = target["expr"].replace("$__rate_interval", "5m")
            labels = check(parse(expression), there_are())
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= labels, panel["title"]
            assert "{{" not in re.sub(r"\{\{\w+\}\}", "", target["legendFormat"])


@boards
def test_a_share_is_told_in_parts_of_one_and_a_time_in_seconds(board: dict[str, Any]) -> None:
    for panel in panels(board):
        unit = panel["fieldConfig"]["defaults"]["unit"]
        for target in panel["targets"]:
            of_time = (
                "_bucket" in target["expr"] or re.search(r"\w_seconds\b(?!_)", target["expr"]) is not None
            )
            assert (unit == "s") == of_time, panel["title"]
