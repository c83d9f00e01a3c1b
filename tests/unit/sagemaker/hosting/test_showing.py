"""How an endpoint is spoken of."""

from typing import Any

import pytest

from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.sagemaker.hosting.showing import SHOWING
from smlocal.sagemaker.serving.state import HOSTING, WEIGHTS, State, invocation_seconds, read_state
from smlocal.terms.statuses import JobPhase, JobStatus

REQUEST: dict[str, Any] = {
    "EndpointName": "here",
    "PrimaryContainer": {"Image": "held", "ModelDataUrl": "s3://bucket/m.tar.gz"},
    "ProductionVariants": [{"VariantName": "Blue", "InitialInstanceCount": 2, "InitialVariantWeight": 0.5}],
}


def record(status: JobStatus = JobStatus.IN_PROGRESS, phase: JobPhase = JobPhase.TRAINING, **more: Any) -> JobRecord:
    known: dict[str, Any] = {
        "name": "here",
        "created": 1.0,
        "modified": 2.0,
        "started": 1.5,
        "ended": None,
        "failure_reason": None,
        "supervisor_pid": 7,
        "run_id": "0",
        "arn": "arn:aws:sagemaker:us-east-1:0:endpoint/here",
        "model_uri": "",
        "instances": 1,
        "platform": "sagemaker_hosting",
    }
    return JobRecord(status=status, phase=phase, **known | more)


def stored(of: JobRecord, state: State | None = None) -> StoredJob:
    documents = {"request": REQUEST, **({} if state is None else {HOSTING: state.document()})}
    return StoredJob(record=of, transitions=(), documents=documents)


@pytest.mark.parametrize(
    ("status", "phase", "word"),
    [
        (JobStatus.IN_PROGRESS, JobPhase.STARTING, "Creating"),
        (JobStatus.IN_PROGRESS, JobPhase.DOWNLOADING, "Creating"),
        (JobStatus.IN_PROGRESS, JobPhase.TRAINING, "InService"),
        (JobStatus.STOPPING, JobPhase.STOPPING, "Deleting"),
        (JobStatus.STOPPED, JobPhase.STOPPED, "Stopped"),
        (JobStatus.FAILED, JobPhase.FAILED, "Failed"),
    ],
)
def test_the_status_is_in_the_words_of_the_service(status: JobStatus, phase: JobPhase, word: str) -> None:
    assert SHOWING.words(record(status, phase)) == (word, "")
    assert SHOWING.describe(stored(record(status, phase)))["EndpointStatus"] == word


def test_the_answer_is_that_of_describe_endpoint(service: dict[str, Any]) -> None:
    answer = SHOWING.describe(stored(record(failure_reason="why")))
    known = service["shapes"][service["operations"]["DescribeEndpoint"]["output"]["shape"]]
    assert answer.keys() <= known["members"].keys()
    assert set(known["required"]) <= answer.keys()
    (variant,) = answer["ProductionVariants"]
    members = service["shapes"]["ProductionVariantSummary"]["members"]
    assert variant.keys() <= members.keys()
    assert (variant["VariantName"], variant["CurrentWeight"], variant["CurrentInstanceCount"]) == ("Blue", 0.5, 2)


def test_the_recorded_capture_is_shown_and_stopped(service: dict[str, Any]) -> None:
    given = {
        "EnableCapture": True,
        "InitialSamplingPercentage": 20,
        "DestinationS3Uri": "s3://b/c",
        "CaptureOptions": [],
    }
    request = {**REQUEST, "DataCaptureConfig": given}
    answer = SHOWING.describe(StoredJob(record=record(), transitions=(), documents={"request": request}))
    summary = answer["DataCaptureConfig"]
    assert summary.keys() == service["shapes"]["DataCaptureConfigSummary"]["members"].keys()
    assert (summary["EnableCapture"], summary["CaptureStatus"]) == (True, "Stopped")
    assert (summary["CurrentSamplingPercentage"], summary["DestinationS3Uri"]) == (20, "s3://b/c")


def test_the_entry_of_the_list_is_that_of_list_endpoints(service: dict[str, Any]) -> None:
    of_list, entry = SHOWING.listed(record(), lambda: stored(record()))
    assert of_list == "Endpoints"
    members = service["shapes"]["EndpointSummary"]["members"]
    assert entry.keys() - {"FailureReason"} == members.keys()


def test_only_a_running_endpoint_tells_where_it_is_and_what_happened() -> None:
    state = State(port=4321)
    state.restarted("Blue", 3)
    told = SHOWING.still_to_come(stored(record(), state))
    assert told["Address"] == "http://127.0.0.1:4321/endpoints/here/invocations"
    assert (told["RestartCount"], told["Restarts"][0]["ExitCode"]) == (1, 3)
    assert SHOWING.still_to_come(stored(record(JobStatus.STOPPED, JobPhase.STOPPED), state)) == {}


def test_the_state_is_read_as_it_was_stored() -> None:
    state = State(port=1, in_service=2.0, access="all", former_port=3, troubles={"Blue": "why"}, logged={"Blue": 5})
    for code in range(30):
        state.restarted("Blue", code)
    again = read_state(state.document())
    assert again == state
    assert (again.restarts, len(again.latest), again.latest[-1]["ExitCode"]) == (30, 20, 29)
    assert read_state(None) == State()


LISTED: dict[str, Any] = {
    "EndpointName": "here",
    "Models": [
        {"ModelName": "one", "PrimaryContainer": {"Image": "held"}},
        {"ModelName": "row", "Containers": [{"Image": "a"}, {"Image": "b"}]},
    ],
    "ProductionVariants": [
        {"VariantName": "Blue", "ModelName": "one", "InitialInstanceCount": 3},
        {"VariantName": "Green", "ModelName": "row", "InitialInstanceCount": 1, "InitialVariantWeight": 2.0},
    ],
}


def test_the_hosts_are_the_instances_and_their_containers() -> None:
    assert SHOWING.host_names(record(), dict) == ["AllTraffic"]
    assert SHOWING.host_names(record(instances=2), lambda: REQUEST) == ["Blue", "Blue.2"]
    assert SHOWING.host_names(record(instances=1), lambda: REQUEST) == ["Blue"]
    green = ["Green.container-1", "Green.container-2"]
    assert SHOWING.host_names(record(instances=4), lambda: LISTED) == ["Blue", "Blue.2", *green]
    assert SHOWING.host_names(record(instances=5), lambda: LISTED) == ["Blue", "Blue.2", "Blue.3", *green]


def test_every_variant_is_described_with_its_images_and_weight() -> None:
    documents = {"request": LISTED, WEIGHTS: {"Blue": 7.0}}
    answer = SHOWING.describe(StoredJob(record=record(), transitions=(), documents=documents))
    blue, green = answer["ProductionVariants"]
    assert (blue["CurrentWeight"], green["CurrentWeight"]) == (7.0, 2.0)
    assert [each["SpecifiedImage"] for each in green["DeployedImages"]] == ["a", "b"]


def test_an_answer_may_take_as_long_as_the_plan_allows() -> None:
    assert invocation_seconds({"Serving": {"InvocationSeconds": 300.0}}) == 300
    assert invocation_seconds(None) == invocation_seconds({"Serving": None}) == 60
