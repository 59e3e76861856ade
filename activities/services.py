"""What activities work with: connections and stores that a worker opens once."""

from __future__ import annotations

from dataclasses import dataclass

from activities.siblings import Siblings
from activities.signals import Signals
from convoy.kube.client import KubeClient
from convoy.kube.events import Events
from convoy.kube.targets import Targets
from convoy.render.resolve import Renderer
from convoy.settings import Settings
from convoy.store.crypto import InstallationKey
from convoy.store.renders import Renders
from convoy.sync.ownership import Ownership


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that outlives one activity."""

    settings: Settings
    home: KubeClient
    targets: Targets
    renderer: Renderer
    renders: Renders
    key: InstallationKey
    home_uid: str
    """UID of the home cluster's kube-system namespace: a target with this UID is the cluster convoy runs in."""
    ownership: Ownership
    siblings: Siblings
    events: Events
    signals: Signals
