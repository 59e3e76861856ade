"""An object's wave is its annotation, an integer; waves run in number order, each in render order."""

from __future__ import annotations

import pytest

from convoy.api.errors import Unsupported
from convoy.api.names import SYNC_WAVE
from convoy.api.rendered import Render
from tests.unit.render.reading import objects

TEXT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, annotations: {" + SYNC_WAVE + ": %s}}\n"


@pytest.mark.parametrize(
    ("written", "wave"), [('"10"', 10), ('"-3"', -3), ('"+4"', 4), ('"007"', 7), ("5", 5), ("~", 0)]
)
def test_an_integer(written: str, wave: int) -> None:
    (found,) = objects(a=TEXT % ("a", written))

    assert found.wave == wave


@pytest.mark.parametrize(
    "written", ['"one"', '""', '"1.5"', '" 1"', "true", "[1]", '"2147483648"', '"١"', "1.5"]
)
def test_anything_else_names_the_object(written: str) -> None:
    with pytest.raises(Unsupported, match=rf"ConfigMap default/a: annotation {SYNC_WAVE} must be an integer"):
        objects(a=TEXT % ("a", written))


def test_the_message_shows_what_is_written_as_far_as_it_is_short() -> None:
    with pytest.raises(Unsupported, match=r"of 32 bits, not '1\.5x{61}' \("):
        objects(a=TEXT % ("a", f'"1.5{"x" * 500}"'))


def test_waves_are_sorted_as_numbers_and_keep_the_order_of_the_render() -> None:
    written = [("z", 10), ("t", 0), ("x", -9), ("w", 2), ("v", 0), ("u", -10)]
    found = objects(a="---\n".join(TEXT % (name, f'"{wave}"') for name, wave in written))

    waves = Render("", "", found).waves()

    assert [(wave, [each.key.name for each in members]) for wave, members in waves] == [
        (-10, ["u"]),
        (-9, ["x"]),
        (0, ["t", "v"]),
        (2, ["w"]),
        (10, ["z"]),
    ]
