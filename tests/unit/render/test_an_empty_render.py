"""D4: a render of zero objects is Unsupported unless allowEmpty is true."""

from __future__ import annotations

import pytest

from convoy.api.errors import Unsupported
from tests.unit.render.reading import objects


def test_it_is_refused_and_the_message_says_how_to_go_on() -> None:
    with pytest.raises(Unsupported, match=r"spec\.content\.allowEmpty"):
        objects(a="# everything was commented out\n---\n")


def test_it_is_taken_when_the_release_allows_it() -> None:
    assert objects(allow_empty=True) == ()
