"""The tools that belong to no system: a new one is its function and a line here.

The API's description lists their endpoints in this order.
"""

from actors.platform.system import System
from models.runtime.gated_kinds import Gate, GatedKind
from models.runtime.tool_calls import KIND, CallAsked, CallResult, CallShown
from models.runtime.workflow_kinds import Ending, WorkflowKind

SYSTEM = System(
    name="tools",
    kinds=(
        WorkflowKind(
            name=KIND,
            graph="actors.platform.gates.tool_call:TOOL_CALL",
            word="call",
            input=CallAsked,
            result=CallResult,
            ending=Ending("decision", reached="approved"),
            gated=GatedKind(role="editor", number="task_id", gates={KIND: Gate(CallShown)}),
        ),
    ),
    tools=(
        "actors.platform.tools.articles:search_articles",
        "actors.platform.tools.articles:create_draft_article",
        "actors.platform.tools.articles:get_article",
        "actors.platform.tools.articles:write_article_content",
        "actors.platform.tools.articles:submit_for_review",
        "actors.platform.tools.resources:search_text_resources",
        "actors.platform.tools.resources:search_table_resources",
        "actors.platform.tools.resources:search_all_resources",
        "actors.platform.tools.resources:create_text_resource",
        "actors.platform.tools.resources:create_table_resource",
        "actors.platform.tools.resources:get_resource",
        "actors.platform.tools.resources:attach_resource",
        "actors.platform.tools.resources:detach_resource",
        "actors.platform.tools.web:web_search",
        "actors.platform.tools.web:search_news",
        "actors.platform.tools.web:search_financial_news",
        "actors.platform.tools.pdf:download_pdf",
        "actors.platform.tools.prompts:get_tonalities",
        "actors.platform.tools.prompts:set_user_tonality",
        "actors.platform.tools.prompts:get_topic_prompts",
        "actors.platform.tools.prompts:edit_prompts",
        "actors.platform.tools.decisions:decide_approval",
    ),
)
