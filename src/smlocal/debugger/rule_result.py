"""What a rule's container says of its evaluation. It may be a user's program, so nothing of it is trusted."""

import json
import os
import stat
from collections.abc import Mapping
from typing import Any

from smlocal.platforms.sagemaker.contract.outcome.rule_statuses import RuleStatus
from smlocal.quick_dataclass import dataclass

_FILE = "status.json"
_MOST_BYTES = 1 << 16
_SAID = {RuleStatus.IN_PROGRESS, RuleStatus.NO_ISSUES_FOUND, RuleStatus.ISSUES_FOUND, RuleStatus.ERROR}


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleResult:
    """How an evaluation stands."""

    status: RuleStatus
    details: str = ""
    step: int | None = None
    reason: str = ""
    """What a built-in rule of smlocal has found, in a sentence."""


def read_result(folder: str) -> RuleResult | None:
    """The status document in a folder; None if there is none, or it is not one."""
    try:
        descriptor = os.open(f"{folder}/{_FILE}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        document = json.loads(os.read(descriptor, _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    finally:
        os.close(descriptor)
    return _result(document) if isinstance(document, Mapping) else None


def _result(document: Mapping[str, Any]) -> RuleResult | None:
    status, step = document.get("Status"), document.get("Step")
    if not isinstance(status, str) or status not in _SAID:
        return None
    return RuleResult(
        status=RuleStatus(status),
        details=str(document.get("StatusDetails") or ""),
        step=step if isinstance(step, int) and not isinstance(step, bool) else None,
        reason=str(document.get("Reason") or ""),
    )
