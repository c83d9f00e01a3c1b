"""The decisions of this platform about a running job. Most of them are its lifecycle's, and the supervisor's."""

from functools import partial
from typing import ClassVar, Final

from smlocal.ai_platform.run.stored_lifecycle import reason_of
from smlocal.jobs.kinds import Reasons, Running
from smlocal.terms.statuses import FailureKind


class ReplicaRunning(Running):
    """No rules, no hints (`check` knows images of the other platform only), and no command for several containers."""

    REASONS: ClassVar[Reasons] = dict.fromkeys(FailureKind, partial(reason_of, None))


RUNNING: Final = ReplicaRunning()
