"""Whether a failed attempt is followed by another, when, and what the service says if it is not."""

from typing import Final

from smlocal.sagemaker.pipelines.definition import RetryPolicy, Step

RESOURCE_LIMIT: Final = "SageMaker.RESOURCE_LIMIT"
INTERNAL_ERROR: Final = "SageMaker.JOB_INTERNAL_ERROR"
_OWN_RETRIES: Final = frozenset({"Tuning", "AutoML"})
"""Types whose jobs retry what has failed inside themselves: no policy does it again."""
_ALWAYS: Final = ("Step.SERVICE_FAULT", "Step.THROTTLING")
_MOST_MINUTES: Final = 14_400
_DEFAULT: Final = RetryPolicy(exceptions=_ALWAYS, most=20)
"""What is retried without a policy. How often the service does is not documented; no policy may say more."""
_LONGEST_REASON: Final = 1_024


def policy_for(step: Step, exception: str) -> RetryPolicy | None:
    """The first policy of a step that an exception belongs to."""
    if step.type.name in _OWN_RETRIES and exception == INTERNAL_ERROR:
        return None
    own = next((policy for policy in step.retries if exception in policy.exceptions), None)
    return _DEFAULT if own is None and exception in _ALWAYS else own


def next_attempt(step: Step, exception: str, *, attempts: int, began: float, now: float) -> float | None:
    """When the next attempt begins, after so many; None if there is none. `began`: when the first did."""
    policy = policy_for(step, exception)
    if policy is None or (policy.most is not None and attempts > policy.most):
        return None
    longest = 60 * (policy.minutes or _MOST_MINUTES)
    try:
        wait = policy.interval * policy.backoff ** (attempts - 1)
    except OverflowError:
        return None
    return now + wait if now + wait - began <= longest else None


def refused_reason(step: Step, message: str, *, exception: str, execution_arn: str) -> str:
    """The reason of a step whose Create operation was refused."""
    text = f"ClientError: Failed to invoke sagemaker:{step.type.operation}. Error Details: {message}"
    if exception:
        arn = execution_arn.replace(pipeline_of(execution_arn), pipeline_of(execution_arn).lower())
        text += (
            f"\nRetry not appropriate on execution of step with PipelineExecutionArn {arn} and StepId {step.name}. "
            f"No retry policy configured for the exception type {exception.upper().replace('.', '_')}."
        )
    return text[:_LONGEST_REASON]


def failed_reason(reason: str) -> str:
    """The reason of a step whose job failed, of the job's own."""
    return f"ClientError: {reason}"[:_LONGEST_REASON]


def pipeline_of(execution_arn: str) -> str:
    """The name of the pipeline in the ARN of an execution."""
    return execution_arn.rpartition(":pipeline/")[2].partition("/")[0]
