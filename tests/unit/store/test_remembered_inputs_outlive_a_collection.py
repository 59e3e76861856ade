"""D5: equal inputs give the remembered render, also after a collection and on another worker."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from convoy.api.rendered import Render
from convoy.kube.client import Endpoint, KubeClient
from convoy.render.resolve import Renderer, RenderOptions
from convoy.store.collector import Collector
from convoy.store.crypto import InstallationKey
from tests.unit.render.rig import CONFIG_MAP, Known, release
from tests.unit.store.rig import UID, bucket, files_in, worker

KEY = InstallationKey(b"k" * 32)
LATER = datetime.now(UTC) + timedelta(days=1)


async def rendered(folder: Path, name: str, *, machine: str) -> Render:
    renderer = Renderer(
        renders=worker(folder, machine=machine), key=KEY, options=RenderOptions(cache=folder / "sources")
    )
    wanted = release({"inline": {"files": {"a.yaml": CONFIG_MAP % name}}}, {"manifests": {}})
    async with KubeClient(Endpoint(server="http://127.0.0.1:9")) as home:
        return await renderer.render(wanted, home=home, scope=Known({("", "ConfigMap"): True}))


def notes(folder: Path) -> set[Path]:
    return {path for path in files_in(folder / "store") if "blob-input-" in path.name}


async def test_the_note_of_a_kept_render_stays_and_others_go(tmp_path: Path) -> None:
    kept = await rendered(tmp_path, "kept", machine="one")
    (note,) = notes(tmp_path)
    await rendered(tmp_path, "other", machine="one")
    assert len(notes(tmp_path)) == 2

    await Collector(bucket(tmp_path), key=KEY).collect(UID, {kept.ref}, now=LATER)

    assert notes(tmp_path) == {note}
    assert await rendered(tmp_path, "kept", machine="two") == kept
    assert notes(tmp_path) == {note}
