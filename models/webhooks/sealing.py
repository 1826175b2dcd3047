"""Secrets of others as they are kept: sealed with `webhooks.sealing_keys`, so that a dump tells nothing.

Fernet (AES-128-CBC with HMAC-SHA256) under keys that are derived from the configured texts. The first key
seals, all of them open: a new one is put before the old, and the old one taken away after the next start.
"""

import base64
from collections.abc import Mapping, Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import SecretStr

from models.errors import SealBroken

_MARK = "sealed:1:"
_PURPOSE = b"signoff webhooks"


class Seal:
    """Seals and opens texts."""

    def __init__(self, keys: Sequence[SecretStr]) -> None:
        fernets = [Fernet(_derived(key.get_secret_value())) for key in keys]
        self._first, self._all = fernets[0], MultiFernet(fernets)

    def close(self, text: str) -> str:
        """The text sealed, each time otherwise."""
        return _MARK + self._first.encrypt(text.encode()).decode()

    def open(self, kept: str) -> str:
        """The text that was sealed; one from before there were seals is itself.

        Raises:
            SealBroken: none of the keys has sealed it, or it was changed.
        """
        if not kept.startswith(_MARK):
            return kept
        try:
            return self._all.decrypt(kept.removeprefix(_MARK).encode()).decode()
        except InvalidToken as error:
            raise SealBroken(
                "a webhook's secret can't be opened: put the key that sealed it back into "
                "webhooks.sealing_keys, or rotate the webhook's secret and set its headers again"
            ) from error

    def is_fresh(self, kept: str) -> bool:
        """Whether it is sealed, and with the first key."""
        try:
            return kept.startswith(_MARK) and bool(self._first.decrypt(kept.removeprefix(_MARK).encode()))
        except InvalidToken:
            return False

    def close_values(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers with their values sealed."""
        return {name: self.close(value) for name, value in headers.items()}

    def open_values(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers as they are sent. Raises SealBroken."""
        return {name: self.open(value) for name, value in headers.items()}


def _derived(text: str) -> bytes:
    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(text.encode())
    return base64.urlsafe_b64encode(key)
