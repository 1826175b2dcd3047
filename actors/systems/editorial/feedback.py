"""What the writer is told to change, computed from the verdicts alone (seed 004 §6.1 [2h], §6.1.2).

Called by the editorial steps after the specialists. No model is asked: the same verdicts, in whatever
order they came in, give the same feedback.
"""

from collections.abc import Sequence

from models.content.editorial import Verdict, WriterFeedback

_MAX_SUGGESTIONS = 5


def passed(verdicts: Sequence[Verdict]) -> bool:
    """Whether the draft may go out: no verdict says REWRITE or REMOVE."""
    return not any(verdict.blocks for verdict in verdicts)


def compile_feedback(*, iteration: int, verdicts: Sequence[Verdict]) -> WriterFeedback:
    """The feedback on one round's verdicts. It is sent only when the draft did not pass.

    `rating` is 10, less 2 for each thing to do and 1 for each suggestion, and at least 1.
    """
    ordered = sorted(verdicts, key=lambda verdict: verdict.concern_id)
    todos = [v.suggested_fix for v in ordered if v.blocks and v.suggested_fix is not None]
    suggestions = [v.rationale for v in ordered if v.status == "KEEP"][:_MAX_SUGGESTIONS]
    return WriterFeedback(
        iteration=iteration,
        rating=max(1, min(10, 10 - 2 * len(todos) - len(suggestions))),
        passed=False,
        reasoning=_reasoning(todos),
        improvement_suggestions=suggestions,
        todo_list=todos,
        verdicts=ordered,
    )


def _reasoning(todos: Sequence[str]) -> str:
    if not todos:
        return "Concerns remain, and no verdict names a fix: see their rationales."
    listed = "\n".join(f"{number}. {todo}" for number, todo in enumerate(todos, start=1))
    return f"Required changes ({len(todos)}):\n{listed}"
