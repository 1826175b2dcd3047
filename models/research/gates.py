"""The gates of a research: what a person is shown at each, by the kind of its approval. Seed 002 §5."""

from collections.abc import Mapping

from models.record import Record
from models.research.results import ResearchReview, TreeReview
from models.research.url_lists import UnreadableList, UrlList

CONTENT_OF_GATE: Mapping[str, type[Record]] = {
    "research_urls": UrlList,
    "research_unreadable": UnreadableList,
    "research_tree": TreeReview,
    "research_result": ResearchReview,
}
