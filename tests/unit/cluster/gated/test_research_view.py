"""How a research is printed: all of it, in plain text, and nothing that looks like the command itself."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.cli.research.kind import RESEARCH
from cluster.cli.research.view import (
    markdown,
    show_lineage,
    show_message,
    show_points,
    show_results,
    show_status,
)
from models.record import Record
from models.research.agent_workflows import ProgressInfo, ResearchStatusResponse
from models.research.following import (
    AgentMessage,
    LetIn,
    LineagePoint,
    LineageSource,
    ResearchLineage,
    ResearchPoints,
    ResearchResults,
    ResearchUrl,
    ResultSentence,
)
from models.research.results import ResearchResult
from models.research.synthesis import SynthesisCounts
from models.research.trees import TreeExport
from models.research.url_lists import GivenInstead, PastedText
from models.runtime.approvals import GateShown, content_digest
from tests.unit.cluster.gated.research_contents import REVIEW, TREE, UNREADABLE, urls
from tests.unit.cluster.gated.site import STEERS, gate_of, printed

NOW = datetime(2026, 3, 3, 10, 20, tzinfo=UTC)
LABELS = {
    *("decide on", "title", "question", "pages", "settings", "stored here", "not read", "left out", "notes"),
    *("unread", "instead", "tree", "section", "counts", "content", "changed", "digest", "research", "result"),
    *("approved", "missing", "10:20:00", "sources", "sentences", "task", "stands", "error", "why"),
}
anything = st.text(st.characters(codec=None))


def gate(record: Record, kind: str, **changes: Any) -> GateShown:
    return gate_of(record.model_dump(mode="json"), kind, **changes)


def sentence(number: int, text: str = "The Fed held rates.", **changes: Any) -> ResultSentence:
    given = {
        "number": number,
        "node": "n1",
        "heading": "Banks",
        "text": text,
        "points": (1, 9),
        "outcome": "kept",
        "reason": "",
    }
    return ResultSentence.model_validate({**given, **changes})


def lineage(text: str = "words", *sentences: ResultSentence, **let_in: Any) -> ResearchLineage:
    who = {"workflow_id": 7, "number": 1, "by": "ann", "approval_id": "19", "digest": "d" * 64, "at": NOW}
    source = LineageSource(
        url="https://example.org/<a b>",
        final_url=None,
        title=text,
        source_id=4,
        sha256=None,
        text_sha256="e" * 64,
        let_in=LetIn.model_validate({**who, **let_in}),
    )
    point = LineagePoint(point_id=1, kind="fact", statement=text, start=3, end=8, quote=text, source=0)
    return ResearchLineage(
        workflow_id=7, sentences=sentences or (sentence(1),), points=(point,), sources=(source,)
    )


def results(text: str = "The Fed held rates.", **changes: Any) -> ResearchResults:
    row = {
        "number": 1, "url": text, "title": text, "score": 0.5, "source": text, "user_approval": "approved",
        "decided_by": text, "approval_id": "19", "instead_of": None, "source_id": 4, "fault": None,
        "reason": None,
    }  # fmt: skip
    given = {
        "workflow_id": 7,
        "status": "completed",
        "result": ResearchResult(outcome="done", pages=1, points=1, missing=UNREADABLE.unreadable[:1]),
        "urls": (ResearchUrl.model_validate(row),),
        "tree": TreeExport(id=5, title="Rates", nodes=TREE.tree.nodes, edges=(), metadata=TREE.tree.metadata),
        "counts": SynthesisCounts(kept=1),
        "sentences": (sentence(1, text, reason=text, heading=text),),
        "approved": None,
    }
    return ResearchResults.model_validate({**given, **changes})


def status(text: str) -> ResearchStatusResponse:
    """One that stands still, whose every word is somebody else's."""
    progress = ProgressInfo(completed_steps=1, total_steps=4, percentage=25, current_operation=text)
    return ResearchStatusResponse(
        id=7, name=text, status="parked", task_type=None, current_step="scrape_urls", current_agent="scraper",
        progress=progress, agent_reasoning=None, results=None, created_at=NOW, updated_at=NOW, project_id=3,
        topic="macro", parent_workflow_id=None, waits_for=text, error=text or None, approval=None,
    )  # fmt: skip


def review(text: str) -> dict[str, Any]:
    """The last gate's content, with somebody else's words for its source."""
    whole = REVIEW.model_dump(mode="json")
    return {**whole, "sources": [{**whole["sources"][0], "title": text, "url": text, "let_in_by": text}]}


class TestResearchView:
    @given(anything, st.booleans(), st.integers(30, 90))
    def test_nothing_that_others_wrote_looks_like_the_command(
        self, text: str, terminal: bool, width: int
    ) -> None:
        hostile = urls(
            1, title=text, snippet=text, why=text, source=text, domain=text, url=text, folded=(text,)
        )
        message = AgentMessage(
            id=1,
            agent_type="scraper",
            step="scrape_urls",
            content=text,
            reasoning=text,
            metadata={},
            created_at=NOW,
        )
        for show, shown in (
            (
                RESEARCH.show_gate,
                gate_of({**urls().model_dump(mode="json"), "urls": []}, "research_urls", title=text),
            ),
            (RESEARCH.show_gate, gate_of(hostile.model_dump(), "research_urls", title=text)),
            (RESEARCH.show_gate, gate_of({"plan": text, text: "x"}, "another")),
            (
                RESEARCH.show_gate,
                gate_of({**TREE.model_dump(), "examples": {"n1": (text,)}}, "research_tree"),
            ),
            (show_results, results(text)),
            (show_lineage, lineage(text, sentence(1, text, reason=text))),
            (show_message, message),
            (show_status, status(text)),
            (RESEARCH.show_gate, gate_of(review(text), "research_result")),
        ):
            lines = printed(show, shown, terminal=terminal, width=width)
            assert {line[:12].strip() for line in lines if not line[:12].strip().isdigit()} - {""} <= LABELS
            assert not STEERS & set("".join(lines))

    def test_each_gate_is_shown_whole(self) -> None:
        pasted = GivenInstead(number=2, pasted=PastedText(text="Held.\nAs ever.", title="Ours"))
        unreadable = UNREADABLE.model_copy(update={"instead": (pasted,)})
        for record, kind, told in (
            (
                urls(known=12, folded=("https://m.example.org/",)),
                "research_urls",
                "known as source 12; 1 other",
            ),
            (unreadable, "research_unreadable", "            As ever."),
            (TREE, "research_tree", "              n2  “Fed”  1 point\n"),
            (REVIEW, "research_result", "         2  dropped: Cuts are sure. [point 2]"),
        ):
            lines = printed(RESEARCH.show_gate, gate(record, kind))
            assert RESEARCH.shown_at(gate(record, kind)) == record
            assert told in "\n".join(lines)
            assert lines[-1] == f"digest      {content_digest(record.model_dump(mode='json'))}"

    @pytest.mark.parametrize("kind", ["research_urls", "another"])
    def test_what_is_not_known_of_is_shown_too(self, kind: str) -> None:
        content = {**urls().model_dump(mode="json"), "small_print": "and the house"}
        shown = gate_of(content, kind)
        assert RESEARCH.shown_at(shown) is None
        text = "\n".join(printed(RESEARCH.show_gate, shown))
        assert "small_print: and the house" in text
        assert "title: Page 2" in text

    def test_who_changed_it_under_four_eyes_is_shown(self) -> None:
        content = {**urls().model_dump(mode="json"), "involved": ["ann", "bob"]}
        shown = gate_of(content, "research_urls", may_decide=False, amended_by="bob")
        lines = printed(RESEARCH.show_gate, shown)
        changed = "by bob: this is the changed content; involved: ann, bob; another person must approve it"
        assert f"changed     {changed}" in lines
        assert "            approving it is not open to you" in lines
        assert "pages       3 are read once this is approved" in "\n".join(lines)

    def test_the_way_back_leads_to_words_documents_and_people(self) -> None:
        lines = "\n".join(printed(show_lineage, lineage("Rates held")))
        for told in (
            "         1  kept: The Fed held rates. [points 1, 9]",
            "point 1, fact: Rates held",
            "characters 3 to 8: “Rates held”",
            f"let in by ann, approval 19 of {'d' * 64}",
            "point 9 is not there any more",
        ):
            assert told in lines
        assert "no gate stood: research 7" in "\n".join(printed(show_lineage, lineage(approval_id=None)))

    def test_each_point_leads_to_its_words_whether_a_sentence_cites_it_or_not(self) -> None:
        found = lineage("Rates held").model_dump(exclude={"sentences"})
        lines = printed(show_points, ResearchPoints.model_validate(found))
        assert lines[0] == "            point 1, fact: Rates held"
        assert f"let in by ann, approval 19 of {'d' * 64}" in lines[4]
        none = ResearchPoints(workflow_id=7, points=(), sources=())
        assert printed(show_points, none) == ["points      there are none here"]

    def test_results_say_whether_anybody_approved_them(self) -> None:
        for approved, told in (
            (None, "no gate stood for the text"),
            (True, "yes"),
            (False, "no"),
        ):
            assert f"approved    {told}" in printed(show_results, results(approved=approved))
        going = results(approved=None).model_copy(update={"result": None})
        assert "approved    nobody has decided on it" in printed(show_results, going)
        assert "missing     https://example.org/2: login" in printed(show_results, results())

    @pytest.mark.parametrize(
        ("outcome", "ended_at", "ended_by", "told"),
        [
            ("done", None, None, "done: 1 page, 1 point, 0 sentences"),
            ("nothing_found", None, None, "nothing found: 1 page, 1 point, 0 sentences"),
            ("rejected", "urls", "eve", "; eve rejected the list of addresses"),
            ("rejected", "tree", None, "; a person rejected the tree's categories"),
            ("rejected", "result", "eve", "; eve rejected the result"),
            ("expired", "result", None, "; nobody decided on the result in time"),
        ],
    )
    def test_results_say_how_it_ended_and_who_said_no(
        self, outcome: Any, ended_at: Any, ended_by: Any, told: str
    ) -> None:
        came = ResearchResult(outcome=outcome, pages=1, points=1, ended_at=ended_at)
        [line] = [
            line
            for line in printed(show_results, results(result=came, ended_by=ended_by))
            if line.startswith("result")
        ]
        assert line.endswith(told)

    @pytest.mark.parametrize(
        ("changes", "ended_at", "told"),
        [
            ({}, None, "source 4, let in by bob"),
            ({"decided_by": None}, None, "source 4"),
            ({"instead_of": 3}, None, "source 4, let in by bob in place of 3"),
            ({"fault": "not_found", "source_id": None}, None, "not found, let in by bob"),
            ({"source_id": None}, None, "not read yet, let in by bob"),
            ({"pasted_by": "ann"}, None, "source 4, a text that ann gave in its place"),
            ({"user_approval": "pending", "decided_by": None}, None, "nobody has decided on it yet"),
            ({"user_approval": "rejected"}, None, "left out of the list that bob approved"),
            ({"user_approval": "rejected"}, "result", "left out of the list that bob approved"),
            ({"user_approval": "rejected"}, "urls", "not read, for bob rejected the list"),
            (
                {"user_approval": "rejected", "decided_by": None},
                "urls",
                "not read, for nobody decided in time",
            ),
        ],
    )
    def test_each_address_says_what_came_of_it_on_whose_word(
        self, changes: dict[str, Any], ended_at: Any, told: str
    ) -> None:
        [url] = results("https://example.org/").urls
        url = url.model_copy(update={"decided_by": "bob", **changes})
        outcome: Any = "rejected" if ended_at else "done"
        came = ResearchResult(outcome=outcome, pages=1, points=1, ended_at=ended_at)
        lines = printed(show_results, results(urls=(url,), result=came))
        assert f"         1  {told}: https://example.org/" in lines

    def test_the_last_gate_shows_what_its_sentences_rest_on_and_who_let_that_in(self) -> None:
        lines = printed(RESEARCH.show_gate, gate(REVIEW, "research_result"))
        assert "            sources: 1, 2" in lines
        start = lines.index("sources     1: Page 1")
        assert lines[start + 1 : start + 4] == [
            "            https://example.org/1; let in by ann, approval 19",
            "            2: without a title",
            "            a text that somebody gave; read on the word of bob: no gate stood",
        ]
        older = {name: value for name, value in REVIEW.model_dump(mode="json").items() if name != "sources"}
        assert "sources" not in "\n".join(printed(RESEARCH.show_gate, gate_of(older, "research_result")))

    def test_where_nothing_was_written_the_way_back_says_so(self) -> None:
        empty = ResearchLineage(workflow_id=7, sentences=(), points=(), sources=())
        assert printed(show_lineage, empty) == [
            "sentences   there are none, so there is nothing to lead back from"
        ]

    def test_markdown_holds_what_stands_with_its_sources(self) -> None:
        found = results(
            approved=True,
            sentences=(
                sentence(1, "1. [a](b) <i>_c_</i> ![d]"),
                sentence(2, "Cuts are sure.", outcome="dropped"),
                sentence(3, "- so it is", outcome="unverified", heading="Prices\n# x"),
            ),
        )
        assert markdown("Rates # [x]\x1b[2J", found, lineage("A `title`")).splitlines() == [
            r"# Rates # \[x\]\\x1b\[2J",
            "",
            "## Banks",
            "",
            r"1\. \[a\](b) \<i\>\_c\_\</i\> !\[d\] [1]",
            "",
            r"## Prices\\n# x",
            "",
            r"\- so it is *(unverified)* [1]",
            "",
            "## Sources",
            "",
            r"1. A \`title\` <https://example.org/%3Ca%20b%3E>",
        ]
        assert "*Nobody has approved this.*" in markdown("x", results(approved=None), lineage())
        no = results(approved=False, reason="rejected by bob: [thin](x)")
        assert r"*This was not approved: rejected by bob: \[thin\](x).*" in markdown("x", no, lineage())
