"""Encryption of what leaves the process for a disk or a bucket (D40).

Renders hold Secret values. AES-GCM also proves that the bytes are those that were written, and under this
name: a render moved to another Release's folder does not open.
"""

from __future__ import annotations

import os
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_FORMAT: Final = b"convoy1\x00"
_NONCE: Final = 12


class Damaged(Exception):
    """The bytes are not what was written under this name with this key."""


class InstallationKey:
    """The installation's secret, from which each purpose gets a key of its own."""

    __slots__ = ("_cipher", "hmac")

    def __init__(self, secret: bytes) -> None:
        if len(secret) < 32:
            raise ValueError("the installation's key must have at least 32 bytes")
        self._cipher = AESGCM(_derive(secret, b"convoy cipher"))
        self.hmac: Final = _derive(secret, b"convoy hmac")
        """Key of renderRef and of every fingerprint shown."""

    def __repr__(self) -> str:
        return "InstallationKey()"

    def seal(self, data: bytes, *, name: str) -> bytes:
        """Encrypt data that is kept under this name."""
        nonce = os.urandom(_NONCE)
        return _FORMAT + nonce + self._cipher.encrypt(nonce, data, name.encode())

    def open(self, sealed: bytes, *, name: str) -> bytes:
        """Decrypt what `seal` returned.

        Raises:
            Damaged: another key, another name, or changed bytes.
        """
        nonce = sealed[len(_FORMAT) : len(_FORMAT) + _NONCE]
        if not sealed.startswith(_FORMAT) or len(nonce) < _NONCE:
            raise Damaged(f"{name} was not written by convoy")
        try:
            return self._cipher.decrypt(nonce, sealed[len(_FORMAT) + _NONCE :], name.encode())
        except InvalidTag:
            raise Damaged(f"{name} is damaged, or was written with another key") from None


def _derive(secret: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret)
