"""Pipelines and their versions, as clients make and list them, without a server."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.endpoint.conftest import Ask
from tests.unit.endpoint.sagemaker.conftest import ARN, FAIL, LAMBDA, ROLE, Pipelines, definition, refusal, token

from smlocal.endpoint.aws_calls import checked
from smlocal.endpoint.call import AwsCall
from smlocal.endpoint.protocol.models import operation_model
from smlocal.endpoint.sagemaker.operations import HANDLERS
from smlocal.endpoint.serving import ClientRights, Options, Serving


def with_options(serving: Serving, operation: str, options: Options, **parameters: Any) -> dict[str, Any]:
    """The answer of a server that was started with these options."""
    model = operation_model("sagemaker", operation)
    assert model is not None
    given = checked("sagemaker", operation, model.input_shape, parameters)
    call = AwsCall(service="", operation=operation, parameters=given, region="eu-west-1", access_key=None)
    return HANDLERS[operation](replace(serving, options=options), call)


def test_a_pipeline_from_its_creation_to_its_end(ask: Ask, create_pipeline: Pipelines) -> None:
    tags = [{"Key": "a", "Value": "b"}]
    made = create_pipeline(
        "My-Pipe", PipelineDescription="d", ParallelismConfiguration={"MaxParallelExecutionSteps": 3}, Tags=tags
    )
    arn = ARN.format("My-Pipe")
    assert made == {"PipelineArn": arn}
    described = ask("sagemaker", "DescribePipeline", PipelineName="My-Pipe")
    assert described.pop("CreationTime") == described.pop("LastModifiedTime") > 0
    assert described == {
        "PipelineArn": arn,
        "PipelineName": "My-Pipe",
        "PipelineDefinition": definition(),
        "PipelineDescription": "d",
        "PipelineStatus": "Active",
        "RoleArn": ROLE,
        "ParallelismConfiguration": {"MaxParallelExecutionSteps": 3},
    }
    assert ask("sagemaker", "DescribePipeline", PipelineName=arn)["PipelineName"] == "My-Pipe"
    ask("sagemaker", "AddTags", ResourceArn=arn, Tags=[{"Key": "c", "Value": "d"}])
    assert [each["Key"] for each in ask("sagemaker", "ListTags", ResourceArn=arn)["Tags"]] == ["a", "c"]
    gone = ask("sagemaker", "DeletePipeline", PipelineName="My-Pipe", ClientRequestToken=token(1))
    assert gone == {"PipelineArn": arn}
    missing = refusal(lambda: ask("sagemaker", "DescribePipeline", PipelineName=arn))
    assert missing == ("ResourceNotFound", f"Pipeline '{arn}' does not exist.")


def test_nothing_of_a_deleted_pipeline_is_left(serving: Serving, ask: Ask, create_pipeline: Pipelines) -> None:
    create_pipeline("p")
    ask("sagemaker", "UpdatePipeline", PipelineName="p", PipelineDefinition=definition(Metadata={}))
    ask("sagemaker", "DeletePipeline", PipelineName="p", ClientRequestToken=token(1))
    assert [serving.store.resources(kind) for kind in ("pipeline", "pipeline-definition")] == [[], []]


def test_the_same_request_again_is_answered_and_another_one_refused(create_pipeline: Pipelines) -> None:
    first = create_pipeline("p")
    assert create_pipeline("p") == first
    code, message = refusal(lambda: create_pipeline("p", PipelineDescription="x"))
    assert (code, "already exists" in message) == ("ValidationException", True)


def test_each_definition_is_a_version(ask: Ask, create_pipeline: Pipelines) -> None:
    create_pipeline("p", PipelineVersionAliases=["first"])
    second = definition(Metadata={"two": 2})
    updated = ask("sagemaker", "UpdatePipeline", PipelineName="p", PipelineDefinition=second)
    assert updated == {"PipelineArn": ARN.format("p"), "PipelineVersionId": 2}
    described = ask("sagemaker", "UpdatePipeline", PipelineName="p", PipelineDescription="only words")
    assert described["PipelineVersionId"] == 2

    def text(**which: Any) -> str:
        found = ask("sagemaker", "DescribePipeline", PipelineName="p", **which)["PipelineDefinition"]
        return {definition(): "first", second: "second"}[found]

    def versions(**asked: Any) -> list[tuple[int, str | None, list[str]]]:
        found = ask("sagemaker", "ListPipelineVersions", PipelineName="p", **asked)["PipelineVersionSummaries"]
        return [
            (each["PipelineVersionId"], each.get("PipelineVersionDisplayName"), each.get("PipelineVersionAliases", []))
            for each in found
        ]

    assert [text(), text(PipelineVersionId=1), text(PipelineVersionAlias="first")] == ["second", "first", "first"]
    assert versions() == [(2, None, []), (1, None, ["first"])]
    ask(
        "sagemaker",
        "UpdatePipelineVersion",
        PipelineArn=ARN.format("p"),
        PipelineVersionId=2,
        PipelineVersionDisplayName="Two",
        PipelineVersionAliasOperations={"Add": ["first", "latest"], "Remove": ["unknown"]},
    )
    assert versions(SortOrder="Ascending") == [(1, None, []), (2, "Two", ["first", "latest"])]
    assert text(PipelineVersionAlias="first") == "second"
    page = ask("sagemaker", "ListPipelineVersions", PipelineName="p", MaxResults=1)
    assert versions(NextToken=page["NextToken"]) == [(1, None, [])]
    missing = refusal(lambda: text(PipelineVersionId=3))
    assert missing == ("ResourceNotFound", f"Pipeline '{ARN.format('p')}' has no version with id 3.")


def test_lists(ask: Ask, create_pipeline: Pipelines) -> None:
    for name in ("a1", "b22", "a333"):
        create_pipeline(name)

    def names(**asked: Any) -> list[str]:
        return [each["PipelineName"] for each in ask("sagemaker", "ListPipelines", **asked)["PipelineSummaries"]]

    assert names(SortBy="Name", SortOrder="Ascending") == ["a1", "a333", "b22"]
    assert names(SortBy="Name", PipelineNamePrefix="a") == ["a333", "a1"]
    assert names(CreatedAfter=4102444800) == names(ManagedBy="AWS") == []
    page = ask("sagemaker", "ListPipelines", SortBy="Name", SortOrder="Ascending", MaxResults=2)
    assert names(SortBy="Name", SortOrder="Ascending", NextToken=page["NextToken"]) == ["b22"]


TWO = (
    "2 problems in request:PipelineDefinition; request:PipelineDefinition:1   Version: must be '2020-12-01'; "
    "request:PipelineDefinition:1   Steps.2.member.Name: another step is named 'F'"
)
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no list of steps": ({"Steps": {}}, "Unable to parse pipeline definition. Expecting start of Json Array."),
    "an unknown member": ({"X": 1}, "Unable to parse pipeline definition. Cannot parse object, unknown property 'X'."),
    "two mistakes": (
        {"Version": "1", "Steps": [FAIL, FAIL]},
        TWO,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_definition_with_mistakes(create_pipeline: Pipelines, case: str) -> None:
    more, message = REFUSED[case]
    text = json.dumps({"Version": "2020-12-01", "Steps": [FAIL], **more})
    assert refusal(lambda: create_pipeline("p", PipelineDefinition=text)) == ("ValidationException", message)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[]", "Expecting start of Json Object."),
        ("Version: 2020-12-01", "Expecting start of Json Object."),
        ("{Version: 1}", "It is no JSON: "),
        ("{", "It is no JSON: "),
        ('{"a":' * 100_000, "It is more than 250 levels deep."),
        ('{"a":' + "[" * 100_000 + "]" * 100_000 + "}", "It is more than 250 levels deep."),
    ],
    ids=["list", "YAML", "no quotes", "open", "deep", "deep and closed"],
)
def test_a_definition_is_json(create_pipeline: Pipelines, text: str, what: str) -> None:
    code, message = refusal(lambda: create_pipeline("p", PipelineDefinition=text))
    assert code == "ValidationException"
    assert message.startswith(f"Unable to parse pipeline definition. {what}")


def test_a_definition_in_a_bucket(serving: Serving, ask: Ask, create_pipeline: Pipelines) -> None:
    folder = Path(serving.buckets, "bucket")
    folder.mkdir(parents=True)
    (folder / "p.json").write_text(definition())
    (folder / "large").write_bytes(b" " * ((1 << 20) + 1))
    (folder / "bytes").write_bytes(b"\xff")

    def made(**location: Any) -> Any:
        return create_pipeline(
            "p", PipelineDefinitionS3Location={"Bucket": "bucket", "ObjectKey": "p.json", **location}
        )

    found = {
        "there is no object s3://bucket/missing": {"ObjectKey": "missing"},
        "s3://bucket/large is larger than 1 MiB": {"ObjectKey": "large"},
        "s3://bucket/bytes is not text": {"ObjectKey": "bytes"},
        "s3://other/p.json is not in a bucket of this server": {"Bucket": "other"},
        "buckets here keep no versions": {"VersionId": "v"},
    }
    for words, location in found.items():
        assert words in refusal(lambda location=location: made(**location))[1]  # type: ignore[misc]
    both = refusal(
        lambda: create_pipeline(
            "p",
            PipelineDefinition=definition(),
            PipelineDefinitionS3Location={"Bucket": "bucket", "ObjectKey": "p.json"},
        )
    )
    assert both[1].startswith("Exactly one of")
    made()
    assert ask("sagemaker", "DescribePipeline", PipelineName="p")["PipelineDefinition"] == definition()


STAND_INS: dict[str, tuple[dict[str, Any], str]] = {
    "fixed outputs are for everybody": ({"Steps": {"L": {"Outputs": {}}}}, ""),
    "and to skip a step": ({"Steps": {"L": {"Skip": True}}}, ""),
    "the cache by contents": ({"Cache": "contents"}, ""),
    "a program is not": ({"Steps": {"L": {"Command": ["true"]}}}, "does not let clients set Local.Steps."),
    "nor what is none": ({"Steps": 1}, "does not let clients set Local.Steps."),
    "nor a queue": ({"Queue": "https://sqs"}, "does not let clients set Local.Queue."),
    "nor a setting of jobs": ({"Keep": "always"}, "does not let clients set Local.Keep."),
    "a mistake": ({"Steps": {"X": {"Skip": True}}}, "Local.Steps.X: the pipeline has no step of this name"),
    "an unknown setting": ({"Stepps": {}}, "unknown key Local.Stepps"),
}


@pytest.mark.parametrize("case", STAND_INS)
def test_what_clients_may_say_about_this_machine(create_pipeline: Pipelines, case: str) -> None:
    local, refused = STAND_INS[case]
    if not refused:
        assert create_pipeline("p", PipelineDefinition=definition(LAMBDA), Local=local)
        return
    assert refused in refusal(lambda: create_pipeline("p", PipelineDefinition=definition(LAMBDA), Local=local))[1]


def test_a_server_that_allows_it_takes_programs(serving: Serving) -> None:
    allowed = Options(rights=ClientRights(local_members=True))
    given = {"Steps": {"L": {"Command": ["true"]}}, "Queue": "https://sqs"}
    asked = {
        "PipelineName": "p",
        "RoleArn": ROLE,
        "ClientRequestToken": token(1),
        "PipelineDefinition": definition(LAMBDA),
    }
    assert with_options(serving, "CreatePipeline", allowed, Local=given, **asked)["PipelineArn"] == ARN.format("p")
