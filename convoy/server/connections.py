"""Which connections are in use, so that all of them can be ended without cutting off an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp.web import BaseRequest, RequestHandler, Response, Server

Answer = Callable[[BaseRequest], Awaitable[Response]]


class Connections:
    """The connections of one server."""

    def __init__(self, answer: Answer) -> None:
        """Serve with `answer`."""
        self._answer = answer
        self._busy: set[RequestHandler] = set()
        self._last: set[RequestHandler] = set()
        self.server = Server(self._handle, handler_cancellation=True, access_log=None)
        """For the runner."""

    def hang_up(self) -> None:
        """Close idle connections now, and the others after the answer they are waiting for."""
        for connection in list(self.server.connections):
            if connection in self._busy:
                self._last.add(connection)
            else:
                connection.force_close()

    async def _handle(self, request: BaseRequest) -> Response:
        connection = request.protocol
        self._busy.add(connection)
        try:
            response = await self._answer(request)
            if connection in self._last:
                response.force_close()
            return response
        finally:
            self._busy.discard(connection)
            self._last.discard(connection)
