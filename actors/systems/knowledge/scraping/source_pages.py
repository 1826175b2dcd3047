"""A source that a project holds, as the page that it was."""

from models.knowledge.pages import PageText, ScrapedPage
from models.knowledge.sources import KnowledgeSource

_SHARED = set(ScrapedPage.model_fields) & set(KnowledgeSource.model_fields)
_OF_TEXT = set(PageText.model_fields)


def page_of(source: KnowledgeSource) -> ScrapedPage:
    """The page, with its text where there is one."""
    text = None
    if source.text is not None:
        text = PageText.model_validate(source.model_dump(include=_OF_TEXT))
    return ScrapedPage(**source.model_dump(include=_SHARED), page=text)
