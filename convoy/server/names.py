"""The names of the aggregated API, and which verbs each subresource has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from convoy.api import names

GROUP: Final = f"subresources.{names.GROUP}"
VERSION: Final = names.VERSION
API_VERSION: Final = "subresources.convoy.kumodo.io/v1alpha1"
"""Written out: the types of the answers need a literal."""

VERBS: Final = {"GET": "get", "POST": "create", "PUT": "update", "DELETE": "delete"}
"""From HTTP methods to the verbs of RBAC."""

SUBRESOURCES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "approve": ("ReleaseApproval", ("POST",)),
    "check": ("ReleaseCheck", ("POST",)),
    "diff": ("ReleaseDiff", ("GET",)),
    "history": ("ReleaseHistory", ("GET",)),
    "lifecycle": ("ReleaseLifecycle", ("GET", "PUT")),
    "mutations": ("ReleaseMutations", ("GET", "PUT")),
    "pin": ("ReleasePin", ("GET", "PUT", "DELETE")),
    "preview": ("ReleasePreview", ("GET",)),
    "sync": ("ReleaseSync", ("POST",)),
}
"""Kind of the answer and HTTP methods."""
