"""What a webhook message carries: its signatures, and the secrets they are made with. Pure.

Two signatures over the same bytes: the seed's `X-Webhook-Signature` (000 §8.4), with the secret's text
as key, and Standard Webhooks 1.0, with the bytes that a `whsec_` secret holds. While a secret is being
rotated the second header holds one signature for each.
"""

import base64
import binascii
import hashlib
import hmac
import secrets

from models.errors import InputInvalid

_PREFIX = "whsec_"
_KEY_BYTES = 32


def new_secret() -> str:
    """A secret of 32 random bytes, as Standard Webhooks writes it."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()


def check_secret(secret: str) -> str:
    """A secret that an admin chose, unchanged.

    Raises:
        InputInvalid: it is neither `whsec_` and base64 of 24 to 64 bytes, nor 16 to 255 other characters.
    """
    if secret.startswith(_PREFIX):
        try:
            key = _key(secret)
        except ValueError as error:
            raise InputInvalid(f"secret: after {_PREFIX} it must be base64: {error}") from error
        if not 24 <= len(key) <= 64:
            raise InputInvalid(f"secret: it holds {len(key)} bytes: give 24 to 64 bytes after {_PREFIX}")
    elif not (16 <= len(secret) <= 255 and secret.isprintable()):
        raise InputInvalid(
            f"secret: give 16 to 255 printable characters, or {_PREFIX} and base64, or leave it out"
        )
    return secret


def signature_headers(
    body: bytes, *, message_id: str, timestamp: int, secret: str, previous_secret: str | None = None
) -> dict[str, str]:
    """The headers that name and sign a message.

    Args:
        timestamp: when it is sent, in seconds since 1970; receivers refuse what is minutes old.
        previous_secret: the one before a rotation, while it is still valid.
    """
    signed = f"{message_id}.{timestamp}.".encode() + body
    keys = [_key(one) for one in (secret, previous_secret) if one is not None]
    return {
        "X-Webhook-Signature": "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest(),
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(
            "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode() for key in keys
        ),
    }


def _key(secret: str) -> bytes:
    """The Standard Webhooks key: the bytes of a `whsec_` secret, padded or not, or those of another text."""
    if not secret.startswith(_PREFIX):
        return secret.encode()
    digits = secret.removeprefix(_PREFIX).rstrip("=")
    try:
        return base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
