"""The describe answer of a run, kept in a file of the user's choice however the job ends."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from smlocal.errors import JobUnknownError, SmlocalError
from smlocal.job.finish.describe import describe_job
from smlocal.plan.model import JobPlan
from smlocal.report.writing import write_report
from smlocal.store.jobs import Store


def write_result(path: str, store: Store, plan: JobPlan) -> SmlocalError | None:
    """Write what is known of the job, if this run made one; what stands in the way is told after the summary."""
    try:
        answer = _answer(store, plan)
        if answer is not None:
            write_report(path, f"{json.dumps(answer, indent=2)}\n")
    except SmlocalError as error:
        return error
    return None


def _answer(store: Store, plan: JobPlan) -> Mapping[str, Any] | None:
    """None where there is no job of this run: its name may be another job's, too."""
    with suppress(JobUnknownError):
        if store.get(plan.name).run_id == plan.run_id:
            return describe_job(store, plan.name)
    return None
