"""What the calls of the debugger rules of one job share."""

import time
from collections.abc import Mapping
from dataclasses import field
from threading import Lock

from smlocal.job.history import RULE_ACTION
from smlocal.quick_dataclass import dataclass
from smlocal.server.call import Call
from smlocal.store.jobs import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleServing:
    """The endpoint of the rules of one job. Threads share it."""

    store: Store
    job: str
    rules: Mapping[str, str]
    """The names of the rules, by the access key with which each signs."""
    lock: Lock = field(default_factory=Lock)
    """Held while a stored document is changed."""

    def record(self, call: Call, action: str, data: Mapping[str, object]) -> None:
        """Add what a rule asks for to the history of its job."""
        rule = self.rules.get(call.access_key or "", "")
        event = {"Action": action, "RuleConfigurationName": rule, **data}
        self.store.add_event(self.job, time.time(), RULE_ACTION, event)
