"""OpenTelemetry traces and the metrics of Temporal and convoy.

Traces go to `--otlp-endpoint`. Metrics go to `--metrics-address` as a Prometheus endpoint or, where that is not set,
to `--otlp-endpoint` too. convoy's own metrics are made with the Temporal runtime's meter, so that there is one
endpoint and one set of labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from temporalio.client import Interceptor
from temporalio.contrib.opentelemetry import TracingInterceptor
from temporalio.runtime import OpenTelemetryConfig, PrometheusConfig, Runtime, TelemetryConfig

from convoy.settings import Settings


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What a process hands to its Temporal client, and what to call at its end."""

    runtime: Runtime
    interceptors: tuple[Interceptor, ...]
    shut_down: Callable[[], None]


def set_up_telemetry(settings: Settings, *, process: str) -> Telemetry:
    """Build the Temporal runtime and the trace pipeline of one process."""
    metrics: PrometheusConfig | OpenTelemetryConfig | None = None
    if settings.metrics_address:
        metrics = PrometheusConfig(bind_address=settings.metrics_address)
    elif settings.otlp_endpoint:
        metrics = OpenTelemetryConfig(url=settings.otlp_endpoint)
    runtime = Runtime(telemetry=TelemetryConfig(metrics=metrics, global_tags={"process": process}))
    if not settings.otlp_endpoint:
        return Telemetry(runtime, (), lambda: None)
    provider = TracerProvider(resource=Resource.create({"service.name": f"convoy-{process}"}))
    provider.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.otlp_endpoint, insecure=True))
    )
    return Telemetry(runtime, (TracingInterceptor(provider.get_tracer("convoy")),), provider.shutdown)
