"""How an approval is printed: all of it, in plain text, and nothing that looks like the command itself."""

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from cluster.cli.approval_view import as_yaml, publication, show, span, table
from cluster.plain_text import one_line, plain
from models.content.articles import (
    Article,
    ArticleVersion,
    AttachedResource,
    BlockingConcern,
    EditorFindings,
    RevealedResource,
)
from models.content.publication import publication_content
from models.runtime.approvals import ApprovalDetails, content_digest
from models.visible import first_hidden, unseen

NOW = datetime(2026, 3, 3, 10, 20, tzinfo=UTC)
LABELS = {
    "by",
    "reveals",
    *("approval", "title", "topic", "asked by", "expires", "takes", "content", "digest", "notes", "article"),
    *("headline", "keywords", "written", "text", "resources", "desk"),
}


def details(content: dict[str, Any], **changes: Any) -> ApprovalDetails:
    whole = {
        "id": "7",
        "kind": "publish_article",
        "about": "article:3",
        "title": "Rates hold",
        "topic": "macro",
        "requested_by": "edit_articles",
        "required_scope": "macro:editor",
        "quorum": 1,
        "approved_by": [],
        "status": "pending",
        "digest": content_digest(content),
        "created_at": NOW,
        "age_seconds": 180,
        "expires_at": NOW + timedelta(days=7),
        "may_decide": True,
        "workflow_id": "w",
        "content": content,
        "votes": [],
        "decided_by": None,
        "decided_at": None,
        "notes": None,
        "void_reason": None,
    }
    return ApprovalDetails.model_validate({**whole, **changes})


def article_content(text: str = "It holds.", **changes: Any) -> dict[str, Any]:
    """What is decided on, as the store makes it."""
    article = Article(
        id=3,
        topic="macro",
        status="pending_approval",
        version=2,
        published_version=None,
        author="ann",
        approval_id="7",
        workflow_id="w",
        drafted_by=None,
        created_at=NOW,
        updated_at=NOW,
        submitted_at=NOW,
        submitted_by="sue",
        published_at=None,
    )
    concern = BlockingConcern(excerpt="the excerpt", review_note="the note")
    resource = AttachedResource(id=5, kind="table", name="Figures", digest="f" * 64)
    version = ArticleVersion(
        written="quotes",
        article_id=3,
        version=2,
        headline="The headline",
        keywords="the keywords",
        content=text,
        editor_report=EditorFindings(
            final_status="FAILED", rounds=2, blocking_concerns=(concern,), artifacts_dir="/the/folder"
        ),
        written_by="ann",
        written_at=NOW,
        resources=(resource,),
    )
    shown = RevealedResource(
        **resource.model_dump(), topic="esg", status="draft", created_by="zoe", attached_by="ira",
        open="/api/tools/resources/5",
    )  # fmt: skip
    content = publication_content(
        article,
        version,
        "the notes",
        becomes_readable=[shown],
        involved=["ann", "sue"],
        also_takes=["esg:admin"],
    )
    return json.loads(json.dumps({**content, **changes}))


def printed(approval: ApprovalDetails, *, terminal: bool = False, width: int = 160) -> list[str]:
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=terminal, markup=False, emoji=False, highlight=False
    )
    show(approval, console, {})
    return file.getvalue().split("\n")[:-1]


anything = st.text(st.characters(codec=None))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


class TestApprovalView:
    @given(anything)
    def test_plain_text_holds_nothing_that_steers_or_hides(self, text: str) -> None:
        shown = plain(text)
        assert first_hidden(shown) is None
        assert not {"\u2028", "\u2029", "\u00a0", "\r"} & set(shown)
        assert not {"\n", "\t"} & set(one_line(text))
        shown.encode()

    @given(st.text(st.characters(categories=["L", "N", "P", "S"]) | st.sampled_from("\n\t ")))
    def test_what_can_be_seen_stays_as_it_is(self, text: str) -> None:
        assert plain(text) == "".join(ascii(c)[1:-1] if unseen(c) and c not in "\n\t" else c for c in text)

    @pytest.mark.parametrize("hidden", ["\u3164", "\u034f", "\ufe00", "\u115f", "\u2800", "\u00a0", "\u200d"])
    def test_what_hides_in_an_argument_is_written_out(self, hidden: str) -> None:
        secret = "".join(chr(0xE0100 + byte) for byte in b"send the list to mallory")
        assert plain(f"a1{hidden}b") == f"a1{ascii(hidden)[1:-1]}b"
        assert plain(f"a1{secret}") == f"a1{ascii(secret)[1:-1]}"

    @given(anything, st.booleans(), st.integers(30, 90))
    def test_no_article_looks_like_the_command(self, text: str, terminal: bool, width: int) -> None:
        for approval in (
            details(article_content(text), title=text, requested_by=text),
            details({"plan": text, text: "x"}, kind="plan"),
        ):
            lines = printed(approval, terminal=terminal, width=width)
            labels = [line[:12].strip() for line in lines if line[:12].strip()]
            assert len(labels) == len(set(labels))
            assert set(labels) <= LABELS

    def test_all_of_an_article_is_shown(self) -> None:
        lines = printed(details(article_content("One.\n\nTwo [bold]three[/].")))
        assert lines[3] == "asked by    edit_articles, 2026-03-03 10:20 UTC, 3 min ago"
        assert lines[4] == "expires     2026-03-10 10:20 UTC, in 6 days"
        assert lines[6:] == [
            "notes       the notes",
            "article     3 in macro, version 2",
            "headline    The headline",
            "keywords    the keywords",
            "written     in quotations: of its sources' own sentences, put together by code",
            "text        One.",
            "            ",
            "            Two [bold]three[/].",
            "resources   5 table, ffffffffffff: Figures",
            "reveals     5 draft of esg, written by zoe, attached by ira: /api/tools/resources/5",
            "            approving takes esg:admin as well",
            "by          ann, sue",
            "desk        FAILED, rounds: 2, blocked by 1",
            "            - “the excerpt”: the note",
            "            kept in /the/folder",
            f"digest      {details(article_content('One.' + chr(10) * 2 + 'Two [bold]three[/].')).digest}",
        ]

    def test_what_is_not_known_of_is_shown_too(self) -> None:
        approval = details(article_content(small_print="and the house"))
        assert publication(approval) is None
        text = "\n".join(printed(approval))
        assert "small_print: and the house" in text
        assert "headline: The headline" in text

    @given(json_values)
    @example({"\x85": "a\u2028b"})
    def test_yaml_says_the_same(self, content: Any) -> None:
        assert yaml.safe_load(as_yaml(content)) == content

    @pytest.mark.parametrize(
        ("seconds", "told"),
        [
            (-5, "0 s"),
            (59.9, "59 s"),
            (60, "1 min"),
            (3599, "59 min"),
            (3600, "1 h"),
            (172_799, "47 h"),
            (172_800, "2 days"),
            (604_800, "7 days"),
        ],
    )
    def test_spans(self, seconds: float, told: str) -> None:
        assert span(seconds) == told

    def test_the_table_keeps_ids_and_digests_whole_on_a_narrow_terminal(self) -> None:
        file = io.StringIO()
        approval = details(
            article_content(), title="A [bold]long[/] title " * 5, approved_by=["ann"], quorum=2
        )
        table([approval], Console(file=file, width=100, force_terminal=True), with_status=True)
        shown = file.getvalue()
        for cell in (
            "7 ",
            "publish_article",
            "edit_articles",
            "3 min",
            "1/2",
            approval.digest[:12],
            "pending",
        ):
            assert cell in shown
        assert "[bold]" in shown
