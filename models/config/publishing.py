"""Configuration of who may come in, which topics there are, how publishing is approved, and what goes out.

Part of `models.config`.
"""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, SecretStr, Tag, field_validator, model_validator

from models.addresses import check_entry
from models.config.fields import Count, Positive, ResolvedPath, Secret, Section, Text, Url, refuse_null
from models.people.scopes import Role, is_topic

JwtAlgorithm = Literal["RS256", "ES256", "EdDSA"]


class JwksConfig(Section):
    """Public keys that tokens are checked with (RFC 7517): a file, or a URL such as Keycloak's.

    Keys from a URL are kept for `cache_seconds`; a token that names an unknown key has them read again.
    """

    file: ResolvedPath | None = None  # a JWK set
    url: Url | None = None  # where a JWK set is
    # those that tokens may be signed with
    algorithms: tuple[JwtAlgorithm, ...] = Field(
        default=("RS256", "ES256", "EdDSA"), strict=False, min_length=1
    )
    cache_seconds: Positive = 300.0

    @model_validator(mode="after")
    def _one_source(self) -> "JwksConfig":
        if (self.file is None) == (self.url is None):
            raise ValueError("give file or url, and not both")
        return self


# In a file, a manual or a tutorial that everybody can read.
PUBLIC_SECRETS = frozenset(
    (
        "development-only-secret-change-me-before-use",
        "a-string-secret-at-least-256-bits-long",
        "your-256-bit-secret-your-256-bit-secret",
        "0123456789abcdef0123456789abcdef",
        "changemechangemechangemechangeme",
        "supersecretsupersecretsupersecret",
        "09d25e094faa6ca2556c818166b7a9563b93f7099f6f0f4caa6cf63b88e8d3e7",
    )
)


class GrantsConfig(Section):
    """Who has which scopes, as a JSON object `{"ann": ["macro:analyst"]}` in a file or at a URL.

    It is read every `every_seconds`. While it can't be read, what it last said holds.
    """

    file: ResolvedPath | None = None  # the JSON object
    url: Url | None = None  # where the JSON object is
    every_seconds: Positive

    @model_validator(mode="after")
    def _one_source(self) -> "GrantsConfig":
        if (self.file is None) == (self.url is None):
            raise ValueError("give file or url, and not both")
        return self


class DecideConfig(Section):
    """What a token has that a person decides with: one of `values` in its `claim`, `audience`, or both."""

    claim: Text | None = None  # such as `amr`
    values: tuple[Text, ...] = Field(default=(), strict=False)  # those of the claim that a person's token has
    audience: Text | None = None  # one that only persons' tokens have

    @model_validator(mode="after")
    def _something(self) -> "DecideConfig":
        if (self.claim is None) != (not self.values):
            raise ValueError("claim and values: give both, or neither")
        if self.claim is None and self.audience is None:
            raise ValueError("give claim and values, or audience; any_token instead lets each decide")
        return self


AnyToken = Literal["any_token"]
_Decide = Annotated[
    Annotated[DecideConfig, Tag("what it has")] | Annotated[AnyToken, Tag("any")],
    Discriminator(lambda said: "any" if isinstance(said, str) else "what it has"),
    refuse_null("any_token"),
]


class AuthConfig(Section):
    """How tokens are signed and checked (RFC 7519, RFC 8725): `secret` (HS256), `jwks`, or both.

    The algorithm decides which of the two a token is checked with. `leeway_seconds` is how far clocks may
    differ. Without a token that carries it a scope counts as had for `grants_last_seconds`; `grants` names a
    list that goes before all tokens. With `decide: any_token` each decides on approvals.
    """

    issuer: Text  # what `iss` of tokens must say
    audience: Text  # what `aud` of tokens must hold
    secret: Secret | None = None  # of 32 characters at least; one of `secret` and `jwks` must be there
    jwks: JwksConfig | None = None
    token_minutes: Count  # how long the tokens of `signoff token` last
    grants_last_seconds: Positive
    grants: GrantsConfig | None = None
    decide: _Decide
    leeway_seconds: Annotated[float, Field(ge=0, le=300)] = 0.0

    @field_validator("secret")
    @classmethod
    def _long_enough(cls, secret: SecretStr | None) -> SecretStr | None:
        if secret is not None and len(secret.get_secret_value()) < 32:
            raise ValueError("an HS256 secret needs at least 32 characters (RFC 7518 §3.2)")
        return secret

    @model_validator(mode="after")
    def _some_key(self) -> "AuthConfig":
        if self.secret is None and self.jwks is None:
            raise ValueError("tokens can't be checked: set secret (HS256) or jwks (RS256, ES256, EdDSA)")
        return self


class ApprovalPolicy(Section):
    """Who decides: `quorum` different people with `role` on the topic, within the time.

    With `four_eyes`, whoever asked is not one of them.
    """

    role: Role  # on the topic of what is decided on
    quorum: Count
    four_eyes: bool
    expires_in_seconds: Positive  # after that nothing is decided, and an article goes back to its editor


class TopicConfig(Section):
    """A subject area; `approval` overrides the general policy."""

    title: Text  # what people call it
    approval: ApprovalPolicy | None = None  # the whole policy, where it differs


class PublishingConfig(Section):
    """The subject areas by slug, and how publishing in them is approved.

    `public_url` is where clients reach this site, for links in messages; `ui_url` is that of a web app
    of your own, whose pages then are what webhooks link to (seed 000 §8.3).
    """

    topics: dict[str, TopicConfig] = Field(min_length=1)  # lower-case letters, digits, `-` and `_`
    approval: ApprovalPolicy  # unless the topic says otherwise
    public_url: Url  # also MCP's metadata, and the hosts that requests may name
    ui_url: Url | None = None
    prompts_dir: ResolvedPath  # `tonalities/*.md`, which `up` takes in, and `topics/*.md`

    @field_validator("topics")
    @classmethod
    def _slugs(cls, topics: dict[str, TopicConfig]) -> dict[str, TopicConfig]:
        if wrong := [slug for slug in topics if not is_topic(slug)]:
            raise ValueError(
                f"{wrong[0]!r} can't name a topic: use lower-case letters, digits, - and _ (and not `global`)"
            )
        return topics

    def policy(self, topic: str) -> ApprovalPolicy:
        """How publishing in a topic is approved."""
        found = self.topics.get(topic)
        return self.approval if found is None or found.approval is None else found.approval


class RateLimit(Section):
    """At most `calls` of a user in `per_seconds`, as a bucket that fills up evenly."""

    calls: Count
    per_seconds: Positive


class ToolsConfig(Section):
    """How often a user may call each tool: `rate_limit`, and `rate_limits` for single tools by name."""

    rate_limit: RateLimit  # of each user and tool
    # `chat` counts messages; `up` refuses a name that is no tool
    rate_limits: dict[str, RateLimit] = Field(default_factory=dict)


class OutgoingConfig(Section):
    """Where requests to addresses that users gave may go, beyond public ones.

    `allow_internal` lists networks (`10.1.0.0/16`), addresses (`10.1.2.3`) and host names (`hooks.internal`),
    without ports; a name stands for itself alone, and not for names below it.
    """

    allow_internal: tuple[Text, ...] = Field(strict=False)

    @field_validator("allow_internal")
    @classmethod
    def _networks(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        for entry in entries:
            check_entry(entry)
        return entries


class WebhooksConfig(Section):
    """How webhooks are delivered. Times are in seconds.

    `concurrency` is requests at once, `per_webhook` those to one webhook: a slow target holds up no other.
    Their secrets are kept sealed: the first of `sealing_keys` seals, all of them open.
    """

    sealing_keys: tuple[Secret, ...] = Field(strict=False, min_length=1)

    timeout_seconds: Positive  # of one request
    concurrency: Count
    per_webhook: Count
    max_delay_seconds: Positive  # the longest pause between two tries
    rotation_seconds: Positive  # how long a rotated secret stays valid beside the new one
    num_cpus: Annotated[float, Field(ge=0)]  # of the dispatcher


class SearchConfig(Section):
    """How articles and resources are found: by words and by meaning, fused by reciprocal rank.

    `candidates` is how many each of the two ways offers; `timeout_seconds` is how long the one by meaning
    may take before the words have to do. Passages and vectors are made as the knowledge base's are.
    """

    candidates: Count
    timeout_seconds: Positive
