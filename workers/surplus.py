"""Input that nobody asked for: `temporal workflow signal … --input a --input b`.

The SDK drops a signal whose input it cannot read, but hands surplus input to the handler, whose TypeError then fails
the workflow task again and again: one typing error would stop a Release for good. Updates need no such care, since
their validators refuse it.
"""

from __future__ import annotations

from temporalio import workflow
from temporalio.worker import (
    HandleSignalInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)


class DropSurplusInput(Interceptor):
    """Worker interceptor: a signal has one argument at most."""

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[WorkflowInboundInterceptor]:
        """Return what stands in front of the handlers of each workflow."""
        del input
        return _Inbound


class _Inbound(WorkflowInboundInterceptor):
    async def handle_signal(self, input: HandleSignalInput) -> None:
        if len(input.args) > 1:
            workflow.logger.warning("signal %s with too much input, dropping the signal", input.signal)
            return
        await super().handle_signal(input)
