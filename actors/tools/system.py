"""The tools that belong to no system: a new one is its function and a line here.

The API's description lists their endpoints in this order.
"""

from actors.system import System

SYSTEM = System(
    name="tools",
    tools=(
        "actors.tools.articles:search_articles",
        "actors.tools.articles:create_draft_article",
        "actors.tools.articles:get_article",
        "actors.tools.articles:write_article_content",
        "actors.tools.articles:submit_for_review",
        "actors.tools.resources:search_text_resources",
        "actors.tools.resources:search_table_resources",
        "actors.tools.resources:search_all_resources",
        "actors.tools.resources:create_text_resource",
        "actors.tools.resources:create_table_resource",
        "actors.tools.resources:get_resource",
        "actors.tools.resources:attach_resource",
        "actors.tools.resources:detach_resource",
        "actors.tools.market_data:fetch_economic_data",
        "actors.tools.market_data:fetch_equity_data",
        "actors.tools.market_data:fetch_fx_rates",
        "actors.tools.market_data:fetch_treasury_yields",
        "actors.tools.market_data:search_series",
        "actors.tools.web:web_search",
        "actors.tools.web:search_news",
        "actors.tools.web:search_financial_news",
        "actors.tools.pdf:download_pdf",
        "actors.tools.prompts:get_tonalities",
        "actors.tools.prompts:set_user_tonality",
        "actors.tools.prompts:get_topic_prompts",
        "actors.tools.prompts:edit_prompts",
        "actors.tools.decisions:decide_approval",
    ),
)
