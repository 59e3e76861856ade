"""What activities work with: connections and stores that a worker opens once."""

from __future__ import annotations

from dataclasses import dataclass

from convoy.kube.targets import Targets
from convoy.render.resolve import Renderer

from convoy.kube.client import KubeClient
from convoy.settings import Settings
from convoy.store.key import InstallationKey
from convoy.store.renders import Renders
from convoy.sync.ownership import OwnershipIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that outlives one activity."""

    settings: Settings
    home: KubeClient
    targets: Targets
    renderer: Renderer
    renders: Renders
    key: InstallationKey
    index: OwnershipIndex
