"""The tools over REST: seed 000 §7.1, as one table. `GET /api/tools` lists those that the caller may use.

A path's parameters and the body, or the query, together are the tool's input; what they mean, and who may
call, is the tool's own business.
"""

import inspect
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query, Request
from pydantic import BaseModel, ConfigDict, create_model

from actors.tools.registry import Registry
from actors.tools.table import TOOLS
from actors.tools.tool import Tool
from models.scopes import Role
from serve.auth import Caller
from serve.problems import problem_responses

router = APIRouter(prefix="/api/tools", tags=["tools"])


@dataclass(frozen=True)
class Route:
    """Where a tool is. `renamed`: the path's names for fields of the input."""

    tool: str
    method: Literal["GET", "POST"]
    path: str
    renamed: tuple[tuple[str, str], ...] = ()


_ARTICLE = (("id", "article_id"),)
_RESOURCE = (("id", "resource_id"),)
ROUTES = (
    Route("search_articles", "POST", "/articles/search"),
    Route("create_draft_article", "POST", "/articles/create"),
    Route("get_article", "GET", "/articles/{id}", _ARTICLE),
    Route("write_article_content", "POST", "/articles/{id}/write", _ARTICLE),
    Route("submit_for_review", "POST", "/articles/{id}/submit", _ARTICLE),
    Route("review_article", "GET", "/articles/{id}/review", _ARTICLE),
    Route("request_changes", "POST", "/articles/{id}/request-changes", _ARTICLE),
    Route("publish_article", "POST", "/articles/{id}/publish", _ARTICLE),
    Route("search_text_resources", "POST", "/resources/search/text"),
    Route("search_table_resources", "POST", "/resources/search/tables"),
    Route("search_all_resources", "POST", "/resources/search/all"),
    Route("create_text_resource", "POST", "/resources/create/text"),
    Route("create_table_resource", "POST", "/resources/create/table"),
    Route("get_resource", "GET", "/resources/{id}", _RESOURCE),
    Route("attach_resource", "POST", "/resources/{id}/attach", _RESOURCE),
    Route("detach_resource", "POST", "/resources/{id}/detach", _RESOURCE),
    Route("fetch_economic_data", "POST", "/research/economic-data"),
    Route("fetch_equity_data", "POST", "/research/equity-data"),
    Route("fetch_fx_rates", "POST", "/research/fx-rates"),
    Route("fetch_treasury_yields", "POST", "/research/treasury-yields"),
    Route("search_series", "POST", "/research/series"),
    Route("web_search", "POST", "/research/web-search"),
    Route("search_news", "POST", "/research/news"),
    Route("search_financial_news", "POST", "/research/financial-news"),
    Route("download_pdf", "POST", "/research/download-pdf"),
    Route("research_article", "POST", "/research/article"),
    Route("get_pending_approvals", "GET", "/workflow/pending-approvals"),
    Route("get_tonalities", "GET", "/prompts/tonalities"),
    Route("set_user_tonality", "POST", "/prompts/user-tonality"),
    Route("get_topic_prompts", "GET", "/prompts/topic/{slug}", (("slug", "topic"),)),
    Route("edit_prompts", "POST", "/prompts/topic/{slug}", (("slug", "topic"),)),
)


class ToolSummary(BaseModel):
    """A tool that the caller may use. `topic_scoped`: on which topics is up to his scopes."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str
    required_role: Role
    topic_scoped: bool
    requires_hitl: bool
    method: str
    path: str


@router.get("", responses=problem_responses(401, 422, 503))
async def list_tools(
    request: Request, caller: Caller, topic: Annotated[str | None, Query(max_length=64)] = None
) -> list[ToolSummary]:
    """The tools that the caller may use: on `topic`, or on any."""
    registry: Registry = request.app.state.registry
    routes = {route.tool: route for route in ROUTES}
    return [
        ToolSummary(
            name=tool.name,
            description=tool.description,
            required_role=tool.permission.required_role,
            topic_scoped=tool.permission.topic_scoped,
            requires_hitl=tool.permission.requires_hitl,
            method=routes[tool.name].method,
            path=router.prefix + routes[tool.name].path,
        )
        for tool in registry.permitted(caller.scopes, door="rest", topic=topic)
        if tool.name in routes
    ]


def _add(route: Route, tool: Tool) -> None:
    """Make an endpoint whose signature FastAPI can read: path parameters, then a body or a query."""
    fields = tool.input.model_fields
    in_path = dict(route.renamed)
    rest = {name: field for name, field in fields.items() if name not in in_path.values()}
    definitions: Any = {name: (field.annotation, field) for name, field in rest.items()}
    # Same constraints, less what the path says. Rules across fields are the tool's own, and apply there.
    holder = create_model(
        tool.input.__name__.removesuffix("Request") + ("Query" if route.method == "GET" else "Body"),
        __config__=ConfigDict(extra="forbid"),
        __doc__=tool.input.__doc__,
        **definitions,
    )
    parameters = [
        inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY, annotation=Request),
        inspect.Parameter("caller", inspect.Parameter.KEYWORD_ONLY, annotation=Caller),
    ]
    for name, field in in_path.items():
        kind: Any = Annotated[(fields[field].annotation, *fields[field].metadata, Path())]
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind))
    if rest:
        place = Query() if route.method == "GET" else Body()
        optional = route.method == "POST" and not any(field.is_required() for field in rest.values())
        kind = Annotated[holder, place]
        parameters.append(
            inspect.Parameter(
                "rest",
                inspect.Parameter.KEYWORD_ONLY,
                annotation=kind,
                default=holder() if optional else inspect.Parameter.empty,
            )
        )

    async def endpoint(**given: Any) -> BaseModel:
        registry: Registry = given["request"].app.state.registry
        arguments = {field: given[name] for name, field in in_path.items()}
        if rest:
            arguments |= given["rest"].model_dump(mode="json", exclude_unset=True)
        return await registry.call(tool.name, arguments, caller=given["caller"], door="rest")

    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    router.add_api_route(
        route.path,
        endpoint,
        methods=[route.method],
        name=tool.name,
        operation_id=f"{tool.name}_endpoint",
        summary=tool.description.partition("\n")[0],
        description=f"{tool.description}\n\nTakes {_scope(tool)}.",
        response_model=tool.output,
        responses=problem_responses(401, 403, 404, 409, 413, 422, 429, 502, 503),
    )


def _scope(tool: Tool) -> str:
    where = "{topic}" if tool.permission.topic_scoped else "any"
    return f"`{where}:{tool.permission.required_role}`"


for _route in ROUTES:
    _add(_route, next(tool for tool in TOOLS if tool.name == _route.tool))
