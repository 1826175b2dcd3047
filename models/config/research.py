"""Configuration of research (seed 002): which sources are found, and in what order they are shown.

Part of `models.config`.
"""

from functools import partial
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from models.config.fields import ResolvedPath, Section, Text, resolved
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


class ResearchConfig(Section):
    """Research: sources are found, a person decides which are read, and their knowledge is put together."""

    domains: Annotated[DomainsConfig, BeforeValidator(_read_domains)]
    candidates: CandidatesConfig
    asking_file: ResolvedPath  # words by which people ask for research, which no search engine is asked for
