"""The ledger: what Postgres itself notes of every move of a workflow, document, row of a research and tree.

Triggers write it, in the transaction of what they note: what was rolled back is not in it. Times are
`time.time()` seconds; the server and the processes share one clock.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from models.store.database import Database

# What a query finds.
Ask = Callable[..., Awaitable[list[dict[str, Any]]]]

_INSTALL = """
CREATE SCHEMA campaign;
CREATE TABLE campaign.moves (
    n bigserial PRIMARY KEY, workflow text NOT NULL, at float8 NOT NULL, before text NOT NULL,
    after text NOT NULL, epoch bigint NOT NULL, new_epoch bigint NOT NULL, wanted bool NOT NULL,
    lease_left float8, taken_with float8);
CREATE INDEX ON campaign.moves (workflow);
CREATE TABLE campaign.keeps (
    n bigserial PRIMARY KEY, workflow text NOT NULL, key text NOT NULL, at float8 NOT NULL,
    did text NOT NULL, epoch bigint, status text, made_under bigint);
CREATE INDEX ON campaign.keeps (workflow);

CREATE FUNCTION campaign.note_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO campaign.moves (workflow, at, before, after, epoch, new_epoch, wanted, lease_left,
                                taken_with)
    VALUES (NEW.id, extract(epoch FROM clock_timestamp()), OLD.status, NEW.status, OLD.epoch, NEW.epoch,
            NOT EXISTS (SELECT 1 FROM public.batch_workflows b WHERE b.workflow_id = NEW.id)
            OR EXISTS (SELECT 1 FROM public.batch_workflows h JOIN public.batches b ON b.id = h.batch_id
                       WHERE h.workflow_id = NEW.id AND b.lease_until > now()),
            (SELECT extract(epoch FROM r.lease_until - now()) FROM public.runners r
             WHERE r.id = OLD.runner_id),
            (SELECT extract(epoch FROM r.lease_until - now()) FROM public.runners r
             WHERE r.id = NEW.runner_id AND NEW.epoch <> OLD.epoch));
    RETURN NULL;
END $$;
CREATE TRIGGER campaign_move AFTER UPDATE ON public.workflows FOR EACH ROW
WHEN (OLD.epoch <> NEW.epoch OR OLD.status <> NEW.status) EXECUTE FUNCTION campaign.note_move();

CREATE FUNCTION campaign.note_keep() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    its record;
BEGIN
    IF TG_OP = 'DELETE' THEN its := OLD; ELSE its := NEW; END IF;
    INSERT INTO campaign.keeps (workflow, key, at, did, epoch, status, made_under)
    SELECT its.workflow_id, its.key, extract(epoch FROM clock_timestamp()), TG_OP, w.epoch, w.status,
           (its.value ->> 'epoch')::bigint
    FROM public.workflows w WHERE w.id = its.workflow_id;
    RETURN NULL;
END $$;
CREATE TRIGGER campaign_keep AFTER INSERT OR UPDATE OR DELETE ON public.documents
FOR EACH ROW EXECUTE FUNCTION campaign.note_keep();

CREATE TABLE campaign.writes (
    n bigserial PRIMARY KEY, research bigint NOT NULL, "table" text NOT NULL, did text NOT NULL,
    status text NOT NULL, was jsonb, now jsonb, xact text NOT NULL DEFAULT pg_current_xact_id()::text);
CREATE INDEX ON campaign.writes (research);
CREATE FUNCTION campaign.note_write() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was jsonb;
    now jsonb;
BEGIN
    IF TG_OP <> 'INSERT' THEN was := to_jsonb(OLD); END IF;
    IF TG_OP <> 'DELETE' THEN now := to_jsonb(NEW); END IF;
    INSERT INTO campaign.writes (research, "table", did, status, was, now)
    SELECT a.id, TG_TABLE_NAME, TG_OP, w.status, was, now
    FROM public.agent_workflows a JOIN public.workflows w ON w.id = a.workflow_id
    WHERE a.id = (coalesce(now, was) ->> 'research_id')::bigint;
    RETURN NULL;
END $$;
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['url_candidates', 'research_tasks', 'agent_messages', 'workflow_tools',
                                'research_points', 'research_sentences', 'knowledge_trees'] LOOP
        EXECUTE format('CREATE TRIGGER campaign_write AFTER INSERT OR UPDATE OR DELETE ON public.%I'
                       ' FOR EACH ROW EXECUTE FUNCTION campaign.note_write()', name);
    END LOOP;
END $$;

CREATE TABLE campaign.operated (
    n bigserial PRIMARY KEY, operation bigint NOT NULL, "table" text NOT NULL, did text NOT NULL,
    status text NOT NULL);
CREATE INDEX ON campaign.operated (operation);
CREATE FUNCTION campaign.note_operated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    its jsonb;
BEGIN
    IF TG_OP = 'DELETE' THEN its := to_jsonb(OLD); ELSE its := to_jsonb(NEW); END IF;
    INSERT INTO campaign.operated (operation, "table", did, status)
    SELECT o.id, TG_TABLE_NAME, TG_OP, w.status
    FROM public.operations o JOIN public.workflows w ON w.id = o.workflow_id
    WHERE o.id = coalesce((its ->> 'operation_id')::bigint, (its ->> 'id')::bigint);
    RETURN NULL;
END $$;
CREATE TRIGGER campaign_operated AFTER INSERT OR UPDATE OR DELETE ON public.operation_history
FOR EACH ROW EXECUTE FUNCTION campaign.note_operated();
CREATE TRIGGER campaign_operated AFTER INSERT OR UPDATE OR DELETE ON public.operation_iterations
FOR EACH ROW EXECUTE FUNCTION campaign.note_operated();
CREATE TRIGGER campaign_operated AFTER UPDATE ON public.operations
FOR EACH ROW EXECUTE FUNCTION campaign.note_operated();

CREATE TABLE campaign.versions (
    n bigserial PRIMARY KEY, tree bigint NOT NULL, was jsonb, now jsonb,
    xact text NOT NULL DEFAULT pg_current_xact_id()::text);
CREATE INDEX ON campaign.versions (tree);
CREATE FUNCTION campaign.note_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO campaign.versions (tree, was, now)
    VALUES (coalesce(NEW.id, OLD.id), CASE WHEN TG_OP <> 'INSERT' THEN OLD.tree END,
            CASE WHEN TG_OP <> 'DELETE' THEN NEW.tree END);
    RETURN NULL;
END $$;
CREATE TRIGGER campaign_version AFTER INSERT OR UPDATE OR DELETE ON public.knowledge_trees
FOR EACH ROW EXECUTE FUNCTION campaign.note_version();

CREATE TABLE campaign.known (
    n bigserial PRIMARY KEY, url text NOT NULL, what text NOT NULL,
    at float8 NOT NULL DEFAULT extract(epoch FROM clock_timestamp()));
CREATE INDEX ON campaign.known (url);
CREATE FUNCTION campaign.note_known() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.settled_at IS NOT NULL AND OLD.settled_at IS NULL AND NEW.text IS NOT NULL THEN
        INSERT INTO campaign.known (url, what) VALUES (NEW.url, 'kept');
    END IF;
    IF NEW.indexed_with IS NOT NULL AND NEW.indexed_with IS DISTINCT FROM OLD.indexed_with THEN
        INSERT INTO campaign.known (url, what) VALUES (NEW.url, 'indexed');
    END IF;
    IF NEW.extracted_with IS NOT NULL AND NEW.extracted_with IS DISTINCT FROM OLD.extracted_with THEN
        INSERT INTO campaign.known (url, what) VALUES (NEW.url, 'extracted');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER campaign_known AFTER UPDATE ON public.sources
FOR EACH ROW EXECUTE FUNCTION campaign.note_known();
CREATE FUNCTION campaign.note_passage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO campaign.known (url, what) SELECT url, 'passage' FROM public.sources WHERE id = NEW.source_id;
    RETURN NULL;
END $$;
CREATE TRIGGER campaign_passage AFTER INSERT ON public.source_passages
FOR EACH ROW EXECUTE FUNCTION campaign.note_passage();
"""
# What became of a source, as `Known.what` has it.
KEPT, INDEXED, EXTRACTED, PASSAGE = "kept", "indexed", "extracted", "passage"


@dataclass(frozen=True)
class Move:
    """A workflow's status or epoch changed.

    `wanted`: no batch held it, or one that was alive. `lease_left`: for how many seconds the runner that had
    it still had its lease; None where it had none, or nobody had the workflow. `taken_with` is the same of
    the runner that takes it.
    """

    workflow: str
    at: float
    before: str
    after: str
    epoch: int
    new_epoch: int
    wanted: bool = True
    lease_left: float | None = None
    taken_with: float | None = None


@dataclass(frozen=True)
class Keep:
    """A document was written, changed or deleted (`did`), while its workflow was at this epoch and status.

    `made_under`: the epoch of the run that made it, where it says so, as those of a march do.
    """

    workflow: str
    key: str
    at: float
    did: str
    epoch: int
    status: str
    made_under: int | None


@dataclass(frozen=True)
class Write:
    """A row of a deep research was written, changed or deleted (`did`), while its workflow had this status.

    `was` is the row before, and `now` after; `xact` is the transaction that did it.
    """

    research: int
    table: str
    did: str
    status: str
    was: dict[str, Any] | None = None
    now: dict[str, Any] | None = None
    xact: str = ""


@dataclass(frozen=True)
class Operated:
    """A row of an operation was written, changed or deleted (`did`), while its workflow had this status."""

    operation: int
    table: str
    did: str
    status: str


@dataclass(frozen=True)
class TreeVersion:
    """A tree of knowledge as it came to be in a transaction, and as it was before; None: it was not there."""

    tree: int
    was: dict[str, Any] | None
    now: dict[str, Any] | None
    xact: str


@dataclass(frozen=True)
class Known:
    """A source came to its text, its passages or its points, or one passage of it was written (`what`)."""

    url: str
    what: str
    at: float


async def install(database: Database) -> None:
    """Let the server note it from now on."""
    async with database.connection() as connection:
        await connection.execute(_INSTALL.encode())


async def moves(ask: Ask, ids: Sequence[str]) -> list[Move]:
    """The moves of these workflows, in order."""
    columns = "workflow, at, before, after, epoch, new_epoch, wanted, lease_left, taken_with"
    found = await ask(f"SELECT {columns} FROM campaign.moves WHERE workflow = ANY(%s) ORDER BY n", list(ids))
    return [Move(**row) for row in found]


async def keeps(ask: Ask, ids: Sequence[str]) -> list[Keep]:
    """What was done to the documents of these workflows, in order."""
    query = "SELECT workflow, key, at, did, epoch, status, made_under FROM campaign.keeps"
    found = await ask(f"{query} WHERE workflow = ANY(%s) ORDER BY n", list(ids))
    return [Keep(**row) for row in found]


async def writes(ask: Ask, researches: Sequence[int]) -> list[Write]:
    """What was done to the rows of these deep researches, in order."""
    query = 'SELECT research, "table", did, status, was, now, xact FROM campaign.writes'
    found = await ask(f"{query} WHERE research = ANY(%s) ORDER BY n", list(researches))
    return [Write(**row) for row in found]


async def operated(ask: Ask, numbers: Sequence[int]) -> list[Operated]:
    """What was done to the rows of these operations, in order."""
    query = (
        'SELECT operation, "table", did, status FROM campaign.operated WHERE operation = ANY(%s) ORDER BY n'
    )
    return [Operated(**row) for row in await ask(query, list(numbers))]


async def versions(ask: Ask, trees: Sequence[int]) -> list[TreeVersion]:
    """What these trees of knowledge have been, in order."""
    query = "SELECT tree, was, now, xact FROM campaign.versions WHERE tree = ANY(%s) ORDER BY n"
    return [TreeVersion(**row) for row in await ask(query, list(trees))]


async def known(ask: Ask, urls: Sequence[str]) -> list[Known]:
    """What became of the sources at these addresses, in order."""
    query = "SELECT url, what, at FROM campaign.known WHERE url = ANY(%s) ORDER BY n"
    return [Known(**row) for row in await ask(query, list(urls))]
