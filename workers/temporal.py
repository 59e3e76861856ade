"""Connecting to Temporal: one client factory, so that every process and test has the same data converter."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client, Interceptor
from temporalio.runtime import Runtime
from temporalio.service import RPCError, RPCStatusCode
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_exponential_jitter

from convoy.settings import Settings
from workers.converter import DATA_CONVERTER
from workflows.contract import SearchAttribute

CONNECT_SECONDS = 60
_BOOLS = {SearchAttribute.CHANGED}


async def connect(
    settings: Settings, *, runtime: Runtime | None = None, interceptors: Sequence[Interceptor] = ()
) -> Client:
    """Connect, waiting up to a minute for a server that is just starting.

    Raises:
        RuntimeError: no Temporal server answered; the message names the address.
    """
    try:
        async for attempt in AsyncRetrying(
            retry=retry_if_exception_type((RPCError, RuntimeError)),
            stop=stop_after_delay(CONNECT_SECONDS),
            wait=wait_exponential_jitter(multiplier=0.2, max=3),
            reraise=True,
        ):
            with attempt:
                return await Client.connect(
                    settings.temporal_address,
                    namespace=settings.temporal_namespace,
                    data_converter=DATA_CONVERTER,
                    interceptors=list(interceptors),
                    runtime=runtime,
                )
    except (RPCError, RuntimeError) as error:
        raise RuntimeError(
            f"no Temporal server at {settings.temporal_address} (--temporal-address): {error}"
        ) from error
    raise AssertionError("unreachable: the loop above returns or raises")


async def register_search_attributes(client: Client) -> None:
    """Add the search attributes that the web UI filters by, where the namespace lacks them (design 04, rule 15).

    Raises:
        RuntimeError: the server refused; the message says how to add them by hand.
    """
    operator = client.operator_service
    present = await operator.list_search_attributes(ListSearchAttributesRequest(namespace=client.namespace))
    missing = {
        name.value: IndexedValueType.INDEXED_VALUE_TYPE_BOOL
        if name in _BOOLS
        else IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
        for name in SearchAttribute
        if name.value not in present.custom_attributes
    }
    if not missing:
        return
    try:
        await operator.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=missing),
            timeout=timedelta(seconds=30),
        )
    except RPCError as error:
        if error.status is RPCStatusCode.ALREADY_EXISTS:
            return  # another process of this installation was faster
        names = " ".join(f"--name {name}" for name in missing)
        raise RuntimeError(
            f"cannot register search attributes ({error}); add them with: "
            f"temporal operator search-attribute create --namespace {client.namespace} {names} --type Keyword"
        ) from error
