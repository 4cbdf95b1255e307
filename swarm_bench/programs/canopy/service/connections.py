"""Connections of the service that do not wait forever: uvicorn has a time limit for the pause
between two requests, and none for a request that has begun."""

import asyncio

from h11 import IDLE, SEND_BODY
from uvicorn.protocols.http.h11_impl import H11Protocol

ARRIVAL_SECONDS = 20.0
"""From the beginning of a request, or of a connection without one, to its last byte."""


class TimedProtocol(H11Protocol):
    """A connection that closes when its request is not complete in time, however its bytes drip."""

    seconds = ARRIVAL_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state in {IDLE, SEND_BODY}:
            self._wait()
        else:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # The answer came before the whole request, or the next one has begun.
        if self.conn.their_state is SEND_BODY or self.conn.trailing_data[0]:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
