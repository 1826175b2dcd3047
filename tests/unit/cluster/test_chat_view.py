"""What `signoff chat` says beside an answer."""

import pytest

from cluster.cli.chat_view import TerminalView, WholeAnswer

ANSWER = WholeAnswer(
    response="Done.",
    agent_type="editor",
    tools_used=(),
    workflow_state=None,
    task_id=None,
    status="completed",
    conversation_id="c",
    topic=None,
)
LINE = "I took this for a review of an article."


def test_a_guess_is_said_to_be_one_beside_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    for took_as, told in ((LINE, 1), (None, 0)):
        view = TerminalView(in_loop=True)
        view.text("Done.")
        view.done(ANSWER.model_copy(update={"took_as": took_as}), {})
        shown = capsys.readouterr()
        assert shown.out == "Done.\n"
        assert shown.err.count(LINE) == told
