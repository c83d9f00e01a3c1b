"""The words of the service about a step that failed."""

from dataclasses import replace

from smlocal.sagemaker.pipelines.definition import RetryPolicy, Step
from smlocal.sagemaker.pipelines.retries import (
    INTERNAL_ERROR,
    RESOURCE_LIMIT,
    failed_reason,
    next_attempt,
    refused_reason,
)
from smlocal.sagemaker.pipelines.step_types import STEP_TYPES

ARN = "arn:aws:sagemaker:us-east-1:123456789012:pipeline/MyPipeline/execution/abc"
STEP = Step(name="Train", type=STEP_TYPES["Training"], path=(), given={}, arguments={})


def test_a_refused_request_is_told_as_the_service_does() -> None:
    assert refused_reason(STEP, "no instances", exception=RESOURCE_LIMIT, execution_arn=ARN) == (
        "ClientError: Failed to invoke sagemaker:CreateTrainingJob. Error Details: no instances\n"
        "Retry not appropriate on execution of step with PipelineExecutionArn "
        "arn:aws:sagemaker:us-east-1:123456789012:pipeline/mypipeline/execution/abc and StepId Train. "
        "No retry policy configured for the exception type SAGEMAKER_RESOURCE_LIMIT."
    )
    assert len(refused_reason(STEP, "x" * 5000, exception=RESOURCE_LIMIT, execution_arn=ARN)) == 1024


def test_a_failed_job_is_told_with_its_reason() -> None:
    assert failed_reason("AlgorithmError: exit code 1") == "ClientError: AlgorithmError: exit code 1"


def test_a_search_retries_inner_errors_itself() -> None:
    policy = RetryPolicy(exceptions=(INTERNAL_ERROR, RESOURCE_LIMIT), most=3)
    step = replace(STEP, type=STEP_TYPES["Tuning"], retries=(policy,))
    assert next_attempt(step, INTERNAL_ERROR, attempts=1, began=0, now=5) is None
    assert next_attempt(step, RESOURCE_LIMIT, attempts=1, began=0, now=5) == 6
    assert next_attempt(replace(STEP, retries=(policy,)), INTERNAL_ERROR, attempts=1, began=0, now=5) == 6


def test_a_fault_of_the_service_is_retried_without_a_policy() -> None:
    assert next_attempt(STEP, "Step.THROTTLING", attempts=1, began=0, now=5) == 6
    assert next_attempt(STEP, "Step.THROTTLING", attempts=3, began=0, now=5) == 9
    assert next_attempt(STEP, "Step.THROTTLING", attempts=21, began=0, now=5) is None
    assert next_attempt(STEP, RESOURCE_LIMIT, attempts=1, began=0, now=5) is None
