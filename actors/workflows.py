"""The one table of workflow kinds: name -> where its `Kind` is. Runners import a kind when it first runs."""

KINDS: dict[str, str] = {
    "editorial": "actors.editorial.kind:EDITORIAL",
    "research_article": "actors.chat.kind:RESEARCH_ARTICLE",
    "publish_article": "actors.publishing.kind:PUBLISH_ARTICLE",
}
