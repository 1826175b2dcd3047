"""What tools declare: where they are over REST, and what they do. Their names tell nothing."""

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
from serve.mcp.server import hints_of
from serve.routes.tools import add_tools

READER = parse_scope("global:reader")
ANYBODY = ToolPermission(required_role="reader", topic_scoped=False)
ASKING = ToolPermission(required_role="editor", topic_scoped=False, requires_hitl=True)
# People decide at /api/approvals, and at the gates of a research or an operation where it is followed.
PEOPLE_S = {
    *("decide_approval", "decide_article", "decide_research", "decide_operation_plan"),
    *("decide_operation_results", "decide_operation_agent", "clarify_operation"),
}
# At /api/v1/agent-workflows.
RESEARCH = {
    *("start_research", "stop_research", "get_research", "list_research", "read_research_messages"),
    *("read_research_tools", "read_research_results", "read_research_lineage", "read_research_points"),
}
# At /api/operations.
OPERATIONS = {
    *("start_operation", "cancel_operation", "get_operation", "list_operations", "compare_operation"),
    *("read_operation_history", "read_operation_results", "export_operation"),
}


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


def test_every_tool_has_a_route_or_its_endpoint_is_with_what_it_is_about() -> None:
    assert {tool.name for tool in systems.tools() if tool.route is None} == PEOPLE_S | RESEARCH | OPERATIONS
    assert {tool.name for tool in systems.tools() if not tool.for_models} == PEOPLE_S


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


def test_what_the_tools_do() -> None:
    outside = {tool.name for tool in systems.tools() if "leaves the site" in tool.effects}
    assert outside == {
        *("web_search", "search_news", "search_financial_news", "search_series"),
        *("fetch_equity_data", "fetch_economic_data", "fetch_fx_rates", "fetch_treasury_yields"),
        *("download_pdf", "research_article", "search_web", "scrape_urls"),
        *("start_research", "start_operation"),
    }
    asks = {tool.name for tool in systems.tools() if "asks" in tool.effects}
    assert asks == {"publish_article", "start_research", "start_operation"}
    assert {tool.name for tool in systems.tools() if tool.effects == {"reads"}} == {
        *("get_article", "get_resource", "get_pending_approvals", "get_tonalities", "get_topic_prompts"),
        *("search_articles", "search_text_resources", "search_table_resources", "search_all_resources"),
        *("review_article", "list_projects", "get_source", "query_knowledge_base"),
        *("list_entities", "get_entity", "get_knowledge_tree", "list_knowledge_trees"),
        *RESEARCH - {"start_research", "stop_research"},
        *OPERATIONS - {"start_operation", "cancel_operation"},
    }
    assert {tool.name for tool in systems.tools() if tool.changes_something and tool.only_adds} == {
        *("create_draft_article", "create_text_resource", "create_table_resource", "download_pdf"),
        "create_project",
    }
    assert {tool.name for tool in systems.tools() if tool.idempotent} == {
        *("attach_resource", "detach_resource", "set_user_tonality", "create_project"),
        *("save_to_database", "undo_merge", "write_article_from_research"),
    }


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
    assert route == RestRoute(method="GET", path="/pages/{page_id}", in_path=(("page_id", "page_id"),))
    route = made("x", rest="POST /pages/{id}/read", in_path={"id": "page_id"}).route
    assert route == RestRoute(method="POST", path="/pages/{id}/read", in_path=(("id", "page_id"),))


@pytest.mark.parametrize(
    ("rest", "in_path", "told"),
    [
        ("/pages", {}, "is not like"),
        ("post /pages", {}, "is not like"),
        ("PATCH /pages", {}, "is not like"),
        ("POST pages", {}, "is not like"),
        ("POST /", {}, "is not like"),
        ("POST /pages/", {}, "is not like"),
        ("POST /pages\n", {}, "is not like"),
        ("GET /pages/{id}", {}, "id in /pages/{id} is no field"),
        ("GET /pages/{page_id}", {"id": "page_id"}, "id is not in"),
        ("GET /pages/{page_id}/{id}", {"id": "page_id"}, "gives a field twice"),
    ],
)
def test_a_route_that_cannot_be_is_refused(rest: str, in_path: dict[str, str], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        made("x", rest=rest, in_path=in_path)


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        ("POST /pages/find", "POST /pages/find", True),
        ("GET /pages/{page_id}", "GET /pages/{id}", True),
        ("GET /pages/{page_id}", "GET /pages/newest", True),
        ("GET /pages/{page_id}", "POST /pages/{page_id}", False),
        ("GET /pages/{page_id}", "GET /pages", False),
        ("GET /pages/{page_id}", "GET /notes/{page_id}", False),
    ],
)
def test_two_tools_in_one_place_are_refused_at_start(one: str, other: str, clash: bool) -> None:
    tools = [
        made("first", rest=one),
        made("second", rest=other, in_path={"id": "page_id"} if "{id}" in other else {}),
    ]
    if clash:
        with pytest.raises(ValueError, match=r"first is at .* and second at"):
            add_tools(FastAPI(), tools)
    else:
        app = FastAPI()
        add_tools(app, tools)
        described = app.openapi()["paths"]
        for each in tools:
            assert each.route is not None
            operation = described[f"/api/tools{each.route.path}"][each.route.method.lower()]
            assert operation["operationId"] == f"{each.name}_endpoint"


def test_the_same_tools_may_be_added_to_more_than_one_app() -> None:
    for _ in range(2):
        app = FastAPI()
        add_tools(app, systems.tools())
        assert len(app.openapi()["paths"]) == 1 + len(
            {t.route.path for t in systems.tools() if t.route is not None}
        )
