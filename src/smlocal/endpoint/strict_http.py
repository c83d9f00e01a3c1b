"""What h11 reads in one way and another program between may read in another: such a request is refused as no HTTP."""

import re
from typing import Any

import h11

_TWO_WAYS = re.compile(rb"\n(?:(?<!\r\n)|[ \t]|(?i:content-length):[^\r\n]*,)")
"""In a head: a line without CR at its end, a folded line, and `Content-Length: 3, 3`."""


class StrictConnection(h11.Connection):
    """Looks at the bytes from which h11 has made a request: in what it passes on, they are tidied up."""

    _chunked = False

    def next_event(self) -> Any:
        """As that of h11."""
        begins = self.their_state is h11.IDLE
        if not (begins or (self._chunked and self.their_state is h11.SEND_BODY)):
            return super().next_event()
        before = self.trailing_data[0]
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._chunked = any(name == b"transfer-encoding" for name, _ in event.headers)
            if _TWO_WAYS.search(self._taken(before)):
                raise h11.RemoteProtocolError("the head could be read in two ways")
        elif isinstance(event, h11.EndOfMessage) and not begins:
            taken = self._taken(before)  # the last chunk may have been taken before
            if taken != b"\r\n" and not taken.endswith(b"\r\n\r\n"):
                raise h11.RemoteProtocolError("the end of the body could be read in two ways")
        return event

    def _taken(self, before: bytes) -> bytes:
        return before[: len(before) - len(self.trailing_data[0])]
