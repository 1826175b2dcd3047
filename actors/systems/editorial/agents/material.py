"""The names that editorial prompts may use, made from a topic and a draft.

The first five are the writer's prompt contract (seed 004 §6). All but the style come from outside, so
the templates put them through the `fence` filter; a test holds every template to that.
"""

from actors.systems.editorial.briefs import AgentSettings
from models.content.editorial import ArticleResponse, TopicInput


def topic_material(topic: TopicInput, *, settings: AgentSettings) -> dict[str, object]:
    """The topic's names. OPTIONAL_ANGLE is "" where there is none; OPTIONAL_METADATA is JSON."""
    return {
        "STYLE_MODE": topic.style_mode,
        "TARGET_LENGTH_WORDS": topic.target_length_words,
        "OPTIONAL_ANGLE": (topic.optional_angle or "").strip(),
        "SOURCE_TEXT": topic.source_text,
        "OPTIONAL_METADATA": topic.source_metadata.model_dump_json(indent=1),
        "STYLE_REQUIREMENTS": settings.requirements(topic.style_mode),
    }


def draft_text(draft: ArticleResponse) -> str:
    """DRAFT: the draft as plain text, each part under the name it has in the JSON."""
    return (
        f"headline: {draft.headline}\n"
        f"alternativeHeadline: {draft.alternativeHeadline}\n"
        f"description: {draft.description}\n"
        f"articleBody:\n{draft.articleBody}"
    )
