"""Approved results that tests of exports hand over: a readable example, and any that can be drawn."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, get_args

from hypothesis import strategies as st

from models.operations.evidence import (
    Conflict,
    ConflictKind,
    Correlation,
    CorrelationFigures,
    Evidence,
    Match,
)
from models.operations.exports import ApprovedResults, ResultsApproval
from models.operations.items import SourceItem
from models.operations.plans import AgentStep, OperationAgent, OperationPlan
from models.operations.results import (
    AgentFindings,
    AgentMetadata,
    AgentResult,
    Analysis,
    ComprehensiveResults,
    EvidencedSentence,
    ServedToolUse,
)
from models.runtime.approvals import Vote, content_digest

DECIDED = datetime(2026, 6, 30, 14, 5, 7, tzinfo=UTC)
MAIL = (
    "Dear all, invoice NL-2041 over 4,300.00 USD was paid on 12 June. Bitte prüfen, dziękuję. "
    "Żółta Łódź Sp. z o.o."
)
SAID = "The mail says “was paid on 12 June” of invoice NL-2041, and the bill is “unpaid”."
ADVICE = "Find out whether invoice NL-2041 has been paid before anything else is paid for it."


def example(*, mock: bool = False) -> ApprovedResults:
    """Three systems, one contradiction, one pair; with `mock`, the mail is a stand-in's."""
    mail = _item("gmail/1", "gmail", "search_messages", {"subject": "NL-2041", "body": MAIL}, mock=mock)
    bill = _item(
        "accounts_payable/1",
        "accounts_payable",
        "list_bills",
        {"vendor": "Northgate Logistics GmbH", "number": "NL-2041", "status": "unpaid", "amount": 4300.0},
    )
    account = _item("crm/1", "crm", "find_accounts", {"Name": "Northgate Logistics", "Owner": "Jürgen Groß"})
    return approve(
        results_of(
            (mail, bill, account),
            matches=(
                Correlation(
                    number=1,
                    left="gmail/1",
                    right="accounts_payable/1",
                    score=0.998,
                    matches=(
                        _match("invoice", "gmail/1", "/subject", "NL-2041", "accounts_payable/1", "/number"),
                        Match(
                            kind="amount",
                            left=Evidence(item="gmail/1", path="/body", words="4,300.00 USD"),
                            right=Evidence(item="accounts_payable/1", path="/amount", words="4300.0"),
                            score=1,
                        ),
                    ),
                ),
                Correlation(
                    number=2,
                    left="accounts_payable/1",
                    right="crm/1",
                    score=0.8461,
                    matches=(
                        Match(
                            kind="vendor",
                            left=Evidence(
                                item="accounts_payable/1", path="/vendor", words="Northgate Logistics GmbH"
                            ),
                            right=Evidence(item="crm/1", path="/Name", words="Northgate Logistics"),
                            score=0.96,
                        ),
                    ),
                ),
            ),
            conflicts=(
                Conflict(
                    number=1,
                    kind="status",
                    about="invoice NL-2041",
                    left=Evidence(item="gmail/1", path="/body", words="was paid on 12 June"),
                    right=Evidence(item="accounts_payable/1", path="/status", words="unpaid"),
                    explanation=SAID,
                ),
            ),
            summary=(
                EvidencedSentence(
                    text="2 pairs of things in different systems belong together.", evidence=("C1", "C2")
                ),
                EvidencedSentence(
                    text=SAID,
                    evidence=("K1",),
                ),
            ),
            recommendations=(
                EvidencedSentence(
                    text=ADVICE,
                    evidence=("K1",),
                ),
            ),
            mocked=("gmail",) if mock else (),
        )
    )


def results_of(
    items: tuple[SourceItem, ...],
    *,
    matches: tuple[Correlation, ...] = (),
    conflicts: tuple[Conflict, ...] = (),
    summary: tuple[EvidencedSentence, ...] = (),
    recommendations: tuple[EvidencedSentence, ...] = (),
    **more: Any,
) -> ComprehensiveResults:
    agents: tuple[OperationAgent, ...] = ("gmail", "accounts_payable", "crm", "analysis")
    plan = OperationPlan(
        description="Mail, then bills, then customers.",
        agent_sequence=agents,
        estimated_duration=30.0,
        data_sources=("email", "bills", "customers"),
        complexity="medium",
        steps=tuple(AgentStep(agent=agent, why="it may know") for agent in agents),
    )
    return ComprehensiveResults.model_validate(
        {
            "plan_id": "5f0c",
            "question": "Which bills of Northgate Logistics are paid, and who says so?",
            "iteration": 2,
            "plan": plan,
            "results": tuple(_result(agent, items) for agent in agents[:3]),
            "analysis": Analysis(
                status="completed", executive_summary=summary, recommendations=recommendations
            ),
            "correlations": CorrelationFigures(
                cross_references=len(matches), data_consistency=0.75, vendor_mentions=2, quality_score=0.8299
            ),
            "matches": matches,
            "conflicts": conflicts,
        }
        | more
    )


def approve(results: ComprehensiveResults, **more: Any) -> ApprovedResults:
    """The results, and Anna's yes to them."""
    return ApprovedResults.model_validate(
        {
            "operation_id": 7,
            "name": "Bills of Northgate Logistics",
            "topic": "equity",
            "task_type": "comprehensive",
            "requested_by": "ben@site.example",
            "requested_at": datetime(2026, 6, 30, 13, 0, tzinfo=UTC),
            "approval": ResultsApproval(
                approval_id="12",
                iteration=results.iteration,
                digest=content_digest(results.model_dump(mode="json")),
                approved_at=DECIDED,
                votes=(
                    Vote(voter="anna@site.example", decision="approve", notes="Seen, thank you", at=DECIDED),
                ),
            ),
            "results": results,
        }
        | more
    )


def _match(kind: Any, left: str, left_path: str, words: str, right: str, right_path: str) -> Match:
    return Match(
        kind=kind,
        left=Evidence(item=left, path=left_path, words=words),
        right=Evidence(item=right, path=right_path, words=words),
        score=1,
    )


def _item(id_: str, agent: Any, tool: str, data: dict[str, Any], *, mock: bool = False) -> SourceItem:
    return SourceItem(
        id=id_, agent=agent, server=f"{agent}_mcp", tool=tool, call=1, path="/items/0", data=data, mock=mock
    )


def _result(agent: Any, items: tuple[SourceItem, ...]) -> AgentResult:
    found = tuple(item for item in items if item.agent == agent)
    mock = any(item.mock for item in found)
    return AgentResult(
        agent=agent,
        status="completed",
        result=AgentFindings(summary=f"{len(found)} read", items=found),
        metadata=AgentMetadata(
            service_used="mock" if mock else f"{agent}_mcp",
            data_quality="low" if mock else "high",
            execution_time=1.25,
            tool_calls=(
                ServedToolUse(
                    number=1,
                    server=f"{agent}_mcp",
                    tool="look",
                    arguments={},
                    status="answered",
                    items=len(found),
                    seconds=1.0,
                    mock=mock,
                ),
            ),
        ),
        task_digest="0" * 64,
        iteration=1,
    )


TEMPTING = (
    "=1+1",
    "+48 22 123",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "  =cmd|' /C calc'!A0",
    "a;=1+1;b",
    'x"\n=HYPERLINK("http://evil.example","click")',
    "＝1+1",
    "-12.50",
    "[pay here](http://evil.example/pay)",
    "![](http://evil.example/x.png)",
    "<img src=x onerror=alert(1)>",
    "<a href='http://evil.example'>x",
    "</code><script>alert(1)</script>",
    "http://evil.example/?q=1 www.evil.example mailto:x@evil.example x@evil.example",
    "[C1]: http://evil.example",
    "`` ` ``` code `",
    "`[x](http://evil.example)`",
    "# heading\n\n- list\n\n1. one\n\n> said\n\n---",
    "a | b | [c](http://evil.example)",
    "$x$ &lt;b&gt; &#60;b> \\",
    '#panic("x") #import "@preview/x:1.0.0" #read("/etc/passwd") $x$ @ref <label>',
    "{{ 7*7 }} {% raw %} ${7*7}",
    "Żółta Łódź Sp. z o.o.",
    "Müller & Groß GmbH",
    "漢字 हिन्दी العربية עברית 😀",
    "\0\x1b[2J\x7f\x85\u2028\u202egnp.exe\u202c\u200b\ufeff",
    "x" * 700,
    "",
    " ",
)
HOSTILE = st.one_of(
    st.sampled_from(TEMPTING),
    st.lists(st.sampled_from(TEMPTING), min_size=2, max_size=3).map("".join),
    st.text(
        st.sampled_from("\\`*_{}[]()<>#+-.!|~^:&;$/@='\" \n\r\t\0\x1b\x85\u2028\u202e\u200b\ufeffa1ż")
        | st.characters(exclude_categories=["Cs"]),
        max_size=40,
    ),
)


@st.composite
def hostile_results(draw: st.DrawFn, texts: st.SearchStrategy[str] = HOSTILE) -> ApprovedResults:
    """Results in which everybody who can means ill: in each text that comes from outside."""
    text: Callable[[], str] = lambda: draw(texts)  # noqa: E731
    items = tuple(
        SourceItem(
            id=f"{agent}/{number}",
            agent=agent,
            server="server",
            tool=text(),
            call=1,
            path=f"/{text()}",
            data={text(): text(), "inner": [text(), {"x": text()}]},
            mock=draw(st.booleans()),
        )
        for agent in ("gmail", "accounts_payable", "crm")
        for number in range(1, draw(st.integers(0, 2)) + 1)
    )
    known = [item.id for item in items] + ["gmail/99"]

    def evidence() -> Evidence:
        return Evidence(item=draw(st.sampled_from(known)), path=f"/{text()}", words=text())

    matches = tuple(
        Correlation(
            number=number,
            left=draw(st.sampled_from(known)),
            right=draw(st.sampled_from(known)),
            score=draw(st.floats(0.5, 1)),
            matches=tuple(
                Match(
                    kind=draw(st.sampled_from(["vendor", "invoice", "amount", "date", "email"])),
                    left=evidence(),
                    right=evidence(),
                    score=draw(st.floats(0, 1)),
                )
                for _ in range(draw(st.integers(1, 2)))
            ),
        )
        for number in range(1, draw(st.integers(0, 2)) + 1)
    )
    conflicts = tuple(
        Conflict(
            number=number,
            kind=draw(st.sampled_from(get_args(ConflictKind))),
            about=text(),
            left=evidence(),
            right=evidence(),
            explanation=text(),
        )
        for number in range(1, draw(st.integers(0, 2)) + 1)
    )
    sentences = st.builds(
        EvidencedSentence, text=texts, evidence=st.lists(st.sampled_from(["C1", "K1"]), max_size=2).map(tuple)
    )
    results = results_of(
        items,
        matches=matches,
        conflicts=conflicts,
        summary=tuple(draw(st.lists(sentences, max_size=2))),
        recommendations=tuple(draw(st.lists(sentences, max_size=2))),
        question=text(),
        missing=tuple(draw(st.lists(texts, max_size=2))),
    )
    vote = Vote(voter=text(), decision="approve", notes=text(), at=DECIDED)
    approved = approve(results, name=text(), requested_by=text(), topic=text())
    return approved.model_copy(update={"approval": approved.approval.model_copy(update={"votes": (vote,)})})
