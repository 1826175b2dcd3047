"""The one table of workflow kinds: name -> where its `Kind` is. What people wait for comes first, batches last."""

KINDS: dict[str, str] = {
    "publish_article": "actors.publishing.kind:PUBLISH_ARTICLE",
    "research_article": "actors.chat.kind:RESEARCH_ARTICLE",
    "editorial": "actors.editorial.kind:EDITORIAL",
}
