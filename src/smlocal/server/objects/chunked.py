"""The content coding `aws-chunked`: chunks with their lengths, then trailers."""

import re

from smlocal.server.objects.s3_error import S3Error

_MOST_LINE = 4 << 10
_MOST_TRAILERS = 32
_LENGTH = re.compile(rb"[0-9A-Fa-f]{1,16}")


class Chunked:
    """Takes the coding apart piece by piece. Signatures of chunks are not looked at."""

    def __init__(self) -> None:
        """At the first byte."""
        self.trailers: dict[str, str] = {}
        self._held = b""
        self._at = 0
        self._left = 0
        self._state = "length"

    def decode(self, data: bytes) -> bytes:
        """The bytes of the content in the next piece."""
        self._held = self._held[self._at :] + data
        self._at = 0
        found = []
        while True:
            if self._state == "data":
                piece = self._held[self._at : self._at + self._left]
                self._at += len(piece)
                self._left -= len(piece)
                found.append(piece)
                if self._left:
                    break
                self._state = "end of data"
            line = self._line()
            if line is None:
                break
            self._take(line)
        return b"".join(found)

    def check_complete(self) -> None:
        """`S3Error` if something is missing, or too much."""
        if self._state not in {"trailers", "end"} or self._at < len(self._held):
            raise S3Error("IncompleteBody", "The request body terminated unexpectedly")

    def _line(self) -> bytes | None:
        end = self._held.find(b"\r\n", self._at)
        if (len(self._held) if end < 0 else end) - self._at > _MOST_LINE:
            raise _malformed()
        if end < 0:
            return None
        line = self._held[self._at : end]
        self._at = end + len(b"\r\n")
        return line

    def _take(self, line: bytes) -> None:
        if self._state == "length":
            digits = line.partition(b";")[0]
            if _LENGTH.fullmatch(digits) is None:
                raise _malformed()
            self._left = int(digits, 16)
            self._state = "data" if self._left else "trailers"
        elif self._state == "end of data":
            if line:
                raise _malformed()
            self._state = "length"
        elif self._state == "trailers" and line:
            name, _, value = line.decode("latin-1").partition(":")
            self.trailers[name.strip().lower()] = value.strip()
            if len(self.trailers) > _MOST_TRAILERS:
                raise _malformed()
        else:
            self._state = "end"


def _malformed() -> S3Error:
    return S3Error("InvalidChunkSizeError", "The body is not what the content coding aws-chunked asks for.")
