"""Numbers of a draft in prose that its source does not have: concerns that code finds, for the fact checker.

Called by the article review and the concern mapping. Numbers, percentages, dates and names of months are
compared in their normal forms; the section of footnotes, which cites something else, is left out.
"""

from actors.platform.text.language import language_of
from actors.platform.text.numbers.unsupported_numbers import unsupported_numbers
from actors.systems.editorial.agents.footnotes import without_footnotes
from models.content.editorial import ArticleResponse, Concern, TopicInput

_NOTE = "unsupported_fact: neither the source text nor what is known of it has this number or date"
_MOST = 10


def number_bullets(draft: ArticleResponse, topic: TopicInput) -> str:
    """A bullet for each number of a draft that stands nowhere in its source, each once; ten at most."""
    said = (
        draft.headline,
        draft.alternativeHeadline,
        draft.description,
        without_footnotes(draft.articleBody),
    )
    known = (topic.source_text, topic.optional_angle or "", *_metadata(topic))
    found = unsupported_numbers("\n".join(said), language_of(topic.source_text), known, ())
    texts = dict.fromkeys(one.text.strip() for one in found)
    return "".join(f"- “{text}”: {_NOTE}\n" for text in list(texts)[:_MOST])


def is_about_a_number(concern: Concern) -> bool:
    """Whether code found it: then it is the fact checker's."""
    return concern.review_note.endswith(_NOTE)


def _metadata(topic: TopicInput) -> tuple[str, ...]:
    told = topic.source_metadata
    return (told.video_title, told.topic_title, told.publish_date or "", told.channel_name)
