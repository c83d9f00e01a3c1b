"""Records a job of any kind that waits for its start: the scheduler begins it, in a process of its own."""

import os
import time
from collections.abc import Mapping
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.documents import JOB, QUEUE, REQUEST
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.submission.scheduler import InstanceLimit


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingJob:
    """What a kind says of a valid job before anything has looked at this machine."""

    platform: str
    arn: str
    request: Mapping[str, Any]
    """As its description shows it."""
    job: Mapping[str, Any]
    """The document from which it is prepared when it begins."""
    instances: int = 0
    """Those that count as in use from now on until its end."""
    needs: tuple[tuple[str, int], ...] = ()
    """The types and numbers of instances that it takes at once. If it leads others, what each of them takes."""
    leads: bool = False
    """True if it starts jobs of its own, which wait until they fit."""
    model_uri: str = ""


def record_waiting(
    waiting: WaitingJob,
    *,
    name: str,
    store: Store,
    limit: InstanceLimit | None = None,
    documents: Mapping[str, Any] | None = None,
) -> JobRecord:
    """Record it as `InProgress`/`Pending`, durably.

    Neither the engine nor S3 is asked: a wrong image or wrong data makes the job fail when it begins. `NameInUseError`
    if there is a job of this name, `InstanceLimitError` if it is above the limit. `documents`: more to store.
    """

    def check(used: int) -> None:
        if limit is not None:
            for kind, count in waiting.needs:
                limit.check(instance_type=kind, asked=count, used=0 if waiting.leads else used)

    of_others = {QUEUE: {"Instances": None if limit is None else limit.instances}} if waiting.leads else {}
    store.add_pending(
        name,
        run_id=os.urandom(4).hex(),
        created=time.time(),
        arn=waiting.arn,
        model_uri=waiting.model_uri,
        instances=waiting.instances,
        platform=waiting.platform,
        documents={REQUEST: waiting.request, JOB: waiting.job, **of_others, **(documents or {})},
        check=check,
    )
    return store.get(name)
