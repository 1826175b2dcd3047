"""What tools declare: where they are over REST, and what they do. Their names tell nothing."""

import ast
import inspect
import sys
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from actors.platform import systems
from actors.platform.tools.registry import Registry
from actors.platform.tools.route import RestRoute
from actors.platform.tools.tool import Effect, Input, Output, Tool, ToolContext, tool
from models.config import Config
from models.people.scopes import parse_scope
from models.tools import ToolPermission
from serve.api import make_app
from serve.mcp.server import hints_of
from serve.routes.tools import add_tools

ROOT = Path(__file__).resolve().parents[3]
READER = parse_scope("global:reader")
ANYBODY = ToolPermission(required_role="reader", topic_scoped=False)
ASKING = ToolPermission(required_role="editor", topic_scoped=False, requires_hitl=True)


class PageRequest(Input):
    """A page."""

    page_id: int


class PageResponse(Output):
    """Nothing."""


def made(name: str, permission: ToolPermission = ANYBODY, **declared: Any) -> Tool:
    """A tool of this name."""

    async def run(context: ToolContext, request: PageRequest) -> PageResponse:
        """Do something."""
        raise AssertionError("it is not called")

    run.__name__ = name
    return tool(permission, **({"rest": None, "effect": "reads"} | declared))(run)


@pytest.fixture(scope="module")
def endpoints() -> set[tuple[str, str]]:
    """Method and path of all that the app answers."""
    app = make_app(systems.load(ROOT / "configs/local.yaml", root=ROOT), "postgresql://nowhere")
    return {
        (method.upper(), path) for path, described in app.openapi()["paths"].items() for method in described
    }


def test_what_the_configuration_lacks_is_asked_once_for_each_tool(config: Config) -> None:
    asked: list[str] = []

    def lacking(name: str, missing: str | None) -> Tool:
        def look(_: Config) -> str | None:
            asked.append(name)
            return missing

        return made(name, lacking=look)

    tools = [lacking("read", None), lacking("find", "web.pages"), made("ask", feature="enable_hitl_workflow")]
    off = config.features.model_copy(update={"enable_hitl_workflow": False})
    without: Any = None
    registry = Registry(
        tools, config=config.model_copy(update={"features": off}), database=without, search=without
    )
    for _ in range(3):
        assert [tool.name for tool in registry.permitted((READER,), door="rest")] == ["read"]
    assert sorted(asked) == ["find", "read"]


def test_every_tool_has_an_endpoint(endpoints: set[tuple[str, str]]) -> None:
    """Its own, or a route that does more than to call it: a file, and an answer that waits for its effect."""
    without = {tool.name for tool in systems.tools() if tool.route is None}
    assert without == {"export_operation", "decide_article"}
    there = {(tool.route.method, tool.route.path) for tool in systems.tools() if tool.route is not None}
    assert there | {("GET", "/api/operations/{id}/export"), ("POST", "/api/approvals/{id}")} <= endpoints


def test_what_decides_at_a_gate_is_for_people_only() -> None:
    """It takes the digest of what was shown, or the answer in its place; no model is offered that."""
    deciding = {
        tool.name for tool in systems.tools() if {"digest", "is_approval"} & tool.input.model_fields.keys()
    }
    assert deciding
    assert {tool.name for tool in systems.tools() if not tool.for_models} == deciding


# What a query or a fetch goes out by: providers, the reader of PDFs, the scraper, work that does so later.
WAYS_OUT = {
    *("provider_of", "read_pdf", "fetch_series", "search_catalogues", "scraper.scrape"),
    *("drafting.ask", "agent_workflows.start", "operations.start"),
}


def calls_of(tool: Tool) -> set[str]:
    """What a tool calls, itself and by way of its module's own functions, as `name` or `name.attribute`."""
    tree = ast.parse(inspect.getsource(sys.modules[tool.run.__module__]))
    functions = {
        node.name: node for node in tree.body if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)
    }
    found: set[str] = set()
    asked = [tool.name]
    while asked:
        for node in ast.walk(functions.pop(asked.pop())):
            if isinstance(node, ast.Call):
                found.add(ast.unparse(node.func))
        asked = [name for name in found if name in functions]
    return found


def test_every_tool_that_sends_something_outside_says_so() -> None:
    sending = {tool.name for tool in systems.tools() if calls_of(tool) & WAYS_OUT}
    assert sending
    assert {tool.name for tool in systems.tools() if "leaves the site" in tool.effects} == sending


def test_every_kind_of_work_with_gates_is_begun_by_a_tool_that_asks() -> None:
    asking = {tool.name for tool in systems.tools() if "asks" in tool.effects}
    gated = [kind.gated for kind in systems.kinds().values() if kind.gated is not None and kind.approvals]
    assert {kind.actions["start"] for kind in gated if kind.actions} <= asking
    # The one that no tool is named to begin is begun by every tool that takes a yes.
    assert [list(kind.gates) for kind in gated if not kind.actions] == [["tool_call"]]


@pytest.mark.parametrize(
    ("name", "effect", "changes", "outside"),
    [
        ("fetch_x", "writes", True, False),
        ("get_x", "asks", True, False),
        ("search_x", ("writes", "leaves the site"), True, True),
        ("send_mail", ("asks", "leaves the site"), True, True),
        ("send_mail", "leaves the site", False, True),
        ("write_x", "reads", False, False),
        ("web_search", "reads", False, False),
    ],
)
def test_mcp_s_hints_follow_what_is_declared_and_not_the_name(
    name: str, effect: Effect | tuple[Effect, ...], changes: bool, outside: bool
) -> None:
    hints = hints_of(made(name, ASKING if "asks" in effect else ANYBODY, effect=effect))
    assert (hints.read_only_hint, hints.open_world_hint) == (not changes, outside)
    assert hints.destructive_hint is (True if changes else None)
    assert hints.idempotent_hint is (False if changes else None)


def test_a_tool_that_only_adds_or_may_be_called_again_says_so() -> None:
    hints = hints_of(made("remove_x", effect="writes", only_adds=True, idempotent=True))
    assert (hints.destructive_hint, hints.idempotent_hint) == (False, True)
    hints = hints_of(made("create_x", effect="writes"))
    assert (hints.destructive_hint, hints.idempotent_hint) == (True, False)


@pytest.mark.parametrize(
    "declared",
    [
        {"effect": ()},
        {"effect": ("reads", "writes")},
        {"effect": ("reads", "leaves the site")},
        {"effect": "asks"},
        {"effect": "reads", "permission": ASKING},
        {"effect": "reads", "idempotent": True},
        {"effect": "leaves the site", "only_adds": True},
        {"effect": "writes", "rest": "GET /pages/{page_id}"},
    ],
)
def test_what_contradicts_itself_is_refused(declared: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        made("x", **declared)


def test_a_path_s_parameter_is_a_field_or_says_which() -> None:
    route = made("x", rest="GET /pages/{page_id}").route
    path = "/api/tools/pages/{page_id}"
    assert route == RestRoute(method="GET", path=path, in_path=(("page_id", "page_id"),))
    route = made("x", rest="POST /pages/{id=page_id}/read").route
    assert route == RestRoute(method="POST", path="/api/tools/pages/{id}/read", in_path=(("id", "page_id"),))


def test_an_address_may_be_whole_and_say_that_something_is_made() -> None:
    route = made("x", rest="POST /api/v1/pages/{id=page_id}/read -> 201", effect="writes").route
    in_path = (("id", "page_id"),)
    assert route == RestRoute(method="POST", path="/api/v1/pages/{id}/read", in_path=in_path, status=201)
    app = FastAPI()
    add_tools(app, [made("x", rest="POST /api/v1/pages/{id=page_id}/read -> 201", effect="writes")])
    described = app.openapi()["paths"]["/api/v1/pages/{id}/read"]["post"]
    assert (described["tags"], "201" in described["responses"]) == (["pages"], True)


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ("/pages", "is not like"),
        ("post /pages", "is not like"),
        ("PATCH /pages", "is not like"),
        ("POST pages", "is not like"),
        ("POST /", "is not like"),
        ("POST /pages/", "is not like"),
        ("POST /pages\n", "is not like"),
        ("POST /pages -> 404", "is not like"),
        ("GET /pages/{=page_id}", "is not like"),
        ("GET /pages/{id}", "id in /pages/{id} is no field"),
        ("GET /pages/{page_id=page}", "page in /pages/{page_id} is no field"),
        ("GET /pages/{page_id}/{id=page_id}", "gives a field twice"),
    ],
)
def test_a_route_that_cannot_be_is_refused(rest: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        made("x", rest=rest)


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        ("POST /pages/find", "POST /pages/find", True),
        ("GET /pages/{page_id}", "GET /pages/{id=page_id}", True),
        ("GET /pages/{page_id}", "GET /api/tools/pages/newest", True),
        ("GET /pages/{page_id}", "GET /pages/newest", True),
        ("GET /pages/{page_id}", "POST /pages/{page_id}", False),
        ("GET /pages/{page_id}", "GET /pages", False),
        ("GET /pages/{page_id}", "GET /notes/{page_id}", False),
    ],
)
def test_two_tools_in_one_place_are_refused_at_start(one: str, other: str, clash: bool) -> None:
    tools = [made("first", rest=one), made("second", rest=other)]
    if clash:
        with pytest.raises(ValueError, match=r"first is at .* and second at"):
            add_tools(FastAPI(), tools)
    else:
        app = FastAPI()
        add_tools(app, tools)
        described = app.openapi()["paths"]
        for each in tools:
            assert each.route is not None
            operation = described[each.route.path][each.route.method.lower()]
            assert operation["operationId"] == f"{each.name}_endpoint"


def test_the_same_tools_may_be_added_to_more_than_one_app() -> None:
    for _ in range(2):
        app = FastAPI()
        add_tools(app, systems.tools())
        assert len(app.openapi()["paths"]) == 1 + len(
            {t.route.path for t in systems.tools() if t.route is not None}
        )
