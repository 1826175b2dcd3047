"""Contents of the gates of a research."""

from typing import Any

from models.research.agent_workflows import ResearchOptions
from models.research.candidates import LeftOut, RefusedUrl, StoredText, UrlCandidate
from models.research.results import ResearchReview, ReviewSource, TreeReview
from models.research.synthesis import Synthesis, SynthesisSection, SynthesisSentence
from models.research.trees import Tree, TreeNode
from models.research.url_lists import PageOutcome, UnreadableList, UrlList


def candidate(number: int, **changes: Any) -> UrlCandidate:
    whole = {
        "number": number, "url": f"https://example.org/{number}", "title": f"Page {number}",
        "snippet": f"Snippet {number}", "score": 0.5, "published": "2026-03-01", "source": "searx",
        "language": "en", "domain": "example.org", "rating": "trust", "why": "its title",
    }  # fmt: skip
    return UrlCandidate.model_validate({**whole, **changes})


def urls(*numbers: int, **changes: Any) -> UrlList:
    return UrlList(
        question="How do rates move?",
        urls=tuple(candidate(number, **changes) for number in numbers or (1, 2, 3)),
        config=ResearchOptions(),
        stored=(
            StoredText(
                stored_as="article:17", title="Ours", snippet="", score=0.4, published=None, source="site"
            ),
        ),
        refused=(RefusedUrl(url="http://10.0.0.1/", rating="neutral", reason="it is not public"),),
        left_out=(LeftOut(reason="weak", count=4),),
        notes=("one engine was away",),
    )


UNREADABLE = UnreadableList(
    question="How do rates move?",
    unreadable=(
        PageOutcome(number=2, url="https://example.org/2", fault="login", reason="it asks for a login"),
        PageOutcome(number=3, url="https://example.org/3", fault="timeout", reason="30 s"),
    ),
    read=1,
)
TREE = TreeReview(
    question="How do rates move?",
    tree=Tree(
        title="Rates",
        nodes=(
            TreeNode(id="n1", position=0, name="Banks", points=(1, 2)),
            TreeNode(id="n2", parent="n1", position=0, name="Fed", points=(3,)),
            TreeNode(id="n3", position=1, name="Prices", points=(4,)),
        ),
    ),
    examples={"n2": ("The Fed held rates.",)},
)
REVIEW = ResearchReview(
    question="How do rates move?",
    tree_id=5,
    synthesis=Synthesis.of(
        [
            SynthesisSection(
                node="n1",
                heading="Banks",
                sentences=(
                    SynthesisSentence(text="The Fed held rates.", points=(1, 3), outcome="kept", reason=""),
                    SynthesisSentence(
                        text="Cuts are sure.", points=(2,), outcome="dropped", reason="no quote says so"
                    ),
                ),
                written="prose",
            )
        ]
    ),
    sources=(
        ReviewSource(
            url="https://example.org/1", title="Page 1", points=(1,), let_in_by="ann", approval_id="19"
        ),
        ReviewSource(url="urn:sha256:abc", title=None, points=(3,), let_in_by="bob"),
    ),
)
