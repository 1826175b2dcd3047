"""What 0.2.0 has and 0.1.0 had not: the runners and replicas of 0.1.0 work on meanwhile without it."""

from models.migrations.statements import add_columns, add_indexes, add_tables, execute, set_constraint
from models.store.schema import whole

revision = "0027"
down_revision = "0003"
phase = "before"

# Publishing has the one gate there was; 0.1.0 writes it by default until 0028.
_GATES = (
    "ALTER TABLE approvals ADD COLUMN IF NOT EXISTS gate TEXT NOT NULL DEFAULT 'publication'",
    "UPDATE approvals SET gate = 'gate/' || id WHERE gate = 'publication' AND kind <> 'publish_article'",
)
# What the newest token said, which client brought it is not known. It lasts until it is seen again.
_FIRST_GRANTS = """
    INSERT INTO grants (user_id, scope, client, issued_at, seen_at, lapses_at)
    SELECT u.id, s.scope, '', u.token_issued_at, coalesce(u.seen_at, now()), now() + interval '30 days'
    FROM users u, unnest(u.scopes) AS s(scope)
    ON CONFLICT DO NOTHING
"""


def upgrade() -> None:
    """Add columns, tables, triggers and indexes, and say what is known of the rows that are there."""
    add_columns(
        "workflows",
        *("deaths", "parked_for", "parked_since", "not_before", "waited_seconds", "projection_due"),
        *("begun_again_at", "traceparent"),
    )
    add_columns("runners", "machine", "process_started")
    add_columns("approvals", "asked", "amended_by", "answer")
    add_columns("articles", "submitted_by")
    add_columns("article_resources", "attached_by")
    add_columns("article_versions", "written", "desk_notes")
    add_columns("documents", "first_of")
    execute(*_GATES)
    set_constraint("workflows", "workflows_status_check")
    set_constraint("approvals", "approvals_workflow_id_gate_key")
    set_constraint("article_versions", "article_versions_written_check")
    add_tables()
    execute(*whole.REST, _FIRST_GRANTS)
    add_indexes()
