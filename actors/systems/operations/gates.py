"""What the gates of an operation ask: each shows all that is decided on, the same on each replay. Seed 003.

Called by the nodes of the graph. `number` counts what was asked of a kind: of two gates that say the same, a
late answer to the first is none to the second.
"""

from collections.abc import Mapping
from typing import Any

from models.config import OperationsConfig
from models.operations.operations import Operation
from models.operations.plans import OperationAgent, OperationPlan, PlanShown
from models.operations.questions import AgentQuestion, AgentReview, WriteShown
from models.operations.results import AgentResult, ComprehensiveResults, ProposedWrite, WriteOutcome
from models.operations.tasks import ReadingOutcome
from models.record import Record
from models.runtime.approvals import GateRequest


class OperationGates:
    """Makes what is asked about one operation. Pure."""

    def __init__(self, *, settings: OperationsConfig, operation: Operation) -> None:
        self._policy = settings.approval
        self._operation = operation

    def plan(self, plan: OperationPlan, iteration: int, *, number: int, feedback: str | None) -> GateRequest:
        """Exactly this plan."""
        shown = PlanShown(**self._about(iteration, number), plan=plan, feedback=feedback)
        return self._request("operation_plan", shown, "The plan")

    def results(self, results: ComprehensiveResults) -> GateRequest:
        """Exactly these results."""
        return self._request("operation_results", results, "The results")

    def review(self, result: AgentResult, iteration: int, *, number: int) -> GateRequest:
        """One agent's result, where a person looks at each."""
        shown = AgentReview(**self._about(iteration, number), agent=result.agent, agent_result=result)
        return self._request("operation_review", shown, f"What {result.agent} found")

    def write(
        self,
        agent: OperationAgent,
        write: ProposedWrite,
        iteration: int,
        *,
        number: int,
        sent_before: tuple[WriteOutcome, ...],
    ) -> GateRequest:
        """A call that would change something in another system: this very one, once."""
        about = self._about(iteration, number)
        shown = WriteShown(**about, agent=agent, write=write, sent_before=sent_before)
        return self._request(
            "operation_write", shown, f"{agent} wants to call {write.tool} of {write.server}"
        )

    def question(self, question: AgentQuestion) -> GateRequest:
        """What is asked about an agent."""
        title = {
            "failed": f"{question.agent} could not do its part, try again?",
            "write_unknown": f"{question.agent} may have written already, send it again?",
            "write_not_sent": f"{question.agent} could not write, try again?",
            "server_asks": f"{question.agent} is asked something",
        }[question.kind]
        return self._request("operation_question", question, title)

    def about_failed(
        self, results: Mapping[OperationAgent, AgentResult], iteration: int, *, number: int
    ) -> AgentQuestion:
        """The first agent that failed."""
        failed = next(one for one in results.values() if one.status == "error")
        return AgentQuestion(
            **self._about(iteration, number),
            agent=failed.agent,
            kind="failed",
            what=failed.error or "it did not say why",
        )

    def about_waiting(
        self, agent: OperationAgent, waiting: ReadingOutcome | WriteOutcome, iteration: int, *, number: int
    ) -> AgentQuestion:
        """What a server asks of a person; or a write that was not sent, or perhaps was done."""
        about = self._about(iteration, number) | {"agent": agent}
        if isinstance(waiting, WriteOutcome):
            return AgentQuestion(
                **about,
                kind="write_not_sent" if waiting.status == "not_sent" else "write_unknown",
                what=waiting.told,
                call=waiting.write.call,
            )
        question = waiting.server_question
        assert question is not None, "it asks"
        return AgentQuestion(
            **about,
            kind="server_asks",
            what=question.message,
            call=waiting.asked_call,
            server_question=question,
        )

    def _about(self, iteration: int, number: int) -> dict[str, Any]:
        return {
            "plan_id": self._operation.workflow_id,
            "question": self._operation.query,
            "iteration": iteration,
            "number": number,
        }

    def _request(self, kind: str, shown: Record, title: str) -> GateRequest:
        return GateRequest(
            kind=kind,
            content=shown.model_dump(mode="json"),
            required_scope=f"{self._operation.topic}:{self._policy.role}",
            four_eyes=self._policy.four_eyes,
            quorum=self._policy.quorum,
            expires_in_seconds=self._policy.expires_in_seconds,
            about=f"operation:{self._operation.id}",
            title=f"{title}: {self._operation.name}",
        )
