"""What the chief editor hands to an agent, and the settings an agent is made with.

Every verb of the desk takes one brief. A brief is whole: an agent remembers nothing between calls, so
killing it loses nothing. Briefs cross from the graph's process to the agent's.
"""

from pydantic import Field

from actors.platform.llm.prompts import TwoPartPrompt
from models.config import BreakerConfig, ModelSettings
from models.content.editorial import ArticleResponse, Concern, NonEmpty, TopicInput, WriterFeedback
from models.content.quoting import Written
from models.errors import PromptInvalid, TopicInvalid
from models.record import Record


class WritingBrief(Record):
    """A topic to write the first draft of; `writes` says who does, here and below."""

    topic: TopicInput
    writes: Written = "prose"


class RevisionBrief(Record):
    """A draft to revise. `citations` are all that verdicts of this run have supplied so far.

    `objections` are the words that verdicts of this run were against: in quotes they are left out.
    """

    topic: TopicInput
    draft: ArticleResponse
    feedback: WriterFeedback
    citations: list[str]
    objections: tuple[str, ...] = ()
    writes: Written = "prose"


class ReviewBrief(Record):
    """A draft to compare with its source. `day`: when its editing began, ISO 8601."""

    topic: TopicInput
    draft: ArticleResponse
    writes: Written = "prose"
    day: str | None = None


class MappingBrief(Record):
    """The concerns of one review, to be given to specialists."""

    topic: TopicInput
    draft: ArticleResponse
    concerns: list[Concern] = Field(min_length=1)
    writes: Written = "prose"


class ConcernBrief(Record):
    """One concern for one specialist. `article_id` names the article in institutional memory."""

    article_id: NonEmpty
    topic: TopicInput
    draft: ArticleResponse
    concern: Concern
    writes: Written = "prose"

    @property
    def query(self) -> str:
        """What to look up: the excerpt, or the note where the excerpt has no word in it.

        Institutional memory goes by the query, and a blank one would stand for every blank excerpt.
        """
        wordless = not any(character.isalnum() for character in self.concern.excerpt)
        return self.concern.review_note if wordless else self.concern.excerpt


class AgentSettings(Record):
    """An agent's model and its breaker, its prompt templates by name, and the requirements of each style."""

    model: ModelSettings
    breaker: BreakerConfig
    prompts: dict[str, str]
    styles: dict[str, str]

    def prompt(self, name: str) -> TwoPartPrompt:
        """The named prompt; PromptInvalid where it was not given, or is no valid template."""
        return TwoPartPrompt(source=self.source(name), name=name)

    def source(self, name: str) -> str:
        """The named prompt as it is written; PromptInvalid where it was not given."""
        if name not in self.prompts:
            raise PromptInvalid(f"the prompt {name!r} was not given; there are: {', '.join(self.prompts)}")
        return self.prompts[name]

    def requirements(self, style_mode: str) -> str:
        """What a style asks of a text; TopicInvalid where the style is not an allowed one."""
        if style_mode not in self.styles:
            raise TopicInvalid(
                f"style_mode {style_mode!r} is not one of allowed_styles: {', '.join(self.styles)}"
            )
        return self.styles[style_mode]
