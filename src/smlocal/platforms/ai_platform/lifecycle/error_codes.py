"""The code of a job's error, one of `google.rpc.Code`."""

from smlocal.platforms.ai_platform.lifecycle.error_classes import ErrorClass

CANCELLED = 1
_INVALID_ARGUMENT, _RESOURCE_EXHAUSTED, _INTERNAL = 3, 8, 13

ERROR_CODES: dict[ErrorClass, int] = {
    ErrorClass.USER_EXCEPTION: _INVALID_ARGUMENT,
    ErrorClass.TRANSIENT: _INVALID_ARGUMENT,
    ErrorClass.REPLICA_FAILURE: _INVALID_ARGUMENT,
    ErrorClass.OUT_OF_MEMORY: _INVALID_ARGUMENT,
    ErrorClass.STOCK_OUT: _RESOURCE_EXHAUSTED,
    ErrorClass.INTERNAL: _INTERNAL,
}
"""Seen for user exceptions; the others are inferred."""
