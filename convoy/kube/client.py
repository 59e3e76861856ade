"""The verbs of the Kubernetes API on plain trees: no models, since an unknown field of a user's object must survive.

An answer that is no Status never enters an error (`convoy.kube.classify`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import structlog

from convoy.api.names import MANAGER
from convoy.api.objects import Manifest
from convoy.kube.classify import error_of
from convoy.kube.encode import decode, decode_cut, encode, is_cut
from convoy.kube.errors import Gone, ServerFault
from convoy.kube.resources import Resource
from convoy.kube.transport import Answer, Endpoint, Limits, Transport

__all__ = ["PAGE", "Answer", "Endpoint", "KubeClient", "Limits", "Page"]

_log = structlog.get_logger(__name__)

PAGE = 500
"""Objects a page of a list."""
_APPLY = "application/apply-patch+yaml"
_PATCHES = {"merge": "application/merge-patch+json", "json": "application/json-patch+json"}


class KubeClient(Transport):
    """One API server as one identity. Made inside the event loop that uses it; must be closed."""

    async def get(self, resource: Resource, namespace: str | None, name: str) -> Manifest:
        """Read one object.

        Raises:
            NotFound: it is absent.
            ApiError: any other refusal.
        """
        return _tree(await self._call("GET", resource, namespace, name))

    async def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        limit: int = PAGE,
    ) -> list[Manifest]:
        """Read all objects of a kind, of all namespaces if `namespace` is empty, `limit` a page.

        Raises:
            ApiError: the server refused.
        """
        for _ in range(3):
            found: list[Manifest] = []
            try:
                async for page in self.pages(
                    resource,
                    namespace,
                    label_selector=label_selector,
                    field_selector=field_selector,
                    limit=limit,
                ):
                    found.extend(page.items)
            except Gone:
                # The pages took longer than the server keeps versions: only a new list is consistent.
                continue
            return found
        raise ServerFault(
            f"the list of {resource.plural} expired three times before its last page", status=410
        )

    async def pages(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        limit: int = PAGE,
    ) -> AsyncIterator[Page]:
        """Read a consistent list page by page.

        An object that is nested too deeply to be read is left out, so that whoever wrote it hides no other one.

        Raises:
            Gone: the list expired between two pages.
            ApiError: any other refusal.
        """
        params = {"limit": str(limit)}
        if label_selector:
            params["labelSelector"] = label_selector
        if field_selector:
            params["fieldSelector"] = field_selector
        while True:
            tree = _list(await self._call("GET", resource, namespace, None, params=params), resource)
            metadata = tree.get("metadata") or {}
            items = tree.get("items") or []
            for item in items:
                # The items of a list do not say what they are.
                item["apiVersion"] = resource.api_version
                item["kind"] = resource.kind
            yield Page(items, metadata.get("resourceVersion") or "0")
            if not metadata.get("continue"):
                return
            params["continue"] = metadata["continue"]

    async def create(
        self,
        manifest: Manifest,
        resource: Resource,
        *,
        manager: str = MANAGER,
        dry_run: bool = False,
        strict: bool = False,
    ) -> Manifest:
        """Create an object with POST, in the namespace that it names.

        `strict` refuses a field that the schema does not know, as server-side apply does; the server would drop it.

        Raises:
            AlreadyExists: it is there.
            ApiError: any other refusal.
        """
        metadata = manifest.get("metadata") or {}
        params = _write(manager, dry_run=dry_run)
        if strict:
            params["fieldValidation"] = "Strict"
        return _tree(
            await self._call(
                "POST",
                resource,
                metadata.get("namespace"),
                None,
                params=params,
                body=encode(manifest),
                content_type="application/json",
            )
        )

    async def apply(
        self,
        body: bytes,
        resource: Resource,
        namespace: str | None,
        name: str,
        *,
        manager: str = MANAGER,
        force: bool = True,
        dry_run: bool = False,
        subresource: str | None = None,
        timeout: float | None = None,
    ) -> Manifest:
        """Send a server-side apply; `body` comes from `apply_body`, the same bytes for a dry run (D11).

        Raises:
            UidMismatch: `metadata.uid` of the body is not that of the live object.
            Conflict: `metadata.resourceVersion` of the body is not that of the live object.
            NamespaceMissing, KindUnknown, Rejected, Forbidden, ApiError: the server refused.
        """
        params = _write(manager, dry_run=dry_run)
        params["force"] = "true" if force else "false"
        return _tree(
            await self._call(
                "PATCH",
                resource,
                namespace,
                name,
                subresource=subresource,
                params=params,
                body=body,
                content_type=_APPLY,
                timeout=timeout,
            )
        )

    async def patch(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        patch: Any,
        *,
        kind: Literal["merge", "json"] = "merge",
        manager: str = MANAGER,
        subresource: str | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> Manifest:
        """Send a JSON merge patch (RFC 7396) or a JSON patch (RFC 6902).

        Raises:
            NotFound: the object is absent.
            Conflict: the patch names a resourceVersion that is not the live one.
            ApiError: any other refusal.
        """
        return _tree(
            await self._call(
                "PATCH",
                resource,
                namespace,
                name,
                subresource=subresource,
                params=_write(manager, dry_run=dry_run),
                body=encode(patch),
                content_type=_PATCHES[kind],
                timeout=timeout,
            )
        )

    async def delete(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
        dry_run: bool = False,
    ) -> None:
        """Delete an object, only if it still has this UID and this resourceVersion (D17).

        Raises:
            NotFound: it is absent already.
            UidMismatch: another object has its name now.
            Conflict: it was changed since `resource_version`.
            ApiError: any other refusal.
        """
        preconditions = {"uid": uid, "resourceVersion": resource_version}
        options: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
            "preconditions": {field: value for field, value in preconditions.items() if value},
        }
        if dry_run:
            # In the body: where there is one, the server ignores the query, and would really delete.
            options["dryRun"] = ["All"]
        await self._call(
            "DELETE",
            resource,
            namespace,
            name,
            body=encode(options),
            content_type="application/json",
        )

    async def _call(
        self,
        method: str,
        resource: Resource,
        namespace: str | None,
        name: str | None,
        *,
        subresource: str | None = None,
        params: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str | None = None,
        timeout: float | None = None,
    ) -> Answer:
        answer = await self.request(
            method,
            resource.path(namespace, name, subresource),
            params=params,
            body=body,
            content_type=content_type,
            timeout=timeout,
        )
        if answer.status >= 300:
            raise error_of(answer.status, answer.headers, answer.body, resource=resource, name=name or "")
        return answer


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list; `resource_version` is that of the whole list."""

    items: list[Manifest]
    resource_version: str


def _write(manager: str, *, dry_run: bool) -> dict[str, str]:
    params = {"fieldManager": manager}
    if dry_run:
        params["dryRun"] = "All"
    return params


class _TooDeep(ServerFault):
    """An answer that is JSON, and nested more deeply than it can be read."""


def _tree(answer: Answer, read: Callable[[bytes], Any] = decode) -> Manifest:
    try:
        tree = read(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ServerFault(
            f"HTTP {answer.status} with an answer that is no JSON", status=answer.status
        ) from error
    except RecursionError as error:
        raise _TooDeep(
            f"HTTP {answer.status} with an answer that is nested too deeply", status=answer.status
        ) from error
    if not isinstance(tree, dict):
        raise ServerFault(f"HTTP {answer.status} with an answer that is no object", status=answer.status)
    return tree


def _list(answer: Answer, resource: Resource) -> Manifest:
    try:
        return _tree(answer)
    except _TooDeep:
        tree = _tree(answer, decode_cut)
        if not isinstance(tree.get("items"), list):
            raise
    whole = [item for item in tree["items"] if not is_cut(item)]
    left_out = len(tree["items"]) - len(whole)
    _log.error("objects-nested-too-deeply", resource=resource.plural, left_out=left_out)
    return tree | {"items": whole}
