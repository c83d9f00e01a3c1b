"""Which public records agree with smlocal, and where each of the others differs.

`facts/` has what public threads, notebooks and logs tell of jobs of the service: what it answered, what a container
saw. Accounts, buckets and names are replaced.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

FACTS: Final = Path(__file__).with_name("facts")

OLDER: Final = {
    "fail-2019-08-08-exit-132": ["Starting: Launching requested ML instances"],
    "fail-2020-01-31-exception": ["Starting: Launching requested ML instances"],
    "fail-2020-12-10-smddp-missing": ["FailureReason", "Starting: Launching requested ML instances"],
    "fail-2020-12-20-network-isolation": [
        "Starting: Launching requested ML instances",
        "Training: Training image download completed. Training in progress",
    ],
    "fail-internal-two-spaces": ["FailureReason"],
}
"""The service has changed these words since: no such phase since 2022, a code at the end of a reason, one space."""

NOT_HERE: Final = {
    "describe-2021-02-25-spot-fsx": ["BillableTimeInSeconds"],
    "describe-2021-06-14-completed": [".ProfilerRuleEvaluationStatuses"],
    "spot-2021-06-01": ["BillableSeconds"],
}
"""Parts that smlocal does not have: prices of spot instances, rules of the profiler."""

NOT_A_TRAINING_JOB: Final = {
    "error-2020-05-08-tuning-metric",
    "fail-2021-05-11-tuning",
    "fail-2026-01-12-processing-oom",
    "fail-2026-05-13-processing",
    "fail-2018-01-01-role",  # no role is assumed to run a job here
}


@cache
def all_records() -> dict[str, dict[str, Any]]:
    """By id."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(FACTS.glob("*.json"))}


def compared() -> list[str]:
    """The ids of those that are replayed."""
    return sorted(all_records().keys() - NOT_A_TRAINING_JOB)


def expected(record: str) -> list[str]:
    """Where it differs."""
    return OLDER.get(record, NOT_HERE.get(record, []))
