"""Executions of pipelines, as clients start, list, retry and answer them, without a leader."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.unit.endpoint.conftest import Ask
from tests.unit.endpoint.sagemaker.conftest import ARN, FAIL, LAMBDA, ROLE, Pipelines, definition, refusal, token
from tests.unit.endpoint.sagemaker.test_pipelines import with_options

from smlocal.endpoint.serving import ClientRights, Options, Serving
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker.pipelines import stored
from smlocal.sagemaker.pipelines.deciding import Progress, State
from smlocal.sagemaker.pipelines.listing import Listed
from smlocal.sagemaker.pipelines.stored import StoredStep
from smlocal.terms.statuses import COMPLETED, FAILED, Ending

ID = "PipelineExecutionArn"
START = "StartPipelineExecution"
WAITS = {
    "Name": "C",
    "Type": "Callback",
    "SqsQueueUrl": "https://q",
    "Arguments": {},
    "OutputParameters": [{"OutputName": "n", "OutputType": "Integer"}, {"OutputName": "s", "OutputType": "String"}],
}
AFTER = {**FAIL, "Name": "G", "DependsOn": ["C"]}
PARAMETERS = [
    {"Name": "N", "Type": "Integer", "DefaultValue": 2},
    {"Name": "B", "Type": "Boolean", "DefaultValue": True},
    {"Name": "S", "Type": "String"},
]
ATHENA = ("Catalog", "Database", "QueryString")
Start = Callable[..., str]


@pytest.fixture
def start(serving: Serving, ask: Ask) -> Start:
    """Starts an execution of a pipeline `P` with these steps, which is made if it is not there; returns its ARN."""
    numbers = iter(range(1000))

    def begun(*steps: Any, parameters: Any = (), **asked: Any) -> str:
        if serving.store.resource("pipeline", "P") is None:
            text = definition(*steps, Parameters=list(parameters))
            ask(
                "sagemaker",
                "CreatePipeline",
                PipelineName="P",
                RoleArn=ROLE,
                ClientRequestToken=token(0),
                PipelineDefinition=text,
            )
        given = {"PipelineName": "P", "ClientRequestToken": token(next(numbers)), **asked}
        return str(ask("sagemaker", START, **given)[ID])

    return begun


def end(serving: Serving, arn: str, ending: Ending = COMPLETED, reason: str | None = None) -> None:
    """As the leader does."""
    name = serving.store.name_of(arn)
    serving.store.transition(
        name,
        status=ending.status,
        phase=ending.phase,
        message=ending.message,
        at=time.time(),
        failure_reason=reason,
    )


def store_steps(serving: Serving, arn: str, *steps: tuple[str, State], **more: Any) -> None:
    """As the leader does, in this order."""
    name = serving.store.name_of(arn)
    state = stored.state_document([each for each, _ in steps], {}, status="Executing", stopping=False)
    documents = {
        stored.step_document(each): StoredStep(
            listed=Listed(
                name=each, type="Processing", progress=Progress(state=progress, number=number, began=number, attempts=1)
            ),
            **more,
        ).document()
        for number, (each, progress) in enumerate(steps, 1)
    }
    serving.store.put_documents(name, {stored.STATE: state, **documents})


def test_what_is_recorded_of_an_execution(serving: Serving, ask: Ask, start: Start) -> None:
    arn = start(
        PipelineExecutionDisplayName="shown",
        PipelineExecutionDescription="d",
        ParallelismConfiguration={"MaxParallelExecutionSteps": 3},
    )
    assert arn.rpartition("/")[0] == f"{ARN.format('P')}/execution"
    read = serving.store.read(serving.store.name_of(arn), ("request", "job", stored.CLIENT))
    assert read.record.name == f"P-{arn.rpartition('/')[2]}"
    assert read.documents["job"]["Data"]["PipelineDefinition"] == definition(Parameters=[])
    client = read.documents[stored.CLIENT]
    assert len(client.pop("Asked")) == 64
    assert client == {
        "Buckets": serving.buckets,
        "Folders": [serving.buckets, serving.artifacts, f"{serving.home}/code"],
        "AllowedPaths": [],
        "AllowedBuckets": [],
        "LocalMembers": False,
        "WithKey": False,
        "Local": {},
    }
    described = ask("sagemaker", "DescribePipelineExecution", **{ID: arn})
    assert described.pop("CreationTime") == described.pop("LastModifiedTime") > 0
    assert described == {
        "PipelineArn": ARN.format("P"),
        ID: arn,
        "PipelineExecutionDisplayName": "shown",
        "PipelineExecutionStatus": "Executing",
        "PipelineExecutionDescription": "d",
        "ParallelismConfiguration": {"MaxParallelExecutionSteps": 3},
        "PipelineVersionId": 1,
    }
    update = {"PipelineExecutionDescription": "e", "ParallelismConfiguration": {"MaxParallelExecutionSteps": 4}}
    assert ask("sagemaker", "UpdatePipelineExecution", **{ID: arn}, **update) == {ID: arn}
    assert ask("sagemaker", "DescribePipelineExecution", **{ID: arn}).items() >= update.items()
    text = ask("sagemaker", "DescribePipelineDefinitionForExecution", **{ID: arn})["PipelineDefinition"]
    assert text == definition(Parameters=[])
    assert ask("sagemaker", "DescribePipeline", PipelineName="P")["LastRunTime"] == read.record.created


def test_the_experiment_of_an_execution(ask: Ask, start: Start, create_pipeline: Pipelines) -> None:
    config = {
        "ExperimentName": {"Get": "Execution.PipelineName"},
        "TrialName": {"Get": "Execution.PipelineExecutionId"},
    }
    create_pipeline("P", PipelineDefinition=definition(PipelineExperimentConfig=config))
    arn = start()
    found = ask("sagemaker", "DescribePipelineExecution", **{ID: arn})["PipelineExperimentConfig"]
    assert found == {"ExperimentName": "P", "TrialName": arn.rpartition("/")[2]}


def test_the_same_start_again_is_one_execution(serving: Serving, start: Start) -> None:
    arn = start(ClientRequestToken=token(7))
    assert start(ClientRequestToken=token(7)) == arn
    assert start() != arn
    assert len(serving.store.names()) == 2
    code, message = refusal(lambda: start(ClientRequestToken=token(7), PipelineExecutionDescription="another"))
    assert (code, arn in message) == ("ConflictException", True)


def test_equal_calls_at_once_make_one_of_each(serving: Serving, ask: Ask, start: Start) -> None:
    end(serving, arn := start(), FAILED)
    asked = {"PipelineName": "P", "ClientRequestToken": token(7)}
    update = {"PipelineName": "P", "PipelineDefinition": definition(Metadata={})}
    retry = {ID: arn, "ClientRequestToken": token(8)}

    def call(number: int) -> str:
        ask("sagemaker", "UpdatePipeline", **update, PipelineVersionAliases=[f"v{number}"])
        ask("sagemaker", "RetryPipelineExecution", **retry)
        return str(ask("sagemaker", START, **asked, PipelineVersionId=1)[ID])

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(call, range(16)))
    assert len(found) == 1
    first = serving.store.name_of(arn)
    assert sorted(serving.store.names()) == sorted([first.removesuffix("-2"), first, serving.store.name_of(*found)])
    versions = ask("sagemaker", "ListPipelineVersions", PipelineName="P", MaxResults=100)["PipelineVersionSummaries"]
    assert [each["PipelineVersionId"] for each in versions] == [*range(17, 0, -1)]
    assert sorted(alias for each in versions for alias in each.get("PipelineVersionAliases", ())) == sorted(
        f"v{number}" for number in range(16)
    )


def test_parameters(ask: Ask, start: Start) -> None:
    wrong = {
        "the parameter 'S' has no default, and no value was given": [],
        "the parameter 'N' must be a whole number": [{"Name": "N", "Value": "x"}, {"Name": "S", "Value": ""}],
        "the pipeline has no parameter 'X'": [{"Name": "X", "Value": "x"}, {"Name": "S", "Value": ""}],
    }
    for words, given in wrong.items():
        code, message = refusal(lambda given=given: start(parameters=PARAMETERS, PipelineParameters=given))  # type: ignore[misc]
        assert (code, words in message) == ("ValidationException", True)
    arn = start(PipelineParameters=[{"Name": "S", "Value": "s"}, {"Name": "N", "Value": "5"}])

    def listed(**asked: Any) -> dict[str, Any]:
        return ask("sagemaker", "ListPipelineParametersForExecution", **{ID: arn}, **asked)

    assert listed()["PipelineParameters"] == [
        {"Name": "N", "Value": "5"},
        {"Name": "B", "Value": "true"},
        {"Name": "S", "Value": "s"},
    ]
    page = listed(MaxResults=2)
    assert [each["Name"] for each in listed(NextToken=page["NextToken"])["PipelineParameters"]] == ["S"]


def test_lists_of_executions(serving: Serving, ask: Ask, start: Start) -> None:
    first = start()
    end(serving, first, FAILED, "why")
    text = definition(Metadata={})
    ask("sagemaker", "UpdatePipeline", PipelineName="P", PipelineDefinition=text, PipelineVersionAliases=["new"])
    second = start(PipelineVersionId=1)
    third = start()

    def listed(**asked: Any) -> list[str]:
        found = ask("sagemaker", "ListPipelineExecutions", PipelineName="P", **asked)["PipelineExecutionSummaries"]
        return [each[ID] for each in found]

    by_time = {"SortBy": "CreationTime", "SortOrder": "Ascending"}
    assert set(listed()) == {first, second, third}
    assert listed(SortBy=ID, SortOrder="Ascending") == sorted([first, second, third])
    assert listed(PipelineVersionAlias="new") == [third]
    page = ask("sagemaker", "ListPipelineExecutions", PipelineName=ARN.format("P"), MaxResults=2, **by_time)
    assert len(listed(NextToken=page["NextToken"], **by_time)) == 1
    shown = next(
        each
        for each in ask("sagemaker", "ListPipelineExecutions", PipelineName="P")["PipelineExecutionSummaries"]
        if each[ID] == first
    )
    assert (shown["PipelineExecutionStatus"], shown["PipelineExecutionFailureReason"]) == ("Failed", "why")
    versions = ask("sagemaker", "ListPipelineVersions", PipelineName="P")["PipelineVersionSummaries"]
    assert versions[0]["LastExecutionPipelineExecutionArn"] == third
    assert refusal(lambda: ask("sagemaker", "ListPipelineExecutions", PipelineName="Q"))[0] == "ResourceNotFound"


def test_the_steps_of_an_execution_by_pages(serving: Serving, ask: Ask, start: Start) -> None:
    arn = start()

    def listed(**asked: Any) -> list[str]:
        found = ask("sagemaker", "ListPipelineExecutionSteps", **{ID: arn}, **asked)["PipelineExecutionSteps"]
        return [each["StepName"] for each in found]

    assert listed() == []
    states = [(f"S{number}", State.SUCCEEDED) for number in range(12)]
    store_steps(serving, arn, *states)
    assert listed() == [f"S{number}" for number in range(11, -1, -1)]
    assert listed(SortOrder="Ascending")[:2] == ["S0", "S1"]
    page = ask("sagemaker", "ListPipelineExecutionSteps", **{ID: arn}, MaxResults=10)
    store_steps(serving, arn, *states, ("S12", State.EXECUTING))  # a step that begins meanwhile moves no other
    assert listed(NextToken=page["NextToken"]) == ["S1", "S0"]


def test_names_of_executions_that_are_none(ask: Ask) -> None:
    other = "arn:aws:sagemaker:eu-west-1:123456789012:pipeline/p/execution/none"
    for operation in (
        "DescribePipelineExecution",
        "ListPipelineExecutionSteps",
        "DescribePipelineDefinitionForExecution",
    ):
        asked = refusal(lambda operation=operation: ask("sagemaker", operation, **{ID: other}))  # type: ignore[misc]
        assert asked == ("ResourceNotFound", f"Pipeline execution '{other}' does not exist.")
    assert "Value null at 'pipelineExecutionArn'" in refusal(lambda: ask("sagemaker", "ListPipelineExecutionSteps"))[1]


def test_a_step_that_needs_a_stand_in(serving: Serving, start: Start, tmp_path: Path) -> None:
    code, message = refusal(lambda: start(LAMBDA))
    assert (code, "L (Lambda)" in message, "--steps FILE" in message) == ("ValidationException", True, True)
    owners = {"L": {"Python": "step.py:handler"}, "Other": {"Skip": True}}
    options = Options(stand_ins=owners, stand_in_folder=str(tmp_path), rights=ClientRights(allowed_paths=("/data",)))
    asked = {"PipelineName": "P", "ClientRequestToken": token(9)}
    absent = refusal(lambda: with_options(serving, START, options, **asked))
    assert (absent[0], "there is no file step.py" in absent[1]) == ("ValidationException", True)
    (tmp_path / "step.py").touch()
    arn = with_options(serving, START, options, **asked)[ID]
    read = serving.store.read(serving.store.name_of(arn), ("job", stored.CLIENT)).documents
    assert read["job"]["Data"]["Local"]["Steps"] == {"L": owners["L"]}
    assert (read["job"]["Directory"], read[stored.CLIENT]["AllowedPaths"]) == (str(tmp_path), ["/data"])
    own = start(Local={"Steps": {"L": {"Outputs": {}}}})
    assert serving.store.document(serving.store.name_of(own), "job")["Data"]["Local"]["Steps"]["L"] == {"Outputs": {}}


def test_what_this_machine_cannot_do_is_refused_when_an_execution_begins(
    serving: Serving, start: Start, create_pipeline: Pipelines
) -> None:
    cluster = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}
    athena = {**dict.fromkeys(ATHENA, "x"), "OutputS3Uri": "s3://b/o", "OutputFormat": "PARQUET"}
    source = {"LocalPath": "/opt/ml/processing/d", "AthenaDatasetDefinition": athena}
    arguments = {
        "AppSpecification": {"ImageUri": "i"},
        "RoleArn": ROLE,
        "ProcessingResources": {"ClusterConfig": cluster},
        "ProcessingInputs": [{"InputName": "d", "DatasetDefinition": source}],
    }
    create_pipeline("P", PipelineDefinition=definition({"Name": "S", "Type": "Processing", "Arguments": arguments}))
    code, message = refusal(start)
    assert (code, "DatasetDefinition needs a folder" in message) == ("ValidationException", True)
    assert start(Local={"Steps": {"S": {"Skip": True}}})
    assert start(Local={"Sources": {"s3://b/o": serving.buckets}})


def test_selective_execution(serving: Serving, ask: Ask, start: Start) -> None:
    source = start(WAITS, AFTER)
    chosen: dict[str, Any] = {"SelectedSteps": [{"StepName": "G"}]}
    missing = refusal(lambda: start(SelectiveExecutionConfig=chosen))
    assert missing[1].startswith(
        "Invalid SourcePipelineExecutionArn: null. The selected steps [G] have dependencies on [C]"
    )
    chosen = {**chosen, "SourcePipelineExecutionArn": source}
    assert "have dependencies on [C]" in refusal(lambda: start(SelectiveExecutionConfig=chosen))[1]
    store_steps(serving, source, ("C", State.SUCCEEDED))
    arn = start(SelectiveExecutionConfig=chosen)
    assert ask("sagemaker", "DescribePipelineExecution", **{ID: arn})["SelectiveExecutionConfig"] == chosen
    foreign = {**chosen, "SourcePipelineExecutionArn": source.replace("/P/", "/q/")}
    assert "It is not of the pipeline" in refusal(lambda: start(SelectiveExecutionConfig=foreign))[1]


def test_a_retry_keeps_what_has_succeeded(serving: Serving, ask: Ask, start: Start) -> None:
    arn = start(WAITS, AFTER)

    def retry(number: int, **asked: Any) -> dict[str, Any]:
        return ask("sagemaker", "RetryPipelineExecution", **{ID: arn}, ClientRequestToken=token(number), **asked)

    assert "is in status Executing, and cannot be retried" in refusal(lambda: retry(1))[1]
    store_steps(serving, arn, ("C", State.SUCCEEDED), ("G", State.FAILED))
    began = serving.store.get(serving.store.name_of(arn)).created
    serving.store.change_document(serving.store.name_of(arn), "job", lambda job: {**job, "Output": "/where/it/began"})
    end(serving, arn, FAILED)
    first = serving.store.name_of(arn)
    taken = f"{first}-2"  # a job of another execution has it
    serving.store.add_pending(taken, run_id="0" * 8, created=1, documents={}, arn="other", model_uri="", instances=0)
    for _ in range(2):  # the same call again is the same retry
        assert retry(2, ParallelismConfiguration={"MaxParallelExecutionSteps": 7}) == {ID: arn}
    assert sorted(serving.store.names()) == [first, taken, f"{first}-3"]
    described = ask("sagemaker", "DescribePipelineExecution", **{ID: arn})
    assert described["CreationTime"] == began
    assert described["PipelineExecutionStatus"] == "Executing"
    assert described["ParallelismConfiguration"] == {"MaxParallelExecutionSteps": 7}
    steps = ask("sagemaker", "ListPipelineExecutionSteps", **{ID: arn})["PipelineExecutionSteps"]
    assert [each["StepName"] for each in steps] == ["C"]
    assert serving.store.document(f"{first}-3", "job")["Output"] == "/where/it/began"
    assert serving.store.document(f"{first}-3", stored.CLIENT)["Buckets"] == serving.buckets
    end(serving, arn, FAILED)
    retry(3)
    end(serving, arn)
    assert "is in status Succeeded, and cannot be retried" in refusal(lambda: retry(4))[1]
    assert sorted(serving.store.names()) == [first, taken, f"{first}-3", f"{first}-4"]
    found = ask("sagemaker", "ListPipelineExecutions", PipelineName="P")["PipelineExecutionSummaries"]
    assert [(each[ID], each["StartTime"]) for each in found] == [(arn, began)]


def test_stop_and_delete(serving: Serving, ask: Ask, start: Start) -> None:
    arn = start()
    delete = {"PipelineName": "P", "ClientRequestToken": token(1)}
    assert refusal(lambda: ask("sagemaker", "DeletePipeline", **delete))[0] == "ConflictException"
    stop = {ID: arn, "ClientRequestToken": token(2)}
    for _ in range(2):
        assert ask("sagemaker", "StopPipelineExecution", **stop) == {ID: arn}
    assert ask("sagemaker", "DescribePipelineExecution", **{ID: arn})["PipelineExecutionStatus"] == "Stopped"
    again = {ID: arn, "ClientRequestToken": token(3)}
    code, message = refusal(lambda: ask("sagemaker", "StopPipelineExecution", **again))
    # Airflow looks for these words.
    assert (code, message) == ("ValidationException", "Only pipelines with 'Executing' status can be stopped.")
    ask("sagemaker", "DeletePipeline", **delete)
    assert serving.store.names() == []


ANSWERS: dict[str, tuple[dict[str, Any], str]] = {
    "another type": ({"n": "x", "s": "t"}, "the output 'n' is of type Integer"),
    "one is missing": ({"n": "1"}, "the output 's' is missing"),
    "an unknown one": ({"n": "1", "s": "t", "x": "y"}, "it has no output 'x'"),
}


@pytest.fixture
def waiting(serving: Serving, start: Start) -> str:
    """An execution that waits for a Callback with the token `t123456789`."""
    arn = start(WAITS)
    outputs = [{"Name": "n", "Type": "Integer"}, {"Name": "s", "Type": "String"}]
    store_steps(serving, arn, ("C", State.EXECUTING), waits={"Token": "t123456789", "Outputs": outputs})
    body = {"Job": serving.store.name_of(arn), "Step": "C"}
    serving.store.add_resource(
        StoredResource(kind=stored.CALLBACK, name="t123456789", arn="", created=1, modified=1, body=body)
    )
    return arn


def given(outputs: dict[str, str]) -> list[dict[str, str]]:
    return [{"Name": name, "Value": value} for name, value in outputs.items()]


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_with_other_outputs(serving: Serving, ask: Ask, waiting: str, case: str) -> None:
    outputs, words = ANSWERS[case]
    asked = {"CallbackToken": "t123456789", "OutputParameters": given(outputs)}
    code, message = refusal(lambda: ask("sagemaker", "SendPipelineExecutionStepSuccess", **asked))
    assert (code, words in message) == ("ValidationException", True)
    assert serving.store.document(serving.store.name_of(waiting), "answer-t123456789") is None


def test_answers_to_a_callback(serving: Serving, ask: Ask, waiting: str) -> None:
    asked = {"CallbackToken": "t123456789", "ClientRequestToken": token(1)}
    outputs = {"OutputParameters": given({"n": "1", "s": "t"})}
    for _ in range(2):
        assert ask("sagemaker", "SendPipelineExecutionStepSuccess", **asked, **outputs) == {ID: waiting}
    answer = serving.store.document(serving.store.name_of(waiting), "answer-t123456789")
    assert answer["OutputParameters"] == {"n": 1, "s": "t"}
    again = {"CallbackToken": "t123456789", "FailureReason": "no", "ClientRequestToken": token(2)}
    code, message = refusal(lambda: ask("sagemaker", "SendPipelineExecutionStepFailure", **again))
    assert (code, "The step C was answered already" in message) == ("ResourceNotFound", True)
    serving.store.change_resource(stored.CALLBACK, "t123456789", lambda _: None, at=1)  # as when the step has ended
    assert ask("sagemaker", "SendPipelineExecutionStepSuccess", **asked, **outputs) == {ID: waiting}
    assert refusal(lambda: ask("sagemaker", "SendPipelineExecutionStepFailure", **again))[0] == "ResourceNotFound"
    unknown = {"CallbackToken": "t000000000", "ClientRequestToken": token(3)}
    code, message = refusal(lambda: ask("sagemaker", "SendPipelineExecutionStepFailure", **unknown))
    assert (code, "no step waits for an answer with the token t000000000" in message) == ("ResourceNotFound", True)


def test_a_callback_that_fails(serving: Serving, ask: Ask, waiting: str) -> None:
    asked = {"CallbackToken": "t123456789", "FailureReason": "no", "ClientRequestToken": token(1)}
    assert ask("sagemaker", "SendPipelineExecutionStepFailure", **asked) == {ID: waiting}
    answer = serving.store.document(serving.store.name_of(waiting), "answer-t123456789")
    assert answer["FailureReason"] == "no"
