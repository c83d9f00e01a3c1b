"""What the service states about tuning jobs: names, limits and sentences. Pure."""

from collections.abc import Sequence
from typing import Final

NAME: Final = "sagemaker_tuning"
"""The name of this kind of jobs in the store."""
IN_ARN: Final = "hyper-parameter-tuning-job"
TUNING: Final = "tuning"
"""The kind of the document about the whole search."""
MOST_RANGES: Final = 30
"""Hyperparameters of one search, as the developer guide states."""
MOST_JOBS: Final = 10_000
"""Training jobs of one tuning job. The service's quota is lower."""
MOST_HYPERPARAMETERS: Final = 100
"""Of one training job: static ones, tuned ones, and that with the objective metric."""
QUOTA_JOBS: Final = 750
"""Training jobs of one tuning job, as the developer guide states. Only that of Random can be raised, to MOST_JOBS."""
QUOTA_PARALLEL: Final = 10
"""Training jobs at once, as the developer guide states."""
RAISED_PARALLEL: Final = 100
"""The most that this quota can be raised to."""
MOST_RESOURCE: Final = 20_000
"""The largest MaxResource of Hyperband."""
MOST_PARENTS_JOBS: Final = 500
"""Training jobs of a warm start, with those of its parents."""
ATTEMPTS: Final = 5
"""The search fails after so many training jobs without a result: the number is in the service's sentence."""
EPOCH_NAMES: Final = ("epochs", "numepochs", "n-epochs", "n_epochs", "num_epochs")
"""Static hyperparameters that give MaxResource if the request does not."""
NOT_ENOUGH: Final = 0.01
"""A result that is better by this part or less does not count as an improvement."""
NO_METRIC_DEFINED: Final = (
    "A metric is required for this hyperparameter tuning job objective. Provide a metric in the metric definitions."
)
OTHER_NAMES: Final = (
    "The set of tunable plus static HyperParameter names is not the same across current and parent tuning jobs. Please "
    "ensure this set is constant when warm starting. Note that previously static HyperParameters can be tuned in warm "
    "start jobs and vice versa."
)


def too_few_combinations(combinations: int, wanted: int) -> str:
    """The sentence that refuses a search over fewer points than training jobs (seen)."""
    return (
        "You don't have enough combinations of hyperparameter ranges. The total number of hyperparameter combinations "
        f"for the provided ranges [{float(combinations)}] must be equal or greater than the value of MaxNumberOfJobs, "
        f"[{wanted}]. Provide additional ranges."
    )


def none_succeeded(attempts: int) -> str:
    """The reason after the first training jobs have all failed (seen)."""
    return (
        f"No training job succeeded after {attempts} attempts. "
        "Please take a look at the training job failures to get more details."
    )


ALL_FAILED: Final = "All training jobs failed. Please take a look at the training jobs failures to get more details."
"""The reason if the search ends and none has succeeded (seen)."""


def no_objective(jobs: int) -> str:
    """The reason if no training job has written the objective metric. The wording is ours."""
    return (
        f"No objective metrics found after running {jobs} training jobs. Please ensure that the custom algorithm is "
        "emitting the objective metric as defined by the regular expression provided."
    )


def child_name(tuning: str, number: int, suffix: str) -> str:
    """`NAME-001-xxxxxxxx`."""
    return f"{tuning}-{number:03}-{suffix}"


def resource_key(statics: Sequence[str]) -> str | None:
    """The static hyperparameter that gives the number of epochs."""
    return next((name for name in EPOCH_NAMES if name in statics), None)
