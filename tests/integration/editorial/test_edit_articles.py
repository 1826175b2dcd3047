"""The editorial batch as it is submitted: a driver of its own, real runners and agents, a scripted model."""

import getpass
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import yaml

from tests.fakes.model.model_server import Call, Rule, most_at_once
from tests.integration.editorial.newsroom import SOURCE, Newsroom, brought_up, until
from tests.profile import write_yaml

pytestmark = pytest.mark.usefixtures("ray_cluster")
REWRITE = {
    "rationale": "The source does not say so.",
    "misleading": True,
    "status": "REWRITE",
    "suggested_fix": "Say only what the source says.",
    "evidence": None,
}


@pytest.fixture(scope="module")
def site_up(postgres: str, ray_cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newsroom]:
    """One site for all tests here: starting nine agents takes a while."""
    with brought_up(postgres, tmp_path_factory.mktemp("site")) as newsroom:
        yield newsroom


@pytest.fixture
def newsroom(site_up: Newsroom, request: pytest.FixtureRequest) -> Newsroom:
    """The site, with a folder of topics named after the test."""
    site_up.use("".join(c if c.isalnum() else "_" for c in request.node.name.removeprefix("test_")))
    return site_up


def test_topics_become_reviewed_articles_and_a_second_run_redoes_nothing(newsroom: Newsroom) -> None:
    for slug in ("mill", "ferry", "orchard"):
        newsroom.topic(slug)
    code, told = newsroom.edit()
    assert code == 0, told
    assert "3 topics: 3 passed" in told
    for slug in ("mill", "ferry", "orchard"):
        result = newsroom.article(slug)
        assert (result.success, result.error) == (True, None)
        assert result.metadata is not None
        assert (result.metadata.topic_slug, result.metadata.style_mode) == (slug, "SCIAM_MAGAZINE")
        report = result.editor_report
        assert report is not None
        assert (report.final_status, report.total_iterations, report.blocking_concerns) == (
            "SUCCESS",
            1,
            None,
        )
        assert report.iterations[0].article_draft == result.article
        [verdicts] = [[v.concern_id for v in i.verdicts] for i in report.iterations]
        assert verdicts == [c.concern_id for c in report.iterations[0].concerns]
        assert verdicts, "the scripted reviewer has concerns"
        made = {path.name for path in Path(result.artifacts_dir or "").iterdir()}
        assert made == {
            "iter1_writer_draft.json",
            "iter1_writer_draft.md",
            "iter1_article_review_raw.md",
            "iter1_article_review.json",
            "iter1_concern_mapping.json",
            "iter1_verdicts.json",
            "editor_report.json",
            "article_result.json",
            "article.md",
        }
    [summary] = [line.split(": ", 1)[1] for line in told.splitlines() if line.startswith("summary: ")]
    rows = pyarrow.parquet.read_table(summary).to_pylist()
    assert {row["status"] for row in rows} == {"passed"}
    assert all(row["tokens"] > 0 and row["rounds"] == 1 for row in rows)

    newsroom.server.reset()
    (newsroom.root / f"data/output/articles/{newsroom.topics.name}/mill.json").unlink()
    code, told = newsroom.edit()
    assert (code, newsroom.kinds()) == (0, []), told
    assert newsroom.article("mill").success, "a file that was removed comes back from the database"

    newsroom.topic("mill", source_text=f"{SOURCE} The mill burnt down.")
    code, told = newsroom.edit()
    assert code == 0
    assert newsroom.kinds().count("writer") == 1, "only the changed topic runs anew"
    code, told = newsroom.edit("--force")
    assert newsroom.kinds().count("writer") == 4


def test_the_configuration_may_be_named_and_must_be_the_sites(newsroom: Newsroom) -> None:
    newsroom.topic("mill")
    # Relative: it is not in the job's folder, but in the one that the site was brought up in.
    code, told = newsroom.edit("--config", newsroom.config.name)
    assert code == 0, told
    assert "1 topics: 1 passed" in told
    raw = yaml.safe_load(newsroom.config.read_text())
    raw["runners"]["count"] = 7
    other = newsroom.root / "other.yaml"
    write_yaml(other, raw)
    code, told = newsroom.edit("--config", str(other))
    assert code == 1
    assert "differs at runners.count" in told


def doubts() -> list[Rule]:
    """Whatever holds the word Doubtful is found wanting."""
    reply = json.dumps({"concern_id": 1, **REWRITE})
    return [
        Rule(kind="article_review", contains="Doubtful", reply='- "rye for four": the source is vague\n'),
        *(
            Rule(kind=kind, contains="Doubtful", reply=reply)
            for kind in ("fact_check", "evidence_finding", "opinion", "attribution", "style_review")
        ),
    ]


def test_passed_blocked_and_error_are_told_apart(newsroom: Newsroom) -> None:
    newsroom.topic("fine")
    newsroom.topic("doubtful", source_text=f"{SOURCE} Doubtful things.")
    newsroom.topic("broken", source_text=f"{SOURCE} Broken things.")
    newsroom.server.script(
        *doubts(),
        Rule(kind="article_review", contains="Broken", reply="I find nothing wrong with it."),
    )
    code, told = newsroom.edit("--allow-blocked")
    assert code == 1, "an error counts, whatever is allowed"
    assert "1 passed, 1 blocked, 1 error" in told
    blocked = newsroom.article("doubtful")
    report = blocked.editor_report
    assert report is not None
    assert (blocked.success, blocked.error, report.final_status) == (False, None, "FAILED")
    assert report.total_iterations == 2
    assert [c.excerpt for c in report.blocking_concerns or []] == ["rye for four"]
    assert blocked.article == report.iterations[1].article_draft
    feedback = report.iterations[0].feedback_to_writer
    assert feedback is not None
    assert feedback.todo_list == ["Say only what the source says."]
    revision = next(c for c in newsroom.server.calls() if c.kind == "revision")
    assert "Say only what the source says." in str(revision.messages)
    failed = newsroom.article("broken")
    assert not failed.success
    assert "begins a bullet" in (failed.error or "")
    assert failed.article is not None, "best effort: the draft there was"
    assert newsroom.statuses() == ["failed", "succeeded", "succeeded"]

    (newsroom.topics / "broken.json").unlink()
    assert newsroom.edit("--allow-blocked")[0] == 0
    assert newsroom.edit()[0] == 1
    newsroom.server.reset()
    newsroom.topic("broken", source_text=f"{SOURCE} Broken things.")
    code, told = newsroom.edit("--allow-blocked")
    assert code == 0, told
    assert "writer" not in newsroom.kinds(), "an error is taken up where it happened"
    assert newsroom.article("broken").success


def test_bad_topics_fail_with_their_reasons_and_the_others_go_on(newsroom: Newsroom) -> None:
    newsroom.topic("good")
    (newsroom.topics / "torn.json").write_text('{"source_text": "half')
    (newsroom.topics / "list.json").write_text("[]")
    (newsroom.topics / "more").mkdir()
    (newsroom.topics / "more/torn.json").write_text("{")
    (newsroom.topics / "latin.json").write_bytes('{"source_text": "é"}'.encode("latin-1"))
    (newsroom.topics / "broken.json").symlink_to("/proc/self/mem")  # opens, and can't be read
    newsroom.topic("empty", source_text="  ")
    newsroom.topic("styled", style_mode="TABLOID")
    newsroom.topic("loud", **{"[/INST]\x1b[2J\nvolume": 11})
    newsroom.topic("zero", source_text="a\x00b")
    missing = json.loads(newsroom.topic("undated").read_text())
    del missing["source_metadata"]["publish_date"]
    (newsroom.topics / "undated.json").write_text(json.dumps(missing))
    for name in ("twin-a", "twin-b"):
        path = newsroom.topic(name)
        twin = json.loads(path.read_text())
        twin["source_metadata"]["topic_slug"] = "twin"
        path.write_text(json.dumps(twin))
    code, told = newsroom.edit("--allow-blocked")
    assert code == 1
    assert "13 topics: 1 passed, 12 error" in told
    assert "loud: error" in told
    lines = [line for line in told.splitlines() if "loud: " in line]
    assert len(lines) == 2, "when it was refused, and in the report: on one line each"
    assert all("[/INST] volume: is not a known key" in line for line in lines), "as text"
    assert "\x1b[2J" not in told
    assert newsroom.article("good").success
    for slug, reason in {
        "empty": "source_text: must not be empty",
        "styled": "style_mode: 'TABLOID' is not one of NATURE_NEWS, SCIAM_MAGAZINE",
        "loud": "\nvolume: is not a known key",
        "zero": "source_text: holds a character that is no text",
        "undated": "source_metadata.publish_date: is required",
        "twin": "give each topic its own",
    }.items():
        result = newsroom.article(slug)
        assert not result.success
        assert reason in (result.error or ""), result.error
    for stem, reason in {
        "torn": f"{newsroom.topics.name}/torn.json: not JSON",
        "torn-*": f"{newsroom.topics.name}/more/torn.json: not JSON",
        "list": "is a JSON object, not list",
        "latin": "not UTF-8",
        "broken": "can't be read",
    }.items():
        written = (newsroom.root / "data/output/articles/_unreadable").glob(f"{stem.strip('-*')}-*.json")
        assert any(reason in json.loads(path.read_text())["error"] for path in written)
    assert newsroom.statuses() == ["succeeded"]


def test_a_topic_whose_file_can_t_be_written_ends_no_other(newsroom: Newsroom) -> None:
    newsroom.topic("kept")
    assert newsroom.edit()[0] == 0
    articles = newsroom.root / f"data/output/articles/{newsroom.topics.name}"
    # Folders in the files' places: what a disk refuses to the root of the tests, too.
    (articles / "kept.json").unlink()
    (articles / "kept.json").mkdir()
    (articles / "empty.json").mkdir()
    newsroom.topic("empty", source_text="  ")
    newsroom.topic("other")
    code, told = newsroom.edit()
    assert code == 1
    assert "Traceback" not in told
    assert "3 topics: 1 passed, 2 error" in told
    assert "kept: the batch can't finish it: IsADirectoryError" in told
    assert "must not be empty (and its file can't be written: IsADirectoryError" in told
    assert newsroom.article("other").success


def test_a_path_that_is_not_there_or_holds_nothing_is_an_error(newsroom: Newsroom) -> None:
    code, told = newsroom.edit()
    assert code == 1
    assert "there is no .json file in it" in told
    newsroom.topics = newsroom.topics / "nowhere"
    code, told = newsroom.edit()
    assert code == 1
    assert "nothing is there" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "stopped"])
def test_without_its_driver_a_batch_stops_and_a_new_one_continues_it(
    newsroom: Newsroom, number: signal.Signals
) -> None:
    for slug in ("one", "two", "three"):
        newsroom.topic(slug)
    newsroom.server.script(Rule(kind="article_review", hold=True))
    driver = newsroom.start("--at-once", "2")
    newsroom.server.await_calls_sync(2, "article_review", timeout=90)
    driver.send_signal(number)
    told, _ = driver.communicate(timeout=30)
    assert driver.returncode != 0
    if number == signal.SIGTERM:
        assert "submit again to continue" in told
        assert "3 topics: 3 stopped" in told
        assert told.count("stopped: the batch was stopped before this topic began") == 1
    newsroom.wait_until_runners_know_the_batch_is_gone()
    newsroom.server.release()
    until(newsroom, lambda: newsroom.statuses() == ["queued", "queued"])
    before = newsroom.kinds()
    assert sorted(before) == ["article_review", "article_review", "writer", "writer"]
    code, told = newsroom.edit()
    assert code == 0, told
    after = newsroom.kinds()[len(before) :]
    assert after.count("writer") == 1, "only the topic that had not begun is drafted now"
    assert after.count("article_review") == 1, "the step under way was finished and kept"
    assert newsroom.statuses() == ["succeeded"] * 3


def test_specialists_work_at_the_same_time_and_their_verdicts_are_in_order(newsroom: Newsroom) -> None:
    newsroom.topic("busy")
    concerns = "".join(f'- "claim {n}": the source is silent on it\n' for n in range(1, 6))
    agents = ("fact_check", "evidence_finding", "opinion", "attribution", "style_review")
    mapping = {
        "mappings": [
            {
                "concern_id": n,
                "concern_type": "editorializing",
                "selected_agent": agents[n - 1],
                "confidence": "high",
                "reason": "so",
            }
            for n in range(5, 0, -1)
        ]
    }
    newsroom.server.script(
        Rule(kind="article_review", reply=concerns),
        Rule(kind="concern_mapping", reply=json.dumps(mapping)),
        *(Rule(kind=agent, hold=True) for agent in agents),
    )
    driver = newsroom.start()

    def all_held(calls: list[Call]) -> bool:
        return {call.kind for call in calls if call.reached("held")} >= set(agents)

    calls = newsroom.server.wait_until_sync(all_held, timeout=90)
    assert most_at_once([call for call in calls if call.kind in agents]) == 5
    newsroom.server.release()
    told, _ = driver.communicate(timeout=90)
    assert driver.returncode == 0, told
    report = newsroom.article("busy").editor_report
    assert report is not None
    assert [m.concern_id for m in report.iterations[0].mappings] == [1, 2, 3, 4, 5]
    assert [v.concern_id for v in report.iterations[0].verdicts] == [1, 2, 3, 4, 5]


def drafts(newsroom: Newsroom) -> list[tuple[Any, ...]]:
    """The drafts of this folder's articles: topic, status, final status, what blocked each."""
    return newsroom.rows(
        """SELECT a.topic, a.status, v.editor_report->>'final_status',
                  jsonb_array_length(v.editor_report->'blocking_concerns')
           FROM articles a JOIN workflows w ON w.id = a.drafted_by
           JOIN article_versions v ON v.article_id = a.id AND v.version = a.version
           WHERE {mine} ORDER BY a.status, a.id"""
    )


def test_edited_articles_become_drafts_once_and_their_publication_is_asked_for(newsroom: Newsroom) -> None:
    newsroom.use("drafted")
    newsroom.server.script(*doubts())
    newsroom.topic("first")
    newsroom.topic("second", source_text=f"{SOURCE} Doubtful things.")
    (newsroom.topics / "broken.json").write_text("{")
    code, told = newsroom.edit("--draft-in", "macro", "--allow-blocked")
    assert (code, told.count("a new draft")) == (1, 2)
    assert sorted(row[:3] for row in drafts(newsroom)) == [
        ("macro", "draft", "FAILED"),
        ("macro", "draft", "SUCCESS"),
    ]
    asking = ("--draft-in", "macro", "--request-publication", "--allow-blocked")
    code, told = newsroom.edit(*asking, "--requests-at-most", "1")
    assert (told.count("drafted before"), told.count("waits for approval")) == (2, 1)
    # Those that wait already count.
    code, told = newsroom.edit(*asking, "--requests-at-most", "1")
    assert told.count("waits for approval") == 0
    # The summary's file can't be written: that is told, and hinders nothing.
    summaries = next((newsroom.root / "data").rglob("batches"))
    summaries.rename(summaries.with_name("moved"))
    summaries.write_text("a file in the folder's place")
    (newsroom.topics / "broken.json").unlink()
    code, told = newsroom.edit(*asking)
    summaries.unlink()
    summaries.with_name("moved").rename(summaries)
    assert (code, told.count("waits for approval")) == (1, 1), told
    assert "can't be written: FileExistsError" in told
    assert [row[1] for row in drafts(newsroom)] == ["pending_approval", "pending_approval"]
    contents = newsroom.rows(
        """SELECT p.content->'editor_report'->>'final_status', p.requested_by,
                  p.content->'editor_report'->'blocking_concerns'->0->>'excerpt'
           FROM approvals p JOIN articles a ON a.approval_id = p.id JOIN workflows w ON w.id = a.drafted_by
           WHERE {mine} ORDER BY 1"""
    )
    # What blocked it is part of what the approver is shown, and of the digest.
    assert [row[:2] for row in contents] == [("FAILED", getpass.getuser()), ("SUCCESS", getpass.getuser())]
    assert contents[0][2]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--draft-in", "sports"), "there is no topic 'sports' in publishing.topics: use one of"),
        (("--draft-in", ""), "--draft-in: there is no topic '' in publishing.topics"),
        (("--request-publication",), "--request-publication: say which subject area they go to"),
        (
            ("--draft-in=macro", "--requests-at-most=1"),
            "--requests-at-most: nothing is asked for without --request-publication",
        ),
    ],
)
def test_wishes_that_can_t_be_met_are_refused_before_anything_is_edited(
    newsroom: Newsroom, options: tuple[str, ...], told: str
) -> None:
    newsroom.use(f"refused-{len(told)}")
    newsroom.topic("first")
    code, output = newsroom.edit(*options)
    assert code == 1
    assert told in output
    assert newsroom.statuses() == []
