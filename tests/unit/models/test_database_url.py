"""A database's address in any form that people write, and no word of it in what is said of a wrong one."""

import traceback
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from models.database_url import libpq_form
from models.errors import ConfigInvalid
from models.store.session import connection_parameters

passwords = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20
)


@given(
    passwords,
    st.sampled_from(["postgresql+psycopg", "postgresql+asyncpg", "postgres+psycopg2", "postgresql"]),
)
def test_both_forms_of_an_url_say_the_same(password: str, scheme: str) -> None:
    url = f"{scheme}://ann:{quote(password, safe='')}@db.internal:5433/site?sslmode=require"
    assert conninfo_to_dict(libpq_form(url)) == {
        "user": "ann", "password": password, "host": "db.internal", "port": "5433", "dbname": "site",
        "sslmode": "require",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("host=h dbname=d password='a b'", {"host": "h", "dbname": "d", "password": "a b"}),
        ("postgres://u@h/d", {"user": "u", "host": "h", "dbname": "d"}),
        ("postgresql+psycopg:///d?host=/run/pg", {"host": "/run/pg", "dbname": "d"}),
        ("postgresql+psycopg://u:a/b:c@h/d", {"user": "u", "password": "a/b:c", "host": "h", "dbname": "d"}),
        ("postgresql://h1:5432,h2:5433/d", {"host": "h1,h2", "port": "5432,5433", "dbname": "d"}),
        (" postgresql://h/d\n", {"host": "h", "dbname": "d"}),
        ("postgresql+psycopg://u@/d?host=h1:5432&host=h2:5433", {"host": "h1,h2", "port": "5432,5433"}),
        (
            "postgresql+psycopg://u@/d?host=h1&host=h2:5433&sslmode=require",
            {"host": "h1,h2", "port": ",5433"},
        ),
        ("postgresql+psycopg://u@/d?host=[::1]:5432&host=/run/pg", {"host": "::1,/run/pg", "port": "5432,"}),
        ("postgresql+psycopg://u:p@[fe80::1%25eth0]:5/d", {"host": "fe80::1%eth0", "port": "5"}),
        ("postgresql://h/d?sslrootcert=system", {"host": "h", "sslrootcert": "system"}),
        ("postgresql://h/d?passfile=/run/pass", {"host": "h", "passfile": "/run/pass"}),
    ],
)
def test_what_is_written_is_what_is_connected_to(url: str, said: dict[str, str]) -> None:
    found = conninfo_to_dict(libpq_form(url))
    assert {name: found[name] for name in said} == said
    given = connection_parameters(url, application="test")
    assert {name: given[name] for name in said} == said


@pytest.mark.parametrize("name", ["passfile", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir"])
@pytest.mark.parametrize("path", ["ca.pem", "./ca.pem", "~/.pgpass", "../ca.pem"])
def test_a_file_that_each_process_would_look_for_elsewhere_is_refused(name: str, path: str) -> None:
    for url in (f"postgresql://h/d?{name}={path}", f"host=h dbname=d {name}={path}"):
        with pytest.raises(ConfigInvalid, match=f"^database.url: its {name} is no whole path"):
            connection_parameters(url, application="test")


@given(st.text(st.sampled_from("pw9@:/?%#= '\\ä"), min_size=1, max_size=12))
def test_of_a_wrong_one_nothing_is_told_and_nothing_of_the_password_is_taken_for_a_host(
    password: str,
) -> None:
    secret = f"Zq{password}Zq"
    for url in (
        f"postgresql://ann:{secret}@db.internal/site",
        f"postgresql+psycopg://ann:{secret}@db.internal/site",
        f"mysql://ann:{secret}@db.internal/site",
        f"host=db.internal password={secret}",
    ):
        try:
            parts, refused = conninfo_to_dict(libpq_form(url)), None
        except ValueError as error:
            parts, refused = {"host": "db.internal"}, error
        assert parts["host"] == "db.internal"
        assert not [name for name, value in parts.items() if "Zq" in str(value) and name != "password"]
        if refused is not None:
            assert "Zq" not in "".join(traceback.format_exception(refused)).replace(repr(url), "")
            with pytest.raises(ConfigInvalid, match=r"^database\.url: is no address"):
                connection_parameters(url, application="test")
