"""What ends an attempt without saying anything about the Release: no condition ever shows these."""

from __future__ import annotations


class Interrupted(Exception):
    """The worker stops or has lost its lease; everything done so far is recorded. Another attempt goes on."""


class Fenced(Exception):
    """Another attempt has taken over the inventory: this one must not write any more (design 04, rule 11)."""
