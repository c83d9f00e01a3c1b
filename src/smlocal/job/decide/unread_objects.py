"""Objects of S3 that a FastFile channel could not read: the container only got EIO. Pure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smlocal.channels.fastfile.unread import Unread

_SHOWN = 3
_ADVICE = {
    "NoSuchKey": "The object was deleted after the job listed it.",
    "PreconditionFailed": "The object was replaced after the job listed it. FastFile never mixes two versions.",
    "AccessDenied": "The credentials of this machine may list the object but not read it: they need s3:GetObject, and "
    "kms:Decrypt if it is encrypted with a key of KMS.",
    "ExpiredToken": "Your credentials expired during the job and could not be renewed.",
    "RequestTimeout": "S3 was unreachable until the read timed out.",
}
_SAME = {"Forbidden": "AccessDenied", "RequestError": "RequestTimeout", "ExpiredTokenException": "ExpiredToken"}


def unread_facts(unread: Sequence[tuple[str, "Unread"]]) -> list[str]:
    """The objects, their channels and S3's errors."""
    facts = [
        f'reading {each.uri} of FastFile channel "{channel}" failed, the container got an I/O error (EIO): {each.why}'
        for channel, each in unread[:_SHOWN]
    ]
    more = len(unread) - _SHOWN
    return [*facts, f"reading {more} more objects also failed"] if more > 0 else facts


def unread_advice(unread: Sequence[tuple[str, "Unread"]]) -> list[str]:
    """Possible causes of these errors."""
    codes = dict.fromkeys(_SAME.get(each.code, each.code) for _, each in unread)
    return [_ADVICE[code] for code in codes if code in _ADVICE]
