"""Contents of the gates of an operation."""

from typing import Any

from models.mcp.tool_answers import ServedToolCall, ServerQuestion
from models.operations.evidence import Conflict, Correlation, CorrelationFigures, Evidence, Match
from models.operations.items import SourceItem
from models.operations.plans import AgentStep, AllowedTool, OperationPlan, PlanShown
from models.operations.questions import AgentQuestion, AgentReview, WriteShown
from models.operations.results import (
    AgentFindings,
    AgentMetadata,
    AgentResult,
    Analysis,
    ComprehensiveResults,
    EvidencedSentence,
    ProposedWrite,
    ResultChanges,
    ServedToolUse,
    WriteOutcome,
)

QUESTION = "Why is Northgate unpaid?"


def step(agent: str, **changes: Any) -> AgentStep:
    tools = (
        () if agent == "analysis" else (AllowedTool(server=f"{agent}_srv", tool="search", digest="d" * 64),)
    )
    return AgentStep.model_validate({"agent": agent, "why": f"why {agent}", "tools": tools, **changes})


def plan(*agents: str, **changes: Any) -> PlanShown:
    sequence = agents or ("gmail", "accounts_payable", "crm", "analysis")
    sources = {"gmail": "email", "accounts_payable": "bill_com", "crm": "salesforce"}
    whole = {
        "description": "Look for Northgate's invoices.",
        "agent_sequence": sequence,
        "estimated_duration": 160.0,
        "data_sources": tuple(sources[agent] for agent in sequence if agent in sources),
        "complexity": "medium",
        "steps": tuple(step(agent) for agent in sequence),
        "leads": ("Northgate", "2041"),
        "notes": ("the CRM is slow today",),
    }
    return PlanShown(
        plan_id="w7", question=QUESTION, iteration=1, plan=OperationPlan.model_validate({**whole, **changes})
    )


def result(agent: str, *items: SourceItem, **changes: Any) -> AgentResult:
    used = ServedToolUse(
        number=1, server=f"{agent}_srv", tool="search", arguments={"query": "Northgate"}, status="answered",
        items=len(items), seconds=0.4,
    )  # fmt: skip
    whole = {
        "agent": agent,
        "status": "completed",
        "result": AgentFindings(
            summary=f"{agent} found {len(items)}.", leads=("Northgate Ltd",), items=items
        ),
        "metadata": AgentMetadata(
            service_used=f"{agent}_mcp", data_quality="high", execution_time=2.1, tool_calls=(used,)
        ),
        "task_digest": "t" * 64,
        "iteration": 1,
    }
    return AgentResult.model_validate({**whole, **changes})


def item(agent: str, number: int, mock: bool = False, **data: Any) -> SourceItem:
    return SourceItem.model_validate(
        {
            "id": f"{agent}/{number}",
            "agent": agent,
            "server": f"{agent}_srv",
            "tool": "search",
            "call": 1,
            "path": f"/items/{number}",
            "data": data,
            "mock": mock,
        }
    )


MAIL = item("gmail", 1, subject="Invoice 2041", body="We were never paid.\nPlease pay 4300.")
BILL = item("accounts_payable", 1, mock=True, invoice="2041", amount=4300.0, status="paid")
PLAN = plan()
FAILED = AgentQuestion(
    plan_id="w7",
    question=QUESTION,
    iteration=1,
    agent="accounts_payable",
    kind="failed",
    what="it took 300 s",
)
ASKS = AgentQuestion(
    plan_id="w7",
    question=QUESTION,
    iteration=1,
    agent="crm",
    kind="server_asks",
    what="Which account?",
    server_question=ServerQuestion(
        server="crm_srv",
        tool="search",
        key="k1",
        message="Which account, and how much?",
        requested={
            "type": "object",
            "properties": {
                "account": {"type": "string", "title": "The account", "enum": ["0042", "0043"]},
                "amount": {"type": "number"},
                "count": {"type": "integer"},
                "sure": {"type": "boolean"},
                "tags": {"type": "array"},
            },
            "required": ["account"],
        },
        state="s1",
        said="It asked, and was told to wait.",
    ),
)
WRITE = ProposedWrite(
    server="crm_srv", tool="add_note", digest="d" * 64, arguments={"note": "Call them."}, why="nobody called"
)
WRITES = WriteShown(plan_id="w7", question=QUESTION, iteration=1, agent="crm", write=WRITE)
UNKNOWN = AgentQuestion(
    plan_id="w7",
    question=QUESTION,
    iteration=1,
    agent="crm",
    kind="write_unknown",
    what="its answer was lost",
    call=ServedToolCall(server="crm_srv", tool="add_note", digest="d" * 64, arguments={"note": "Call them."}),
)
REVIEW = AgentReview(
    plan_id="w7", question=QUESTION, iteration=1, agent="gmail", agent_result=result("gmail", MAIL)
)
_WORDS = (
    Evidence(item="gmail/1", path="/subject", words="2041"),
    Evidence(item="accounts_payable/1", path="/invoice", words="2041"),
)
RESULTS = ComprehensiveResults(
    plan_id="w7",
    question=QUESTION,
    iteration=2,
    plan=plan("gmail", "accounts_payable", "analysis").plan,
    results=(
        result("gmail", MAIL),
        result(
            "accounts_payable",
            BILL,
            iteration=2,
            writes=(
                WriteOutcome(write=WRITE, status="done", told="note 5", approval_id="17", decided_by="bob"),
            ),
            metadata=AgentMetadata(service_used="mock", data_quality="low", execution_time=0.1),
        ),
    ),
    analysis=Analysis(
        status="completed",
        executive_summary=(
            EvidencedSentence(text="Invoice 2041 is said to be unpaid.", evidence=("K1", "gmail/1")),
        ),
        recommendations=(EvidencedSentence(text="Ask the bank.", evidence=("C1",)),),
        correlation_score=0.9,
        llm_used="qwen",
        execution_time=3.5,
        dropped=2,
    ),
    correlations=CorrelationFigures(
        cross_references=1, data_consistency=0.5, vendor_mentions=3, quality_score=0.75
    ),
    matches=(
        Correlation(
            number=1,
            left="gmail/1",
            right="accounts_payable/1",
            score=0.97,
            matches=(Match(kind="invoice", left=_WORDS[0], right=_WORDS[1], score=1.0),),
        ),
    ),
    conflicts=(
        Conflict(
            number=1,
            kind="status",
            about="2041",
            left=Evidence(item="gmail/1", path="/body", words="never paid"),
            right=Evidence(item="accounts_payable/1", path="/status", words="paid"),
            explanation="A mail says “never paid”, and the bill says “paid”.",
        ),
    ),
    reused=("gmail",),
    mocked=("accounts_payable",),
    missing=("CRM was left out of the plan: nothing of it is compared",),
    changes=ResultChanges(
        agents=("accounts_payable",),
        new_conflicts=("A bill is new.",),
        gone_conflicts=("A bill has gone.",),
        new_correlations=("invoice: 2041 = 2041",),
        gone_correlations=("amount: 1 = 1",),
    ),
)
EVERY_GATE = (PLAN, FAILED, ASKS, UNKNOWN, WRITES, REVIEW, RESULTS)
