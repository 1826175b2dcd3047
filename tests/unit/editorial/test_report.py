"""The editor's report: which draft is the best, and what blocks it."""

from actors.systems.editorial.rounds import best_round, blocking_concerns, editor_report
from models.content.editorial import ArticleResponse, Concern, IterationReport, Verdict, VerdictStatus


def iteration(number: int, *statuses: VerdictStatus) -> IterationReport:
    """A round whose concerns got these verdicts."""
    return IterationReport(
        iteration_number=number,
        concerns=[
            Concern(concern_id=n, excerpt=f"{number}.{n}", review_note="")
            for n in range(1, len(statuses) + 1)
        ],
        mappings=[],
        verdicts=[
            Verdict(concern_id=n, misleading=False, status=status, rationale="")
            for n, status in enumerate(statuses, start=1)
        ],
        feedback_to_writer=None,
        article_draft=ArticleResponse(
            headline=str(number), alternativeHeadline="", articleBody="b", description=""
        ),
    )


def test_the_best_draft_has_the_fewest_verdicts_against_it_and_of_equals_is_the_latest() -> None:
    first, second, third = (
        iteration(1, "REMOVE", "KEEP"),
        iteration(2, "REWRITE", "REMOVE"),
        iteration(3, "KEEP", "REWRITE", "KEEP"),
    )
    assert best_round([first, second]) is first
    assert best_round([first, second, third]) is third


def test_a_blocked_report_names_the_concerns_of_the_best_draft() -> None:
    report = editor_report(
        [iteration(1, "KEEP", "REMOVE"), iteration(2, "REMOVE", "REWRITE")], outcome="blocked"
    )
    assert report.final_status == "FAILED"
    assert [concern.excerpt for concern in report.blocking_concerns or []] == ["1.2"]


def test_a_passed_report_blocks_nothing_and_an_error_is_no_success() -> None:
    assert editor_report([iteration(1, "KEEP")], outcome="passed").blocking_concerns is None
    failed = editor_report([iteration(1, "KEEP")], outcome=None)
    assert (failed.final_status, failed.blocking_concerns) == ("FAILED", [])
    assert blocking_concerns(iteration(1)) == []
