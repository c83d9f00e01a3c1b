"""The operations of SageMaker that are emulated, with those that need more than a store."""

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from typing import Any, Final

from smlocal.endpoint.aws_calls import Handler
from smlocal.endpoint.call import AwsCall, validation_error
from smlocal.endpoint.page_tokens import token_of
from smlocal.endpoint.protocol.models import seconds_of, service_model
from smlocal.endpoint.sagemaker.creating import read_request
from smlocal.endpoint.sagemaker.endpoints import (
    create_endpoint,
    delete_endpoint,
    describe_endpoint,
    list_endpoints,
    update_endpoint,
    update_endpoint_weights_and_capacities,
)
from smlocal.endpoint.sagemaker.job_operations import JobOperations, refusals_answered, request_document
from smlocal.endpoint.sagemaker.jobs import (
    TRAINING_JOBS,
    add_tags,
    delete_tags,
    list_tags,
    list_training_jobs,
    tags_of,
    update_training_job,
)
from smlocal.endpoint.sagemaker.model_packages import (
    create_model_package,
    create_model_package_group,
    delete_model_package,
    delete_model_package_group,
    describe_model_package,
    describe_model_package_group,
    list_model_package_groups,
    list_model_packages,
    searched_groups,
    searched_packages,
    update_model_package,
)
from smlocal.endpoint.sagemaker.models import (
    create_endpoint_config,
    create_model,
    delete_endpoint_config,
    delete_model,
    describe_endpoint_config,
    describe_model,
    list_endpoint_configs,
    list_models,
)
from smlocal.endpoint.sagemaker.named_jobs import NamedJobs
from smlocal.endpoint.sagemaker.other_jobs import TRANSFORM, TUNING
from smlocal.endpoint.sagemaker.pages import offset_in
from smlocal.endpoint.sagemaker.pipeline_executions import EXECUTIONS
from smlocal.endpoint.sagemaker.pipelines import PIPELINES
from smlocal.endpoint.serving import Serving
from smlocal.errors import JobUnknownError
from smlocal.jobfile.job_reading import AskedJob
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.documents import REQUEST
from smlocal.jobs.finish.describe import describe_job
from smlocal.jobs.store.resources import WARM_POOL, state_of
from smlocal.sagemaker import kinds
from smlocal.sagemaker.training.facts import NAME


def delete_training_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Remove a finished job without an available warm pool. Its artifacts stay."""
    record = TRAINING_JOBS.called(serving, call)
    with suppress(JobUnknownError):  # it is removed at the same time
        pool = state_of(record, serving.store.document(record.name, WARM_POOL))
        if pool is not None and pool.status == "Available":
            raise validation_error("The request was rejected because the training job retains an Available warm pool.")
    return TRAINING.delete(serving, call)


TRAINING: Final = JobOperations(
    jobs=TRAINING_JOBS,
    read=read_request,
    others={
        "DeleteTrainingJob": delete_training_job,
        "ListTrainingJobs": list_training_jobs,
        "UpdateTrainingJob": update_training_job,
    },
)


def _read_processing(serving: Serving, call: AwsCall, _: ExitStack) -> AskedJob:
    document = request_document(serving, call)
    document.data[LOCAL].setdefault("Output", serving.artifacts)
    with refusals_answered():
        return kinds.PROCESSING.reads.read(document, strict=False)


PROCESSING: Final = JobOperations(jobs=NamedJobs(kind=kinds.PROCESSING), read=_read_processing)


# Search, for training jobs, tuning jobs and the model registry.

_USUAL_MOST = 50
_JOBS = {"TrainingJob": NAME, "HyperParameterTuningJob": kinds.TUNING.name}
"""The kinds of jobs that can be searched."""
_REGISTRY = {"ModelPackage": searched_packages, "ModelPackageGroup": searched_groups}
_SHAPES = {"HyperParameterTuningJob": "HyperParameterTuningJobSearchEntity"}
"""Of answers whose shape does not have the name of the resource."""


def search(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """What matches. By default, what was modified last comes first."""
    asked = call.parameters
    resource = asked["Resource"]
    if resource not in _JOBS and resource not in _REGISTRY:
        known = [*_JOBS, *_REGISTRY]
        raise validation_error(f"smlocal searches only {', '.join(known[:-1])} and {known[-1]}, not {resource}.")
    first = offset_in(asked.get("NextToken"))
    members = service_model("sagemaker").shape_for(_SHAPES.get(resource, resource)).members
    found = _jobs(serving, _JOBS[resource]) if resource in _JOBS else _REGISTRY[resource](serving)
    known_of = ({name: value for name, value in each.items() if name in members} for each in found)
    fitting = [each for each in known_of if _fits(each, asked.get("SearchExpression", {}))]
    by = asked.get("SortBy", "LastModifiedTime")
    fitting.sort(key=lambda job: _order(_sorted_by(job, by)), reverse=asked.get("SortOrder") != "Ascending")
    last = first + asked.get("MaxResults", _USUAL_MOST)
    answer: dict[str, Any] = {"Results": [{resource: job} for job in fitting[first:last]]}
    if last < len(fitting):
        answer["NextToken"] = token_of(last)
    return answer


def _jobs(serving: Serving, kind: str) -> Iterator[dict[str, Any]]:
    for record in serving.store.list():
        if record.platform != kind:
            continue
        try:
            answer = describe_job(serving.store, record.name, service=True)
            answer["Tags"] = tags_of(serving.store.document(record.name, REQUEST))
        except JobUnknownError:  # it was removed meanwhile
            continue
        yield answer


def _fits(job: Mapping[str, Any], expression: Mapping[str, Any]) -> bool:
    tests = [
        *(_filter_fits(job, each) for each in expression.get("Filters", ())),
        *(_nested_fits(job, each) for each in expression.get("NestedFilters", ())),
        *(_fits(job, each) for each in expression.get("SubExpressions", ())),
    ]
    return any(tests) if expression.get("Operator") == "Or" and tests else all(tests)


def _nested_fits(job: Mapping[str, Any], nested: Mapping[str, Any]) -> bool:
    """True if one element of the list fits all filters. Their names begin with the name of the list."""
    path = nested["NestedPropertyName"]
    inner = [{**each, "Name": each["Name"].removeprefix(f"{path}.")} for each in nested["Filters"]]
    return any(all(_filter_fits(element, each) for each in inner) for element in _values(job, path))


_HYPERPARAMETERS: Final = "HyperParameters."
_NUMERIC: Final = {"Equals", "NotEquals", "GreaterThan", "GreaterThanOrEqualTo", "LessThan", "LessThanOrEqualTo"}
"""Operators that compare hyperparameters as numbers, although their values are text."""
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")


def _filter_fits(job: Any, one: Mapping[str, Any]) -> bool:
    found = list(_values(job, one["Name"]))
    operator, wanted = one.get("Operator", "Equals"), one.get("Value")
    if operator in {"Exists", "NotExists"}:
        return bool(found) is (operator == "Exists")
    if wanted is None:
        raise validation_error(f"The filter on {one['Name']} has no Value.")
    if operator == "In":
        return any(_equal(each, value) for each in found for value in wanted.split(","))
    if one["Name"].startswith(_HYPERPARAMETERS) and operator in _NUMERIC and _decimal(wanted) is not None:
        found = [_as_number(each, whole=_WHOLE.fullmatch(wanted) is not None) for each in found]
    if operator == "NotEquals":
        return not any(_equal(each, wanted) for each in found)
    return any(_compared(each, operator, wanted) for each in found)


def _compared(value: Any, operator: str, wanted: str) -> bool:
    if operator == "Equals":
        return _equal(value, wanted)
    if operator == "Contains":
        return wanted.lower() in str(value).lower()
    number = _number(wanted)
    if number is None or isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return {
        "GreaterThan": value > number,
        "GreaterThanOrEqualTo": value >= number,
        "LessThan": value < number,
        "LessThanOrEqualTo": value <= number,
    }[operator]


def _equal(value: Any, wanted: str) -> bool:
    if isinstance(value, bool):
        return wanted.lower() == str(value).lower()
    if isinstance(value, int | float):
        return value == _number(wanted)
    return str(value) == wanted


def _number(text: str) -> float | None:
    """A number, or a time as seconds since the epoch."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return seconds_of(text)
    except ValueError:
        return None


def _decimal(text: str) -> float | None:
    """The text as a finite number; None if it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _as_number(text: str, *, whole: bool = False) -> Any:
    """A hyperparameter as a number, or its text if it is none. `whole`: its decimals are cut off."""
    number = _decimal(text)
    if number is None:
        return text
    return math.trunc(number) if whole else number


def _sorted_by(job: Any, path: str) -> Any:
    value = next(_values(job, path), None)
    return _as_number(value) if path.startswith(_HYPERPARAMETERS) and value is not None else value


def _values(value: Any, path: str) -> Iterator[Any]:
    """The values of a property. Lists are entered; `Tags.KEY`, `HyperParameters.KEY` and `Metrics.NAME` are values."""
    if not path:
        yield from value if isinstance(value, list) else [value]
        return
    if isinstance(value, list):
        for each in value:
            yield from _values(each, path)
        return
    if not isinstance(value, Mapping):
        return
    head, _, rest = path.partition(".")
    if head == "Tags" and rest:
        yield from (tag["Value"] for tag in value.get("Tags", ()) if tag["Key"] == rest)
    elif head == "Metrics" and rest:
        metrics = value.get("FinalMetricDataList", ())
        yield from (metric["Value"] for metric in metrics if metric["MetricName"] == rest)
    elif head in {"HyperParameters", "Environment"} and rest:
        yield from (each for key, each in value.get(head, {}).items() if key == rest)
    elif head in value:
        yield from _values(value[head], rest)


def _order(value: Any) -> tuple[int, float, str]:
    """Numbers before texts, and missing values before both."""
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, int | float):
        return (1, float(value), "")
    return (2, 0.0, str(value))


HANDLERS: Mapping[str, Handler] = {
    "AddTags": add_tags,
    "CreateEndpoint": create_endpoint,
    "CreateEndpointConfig": create_endpoint_config,
    "CreateModel": create_model,
    "CreateModelPackage": create_model_package,
    "CreateModelPackageGroup": create_model_package_group,
    "DeleteEndpoint": delete_endpoint,
    "DeleteEndpointConfig": delete_endpoint_config,
    "DeleteModel": delete_model,
    "DeleteModelPackage": delete_model_package,
    "DeleteModelPackageGroup": delete_model_package_group,
    "DeleteTags": delete_tags,
    "DescribeEndpoint": describe_endpoint,
    "DescribeEndpointConfig": describe_endpoint_config,
    "DescribeModel": describe_model,
    "DescribeModelPackage": describe_model_package,
    "DescribeModelPackageGroup": describe_model_package_group,
    "ListEndpointConfigs": list_endpoint_configs,
    "ListEndpoints": list_endpoints,
    "ListModelPackageGroups": list_model_package_groups,
    "ListModelPackages": list_model_packages,
    "ListModels": list_models,
    "ListTags": list_tags,
    "Search": search,
    "UpdateEndpoint": update_endpoint,
    "UpdateEndpointWeightsAndCapacities": update_endpoint_weights_and_capacities,
    **PIPELINES,
    **EXECUTIONS,
    "UpdateModelPackage": update_model_package,
    **TRAINING.handlers,
    **PROCESSING.handlers,
    **TRANSFORM.handlers,
    **TUNING.handlers,
}
