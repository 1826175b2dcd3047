"""The one table of workflow kinds: name -> where its `Kind` is, those that people wait for first."""

KINDS: dict[str, str] = {
    "publish_article": "actors.publishing.kind:PUBLISH_ARTICLE",
    "research_article": "actors.drafting.kind:RESEARCH_ARTICLE",
    "editorial": "actors.editorial.kind:EDITORIAL",
}
