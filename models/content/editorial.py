"""The editorial desk's records: a topic in, an article with its editor report out.

Names and fields are the contract of seed 004 §3.1 and §4. All records are frozen and refuse unknown
fields. `style_mode` is a plain string because the allowed styles come from the configuration.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from models.content.quoting import ChosenBy, Written
from models.record import Record
from models.visible import shows_something


def _something_seen(text: str) -> str:
    if not shows_something(text):
        raise ValueError("must not be empty: nothing in it can be seen")
    return text


NonEmpty = Annotated[
    str,
    StringConstraints(strip_whitespace=False, min_length=1, pattern=r"\S"),
    AfterValidator(_something_seen),
]
ConcernType = Literal[
    "unsupported_fact",
    "inferred_fact",
    "scope_expansion",
    "editorializing",
    "structured_addition",
    "attribution_gap",
    "certainty_inflation",
    "truncation_completion",
]
SpecialistName = Literal["fact_check", "evidence_finding", "opinion", "attribution", "style_review"]
SPECIALISTS: tuple[SpecialistName, ...] = (
    "fact_check",
    "evidence_finding",
    "opinion",
    "attribution",
    "style_review",
)
VerdictStatus = Literal["KEEP", "REWRITE", "REMOVE"]
Outcome = Literal["passed", "blocked"]


class SourceMetadata(Record):
    """Where a source text comes from (seed 004 §3.1). `publish_date` must be there, and may be null."""

    source_file: NonEmpty
    channel_name: NonEmpty
    video_id: NonEmpty
    video_title: NonEmpty
    publish_date: NonEmpty | None
    topic_slug: NonEmpty
    topic_title: NonEmpty


class TopicInput(Record):
    """One topic file after its optional fields were filled from the configuration."""

    source_text: NonEmpty
    source_metadata: SourceMetadata
    style_mode: NonEmpty
    target_length_words: NonEmpty
    optional_angle: str | None = None


class ArticleResponse(Record):
    """An article draft; `articleBody` is Markdown."""

    headline: str
    alternativeHeadline: str
    articleBody: str
    description: str


class WrittenArticle(ArticleResponse):
    """A draft as the writer gives it; `chosen_by` says who chose its quotations, of prose nothing."""

    chosen_by: ChosenBy | None = None


class ArticleMetadata(Record):
    """Where an article came from and how it was made; `generated_at` is ISO 8601 in UTC.

    `written` in quotes: its body is of the source text's own sentences, word for word, which were `chosen_by`
    the model, or by code where the model answered badly.
    """

    source_file: str
    channel_name: str
    video_id: str
    video_title: str
    publish_date: str | None = None
    topic_slug: str
    topic_title: str
    style_mode: str
    target_length_words: str
    written: Written = "prose"
    chosen_by: ChosenBy | None = None
    generated_at: str


class ArticleReviewRaw(Record):
    """The review as the agent wrote it: a Markdown bullet list, or nothing."""

    markdown_bullets: str


class Concern(Record):
    """One doubt about a draft; `concern_id` counts from 1 in bullet order."""

    concern_id: int
    excerpt: str
    review_note: str


class ArticleReviewResult(Record):
    """The review's bullets, parsed."""

    concerns: list[Concern]


class ConcernMapping(Record):
    """Which one specialist looks at a concern."""

    concern_id: int
    concern_type: ConcernType
    selected_agent: SpecialistName
    confidence: Literal["high", "medium", "low"]
    reason: str


class ConcernMappingResult(Record):
    """One mapping per concern."""

    mappings: list[ConcernMapping]


class Verdict(Record):
    """A specialist's finding. `citations` come from the pipeline, never from a model."""

    concern_id: int
    misleading: bool
    status: VerdictStatus
    rationale: str
    suggested_fix: str | None = None
    evidence: str | None = None
    citations: list[str] | None = None

    @property
    def blocks(self) -> bool:
        """Whether this verdict keeps the draft from passing (REWRITE or REMOVE)."""
        return self.status != "KEEP"


class FactCheckRecord(Record):
    """A fact check kept in institutional memory (seed 004 §7.3)."""

    timestamp: str
    article_id: str
    concern_id: int
    prompt: str
    query: str
    normalized_query: str
    model_name: str
    kb_index_version: str
    cache_key_hash: str
    kb_response: str
    verdict: Verdict


class EvidenceRecord(Record):
    """An evidence search kept in institutional memory (seed 004 §7.3)."""

    timestamp: str
    article_id: str
    concern_id: int
    prompt: str
    query: str
    normalized_query: str
    model_name: str
    cache_key_hash: str
    perplexity_response: str
    citations: list[str]
    verdict: Verdict


class WriterFeedback(Record):
    """What the writer is told to change (seed 004 §6.1.2); `rating` is 1 to 10."""

    iteration: int
    rating: int = Field(ge=1, le=10)
    passed: bool
    reasoning: str
    improvement_suggestions: list[str]
    todo_list: list[str]
    verdicts: list[Verdict]


class IterationReport(Record):
    """One editorial round."""

    iteration_number: int
    concerns: list[Concern]
    mappings: list[ConcernMapping]
    verdicts: list[Verdict]
    feedback_to_writer: WriterFeedback | None
    article_draft: ArticleResponse


class EditorReport(Record):
    """All rounds; `blocking_concerns` only when the article failed."""

    iterations: list[IterationReport]
    total_iterations: int
    final_status: Literal["SUCCESS", "FAILED"]
    blocking_concerns: list[Concern] | None = None


class ArticleGenerationResult(Record):
    """The canonical JSON of a topic (seed 004 §7.1), the contract for downstream systems."""

    success: bool
    article: ArticleResponse | None = None
    metadata: ArticleMetadata | None = None
    editor_report: EditorReport | None = None
    artifacts_dir: str | None = None
    error: str | None = None


class EditorialResult(Record):
    """What a topic's workflow came to: `blocking` concerns remain after so many rounds."""

    outcome: Outcome
    rounds: int
    blocking: int


class Passage(Record):
    """A retrieved piece of a document; `citation` names document and passage, `score` is a cosine."""

    citation: str
    text: str
    score: float


class ProviderEvidence(Record):
    """What an evidence provider came back with: its words and its citations."""

    response: str
    citations: list[str]
