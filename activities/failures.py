"""How an activity's exceptions become failures that a workflow understands.

`ApplicationError(type=<condition reason>)` is the only way an activity reports failure (design 04, rule 7). Its
message is shown to people, so only messages made for them go in: an exception that nobody expected is logged by the
worker and named by its class alone, since its text may hold anything.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from convoy.api.errors import ConvoyError, DeployFailed, Hold
from convoy.kube.errors import ApiError
from convoy.store.renders import RenderMissing
from convoy.sync.interruptions import Fenced, Interrupted
from workflows.contract import RENDER_MISSING

log = structlog.get_logger()


class TranslateFailures(Interceptor):
    """Worker interceptor: every activity's exceptions go through `translate`."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """Wrap the next interceptor."""
        return _Inbound(next)


class _Inbound(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        try:
            return await super().execute_activity(input)
        except ApplicationError:
            raise
        except Exception as error:  # noqa: BLE001 (the last line of defence: everything is logged and reported)
            raise translate(error) from None


def translate(error: Exception) -> ApplicationError:
    """Return the failure that stands for an exception."""
    match error:
        case ConvoyError():
            category = (
                ApplicationErrorCategory.BENIGN
                if isinstance(error, Hold)
                else ApplicationErrorCategory.UNSPECIFIED
            )
            return ApplicationError(error.message, type=error.reason, non_retryable=True, category=category)
        case RenderMissing():
            return ApplicationError(str(error), type=RENDER_MISSING, non_retryable=True)
        case Interrupted():
            return ApplicationError(
                "handed over: this worker stops", type="HandedOver", next_retry_delay=timedelta(seconds=1)
            )
        case Fenced():
            return ApplicationError("another attempt has taken over", type="Fenced", non_retryable=True)
        case ApiError() if error.is_retryable:
            # Steps turn what a target answers into a reason; what is left comes from convoy's own API server.
            return ApplicationError(f"convoy's own API server: {error.message}", type="HomeUnavailable")
        case ApiError():
            return ApplicationError(
                f"convoy's own API server: {error.message}", type=DeployFailed.reason, non_retryable=True
            )
    log.error("unexpected exception in an activity", activity=activity.info().activity_type, exc_info=error)
    return ApplicationError(
        f"internal error ({type(error).__name__}); the log of worker {activity.info().task_queue} has the traceback",
        type=DeployFailed.reason,
        non_retryable=True,
    )
