"""The one table of tools: what there is, whichever door it is called by."""

from actors.tools.articles import (
    create_draft_article,
    get_article,
    search_articles,
    submit_for_review,
    write_article_content,
)
from actors.tools.decisions import decide_approval, decide_article
from actors.tools.editor import get_pending_approvals, publish_article, request_changes, review_article
from actors.tools.market_data import (
    fetch_economic_data,
    fetch_equity_data,
    fetch_fx_rates,
    fetch_treasury_yields,
    search_series,
)
from actors.tools.pdf import download_pdf
from actors.tools.prompts import edit_prompts, get_tonalities, get_topic_prompts, set_user_tonality
from actors.tools.research_article import research_article
from actors.tools.resources import (
    attach_resource,
    create_table_resource,
    create_text_resource,
    detach_resource,
    get_resource,
    search_all_resources,
    search_table_resources,
    search_text_resources,
)
from actors.tools.tool import Tool
from actors.tools.web import search_financial_news, search_news, web_search

TOOLS: tuple[Tool, ...] = (
    search_articles,
    get_article,
    create_draft_article,
    write_article_content,
    submit_for_review,
    search_text_resources,
    search_table_resources,
    search_all_resources,
    get_resource,
    create_text_resource,
    create_table_resource,
    attach_resource,
    detach_resource,
    fetch_equity_data,
    fetch_economic_data,
    fetch_fx_rates,
    fetch_treasury_yields,
    search_series,
    web_search,
    search_news,
    search_financial_news,
    download_pdf,
    research_article,
    review_article,
    request_changes,
    publish_article,
    get_pending_approvals,
    get_tonalities,
    set_user_tonality,
    get_topic_prompts,
    edit_prompts,
    decide_approval,
    decide_article,
)
