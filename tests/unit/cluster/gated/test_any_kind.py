"""A kind that the terminal has never met: shown whole, asked and decided on by what its site declares."""

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cluster.cli.gated.schemas import titled, values_given
from cluster.cli.signoff import app
from models.errors import InputInvalid
from models.record import Record
from models.runtime.approvals import content_digest
from models.runtime.gated_kinds import shown_schema
from tests.fakes.gated_api import NOW
from tests.fakes.heard_api import Asked, FileAnswer, HeardApi, Problem
from tests.integration.cluster.approval_site import NASTY
from tests.unit.cluster.gated.operations_contents import EVERY_GATE
from tests.unit.cluster.gated.research_contents import REVIEW, TREE, UNREADABLE, urls
from tests.unit.cluster.gated.site import STEERS, WAITS

PLAN = {
    "$defs": {
        "Wood": {
            "type": "object",
            "title": "Wood",
            "properties": {"tree": {"type": "string", "title": "Which tree"}},
        }
    },
    "type": "object",
    "properties": {
        "secret": {"type": "string", "title": "Mark", "x-show": "hidden"},
        "price": {"type": "number", "title": "Price", "x-show": "money"},
        "wood": {"anyOf": [{"$ref": "#/$defs/Wood"}, {"type": "null"}], "title": "Wood"},
        "parts": {
            "type": "array",
            "title": "Parts",
            "x-show": "table",
            "x-columns": ["what", "count"],
            "items": {
                "type": "object",
                "properties": {
                    "count": {"type": "integer", "title": "How many"},
                    "what": {"type": "string", "title": "What"},
                },
            },
        },
        "toy": {"type": "string", "title": "The toy", "x-show": "first"},
    },
}
CONTENT = {
    "price": 4.5,
    "secret": "m7",
    "toy": "a horse",
    "wood": {"tree": "beech"},
    "parts": [{"count": 4, "glue": True, "what": "leg"}],
    "small_print": "and the house",
}
SHOWN = """\
content     The toy: a horse
            Price: 4.5
            Wood:
              Which tree: beech
            Parts:
            - What: leg
              How many: 4
              glue: true
            Mark: m7
            small_print: and the house
"""
ANSWER = {
    "type": "object",
    "properties": {
        "task_id": {"type": "integer"},
        "digest": {"type": "string"},
        "approved": {"type": "boolean"},
        "notes": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "colours": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["task_id", "digest", "approved"],
}
ONE = {"type": "object", "properties": {"task_id": {"type": "integer"}}, "required": ["task_id"]}
WISH = {"type": "object", "properties": {"wish": {"type": "string"}, "count": {"type": "integer"}}}


def action(name: str, where: str, takes: Mapping[str, Any]) -> dict[str, Any]:
    method, path = where.split()
    title = f"{name} a toy"
    return {"name": name, "tool": name, "method": method, "path": path, "title": title, "input": takes}


KIND = {
    "name": "toys",
    "word": "toy",
    "title": "Toys",
    "number": "task_id",
    "actions": [
        action("start", "POST /api/toys", WISH),
        action("get", "GET /api/toys/{task_id}", ONE),
        action("cancel", "POST /api/toys/{task_id}/cancel", ONE),
        action("export", "GET /api/toys/{task_id}/export", ONE),
    ],
    "gates": [
        {
            "kind": "toy_plan",
            "title": "the plan of a toy",
            "content": PLAN,
            "decide": {"method": "POST", "path": "/api/toys/{task_id}/plan"},
            "answer": ANSWER,
        }
    ],
    "stages": [],
    "exports": [],
}


class ToysApi:
    """A site that knows toys, one of which waits."""

    def __init__(self) -> None:
        self.http = HeardApi(self.answer)
        self.content: dict[str, Any] = CONTENT
        self.digest: str | None = None
        self.status = "awaiting_approval"
        self.declares = True

    def gate(self) -> dict[str, Any]:
        return {
            "approval_id": "19",
            "kind": "toy_plan",
            "digest": self.digest or content_digest(self.content),
            "title": "A horse",
            "content": self.content,
            "expires_at": NOW.isoformat(),
            "may_decide": True,
        }

    def answer(self, asked: Asked) -> Any:
        match asked.method, asked.path:
            case "GET", "/api/kinds" if self.declares:
                return {"kinds": [KIND]}
            case "POST", "/api/toys":
                return {"task_id": 7, "status": "pending"}
            case "GET", "/api/toys/7":
                waits = self.status == "awaiting_approval"
                return {"task_id": 7, "status": self.status, "approval": self.gate() if waits else None}
            case "POST", "/api/toys/7/plan":
                self.status = "completed"
                return {"message": "Decided: it is built."}
            case "POST", "/api/toys/7/cancel":
                return {"task_id": 7, "status": "cancelled"}
            case "GET", "/api/toys/7/export":
                return FileAnswer("image/png", b"\x89PNG")
            case "GET", "/api/approvals/19":
                more = {
                    "workflow_id": "w7", "about": None, "topic": None, "requested_by": "bob",
                    "status": "pending",
                    "required_scope": "global:editor", "four_eyes": False, "quorum": 1, "approved_by": [],
                    "votes": [], "void_reason": None, "decided_by": None, "notes": None, "reason": None,
                    "created_at": NOW.isoformat(), "decided_at": None, "age_seconds": 1.0,
                    "seconds_left": 60.0,
                }  # fmt: skip
                return {**self.gate(), **more, "id": "19"}
            case "POST", "/api/approvals/19/decision":
                return {"status": "approved", "approved_by": ["ann"], "quorum": 1}
        raise Problem(404, "NotFound", "there is no such page")


@pytest.fixture
def api() -> Iterator[ToysApi]:
    it = ToysApi()
    it.http.start()
    yield it
    it.http.stop()


def run(api: ToysApi, token: Path, *arguments: str) -> Any:
    options = ["--config", str(token.parent / "none.yaml"), "--url", api.http.url, "--token-file", str(token)]
    return CliRunner().invoke(app, [*arguments, *options])


class TestAKindNeverMet:
    def test_kinds_and_what_can_be_asked_are_listed(self, api: ToysApi, token: Path) -> None:
        told = run(api, token, "kinds").stdout
        assert "kind        toys: Toys\nasks        start: start a toy\n" in told
        assert "decided on  the plan of a toy\n" in told
        assert json.loads(run(api, token, "kinds", "--json").stdout)[0]["name"] == "toys"
        assert "start       start a toy: takes wish, count\n" in run(api, token, "kind", "toys").stdout

    def test_one_is_begun_with_what_its_input_asks_for(self, api: ToysApi, token: Path) -> None:
        done = run(api, token, "kind", "toys", "start", "wish=a horse", "count=2")
        assert (done.exit_code, done.stdout) == (0, "toy         task_id: 7\n            status: pending\n")
        assert api.http.of("POST")[0].body == {"wish": "a horse", "count": 2}
        assert run(api, token, "kind", "toys", "cancel", "7").exit_code == 0
        assert (api.http.asked[-1].path, api.http.asked[-1].body) == ("/api/toys/7/cancel", {})

    def test_a_file_is_written(self, api: ToysApi, token: Path) -> None:
        file = token.parent / "toy.png"
        done = run(api, token, "kind", "toys", "export", "7", "--output", str(file))
        assert (done.exit_code, file.read_bytes()) == (0, b"\x89PNG")

    def test_all_of_what_waits_is_shown_by_its_schema(self, api: ToysApi, token: Path) -> None:
        told = run(api, token, "kind", "toys", "show", "7").stdout
        assert "decide on   the plan of a toy, approval 19" in told
        assert SHOWN in told
        assert told.endswith(f"digest      {content_digest(CONTENT)}\n")

    def test_a_decision_is_sent_on_exactly_what_is_shown(self, api: ToysApi, token: Path) -> None:
        digest = content_digest(CONTENT)
        decide = ("kind", "toys", "decide", "7")
        asked = run(api, token, *decide, "approved=true")
        assert (asked.exit_code, api.http.of("POST")) == (1, [])
        assert f"give --digest {digest[:12]}" in asked.stderr
        given = ("approved=true", "colours=red, blue", "--digest", digest[:12])
        done = run(api, token, *decide, *given)
        assert (done.exit_code, done.stderr) == (0, "")
        assert SHOWN in done.stdout
        assert 'you answer  colours: ["red", "blue"]\n' in done.stdout
        assert "decided     Decided: it is built.\n" in done.stdout
        [posted] = api.http.of("POST")
        assert (posted.path, posted.body) == (
            "/api/toys/7/plan",
            {"approved": True, "colours": ["red", "blue"], "digest": digest},
        )

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (("kind", "toy"), "there is no 'toy' here: did you mean toys?"),
            (("kind", "toys", "begin"), "toys has no 'begin'"),
            (("kind", "toys", "start", "wishes=x"), "'wishes' is not asked for: did you mean wish?"),
            (("kind", "toys", "get"), "task_id is missing"),
            (("kind", "toys", "follow"), "which one?"),
            (("kind", "toys", "decide", "7", "notes=x"), "approved is missing, and nothing was decided"),
            (("kind", "toys", "decide", "7", "approved=yes"), "approved: 'yes' is not true or false"),
            (("kind", "toys", "decide", "7", "approved=true", "digest=x"), "leave it out"),
            (("kind", "toys", "decide", "7", "approved=true", "--digest", "0" * 64), "names other content"),
        ],
    )
    def test_what_is_wrong_is_one_line_and_decides_nothing(
        self, api: ToysApi, token: Path, arguments: tuple[str, ...], told: str
    ) -> None:
        done = run(api, token, *arguments)
        assert (done.exit_code, done.stderr.count("\n"), api.http.of("POST")) == (1, 1, [])
        assert told in done.stderr

    def test_the_site_must_show_what_has_the_digest_that_it_says(self, api: ToysApi, token: Path) -> None:
        api.digest = "0" * 64
        for decide in (("kind", "toys", "decide", "7", "approved=true"), ("approve", "19", "--yes")):
            done = run(api, token, *decide, "--digest", "0" * 64)
            assert (done.exit_code, api.http.of("POST")) == (1, [])
            assert "nothing was sent" in done.stderr

    def test_it_is_followed_and_how_it_is_decided_is_told(self, api: ToysApi, token: Path) -> None:
        done = run(api, token, "kind", "toys", "follow", "7")
        assert done.exit_code == WAITS
        line = done.stdout.splitlines()[-1]
        assert line.startswith("answer it   signoff kind toys decide 7 NAME=VALUE --digest ")
        words = [
            "approved=false" if word == "NAME=VALUE" else word
            for word in shlex.split(line.partition("signoff ")[2])
        ]
        assert CliRunner().invoke(app, words).exit_code == 0
        ended = run(api, token, "kind", "toys", "follow", "7")
        assert (ended.exit_code, "ended       completed\n" in ended.stdout) == (0, True)

    @pytest.mark.parametrize("declares", [True, False])
    def test_its_approval_is_shown_and_decided_in_the_inbox(
        self, api: ToysApi, token: Path, declares: bool
    ) -> None:
        api.declares = declares
        done = run(api, token, "approve", "19", "--yes")
        assert (done.exit_code, done.stderr) == (0, "")
        assert (SHOWN in done.stdout) == declares
        assert "and the house" in done.stdout
        assert api.http.of("POST")[0].body["digest"] == content_digest(CONTENT)

    def test_nothing_of_it_steers_the_terminal(self, api: ToysApi, token: Path) -> None:
        api.content = {**CONTENT, "toy": f"{NASTY}\x9b2J\ndigest      0", NASTY: NASTY}
        for arguments in (("kind", "toys", "show", "7"), ("approve", "19", "--yes")):
            done = run(api, token, *arguments)
            assert done.exit_code == 0
            assert not STEERS & set(done.stdout)
            assert [line[:12].strip() for line in done.stdout.splitlines()].count("digest") == 1


names = st.sampled_from(["a", "b", "c", "a (b)"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
titles = st.dictionaries(names, st.fixed_dictionaries({"title": st.sampled_from(["a", "b", "a (b)"])}))


def leaves(value: Any) -> list[str]:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return [repr(value)] if parts is None else sorted(leaf for part in parts for leaf in leaves(part))


@given(st.dictionaries(names, json_values, max_size=4), titles, st.lists(names))
def test_whatever_the_schema_says_no_part_of_a_content_is_left_out(
    content: dict[str, Any], fields: dict[str, Any], columns: list[str]
) -> None:
    shown = titled(content, {"properties": fields, "x-columns": columns})
    assert leaves(shown) == leaves(content)
    assert len(shown) == len(content)


@pytest.mark.parametrize(
    "record", [*EVERY_GATE, urls(), UNREADABLE, TREE, REVIEW], ids=lambda it: type(it).__name__
)
def test_what_the_systems_declare_shows_their_contents_whole(record: Record) -> None:
    content = record.model_dump(mode="json")
    shown = titled(content, shown_schema(type(record)))
    assert leaves(shown) == leaves(content)
    assert "Question" in shown


def test_a_schema_of_an_outsider_that_goes_round_is_read_once() -> None:
    round_ = {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}
    schema = {"$defs": {"a": round_}, "properties": {"x": round_}}
    assert values_given(["x=1"], schema) == {"x": "1"}
    with pytest.raises(InputInvalid, match="is not JSON"):
        values_given(["x={"], {"properties": {"x": {"type": "object"}}})
