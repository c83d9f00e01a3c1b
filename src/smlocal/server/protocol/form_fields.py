"""The fields of a form, as browsers and the query protocol send it."""

from urllib.parse import unquote_to_bytes

_AT_ONCE = 64 << 10
"""Bytes that are decoded together: the standard library makes a hundred bytes of objects of each `%41`."""
_ESCAPE = 3


def form_fields(body: bytes, *, most: int) -> list[tuple[str, str]]:
    """Names with values, in their order, also empty ones. `ValueError` for more fields, and for what is no UTF-8."""
    if body.count(b"&") >= most:
        raise ValueError(f"more than {most} fields")
    body.decode()
    pairs = (field.partition(b"=") for field in body.split(b"&") if field)
    return [(_text(name), _text(value)) for name, _, value in pairs]


def _text(written: bytes) -> str:
    spaced = written.replace(b"+", b" ")
    if b"%" not in spaced:
        return spaced.decode()
    pieces = []
    begin = 0
    while begin < len(spaced):
        end = begin + _AT_ONCE
        cut = spaced.rfind(b"%", end - _ESCAPE + 1, end)  # an escape that would be cut is of the next piece
        end = end if cut < 0 or end >= len(spaced) else cut
        pieces.append(unquote_to_bytes(spaced[begin:end]))
        begin = end
    return b"".join(pieces).decode(errors="replace")
