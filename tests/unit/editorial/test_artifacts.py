"""Where an article and its run's files go, and that they appear whole or not at all."""

import hashlib
import os
import stat
import string
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.editorial.artifacts import (
    RunArtifacts,
    article_path,
    artifacts_dir,
    render_markdown,
    run_id,
    safe_part,
    write_atomically,
)
from models.config import EditorOutput
from models.content.editorial import (
    ArticleGenerationResult,
    ArticleResponse,
    ArticleReviewRaw,
    ArticleReviewResult,
    Concern,
    ConcernMapping,
    ConcernMappingResult,
    EditorReport,
    SourceMetadata,
    TopicInput,
    Verdict,
    WriterFeedback,
)

ARTICLE = ArticleResponse(
    headline="Rates\nrise", alternativeHeadline="Up", articleBody="Body.\n\n## Part\n", description="What."
)
VERDICT = Verdict(concern_id=1, misleading=True, status="REMOVE", rationale="no", suggested_fix="drop it")


def metadata(*, channel: str = "fomc", slug: str = "fomc-20140430") -> SourceMetadata:
    return SourceMetadata(
        source_file="fomc/a.txt",
        channel_name=channel,
        video_id="v",
        video_title="t",
        publish_date=None,
        topic_slug=slug,
        topic_title="T",
    )


def output(root: Path) -> EditorOutput:
    return EditorOutput(
        final_articles_dir=root / "articles", run_artifacts_dir=root / "runs", save_intermediate_results=True
    )


def under(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "text", ["fomc-20140430", "The Long View", "a.b_c-d", "Ökonomie", "経済", "हिन्दी", "x" * 120, "-", "_"]
)
def test_a_safe_text_stays_as_it_is(text: str) -> None:
    assert safe_part(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            ".",
            "..",
            "../../etc/passwd",
            "a/b",
            "a\\b",
            ".hidden",
            " .hidden",
            "a\0b",
            "a\nb",
            " a",
            "a ",
        ),
        *("x" * 121, "é" * 61, "e\u0301", "a:b", "a*b", "~", "a~b", "\ud800", "\u202etxt"),
    ],
)
def test_an_unsafe_text_is_changed_and_marked(text: str) -> None:
    part = safe_part(text)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    assert part.endswith(f"~{digest}")
    assert part == safe_part(text)


ODD = st.text(st.sampled_from("ab./\\~ -_\0é\u0301"), max_size=6)


@given(st.text() | ODD)
def test_a_part_is_one_safe_component(text: str) -> None:
    part = safe_part(text)
    assert Path("/root", part).parent == Path("/root")
    assert os.path.normpath(f"/root/{part}") == f"/root/{part}"
    assert not part.startswith(".")
    assert 0 < len(part.encode()) <= 120
    assert all(c.isprintable() for c in part)


@given(st.lists(st.text(max_size=8) | ODD, unique=True))
def test_different_texts_have_different_parts(texts: list[str]) -> None:
    parts = [safe_part(text) for text in texts]
    assert len(set(parts)) == len(texts)
    # Nor does a text equal what another one was changed into.
    assert all(safe_part(part) != part for part, text in zip(parts, texts, strict=True) if part != text)


def test_the_canonical_path_is_channel_and_slug(tmp_path: Path) -> None:
    assert (
        article_path(output(tmp_path), channel_name="fomc", topic_slug="fomc-20140430")
        == tmp_path / "articles/fomc/fomc-20140430.json"
    )


def test_no_channel_or_slug_leaves_the_folder(tmp_path: Path) -> None:
    hostile = metadata(channel="../..", slug="/etc/passwd")
    for path in (
        article_path(output(tmp_path), channel_name="../..", topic_slug="/etc/passwd"),
        artifacts_dir(output(tmp_path), hostile, "../../run"),
    ):
        assert path.resolve().is_relative_to(tmp_path)
        assert ".." not in path.parts


def test_the_run_id_is_the_seeds() -> None:
    topic = TopicInput(
        source_text="s", source_metadata=metadata(), style_mode="NEWS", target_length_words="900-1200"
    )
    digest = hashlib.sha256(b"fomc/a.txtfomc-20140430NEWS900-1200").hexdigest()[:8]
    in_utc = datetime(2026, 2, 6, 23, 5, 9, 999999, tzinfo=UTC)
    elsewhere = in_utc.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert run_id(started=in_utc, topic=topic) == f"20260206T230509Z_{digest}"
    assert run_id(started=elsewhere, topic=topic) == f"20260206T230509Z_{digest}"
    with pytest.raises(ValueError, match="time zone"):
        run_id(started=datetime(2026, 2, 6), topic=topic)


def test_the_artifacts_of_a_run_have_their_own_folder(tmp_path: Path) -> None:
    folder = artifacts_dir(output(tmp_path), metadata(), "20260206T230509Z_0123abcd")
    assert folder == tmp_path / "runs/fomc/fomc-20140430/20260206T230509Z_0123abcd"


def test_a_file_is_written_with_its_folders_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.json"
    write_atomically(path, "one é")
    write_atomically(path, "two")
    assert path.read_text() == "two"
    assert under(tmp_path) == ["a/b/c.json"]


def test_others_may_read_what_the_umask_lets_them(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_atomically(tmp_path / "file", "x")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "file")}
    assert len(modes) == 1


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "article.json"
    write_atomically(path, "old")

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert under(tmp_path) == ["article.json"]


def test_a_text_that_is_no_unicode_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        write_atomically(tmp_path / "x", "\ud800")
    assert under(tmp_path) == []


def test_an_article_as_markdown() -> None:
    assert render_markdown(ARTICLE) == "# Rates rise\n\n*Up*\n\n> What.\n\nBody.\n\n## Part\n"
    bare = ARTICLE.model_copy(update={"alternativeHeadline": " ", "description": ""})
    assert render_markdown(bare) == "# Rates rise\n\nBody.\n\n## Part\n"


def write_all(run: RunArtifacts) -> ArticleGenerationResult:
    concern = Concern(concern_id=1, excerpt="e", review_note="n")
    mapping = ConcernMapping(
        concern_id=1, concern_type="inferred_fact", selected_agent="opinion", confidence="low", reason="r"
    )
    feedback = WriterFeedback(
        iteration=1,
        rating=8,
        passed=False,
        reasoning="r",
        improvement_suggestions=[],
        todo_list=["drop it"],
        verdicts=[VERDICT],
    )
    run.writer_draft(1, ARTICLE)
    run.article_review_raw(1, ArticleReviewRaw(markdown_bullets="- “e” n\n"))
    run.article_review(1, ArticleReviewResult(concerns=[concern]))
    run.concern_mapping(1, ConcernMappingResult(mappings=[mapping]))
    run.verdicts(1, [VERDICT])
    run.feedback(1, feedback)
    run.writer_draft(2, ARTICLE)
    report = EditorReport(
        iterations=[], total_iterations=2, final_status="FAILED", blocking_concerns=[concern]
    )
    result = ArticleGenerationResult(success=False, article=ARTICLE, editor_report=report)
    run.finish(result)
    return result


def names(run: RunArtifacts) -> list[str]:
    """Of its files, all of which are in its folder."""
    assert {path.parent for path in run.files} == {run.directory}
    return sorted(path.name for path in run.files)


FINAL = ["article.md", "article_result.json", "editor_report.json"]


def test_a_run_leaves_the_seeds_files(tmp_path: Path) -> None:
    run = RunArtifacts(directory=tmp_path, save_intermediate=True)
    result = write_all(run)
    assert names(run) == sorted(
        [
            *FINAL,
            "iter1_article_review.json",
            "iter1_article_review_raw.md",
            "iter1_concern_mapping.json",
            "iter1_feedback.json",
            "iter1_verdicts.json",
            "iter1_writer_draft.json",
            "iter1_writer_draft.md",
            "iter2_writer_draft.json",
            "iter2_writer_draft.md",
        ]
    )
    assert run.files[tmp_path / "article_result.json"] == result.model_dump_json(indent=2)
    assert ArticleResponse.model_validate_json(run.files[tmp_path / "iter2_writer_draft.json"]) == ARTICLE
    assert run.files[tmp_path / "iter1_article_review_raw.md"] == "- “e” n\n"
    assert '[\n  {\n    "concern_id": 1' in run.files[tmp_path / "iter1_verdicts.json"]
    assert run.files[tmp_path / "article.md"] == render_markdown(ARTICLE)


def test_without_intermediate_files_the_final_ones_remain(tmp_path: Path) -> None:
    write_all(run := RunArtifacts(directory=tmp_path, save_intermediate=False))
    assert names(run) == FINAL


def test_a_run_that_came_to_nothing_leaves_its_result(tmp_path: Path) -> None:
    result = ArticleGenerationResult(success=False, error="the model is away")
    run = RunArtifacts(directory=tmp_path, save_intermediate=True)
    run.finish(result)
    assert names(run) == ["article_result.json"]


def test_a_step_done_twice_leaves_the_same_files(tmp_path: Path) -> None:
    runs = [RunArtifacts(directory=tmp_path, save_intermediate=True) for _ in range(2)]
    for run in runs:
        write_all(run)
    assert runs[0].files == runs[1].files


@given(st.text(string.printable))
def test_any_article_can_be_rendered(text: str) -> None:
    article = ArticleResponse(headline=text, alternativeHeadline=text, articleBody=text, description=text)
    rendered = render_markdown(article)
    assert rendered.startswith("# ")
    assert rendered.endswith("\n")
