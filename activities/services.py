"""What activities work with: connections and stores that a worker opens once."""

from __future__ import annotations

from dataclasses import dataclass

from activities.siblings import Siblings
from activities.signals import Signals
from convoy.kube.client import KubeClient
from convoy.kube.doorbell import Doorbells
from convoy.kube.events import Events
from convoy.settings import Settings
from convoy.store.collector import Collector
from convoy.store.crypto import InstallationKey
from convoy.store.renders import Renders
from convoy.sync.desired import DesiredRenders
from convoy.sync.ownership import Ownership


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that outlives one activity."""

    settings: Settings
    home: KubeClient
    desired: DesiredRenders
    renders: Renders
    collector: Collector | None
    """None without a render store."""
    key: InstallationKey
    ownership: Ownership
    siblings: Siblings
    events: Events
    signals: Signals
    doorbells: Doorbells
