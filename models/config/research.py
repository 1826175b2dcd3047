"""Configuration of research (seed 002): which sources are found, and who names, writes and checks.

Part of `models.config`.
"""

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from models.config.fields import Count, Positive, ResolvedPath, Section, Text, resolved
from models.config.llm import ModelSettings, WriterSettings
from models.config.publishing import ApprovalPolicy
from models.config.strict_yaml import faults, read_mapping
from models.domains import preferred_form
from models.errors import ConfigInvalid

# As many as one search of ours has room for: see `models.research.candidates`.
MOST_CANDIDATES = 200

# A suffix that a company lets to anybody holds the pages of many: they may be kept out all together, but
# that somebody has one of them says nothing for the others.
TrustedDomain = Annotated[Text, AfterValidator(partial(preferred_form, private=True))]
RefusedDomain = Annotated[Text, AfterValidator(partial(preferred_form, private=False))]


class DomainsConfig(Section):
    """Which domains the site prefers, with all that lies under them; or the path of a YAML file that says so.

    Of several that a host lies under, the nearest counts: `never: [example.org]` with
    `prefer: [data.example.org]` leaves one host to read. The file is read by `signoff up`.
    """

    trust: tuple[TrustedDomain, ...] = Field(default=(), strict=False)  # their pages rise most
    prefer: tuple[TrustedDomain, ...] = Field(default=(), strict=False)  # their pages rise a little
    never: tuple[RefusedDomain, ...] = Field(default=(), strict=False)  # no page of theirs is offered or read

    @model_validator(mode="after")
    def _each_once(self) -> "DomainsConfig":
        of: dict[str, str] = {}
        for name in ("trust", "prefer", "never"):
            for domain in getattr(self, name):
                if of.setdefault(domain, name) != name:
                    raise ValueError(f"{domain} is in {of[domain]} and in {name}: leave it in one of them")
        return self


class CandidatesConfig(Section):
    """How many pages a person is shown to choose from (seed 002, FR2)."""

    least: Annotated[int, Field(ge=1, le=MOST_CANDIDATES)]  # where fewer are found, he is told
    most: Annotated[int, Field(ge=1, le=MOST_CANDIDATES)]  # beyond `least`, only what bears on the question

    @model_validator(mode="after")
    def _in_order(self) -> "CandidatesConfig":
        if self.least > self.most:
            raise ValueError(f"least is {self.least}, and most is {self.most}: set least to most or less")
        return self


class IntentsConfig(Section):
    """How it is told what a query asks for, where the request doesn't say (seed 002, FR1).

    A classifier measures it. Where it scores less than `ask_below`, and `asks` is `model`, that of `llm` is
    asked; where nobody is, or the model is away, what was measured stands as a guess. `signoff up` reads both
    files.
    """

    weights_file: ResolvedPath  # the classifier's: `make train-research-intents` writes it
    signs_file: ResolvedPath  # words by which people say what is to be done
    ask_below: Annotated[float, Field(ge=0, le=1)]  # a probability
    asks: Literal["model", "nobody"]  # who is asked where the classifier is unsure
    llm: ModelSettings


class TreeConfig(Section):
    """A tree of knowledge (seed 002, FR5). `llm` names its nodes, where a model does."""

    names: Literal["model", "code"]  # who names nodes; `code` takes words that a node's points share
    llm: ModelSettings


class SynthesisConfig(Section):
    """The text that is written about a tree. `llm` writes its sections.

    With `writes: quotes` no model writes: sections are their points' own sentences, and nobody checks them.
    `checker_llm` is the model of another agent, which takes the second look at each sentence.
    """

    llm: WriterSettings
    checker_llm: ModelSettings
    most_sentences: Count  # of a section


def _read_domains(said: Any, info: ValidationInfo) -> Any:
    """What a file says of domains, where its path is given instead."""
    if not isinstance(said, str):
        return said
    path = resolved(said, info)
    try:
        raw = read_mapping(path)
        return DomainsConfig.model_validate(raw)
    except ValidationError as error:
        raise ValueError("; ".join(faults(lambda _: path, raw, error))) from error
    except ConfigInvalid as error:
        raise ValueError(str(error)) from error


class PlanLimits(Section):
    """What one research may use, and how many of them a person has at once (seed 002 §10.1).

    Where one is used up, no further page is fetched, no further source is read for knowledge, and no further
    section is written. The research goes on to its gates, ends with what it has, and says what is missing.
    """

    max_urls: Annotated[int, Field(ge=1, le=MOST_CANDIDATES)]  # addresses, those in place of others as well
    max_tool_calls: Count  # searches, pages, sources that are read for knowledge, and sections, together
    max_duration_seconds: Positive  # that its tools and models work, added up; not what it waits for
    max_llm_tokens: Count  # of prompts and of answers, together
    max_workflows: Count  # researches that one person has under way, in whichever topics


class LimitsConfig(Section):
    """Plans of limits by their names; each topic has one.

    What a plan says now counts for all that is still to be done, in researches that are under way as well.
    """

    default: Text  # the plan of topics that name none
    plans: dict[Text, PlanLimits] = Field(min_length=1)
    topics: dict[Text, Text] = Field(default_factory=dict)  # a topic's plan, where it has another one

    @model_validator(mode="after")
    def _plans_exist(self) -> "LimitsConfig":
        named = {"default": self.default} | {f"topics.{topic}": plan for topic, plan in self.topics.items()}
        for key, plan in named.items():
            if plan not in self.plans:
                known = ", ".join(sorted(self.plans))
                raise ValueError(f"{key} is {plan}, which is no plan: name one of plans ({known}), or add it")
        return self

    def of(self, topic: str) -> PlanLimits:
        """The limits of researches in a topic."""
        return self.plans[self.topics.get(topic, self.default)]


class ResearchConfig(Section):
    """Research: sources are found, a person decides which are read, and their knowledge is put together."""

    approval: ApprovalPolicy  # who decides at the gates of a research, in its topic
    domains: Annotated[DomainsConfig, BeforeValidator(_read_domains)]
    candidates: CandidatesConfig
    asking_file: ResolvedPath  # words by which people ask for research, which no search engine is asked for
    intents: IntentsConfig
    prompts_dir: ResolvedPath  # the prompts of those that classify, name, write and check
    limits: LimitsConfig
    tree: TreeConfig
    synthesis: SynthesisConfig
