"""What a message is signed with, checked as receivers check it; and what can't be a secret or a header."""

import base64
import hashlib
import hmac
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from standardwebhooks.webhooks import Webhook as StandardWebhook
from standardwebhooks.webhooks import WebhookVerificationError

from actors.platform.runtime.outbox import retry_pause
from actors.platform.runtime.webhook_message import check_secret, new_secret, signature_headers
from models.errors import InputInvalid
from models.store.outbox import write_body
from models.webhooks.records import NewWebhook, check_headers

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def signed(body: str, secret: str, previous: str | None = None) -> dict[str, str]:
    """The headers of a message that is sent now."""
    return signature_headers(
        body.encode(), message_id="wh_1", timestamp=int(time.time()), secret=secret, previous_secret=previous
    )


@given(st.dictionaries(st.text(), JSON, max_size=6))
def test_a_receiver_may_check_the_raw_body_or_dump_it_anew_as_the_seed_did(payload: dict[str, Any]) -> None:
    secret = "a secret of the seed's kind"
    body = write_body(payload, "wh_1")
    assert json.loads(body)["webhook_id"] == "wh_1"
    sent = signed(body, secret)["X-Webhook-Signature"]
    anew = json.dumps(json.loads(body), sort_keys=True)
    for text in (body, anew):
        assert sent == "sha256=" + hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


def test_keys_that_are_numbers_and_what_json_lacks() -> None:
    assert write_body({"a": {10: 1, 9: 2}}, "wh_1") == '{"a": {"10": 1, "9": 2}, "webhook_id": "wh_1"}'
    with pytest.raises(ValueError, match="JSON compliant"):
        write_body({"a": float("nan")}, "wh_1")


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_the_standard_webhooks_package_takes_it(payload: dict[str, Any]) -> None:
    body = write_body(payload, "wh_1")
    for secret in (new_secret(), "whsec_" + "A" * 34, "whsec_" + "A" * 34 + "=="):
        assert StandardWebhook(secret).verify(body, signed(body, secret)) == json.loads(body)
    text = "not of that form, but long enough"
    assert StandardWebhook(text.encode()).verify(body, signed(body, text)) == json.loads(body)


def test_while_a_secret_is_rotated_both_are_good() -> None:
    old, new = new_secret(), new_secret()
    body = write_body({"event": "test"}, "wh_1")
    both = signed(body, new, old)
    assert both["webhook-signature"].count("v1,") == 2
    for secret in (old, new):
        StandardWebhook(secret).verify(body, both)
    assert both["X-Webhook-Signature"] == signed(body, new)["X-Webhook-Signature"]
    with pytest.raises(WebhookVerificationError):
        StandardWebhook(old).verify(body, signed(body, new))


def test_another_body_id_or_time_is_refused() -> None:
    secret = new_secret()
    body = write_body({"event": "test"}, "wh_1")
    headers = signed(body, secret)
    later = str(int(headers["webhook-timestamp"]) + 1)
    for what, changed in (
        (body + " ", headers),
        (body, {**headers, "webhook-id": "wh_2"}),
        (body, {**headers, "webhook-timestamp": later}),
    ):
        with pytest.raises(WebhookVerificationError):
            StandardWebhook(secret).verify(what, changed)


def test_the_specification_s_own_example() -> None:
    # standard-webhooks/spec/standard-webhooks.md and the vector of its libraries' tests.
    headers = signature_headers(
        b'{"test": 2432232314}',
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1614265330,
        secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_secrets_that_are_made_are_good_and_differ() -> None:
    made = {new_secret() for _ in range(20)}
    assert len(made) == 20
    assert all(len(base64.b64decode(check_secret(secret).removeprefix("whsec_"))) == 32 for secret in made)


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "short",
        "x" * 15,
        "x" * 256,
        "line\nbreak in a long secret",
        "nul\x00 in a long secret text",
        "whsec_",
        "whsec_" + "A" * 31,
        "whsec_" + "A" * 90,
        "whsec_" + "A" * 20 + "-_" + "A" * 20,
        "whsec_ " + "A" * 44,
        "whsec_" + "A" * 45,
        "whsec_" + "A=" * 22,
        "\ud800" * 20,
    ],
)
def test_what_can_t_be_a_secret(secret: str) -> None:
    with pytest.raises(InputInvalid, match=r"^secret: "):
        check_secret(secret)


@given(st.text(max_size=300) | st.binary(max_size=80).map(lambda b: "whsec_" + base64.b64encode(b).decode()))
def test_whatever_is_taken_as_a_secret_can_sign(secret: str) -> None:
    try:
        check_secret(secret)
    except InputInvalid:
        return
    signed("{}", secret)


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"content-length": "5"},
        {"HOST": "elsewhere"},
        {"Transfer-Encoding": "chunked"},
        {"Connection": "close"},
        {"X-Webhook-Signature": "sha256=00"},
        {"webhook-id": "mine"},
        {"Webhook-Signature": "v1,mine"},
        {"Proxy-Authorization": "x"},
        {"X-A": "1", "x-a": "2"},
        {"": "x"},
        {"X A": "x"},
        {"X-A:": "x"},
        {"X-Ä": "x"},
        {"X-A\r\nX-B": "x"},
        {"X-A\n": "x"},
        {"X-A": "x\r\nX-B: y"},
        {"X-A": "x\x00"},
        {"X-A": " x"},
        {"X-A": "ä"},
        {"X-A": "x" * 2001},
        {f"X-{n}": "x" for n in range(21)},
    ],
)
def test_headers_that_would_replace_ours_or_can_t_be_sent(headers: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        NewWebhook(name="n", event_type="article_published", url="http://x", headers=headers)


def test_other_headers_are_fine() -> None:
    fine = {"Authorization": "Bearer a.b-c", "X-Team": "news, macro", "x_y": ""}
    assert check_headers(fine) == fine


@given(
    st.integers(1, 10_000),
    st.floats(0.001, 86_400),
    st.floats(0.001, 1e6),
    st.floats(0, 1),
)
@pytest.mark.heavy
def test_pauses_double_up_to_the_longest_and_spread_by_half(
    attempt: int, delay: float, longest: float, chance: float
) -> None:
    pause = retry_pause(attempt, delay_seconds=delay, longest=longest, chance=chance)
    whole = longest if attempt > 60 else min(delay * 2 ** (attempt - 1), longest)
    assert whole * 0.5 <= pause <= whole or attempt > 60
    assert 0 < pause <= longest


def test_the_seed_s_retries() -> None:
    pauses = [retry_pause(n, delay_seconds=60, longest=21600, chance=1.0) for n in (1, 2, 3)]
    assert pauses == [60, 120, 240]
