"""The lifecycle of an article around publishing (seed 000 §8.1): submit, send back, ask, publish, give back.

Each is one transaction, with its event and, where someone outside must know, its outbox rows. Publishing
and giving back are steps of the publish workflow: done once, however often a runner tries.
"""

from typing import Any

from models.config import PublishingConfig
from models.content.articles import Article, ArticleStatus, ArticleVersion, check_status
from models.content.publication import publication_content
from models.errors import ArticleConflict, InputInvalid, WorkflowConflict
from models.runtime.approvals import Approval, GateRequest, content_digest
from models.runtime.event_catalogue import (
    ArticleChangesRequested,
    ArticlePublicationRequested,
    ArticlePublished,
    ArticleReturned,
    ArticleSubmitted,
    Notification,
)
from models.runtime.workflows import Permission, Workflow, WorkflowRequest
from models.store import approval_inbox, approvals, events, outbox, passages
from models.store.content import articles, resources, revealing
from models.store.database import Connection
from models.store.people import users
from models.store.runtime import workflows
from models.webhooks.payloads import approval_required, article_published, article_rejected

KIND = "publish_article"
GATE = "publication"


async def submit(connection: Connection, article_id: int, *, by: str) -> Article:
    """draft → editor.

    Raises:
        ArticleConflict: it is not a draft.
        InputInvalid: it has no text.
    """
    article = await _expect(connection, article_id, "draft", "submitted for review")
    version = await articles.get_version(connection, article_id, article.version)
    if not version.content.strip():
        raise InputInvalid(f"article {article_id} has no content: write it before it is submitted for review")
    submitted = await articles.move(connection, article, "editor")
    await connection.execute(
        "UPDATE articles SET submitted_at = now(), submitted_by = %s WHERE id = %s", (by, article_id)
    )
    await articles.tell(connection, ArticleSubmitted, submitted, by=by)
    return await articles.get(connection, article_id)


async def request_changes(connection: Connection, article_id: int, *, by: str, notes: str) -> Article:
    """editor → draft, with what to change."""
    article = await _expect(connection, article_id, "editor", "sent back for changes")
    sent_back = await articles.move(connection, article, "draft")
    await articles.tell(connection, ArticleChangesRequested, sent_back, by=by, notes=notes)
    return sent_back


async def ask(
    connection: Connection,
    article_id: int,
    *,
    by: str,
    editor_notes: str | None,
    settings: PublishingConfig,
    permission: Permission | None,
) -> tuple[Article, Approval, int]:
    """editor → pending_approval: write the approval, its workflow and the messages to whoever approves.

    Returns how many messages, too: one for each webhook that wants to know.

    Args:
        by: who asks; a batch's submitter, for one. They, who wrote it or what becomes readable with it,
            and who submitted it are involved.
        permission: what `by` must still have when the workflow resumes; None for a batch.

    Raises:
        ArticleConflict: it is not with the editors, or rests on what another topic keeps.
    """
    article = await _expect(connection, article_id, "editor", "put up for publication")
    version = await articles.get_version(connection, article_id, article.version)
    policy = settings.policy(article.topic)
    shown = await articles.revealed(connection, article)
    await revealing.check_embargo(connection, article, shown, settings)
    demand = revealing.demand(article, shown, settings)
    involved = {by, article.submitted_by or by, *revealing.authors(shown)}
    involved.update(await articles.authors(connection, article))
    content = publication_content(
        article,
        version,
        editor_notes,
        becomes_readable=shown,
        involved=sorted(involved),
        also_takes=demand.also_takes,
    )
    workflow = await workflows.create(
        connection,
        WorkflowRequest(
            kind=KIND,
            input={"article_id": article_id},
            input_digest=content_digest(content),
            requested_by=by,
            permission=permission,
        ),
    )
    approval = await approvals.ask(
        connection,
        workflow.id,
        GATE,
        GateRequest(
            kind=KIND,
            about=f"article:{article_id}",
            title=version.headline,
            content=content,
            required_scope=f"{article.topic}:{policy.role}",
            four_eyes=demand.four_eyes,
            quorum=demand.quorum,
            expires_in_seconds=policy.expires_in_seconds,
        ),
        requested_by=by,
    )
    asked = await articles.move(
        connection, article, "pending_approval", approval_id=approval.id, workflow_id=workflow.id
    )
    await articles.tell(
        connection,
        ArticlePublicationRequested,
        asked,
        by=by,
        approval_id=approval.id,
        version=version.version,
    )
    submitter = await users.by_subject(connection, by)
    payload = approval_required(asked, version, approval, submitter, settings)
    messages = await outbox.put(connection, "approval_required", article.topic, payload)
    return asked, approval, len(messages)


async def publish(
    connection: Connection, article_id: int, approval_id: str, *, settings: PublishingConfig
) -> None:
    """pending_approval → published, if what was approved is what the article says.

    Raises:
        ArticleConflict: the article waits for another approval, its text is not what was approved, or it
            would show its readers what was not shown to whoever approved, or what another topic keeps.
    """
    article = await articles.lock(connection, article_id)
    approval = await approval_inbox.get(connection, approval_id)
    if article.approval_id != approval_id or approval.status != "approved":
        raise ArticleConflict(f"article {article_id} does not wait for approval {approval_id}")
    version = await articles.get_version(connection, article_id, article.version)
    if content_digest(_as_asked(article, version, approval)) != approval.digest:
        raise ArticleConflict(f"article {article_id} is not what approval {approval_id} was given for")
    await revealing.check_approved(connection, article, approval, settings)
    published = await articles.move(connection, article, "published", published_version=article.version)
    await resources.note_published(connection, article_id)
    await connection.execute("UPDATE articles SET published_at = now() WHERE id = %s", (article_id,))
    await articles.tell(
        connection,
        ArticlePublished,
        published,
        version=version.version,
        headline=version.headline,
        approval_id=approval_id,
        by=approval.decided_by or "",
    )
    approvers = [await users.by_subject(connection, vote.voter) for vote in approval.votes]
    payload = article_published(published, version, approval, approvers, settings)
    await outbox.put(connection, "article_published", article.topic, payload)
    await passages.changed(connection, "article", article_id)


async def give_back(
    connection: Connection, article_id: int, approval_id: str, *, reason: str, settings: PublishingConfig
) -> bool:
    """pending_approval → editor, saying why; False if the article no longer waits for this approval."""
    article = await articles.lock(connection, article_id)
    if article.approval_id != approval_id:
        return False
    approval = await approval_inbox.get(connection, approval_id)
    version = await articles.get_version(connection, article_id, article.version)
    returned = await articles.move(connection, article, "editor")
    await articles.tell(
        connection,
        ArticleReturned,
        returned,
        approval_id=approval_id,
        reason=reason,
        by=approval.decided_by,
        notes=approval.notes,
    )
    decider = await users.by_subject(connection, approval.decided_by) if approval.decided_by else None
    payload = article_rejected(returned, version, approval, decider, reason, settings)
    await outbox.put(connection, "article_rejected", article.topic, payload)
    return True


async def give_back_of_workflow(
    connection: Connection, workflow_id: str, *, reason: str, settings: PublishingConfig
) -> None:
    """`give_back` for a publish workflow that was stopped from outside."""
    cursor = await connection.execute(
        "SELECT id, approval_id FROM articles WHERE workflow_id = %s", (workflow_id,)
    )
    if (row := await cursor.fetchone()) is not None:
        await give_back(connection, row["id"], row["approval_id"], reason=reason, settings=settings)


async def check_retry(connection: Connection, workflow: Workflow) -> None:
    """A publication that failed has given its article back, but for one whose article still waits for it.

    Raises:
        WorkflowConflict: it has.
    """
    if not await still_waits(connection, workflow.id):
        raise WorkflowConflict(
            f"publication {workflow.id} failed and gave article {workflow.input['article_id']} back to its "
            "editor: mend what its error says, and ask for the publication again",
            status=workflow.status,
        )


async def still_waits(connection: Connection, workflow_id: str) -> bool:
    """Whether an article waits for what this publish workflow asked for: then it was not given back."""
    cursor = await connection.execute(
        """SELECT 1 FROM articles a JOIN approvals p ON p.id = a.approval_id
           WHERE p.workflow_id = %s AND a.status = 'pending_approval'""",
        (workflow_id,),
    )
    return await cursor.fetchone() is not None


async def notify_people(
    connection: Connection, article_id: int, approval_id: str, *, stopped: str | None = None
) -> None:
    """Tell whoever asked, and the author, what became of it or stopped it: an event of their own each."""
    article = await articles.get(connection, article_id)
    approval = await approval_inbox.get(connection, approval_id)
    for person in dict.fromkeys((approval.requested_by, article.author)):
        told = Notification(
            to=person,
            outcome="stopped" if stopped else approval.status,
            article_id=article_id,
            approval_id=approval_id,
            headline=approval.title,
            reason=stopped,
            by=approval.decided_by,
            notes=approval.notes,
        )
        await events.tell(
            connection, told, approval.workflow_id, topic=article.topic, role="admin", person=person
        )


def _as_asked(article: Article, version: ArticleVersion, approval: Approval) -> dict[str, Any]:
    """The article as it is now, with what the approval's content says beside it."""
    content = publication_content(article, version, approval.content["editor_notes"])
    # One that was asked for under the release before says nothing of these.
    beside = ("becomes_readable", "involved", "also_takes")
    kept = {name: approval.content[name] for name in beside if name in approval.content}
    if "written" not in approval.content["article"]:
        del content["article"]["written"]
    if "desk_notes" not in approval.content:
        del content["desk_notes"]
    return {**{name: value for name, value in content.items() if name not in beside}, **kept}


async def _expect(connection: Connection, article_id: int, status: ArticleStatus, to_be: str) -> Article:
    article = await articles.lock(connection, article_id)
    check_status(article_id, article.status, status, to_be)
    return article
