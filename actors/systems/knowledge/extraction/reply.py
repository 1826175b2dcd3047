"""What a model answers about a chunk, item by item, and the JSON schema that holds it to that.

Called by the extractor. The schema names only sentences that there are, and has lists and strings so short
that the answer ends within `max_tokens`. Each item is checked by itself, and each alias of one: a bad one is
dropped, never what it is in.
"""

from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from models.config import ModelSettings
from models.knowledge.points import ENTITY_TYPES, EntityType, Score
from models.record import Record
from models.text import one_line

# Greatest lengths, in characters, and numbers of items.
_NAME, _PHRASE, _STATEMENT, _QUOTE = 80, 60, 240, 300
_MOST_ALIASES = 2
_LISTS = ("entities", "relationships", "facts", "categories", "insights")
# The share of an answer that each list may take, its greatest number of items, and what one takes in tokens
# beside its strings.
_SHARES = {
    "entities": (0.30, 30, 25),
    "relationships": (0.25, 20, 30),
    "facts": (0.25, 20, 20),
    "categories": (0.08, 5, 15),
    "insights": (0.12, 8, 20),
}
# Characters per token: as full as strings may be; and what a model that can end them comes to.
_FILLED, _USUAL = 3, 6

# What is longer than was asked for is no name and no quote; the model may go over where no schema holds it.
_ITEM = ConfigDict(frozen=True, extra="ignore", strict=True)
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2 * _NAME)]
_Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4 * _STATEMENT)]
_Type = Annotated[
    EntityType, BeforeValidator(lambda said: said.strip().casefold() if isinstance(said, str) else said)
]
_Quote = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8 * _QUOTE)]


class EntityItem(BaseModel):
    """An entity; its name is its quote."""

    model_config = _ITEM
    name: _Name
    type: _Type
    aliases: tuple[_Name, ...] = Field((), strict=False)
    sentence: int
    score: Score


class RelationshipItem(BaseModel):
    """A relationship between two names."""

    model_config = _ITEM
    subject: _Name
    predicate: _Name
    object: _Name
    sentence: int
    quote: _Quote
    score: Score


class StatementItem(BaseModel):
    """A fact, or an insight."""

    model_config = _ITEM
    statement: _Said
    sentence: int
    quote: _Quote
    score: Score


class CategoryItem(BaseModel):
    """What the text is about; its quote is the whole sentence."""

    model_config = _ITEM
    label: _Name
    sentence: int
    score: Score


_Item = TypeVar("_Item", EntityItem, RelationshipItem, StatementItem, CategoryItem)


class ExtractionReply(BaseModel):
    """The answer as it came: lists of anything, one of them at least."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    entities: Any = ()
    relationships: Any = ()
    facts: Any = ()
    categories: Any = ()
    insights: Any = ()

    @model_validator(mode="after")
    def _is_an_answer(self) -> "ExtractionReply":
        if not self.model_fields_set:
            raise ValueError(f"none of these is there: {', '.join(_LISTS)}")
        return self


class CheckedReply(Record):
    """The items that are of the form that was asked for, and how many are not."""

    entities: tuple[EntityItem, ...]
    relationships: tuple[RelationshipItem, ...]
    facts: tuple[StatementItem, ...]
    categories: tuple[CategoryItem, ...]
    insights: tuple[StatementItem, ...]
    invalid: int


def checked(reply: ExtractionReply, sentences: int) -> CheckedReply:
    """A reply's items, each checked by itself; there are sentences from 1 to `sentences`."""
    invalid = 0

    def items(form: type[_Item], said: object) -> tuple[_Item, ...]:
        nonlocal invalid
        kept = []
        for one in said if isinstance(said, list) else [said] if said else []:
            if form is EntityItem and isinstance(one, dict):
                one, bad = _with_good_aliases(one)
                invalid += bad
            try:
                item = form.model_validate(one)
            except ValidationError:
                invalid += 1
                continue
            if 1 <= item.sentence <= sentences and _has_words(item):
                kept.append(item)
            else:
                invalid += 1
        return tuple(kept)

    return CheckedReply(
        entities=items(EntityItem, reply.entities),
        relationships=items(RelationshipItem, reply.relationships),
        facts=items(StatementItem, reply.facts),
        categories=items(CategoryItem, reply.categories),
        insights=items(StatementItem, reply.insights),
        invalid=invalid,
    )


def _with_good_aliases(said: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """An entity with those of its aliases that may be names, and how many it has that are not, nor blank."""
    aliases = said.get("aliases") or []
    aliases = aliases if isinstance(aliases, list) else [aliases]
    told = [alias for alias in aliases if not isinstance(alias, str) or one_line(alias)]
    good = [alias for alias in told if isinstance(alias, str) and len(alias.strip()) <= 2 * _NAME]
    return {**said, "aliases": good}, len(told) - len(good)


def extraction_schema(sentences: int, settings: ModelSettings) -> dict[str, Any]:
    """The JSON schema of a reply about a chunk of so many sentences."""
    name, phrase, text, quote = (
        {"type": "string", "minLength": 1, "maxLength": most} for most in (_NAME, _PHRASE, _STATEMENT, _QUOTE)
    )
    about = {"sentence": {"$ref": "#/$defs/sentence"}, "score": {"$ref": "#/$defs/score"}}
    statement = {"statement": text, "quote": quote, **about}
    aliases = {"type": "array", "items": phrase, "maxItems": _MOST_ALIASES}
    items: dict[str, dict[str, Any]] = {
        "entities": {"name": name, "type": {"enum": list(ENTITY_TYPES)}, "aliases": aliases, **about},
        "relationships": {"subject": name, "predicate": phrase, "object": name, "quote": quote, **about},
        "facts": statement,
        "categories": {"label": phrase, **about},
        "insights": statement,
    }
    most = most_items(settings)
    return {
        **_object({n: {"type": "array", "items": _object(items[n]), "maxItems": most[n]} for n in _LISTS}),
        "$defs": {
            "sentence": {"type": "integer", "enum": list(range(1, sentences + 1))},
            # Bounds, and no enum: xgrammar ends a bounded number after six digits, and knows no 0.9.
            "score": {"type": "number", "minimum": 0, "maximum": 1},
        },
    }


def most_items(settings: ModelSettings) -> dict[str, int]:
    """How many items of each list an answer has room for; 1 at least."""
    limit = settings.schema_limits.strings
    # Where strings are bounded, that is because the model doesn't end them by itself.
    per_token = _FILLED if limit else _USUAL
    lengths = {
        "entities": [_NAME, *[_PHRASE] * _MOST_ALIASES],
        "relationships": [_NAME, _PHRASE, _NAME, _QUOTE],
        "facts": [_STATEMENT, _QUOTE],
        "categories": [_PHRASE],
        "insights": [_STATEMENT, _QUOTE],
    }
    found = {}
    for name, (share, most, around) in _SHARES.items():
        tokens = around + sum(min(length, limit or length) for length in lengths[name]) // per_token
        found[name] = max(1, min(most, int(settings.max_tokens * share) // tokens))
    return found


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _has_words(item: BaseModel) -> bool:
    """Whether each of its texts has something that can be read."""
    texts = (text for _, text in item if isinstance(text, str))
    # What is printable has no invisible characters: the blanks at its ends are gone.
    return all(text.isprintable() or one_line(text) for text in texts)
