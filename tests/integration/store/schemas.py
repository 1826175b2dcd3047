"""Schemas in databases: all that one holds, and those of releases, as they left them."""

import json
from pathlib import Path

import psycopg
import sqlalchemy as sa

from models.store.schema import whole

JOURNALS = Path(__file__).parents[2] / "journals"
_COLUMNS = """
SELECT c.relname || '.' || a.attname, concat_ws(' ', format_type(a.atttypid, a.atttypmod),
       CASE WHEN a.attnotnull THEN 'not null' END, a.attidentity, a.attgenerated,
       pg_get_expr(d.adbin, d.adrelid))
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r'
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
"""
_OTHERS = """
SELECT 'table ' || relname, reloptions::text FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
UNION ALL SELECT 'index ' || indexrelid::regclass, indisvalid || ' ' || pg_get_indexdef(indexrelid)
FROM pg_index WHERE indexrelid::regclass IN (
    SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
UNION ALL SELECT 'constraint ' || conname, concat_ws(' ', conrelid::regclass, convalidated,
                                                     pg_get_constraintdef(oid))
FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
UNION ALL SELECT 'trigger ' || tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'function ' || proname, pg_get_functiondef(oid) FROM pg_proc
WHERE pronamespace = 'public'::regnamespace
UNION ALL SELECT 'sequence ' || sequencename, concat_ws(' ', data_type, start_value, increment_by, cache_size)
FROM pg_sequences WHERE schemaname = 'public'
"""


def schema_of(url: str) -> dict[str, str | None]:
    """Every table, column, index, constraint, trigger, function and sequence, with what makes it up."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(f"{_COLUMNS} UNION ALL {_OTHERS}".encode()).fetchall()
    return {name: what for name, what in rows if "alembic_version" not in name}


def declare(url: str) -> dict[str, str | None]:
    """Make the schema as it is declared in place of what is there; what it then holds."""
    empty(url)
    engine = sa.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(url))
    with engine.begin() as connection:
        whole.create(connection)
    engine.dispose()
    return schema_of(url)


def release(url: str, name: str) -> None:
    """Make the schema of a release that is out in place of what is there, as `pg_dump` wrote it down."""
    empty(url)
    [revision] = {json.loads(file.read_text())["schema"] for file in (JOURNALS / name).glob("*.json")}
    lines = (JOURNALS / name / "schema.sql").read_text(encoding="utf-8").splitlines()
    with psycopg.connect(url) as connection:
        connection.execute("\n".join(line for line in lines if not line.startswith("\\")).encode())
        connection.execute("INSERT INTO public.alembic_version VALUES (%s)", (revision,))


def empty(url: str) -> None:
    """Take everything away."""
    with psycopg.connect(url) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
