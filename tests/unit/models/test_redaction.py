"""No secret is told: of those that a process was given in any spelling, of others where their place shows."""

import html
import io
import json
import logging
import pickle
import quopri
import re
import secrets
import shlex
import string
import sys
import threading
import traceback
import unicodedata
from base64 import b64encode, encodebytes, urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import SecretStr

from actors.platform import logs
from actors.platform.logs import formatter
from models import redaction
from models.config.fields import KeptSecret
from models.error_lines import error_line, print_trace
from models.errors import ClusterProblem
from models.redaction import HIDDEN, keep, redacted

SPECIAL = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ äß漢😀\n\t"
any_secret = st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=30) | st.text(
    st.sampled_from("aZ9" + SPECIAL), min_size=8, max_size=20
)
kept_secrets = any_secret.filter(lambda text: len(text.strip()) >= 8).map(str.strip)
# Where a blank ends what is not in quotation marks.
words = st.text(
    st.sampled_from("aZ9" + SPECIAL.replace(" ", "").replace("\n", "").replace("\t", "")), min_size=8
)
LETTERS = (string.ascii_letters + string.digits).encode()


def is_latin(text: str) -> bool:
    return max(map(ord, text)) < 256


SPELT = (
    str,
    repr,
    ascii,
    json.dumps,
    lambda text: json.dumps(text, ensure_ascii=False),
    lambda text: json.dumps(json.dumps(text)),
    lambda text: repr(repr(text)),
    lambda text: repr(text.encode()),
    quote,
    quote_plus,
    lambda text: quote(text, safe=""),
    lambda text: (
        "".join(f"%{byte:02x}" if byte < 48 else chr(byte) for byte in text.encode())
        if text.isascii()
        else quote(text)
    ),
    lambda text: "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'",
    lambda text: re.sub(r"(?<=\\u)[0-9a-f]{4}", lambda hex: hex[0].upper(), json.dumps(text)),
    lambda text: quote(quote(text, safe=""), safe=""),
    lambda text: quote(text, safe="", encoding="latin-1", errors="ignore") if is_latin(text) else quote(text),
    lambda text: "".join(f"\\x{byte:02X}" if byte not in LETTERS else chr(byte) for byte in text.encode()),
    lambda text: "".join(f"\\{byte:03o}" if byte not in LETTERS else chr(byte) for byte in text.encode()),
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: unicodedata.normalize("NFC", text),
)
# Those that hold no piece of it as it is: of these only that something is hidden, and what is left, is asked.
ENCODED: dict[str, Callable[[str], str]] = {
    "upper": str.upper,
    "lower": str.lower,
    "swapped": str.swapcase,
    "base64": lambda text: b64encode(text.encode()).decode(),
    "base64 after one": lambda text: b64encode(b"u:" + text.encode()).decode(),
    "base64 after two": lambda text: b64encode(b"us:" + text.encode()).decode(),
    "base64 of URLs": lambda text: urlsafe_b64encode(b"user:" + text.encode() + b"\n").decode().rstrip("="),
    "base64 over lines": lambda text: encodebytes(b"x" * 47 + text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "bytea": lambda text: "\\x" + text.encode().hex().upper(),
    "hex with blanks": lambda text: text.encode().hex(" "),
    "bytes of an URL": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "escaped bytes": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()),
    "octal": lambda text: "".join(f"\\{byte:03o}" for byte in text.encode()),
    "numbers": lambda text: str(list(text.encode())),
    "entities": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "entities in hex": lambda text: "".join(f"&#x{ord(char):X};" for char in text),
    "HTML": html.escape,
    "SQL": lambda text: text.replace("'", "''"),
    "CSV": lambda text: text.replace('"', '""'),
    "shell": shlex.quote,
    "mail": lambda text: quopri.encodestring(text.encode()).decode(),
    "misread": lambda text: text.encode().decode("latin-1"),
    "over lines": lambda text: f"{text[:5]}\n    {text[5:]}",
    "over lines of Windows": lambda text: f"{text[:5]}\r\n{text[5:]}",
    "over lines of a shell": lambda text: f"{text[:5]}\\\n{text[5:]}",
    "over lines of Python": lambda text: f"({text[:5]!r}\n {text[5:]!r})",
    "over lines in JSON": lambda text: f"{text[:5]}\\n{text[5:]}",
    "coloured": lambda text: f"{text[:5]}\x1b[31m{text[5:]}",
    "with what is not seen": lambda text: f"{text[:5]}\u200b\xad{text[5:]}",
    "escaped capitals": lambda text: quote(text.upper(), safe=""),
}


@contextmanager
def nothing_kept() -> Iterator[None]:
    """No secret of another test is known."""
    before, redaction._kept = redaction._kept, {}
    try:
        yield
    finally:
        redaction._kept = before


@given(kept_secrets, st.sampled_from(SPELT), st.sampled_from(["{}", "x{}y", "at {}: refused", "a={}&b=1"]))
@example("000000\f0", json.dumps, "{}")
@example("pa55/w0rd-Zürich+x", SPELT[-7], "{}")
@example("pa55/w0rd-Zürich+x", SPELT[-6], "{}")
@example("pa55/w0rd-Zürich+x", SPELT[-5], "{}")
@example("pa55/w0rd-Zürich+x", SPELT[-4], "{}")
@example("pa55/w0rd-Zürich+x", SPELT[-3], "{}")
@example("pa55/w0rd-Zürich+x", SPELT[-2], "{}")
@example("pa55/w0rd-Zu\u0308rich+x", SPELT[-1], "{}")
@example("a@b:c/d?e%f", quote, "postgresql+psycopg://u:{}@h/db")
@pytest.mark.heavy
def test_a_secret_that_is_kept_is_told_in_no_spelling(secret: str, spelt: object, around: str) -> None:
    assert callable(spelt)
    written = spelt(secret)
    with nothing_kept():
        keep(secret)
        told = redacted(around.format(written))
    assert HIDDEN in told
    assert secret not in told
    assert written.strip("b'\"\\") not in told


@pytest.mark.parametrize("how", ENCODED)
@pytest.mark.parametrize("secret", ["Xk9-vB_2qLm4", "pass'wör\"d/n1", "Zażółć-gęślą", "straße 99&<x>"])
def test_a_secret_that_is_kept_is_told_in_no_encoding(how: str, secret: str) -> None:
    written = ENCODED[how](secret)
    with nothing_kept():
        assert "***" not in redacted(f"before {written} after")
        keep(secret)
        told = redacted(f"before {written} after")
    assert told.startswith("before ")
    assert told.endswith(" after")
    assert HIDDEN in told
    left = re.sub(
        r"\A[Vd-fx]\S{0,64}(?=\*)|[^\w]|\\x", "", told.removeprefix("before ").removesuffix(" after")
    )
    assert len(left) < 5, told


@given(
    st.text(st.sampled_from("aZ9-" + SPECIAL), min_size=12, max_size=20).filter(lambda t: len(t.strip()) > 11)
)
@pytest.mark.heavy
def test_another_secret_is_hidden_in_no_base64(secret: str) -> None:
    """Wherever it begins in what is encoded: at each of the three places of a group."""
    for before in ("", "u:", "us:", "use:"):
        with nothing_kept():
            keep(secret)
            assert HIDDEN in redacted(b64encode(f"{before}{secret.strip()}:x".encode()).decode())


def test_what_is_said_around_a_broken_secret_stays() -> None:
    with nothing_kept():
        keep("Xk9-vB_2qLm4")
        keep("another-one-99")
        text = "a\nb Xk9-v\n  B_2qLm4 c\r\nanother-\\\none-99\n\nd Xk9-vB_2qLm4\n"
        assert redacted(text) == "a\nb *** c\r\n***\n\nd ***\n"


def test_texts_within_lists_and_mappings_hold_none() -> None:
    with nothing_kept():
        keep("Xk9-vB_2qLm4")
        told = ClusterProblem("x", tried=[{"at": ("Xk9-vB_2qLm4", 3)}]).facts
        record = logging.LogRecord("signoff.x", 40, "f", 1, "why", (), None)
        record.error = ValueError("Xk9-vB_2qLm4")
        line = formatter(process="test", as_text=False).format(record)
    assert told == {"tried": [{"at": (HIDDEN, 3)}]}
    assert json.loads(line)["error"] == HIDDEN


@given(words)
def test_a_password_in_an_url_is_not_told_however_it_is_written(secret: str) -> None:
    for scheme in ("postgresql", "postgresql+psycopg", "https", "redis", "amqp"):
        raw = f"postgresql+psycopg://u:{secret}@db.internal:5432/signoff"
        for url in (f"{scheme}://u:{quote(secret, safe='')}@db.internal/signoff", raw):
            for text in (url, f'missing "=" after "{url}" in connection info string', repr(ValueError(url))):
                with nothing_kept():
                    told = redacted(text)
                assert secret not in told
                assert quote(secret, safe="") not in told
                assert "db.internal" in told


@given(st.text(st.sampled_from("aZ9" + SPECIAL), min_size=8))
@example("it''s mine\\")
@pytest.mark.parametrize("name", ["password", "sslpassword", "PGPASSWORD", "client_secret", "api-key"])
def test_a_password_in_a_dsn_is_not_told(name: str, secret: str) -> None:
    quoted = "'" + secret.replace("\\", "\\\\").replace("'", "\\'") + "'"
    for text in (
        f"host=h {name}={quoted} dbname=d",
        f"host=h {name} = {quoted} dbname=d",
        f"https://h/x?a=1&{name}={quote_plus(secret)}&b=2 failed",
        f"{{'{name}': {secret!r}, 'b': 2}}",
        json.dumps({name: secret, "b": 2}),
    ):
        with nothing_kept():
            told = redacted(text)
        assert HIDDEN in told
        for written in (
            secret,
            quoted[1:-1],
            quote_plus(secret),
            repr(secret)[1:-1],
            json.dumps(secret)[1:-1],
        ):
            assert written not in told


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer {}",
        "Illegal header value b'Bearer {}'",
        "[(b'authorization', b'Bearer {}')]",
        "Authorization: Token {}",
        "Cookie: session={}; theme=dark",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
        "Proxy-Authorization: Basic {}==",
        "x-api-key: {}",
        "{{'X-Api-Key': '{}'}}",
        "https://{}@sentry.example/1",
        "postgresql://u@x:{}@h/db",
        "u:{}@h:5432/db",
        '{{\\"password\\": \\"{}\\"}}',
        '{{\\\\\\"password\\\\\\":\\\\\\"{}\\\\\\"}}',
        "(b'x-auth-token', b'{}')",
        "X-Auth-Token: {}",
        "(b'cookie', b'session={}')",
        "{{'cookie': 'session={}'}}",
        "password: {}",
        "  password: '{}'",
        "api_key: {}",
        "clientSecret: {}",
        "--password {} --x",
        "--password -{}",
        "password: A_-{}",
        "client_secret%3D{}",
        "<password>{}</password>",
        "https://hooks.slack.com/services/T0/B0/{}",
        "ya29.{}",
        "401 for sk-{}",
        "whsec_{}",
        "GET /maps?key={}&q=x",
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN%20PRIVATE%20KEY-----%0A{}%0A-----END%20PRIVATE%20KEY-----",
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        "-----begin private key-----\n{}\n-----end private key-----",
        "mysqldump -h db -u root -p{} crm",
        "mysql -uroot -p'{}' crm",
        "['mysql', '-uroot', '-p{}', 'crm']",
        "sshpass -p {} ssh h",
        "docker login -u me -p {} registry",
        "redis-cli -h r -a {} ping",
        "curl -u admin:{} https://h",
        "curl --user=admin:{} https://h",
        '["curl", "-u", "admin:{}", "https://h"]',
        "['signoff', '--token', '{}']",
        '[\n  "--api-key",\n  "{}"\n]',
        "tokens: ['x', '{}']",
        "tokens=['{}', 'x']",
        '{{"tokens": ["x", "{}"]}}',
        '{{\\"tokens\\": [\\"x\\", \\"{}\\"]}}',
        "{{'api_keys': ('x', '{}')}}",
        '{{"passwords": {{"a": "{}"}}}}',
        "tokens:\n  - x1-x2-x3\n  - {}\n",
        "password: |\n  {}\n",
        "cookies={{'sid': '{}'}}",
        "auth=('ann', '{}')",
        '{{"bearer": "{}"}}',
        "['password' => '{}']",
        "ALTER ROLE x WITH ENCRYPTED PASSWORD '{}'",
        "CREATE USER x IDENTIFIED BY '{}'",
        "machine h login ann password {}",
        "db.internal:5432:crm:ann:{}",
        "postgresql%3A%2F%2Fu%3A{}%40h%2Fdb",
        "postgresql:\\/\\/u:{}@h\\/db",
        "client_assertion={}&x=1",
        "Uid=u;Pwd={{a {}}};",
        "<password><![CDATA[{}]]></password>",
        'form-data; name="password"\r\n\r\n{}\r\n--',
        "Incorrect API key provided: {}.",
        "https://api.telegram.org/bot123456789:{}/sendMessage",
        "webhook-signature: v1,{}",
        "SCRAM-SHA-256$4096:c2FsdA==${}=",
        "signoff\0--token\0{}\0x",
    ],
)
def test_what_looks_like_a_secret_is_not_told(text: str) -> None:
    for secret in (secrets.token_hex(16), secrets.token_urlsafe(24), f"D-{secrets.token_urlsafe(24)}"):
        with nothing_kept():
            assert secret not in redacted(text.format(secret))


@pytest.mark.parametrize(
    "text",
    [
        "a bearer token is missing: send one Authorization: Bearer header; `signoff token` makes tokens",
        "can't reach http://host:8080/path: ask ann@example.com",
        "GET http://host:8080/path?mail=ann@example.com",
        "connection to server at 'postgresql://signoff@db/x' failed",
        "local.yaml: auth.secret: is required",
        "prompt_tokens=12 max_tokens=100 of 4096",
        "Basic authentication is off: the token is over",
        "the task sk-1 and eyJ are words",
        "the password: see the notice; token: a coin",
        "give --password PASSWORD or --token <token>, or --token --force=1",
        "missing 'token', 'secret': mailto:ann@example.com:25",
        "give api_key: {file: /run/secrets/key} and [the API key](doors.md)",
        "docker run -u 1000:1000 and ssh -p 22 and mkdir -p one/two",
        "tokens: 12 of 4096; [tokens] (see the docs)",
        "unexpected token '}' at 12:30:45",
    ],
)
def test_what_is_no_secret_is_told_as_it_is(text: str) -> None:
    with nothing_kept():
        assert redacted(text) == text


def test_a_short_word_is_not_taken_for_a_secret_wherever_it_stands() -> None:
    with nothing_kept():
        keep("signoff")
        assert (
            redacted("run `signoff up`: postgresql://u:signoff@h") == "run `signoff up`: postgresql://u:***@h"
        )


@given(kept_secrets)
@pytest.mark.heavy
def test_no_error_line_trace_or_log_tells_one(secret: str) -> None:
    """Of what was raised, what it was raised from, its notes and its group; whole or cut anywhere."""

    def fail() -> None:
        try:
            try:
                raise ValueError(f"no connection: {secret}")
            except ValueError as error:
                error.add_note(f"tried {secret!r}")
                raise ExceptionGroup(f"two {secret}", [error, OSError(f"{secret}\n{secret}")]) from error
        except ExceptionGroup:
            raise RuntimeError(f"{secret}") from None if len(secret) % 2 else RuntimeError(quote(secret))

    with nothing_kept():
        keep(secret)
        told = [
            str(ClusterProblem(f"at {secret}", waits_for=f"db {secret}").facts),
            str(ClusterProblem(secret)),
        ]
        try:
            fail()
        except RuntimeError as error:
            told += [error_line(error, most) for most in (10, 300)]
            told += [error_line("".join(traceback.format_exception(error)))]
            for as_text in (True, False):
                stream = io.StringIO()
                handler = logging.StreamHandler(stream)
                handler.setFormatter(formatter(process="test", as_text=as_text))
                record = logging.LogRecord("signoff.x", 40, "f", 1, "why: %s", (secret,), sys.exc_info())
                record.error = f"it was {secret}"
                handler.handle(record)
                told.append(stream.getvalue())
            stream = io.StringIO()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sys, "stderr", stream)
                print_trace(RuntimeError, error, None)
            told.append(stream.getvalue())
    spellings = (
        secret,
        repr(secret)[1:-1],
        json.dumps(secret)[1:-1],
        quote(secret),
        f"no connection: {secret[:7]}",
    )
    for text in told:
        assert text
        assert not [spelt for spelt in spellings if spelt in text]


def test_a_thread_that_dies_tells_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise ValueError("no connection: Xk9-vB_2qLm4")

    monkeypatch.setattr(logs, "_HANDLERS", [])
    monkeypatch.setattr(logging, "raiseExceptions", logging.raiseExceptions)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    with nothing_kept():
        keep("Xk9-vB_2qLm4")
        logs.begin("json", process="test", handlers=[logging.NullHandler()])
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
    told = capsys.readouterr().err
    assert f"ValueError: no connection: {HIDDEN}" in told
    assert "Xk9" not in told


def test_whoever_is_handed_a_secret_of_the_configuration_knows_it() -> None:
    value = secrets.token_urlsafe(12)
    with nothing_kept():
        packed = pickle.dumps({"api_key": KeptSecret(value)})
    with nothing_kept():
        assert redacted(value) == value
        assert pickle.loads(packed)["api_key"] == SecretStr(value)
        assert redacted(f"key {value}") == f"key {HIDDEN}"


@pytest.mark.heavy
def test_a_text_without_an_end_takes_no_longer_than_it_is_long() -> None:
    """What would take quadratic time does not end within the test's time limit."""
    pieces = (
        "a://b:",
        "password",
        "password=",
        "'password':",
        "Bearer a",
        "\\",
        "eyJ",
        "a.",
        "sk-",
        "https://",
        "password: a",
        "--password ",
        '\\"password\\":\\"',
        "a:b@",
        "%25",
        "\n",
        "'\n'",
        "\\\\n",
        "tokens=['",
        "tokens:\n- a1b2c3\n",
        "mysql ",
        "eyJaaaaaaaa\n",
        "a%3A%2F%2Fb%3A",
    )
    with nothing_kept():
        keep("\\'\\\"\\\\ \\'")
        for piece in pieces:
            redacted(piece * (200_000 // len(piece)))


def test_every_secret_of_a_configuration_is_kept(tmp_path: Path) -> None:
    from actors.platform.systems import load

    root = Path(__file__).parents[3]
    with nothing_kept():
        config = load(root / "configs/local.yaml", root=tmp_path)
        assert config.serving.api_key is not None
        assert redacted(config.serving.api_key.get_secret_value()) == HIDDEN
