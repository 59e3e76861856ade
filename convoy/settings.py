"""Every flag and environment variable of every process, in one place.

Precedence: flags, then `CONVOY_…` environment variables, then the file named by `CONVOY_CONFIG` (YAML). The flag of
`render_store_url` is `--render-store-url`, its variable `CONVOY_RENDER_STORE_URL`.
"""

from __future__ import annotations

import os
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)

from convoy.api.times import parse_duration


def _duration(value: Any) -> Any:
    """Read Go durations (`90s`, `2m`), as in the resources."""
    return parse_duration(value) if isinstance(value, str) else value


def _networks(value: Any) -> Any:
    """Read `10.0.0.0/8,fd00::/8`, also where the command line gives it as a list."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        return value
    return tuple(part.strip() for text in texts for part in text.split(",") if part.strip())


Duration = Annotated[timedelta, BeforeValidator(_duration)]
Networks = Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode, BeforeValidator(_networks)]


class Settings(BaseSettings):
    """What an operator can set."""

    model_config = SettingsConfigDict(
        env_prefix="CONVOY_",
        extra="forbid",
        frozen=True,
        cli_kebab_case=True,
        cli_implicit_flags=True,
        cli_avoid_json=True,
        cli_hide_none_type=True,
    )

    kubeconfig: Path | None = Field(
        default=None,
        description="kubeconfig of the cluster that holds the Releases; default: in-cluster, then KUBECONFIG",
    )
    namespace: str = Field(default="convoy-system", description="the namespace convoy itself runs in")
    key_secret: str = Field(
        default="convoy-key",
        description="Secret with the installation's key, in convoy's namespace; made if missing",
    )

    temporal_address: str = Field(default="127.0.0.1:7233", description="host:port of the Temporal frontend")
    temporal_namespace: str = Field(default="default", description="Temporal namespace; one an installation")
    task_queue: str = Field(default="convoy", description="Temporal task queue of workflows and activities")

    resync: Duration = Field(
        default=timedelta(minutes=2), description="period of the resync of every Release"
    )
    render_store_url: str | None = Field(
        default=None,
        description="where renders are kept for pin and rollback: file:///…, s3://…, gs://…, az://…, memory://",
    )
    tools: Path | None = Field(
        default=None, description="folder with the kustomize, helm and git programs; default: PATH"
    )
    work_dir: Path | None = Field(
        default=None,
        description="local folder for sources and renders in work; default: under the user's cache folder",
    )

    allow_own_identity: bool = Field(
        default=False,
        description="an inCluster Cluster without serviceAccountName may use convoy's own identity",
    )
    allow_own_namespace: bool = Field(
        default=False, description="Releases may apply to convoy's own namespace (D16)"
    )
    allow_private_addresses: bool = Field(
        default=False,
        description="Clusters and sources may point to loopback, link-local and file:// addresses (D41)",
    )

    allow_addresses: Networks = Field(
        default=(),
        description="loopback and link-local networks (127.0.0.8/32,fe80::/64) that sources may point to",
    )

    api_address: str = Field(
        default="0.0.0.0:8443", description="host:port of the aggregated API, which serves HTTPS"
    )
    tls_cert_file: Path | None = Field(
        default=None,
        description="certificate chain of the aggregated API (PEM), read again when it changes; "
        "`run` serves the API only with one",
    )
    tls_key_file: Path | None = Field(default=None, description="private key of that certificate (PEM)")

    max_concurrent_syncs: int = Field(
        default=40, ge=1, le=1000, description="activities one worker runs at a time"
    )
    grace_period: Duration = Field(
        default=timedelta(seconds=20), description="how long running activities may go on after SIGTERM"
    )

    metrics_address: str | None = Field(
        default=None, description="host:port of the Prometheus endpoint; default: none"
    )
    otlp_endpoint: str | None = Field(
        default=None, description="OTLP gRPC endpoint for traces and metrics; default: none"
    )
    log_level: str = Field(default="info", description="debug, info, warning or error")
    log_format: str = Field(
        default="auto", pattern="^(auto|json|console)$", description="auto: JSON off a terminal"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags over environment over file."""
        del dotenv_settings, file_secret_settings
        file = os.environ.get("CONVOY_CONFIG")
        sources: tuple[PydanticBaseSettingsSource, ...] = (init_settings, env_settings)
        return (*sources, YamlConfigSettingsSource(settings_cls, yaml_file=file)) if file else sources

    @property
    def work_folder(self) -> Path:
        """The folder for sources and renders in work."""
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return self.work_dir or cache / "convoy" / "work"

    def program(self, name: str) -> str:
        """Return the path of a child program, or its bare name where PATH has to find it."""
        path = self.tools / name if self.tools else None
        return str(path) if path is not None and path.exists() else name
