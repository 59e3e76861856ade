"""To read a megabyte of values takes a second, in which the event loop sends the heartbeats of all other Releases."""

from __future__ import annotations

import threading
from typing import cast

import pytest

from convoy.api.content import HelmContent
from convoy.api.objects import Manifest
from convoy.kube.client import KubeClient
from convoy.render import helm_values
from convoy.render.documents import Budget
from convoy.render.helm_values import read_values


class _Home:
    async def get(self, *_: object) -> Manifest:
        return {"data": {"values.yaml": "a: 1\n"}}


async def test_values_are_read_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    readers: list[threading.Thread] = []
    read = helm_values._mapping

    def noted(data: bytes, subject: str, budget: Budget) -> dict[str, object]:
        readers.append(threading.current_thread())
        return read(data, subject, budget)

    monkeypatch.setattr(helm_values, "_mapping", noted)
    content = HelmContent.model_validate(
        {"namespace": "shop", "valuesFrom": [{"configMapRef": {"name": "v"}}]}
    )

    values = await read_values(content, "team", home=cast(KubeClient, _Home()))

    assert values.files == (b"a: 1\n",)
    assert len(readers) == 1
    assert threading.current_thread() not in readers
