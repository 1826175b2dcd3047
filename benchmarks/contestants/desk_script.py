"""The script of the editorial benchmark: two rounds for every topic, and what that takes at best.

Round one: three concerns, one each for opinion, attribution and style review, all three REWRITE. The
revision says so in its text, by which the model server knows round two: three concerns, all KEEP.
These three specialists ask their model and nothing else, so the calls can be counted beforehand.
"""

import json
from pathlib import Path

from tests.fakes.model.model_server import Rule

AGENTS = ("opinion", "attribution", "style_review")
ROUNDS = 2
# In each round: the draft or its revision, the review, the mapping, then all specialists at once.
PATH_CALLS = 4 * ROUNDS
# The seed asks the specialists one after another.
SEQUENTIAL_CALLS = (3 + len(AGENTS)) * ROUNDS

_SOURCE = (
    "The mill at Orra was rebuilt in 1911. It grinds rye for four villages. The miller keeps a ledger of "
    "every sack. Visitors come in May, when the river is high. A second wheel was added in 1934. "
)
_REVISED = "This is the second draft."


def write_topics(folder: Path, *, channel: str, count: int) -> None:
    """Topic files of about 400 words each, no two alike."""
    folder.mkdir(parents=True)
    for number in range(count):
        slug = f"topic-{number:02}"
        about = {
            "source_file": f"{slug}.txt",
            "channel_name": channel,
            "video_id": slug,
            "video_title": slug.title(),
            "publish_date": None,
            "topic_slug": slug,
            "topic_title": slug.title(),
        }
        topic = {
            "source_text": f"This is {channel} {slug}. {_SOURCE * 10}",
            "source_metadata": about,
            "style_mode": "NATURE_NEWS",
            "target_length_words": "400-500",
        }
        (folder / f"{slug}.json").write_text(json.dumps(topic), encoding="utf-8")


def rules() -> list[Rule]:
    """What the model server answers, whatever the topic."""
    review = "".join(f'- "claim {n}": the source is silent on it\n' for n in range(1, len(AGENTS) + 1))
    mappings = [
        {
            "concern_id": number,
            "concern_type": "editorializing",
            "selected_agent": agent,
            "confidence": "high",
            "reason": "This is what it is for.",
        }
        for number, agent in enumerate(AGENTS, start=1)
    ]
    article = {
        "headline": "The mill at Orra",
        "alternativeHeadline": "A mill that grinds on",
        "articleBody": f"{_REVISED} {_SOURCE * 5}",
        "description": "A mill, rebuilt.",
    }
    verdicts = [
        rule
        for number, agent in enumerate(AGENTS, start=1)
        for rule in (
            Rule(kind=agent, contains=_REVISED, reply=_verdict(number, "KEEP")),
            Rule(kind=agent, reply=_verdict(number, "REWRITE")),
        )
    ]
    return [
        Rule(kind="article_review", reply=review),
        Rule(kind="concern_mapping", reply=json.dumps({"mappings": mappings})),
        Rule(kind="revision", reply=json.dumps(article)),
        *verdicts,
        Rule(kind="embeddings", delay=0.0),
    ]


def _verdict(concern_id: int, status: str) -> str:
    verdict = {
        "concern_id": concern_id,
        "rationale": "The source does not say so.",
        "misleading": status != "KEEP",
        "status": status,
        "suggested_fix": None if status == "KEEP" else "Say only what the source says.",
        "evidence": None,
    }
    return json.dumps(verdict)
