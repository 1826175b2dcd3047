"""The functions and triggers of the schema: where events come in, and what is observed for `/metrics`.

An observation is written in the transaction of what happens, by whoever makes it happen: also by a process of
the last release. Each statement replaces what is there.
"""

# An event that is inserted into `events` by hand, or by the last release, comes in as any other.
_EVENTS = """
CREATE OR REPLACE FUNCTION divert_to_incoming_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO incoming_events (type, workflow_id, topic, role, person, data, at)
    VALUES (NEW.type, NEW.workflow_id, NEW.topic, NEW.role, NEW.person, NEW.data, NEW.at);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER events_divert BEFORE INSERT ON events FOR EACH ROW
WHEN (current_setting('signoff.moves_events', true) IS DISTINCT FROM 'on')
EXECUTE FUNCTION divert_to_incoming_events();
"""

# From when it was asked for, or begun again, to its end; without the time that people took to decide.
_WORKFLOWS = """
CREATE OR REPLACE FUNCTION observe_workflow() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    since TIMESTAMPTZ := coalesce(NEW.begun_again_at, NEW.created_at);
    asked DOUBLE PRECISION;
    seconds DOUBLE PRECISION;
BEGIN
    SELECT coalesce(sum(extract(epoch FROM upper(span) - lower(span))), 0) INTO asked
    FROM unnest((
        SELECT range_agg(tstzrange(greatest(a.created_at, since), coalesce(a.decided_at, now())))
        FROM approvals a
        WHERE a.workflow_id = NEW.id AND coalesce(a.decided_at, now()) > greatest(a.created_at, since)
    )) AS span;
    seconds := greatest(extract(epoch FROM coalesce(NEW.finished_at, now()) - since) - asked, 0);
    INSERT INTO incoming_observations (measure, labels, value, total)
    VALUES ('workflow', ARRAY[NEW.kind, NEW.status], seconds, seconds);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER workflows_observe AFTER UPDATE OF status ON workflows FOR EACH ROW
WHEN (NEW.status IN ('succeeded', 'failed', 'cancelled')
      AND OLD.status NOT IN ('succeeded', 'failed', 'cancelled'))
EXECUTE FUNCTION observe_workflow();
"""

_APPROVALS = """
CREATE OR REPLACE FUNCTION observe_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    seconds DOUBLE PRECISION := greatest(
        extract(epoch FROM coalesce(NEW.decided_at, now()) - NEW.created_at), 0);
BEGIN
    INSERT INTO incoming_observations (measure, labels, value, total)
    VALUES ('approval', ARRAY[NEW.kind, NEW.status], seconds, seconds);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER approvals_observe AFTER UPDATE OF status ON approvals FOR EACH ROW
WHEN (OLD.status = 'pending' AND NEW.status <> 'pending')
EXECUTE FUNCTION observe_approval();
"""

_DELIVERIES = """
CREATE OR REPLACE FUNCTION observe_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    seconds DOUBLE PRECISION := greatest(
        extract(epoch FROM coalesce(NEW.ended_at, now()) - NEW.created_at), 0);
BEGIN
    INSERT INTO incoming_observations (measure, labels, value, total)
    VALUES ('delivery', ARRAY[NEW.event_type, NEW.status], seconds, seconds);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER deliveries_observe AFTER UPDATE OF status ON deliveries FOR EACH ROW
WHEN (OLD.status = 'pending' AND NEW.status <> 'pending')
EXECUTE FUNCTION observe_delivery();
"""

_SOURCES = """
CREATE OR REPLACE FUNCTION observe_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO incoming_observations (measure, labels, value, total)
    VALUES ('scraped_page', ARRAY[coalesce(NEW.engine, 'none'), coalesce(NEW.fault, 'read')], 0, 0);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER sources_observe AFTER UPDATE OF settled_at ON sources FOR EACH ROW
WHEN (OLD.settled_at IS NULL AND NEW.settled_at IS NOT NULL)
EXECUTE FUNCTION observe_source();
"""

# Of what a statement writes together: what a runner commits in a group is one statement. A model's name comes
# from its endpoint, so it is kept short.
_MODEL_CALLS = """
CREATE OR REPLACE FUNCTION observe_model_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO incoming_observations (measure, labels, value, total)
    SELECT 'model_call', ARRAY[left(model, 100), agent, CASE WHEN error IS NULL THEN 'ok' ELSE 'error' END],
           latency_seconds, latency_seconds
    FROM made;
    INSERT INTO incoming_observations (measure, labels, value, times, total)
    SELECT 'model_tokens', ARRAY[left(model, 100), agent, used.kind], 0, count(*), sum(used.tokens)
    FROM made CROSS JOIN LATERAL (
        VALUES ('prompt', prompt_tokens), ('completion', completion_tokens)
    ) AS used(kind, tokens)
    GROUP BY 2;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER model_calls_observe AFTER INSERT ON model_calls
REFERENCING NEW TABLE AS made FOR EACH STATEMENT
EXECUTE FUNCTION observe_model_calls();
"""

TRIGGERS = (_EVENTS, _WORKFLOWS, _APPROVALS, _DELIVERIES, _SOURCES, _MODEL_CALLS)
