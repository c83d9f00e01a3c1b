"""Why a job ended, in the service's words."""

from smlocal.platforms.ai_platform.lifecycle import messages
from smlocal.platforms.ai_platform.lifecycle.error_classes import ErrorClass
from smlocal.platforms.ai_platform.lifecycle.progress import Verdict

_WITHOUT_TRACEBACK = {ErrorClass.OUT_OF_MEMORY, ErrorClass.STOCK_OUT, ErrorClass.INTERNAL, None}


def reason_of(verdict: Verdict | None, log: str) -> str:
    """The message of a verdict; `log` is the end of the replica's log. None: smlocal could not run the job."""
    if verdict is None:
        return f"{messages.INTERNAL}{f': {log}' if log else ''}"
    return verdict.message if verdict.error in _WITHOUT_TRACEBACK else messages.with_traceback(verdict.message, log)
