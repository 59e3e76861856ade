"""D40: what is stored is encrypted with the installation's key, under its own name."""

from __future__ import annotations

import pytest

from convoy.store.crypto import Damaged, InstallationKey

KEY = InstallationKey(b"k" * 32)


def test_what_was_sealed_opens_again_and_shows_nothing() -> None:
    sealed = KEY.seal(b"quince-left", name="a")

    assert KEY.open(sealed, name="a") == b"quince-left"
    assert b"quince" not in sealed
    assert sealed != KEY.seal(b"quince-left", name="a")


@pytest.mark.parametrize("place", [0, 8, 20, 25, -1])
def test_a_changed_byte_is_found(place: int) -> None:
    sealed = bytearray(KEY.seal(b"quince-left", name="a"))
    sealed[place] ^= 1

    with pytest.raises(Damaged):
        KEY.open(bytes(sealed), name="a")


@pytest.mark.parametrize("length", [0, 5, 8, 19, 20, 30])
def test_a_cut_file_is_found(length: int) -> None:
    with pytest.raises(Damaged):
        KEY.open(KEY.seal(b"quince-left", name="a")[:length], name="a")


def test_another_name_or_another_key_does_not_open_it() -> None:
    sealed = KEY.seal(b"quince-left", name="renders/one/ref")

    with pytest.raises(Damaged):
        KEY.open(sealed, name="renders/other/ref")
    with pytest.raises(Damaged):
        InstallationKey(b"o" * 32).open(sealed, name="renders/one/ref")


def test_the_key_shows_in_no_representation() -> None:
    assert repr(KEY) == "InstallationKey()"


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        InstallationKey(b"short")
