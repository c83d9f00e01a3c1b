"""A pipeline or an execution of the service as a file that runs here."""

import json
from typing import Any

import pytest
import yaml
from tests.unit.service.aws_answers import Answers, aws_answering

from smlocal.errors import PathInDescriptionError, ServiceJobUnknownError, UsageRefusedError
from smlocal.jobfile.document import Document
from smlocal.service.described_pipeline import DescribedPipeline, described, fetch

ROLE = "arn:aws:iam::123456789012:role/P"
PIPELINE = "arn:aws:sagemaker:eu-west-1:123456789012:pipeline/held"
ARN = f"{PIPELINE}/execution/abcdefghijkl"
IMAGE = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/held:1"
DENIED = (400, {"__type": "AccessDeniedException", "message": "no"})
UNKNOWN = (400, {"__type": "ResourceNotFound", "message": "Pipeline 'held' does not exist."})


def training(name: str, **more: Any) -> dict[str, Any]:
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": {"Get": "Parameters.Data"}}}
    return {
        "Name": name,
        "Type": "Training",
        "Arguments": {
            "RoleArn": ROLE,
            "AlgorithmSpecification": {"TrainingImage": IMAGE, "TrainingInputMode": "File"},
            "InputDataConfig": [{"ChannelName": "train", "DataSource": source}],
            "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
            "ResourceConfig": {"InstanceType": "ml.g4dn.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 10},
            "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
            **more,
        },
    }


DEFINITION: dict[str, Any] = {
    "Version": "2020-12-01",
    "Parameters": [{"Name": "Data", "Type": "String"}, {"Name": "Epochs", "Type": "Integer", "DefaultValue": 1}],
    "Steps": [
        training("One"),
        training("Two"),
        {
            "Name": "Tell",
            "Type": "Lambda",
            "FunctionArn": "arn:aws:lambda:eu-west-1:123456789012:function:tell",
            "OutputParameters": [{"OutputName": "answer", "OutputType": "String"}],
        },
        {"Name": "Quality", "Type": "QualityCheck", "Arguments": {}},
    ],
}
ANSWER: dict[str, Any] = {
    "PipelineArn": PIPELINE,
    "PipelineName": "Held",
    "PipelineDisplayName": "Held",
    "PipelineDefinition": json.dumps(DEFINITION),
    "RoleArn": ROLE,
    "PipelineStatus": "Active",
    "CreationTime": 1.0,
    "LastModifiedTime": 1.0,
    "CreatedBy": {},
    "LastModifiedBy": {},
}
EXECUTION = {
    "PipelineArn": PIPELINE,
    "PipelineExecutionArn": ARN,
    "PipelineExecutionDisplayName": "execution-1",
    "PipelineExecutionStatus": "Succeeded",
    "ParallelismConfiguration": {"MaxParallelExecutionSteps": 2},
}
VALUES = [{"Name": "Data", "Value": "s3://bucket/in"}, {"Name": "Epochs", "Value": "3"}]


def answers(**more: Any) -> Answers:
    return {
        "DescribePipeline": (200, ANSWER),
        "ListTags": (200, {"Tags": [{"Key": "team", "Value": "a"}]}),
        "DescribePipelineExecution": (200, EXECUTION),
        "DescribePipelineDefinitionForExecution": (200, {"PipelineDefinition": json.dumps(DEFINITION)}),
        "ListPipelineParametersForExecution": (200, {"PipelineParameters": VALUES}),
        **more,
    }


def fetched(arn: str, user: pytest.MonkeyPatch, **more: Any) -> DescribedPipeline:
    user.delenv("AWS_DEFAULT_REGION")  # the ARN names it
    with aws_answering(answers(**more)) as address:
        user.setenv("AWS_ENDPOINT_URL", address)
        return fetch(arn, profile=None, region=None)


def test_a_pipeline_with_its_tags_and_what_stands_in_for_its_steps(aws_user: pytest.MonkeyPatch) -> None:
    found = fetched(PIPELINE, aws_user)
    text = found.file_text(file="pipeline.yaml")
    assert yaml.safe_load(text) == {
        "PipelineName": "Held",
        "PipelineDisplayName": "Held",
        "RoleArn": ROLE,
        "Tags": [{"Key": "team", "Value": "a"}],
        "PipelineDefinition": DEFINITION,
        "Local": {"Region": "eu-west-1"},
    }
    assert text.startswith(
        "# A pipeline. Run it here:  smlocal run pipeline.yaml\n# As the pipeline Held (Active, eu-west-1).\n\n"
    )
    assert text.endswith(
        "  # Steps: # what stands in for steps that only the service runs\n"
        '  #   Tell: {Python: "Tell.py:handler"} # Lambda; or Command, Outputs, Skip\n'
        "  #   Quality: {Outputs: {}} # QualityCheck; or Command, Outputs, Skip\n"
    )
    uncommented = text.replace("  # Steps", "  Steps").replace("  #   ", "    ")
    assert [*yaml.safe_load(uncommented)["Local"]["Steps"]] == ["Tell", "Quality"]
    assert json.loads(found.file_text(file="pipeline.json")) == yaml.safe_load(text)


def test_an_execution_with_its_values_and_what_is_missing_here(aws_user: pytest.MonkeyPatch) -> None:
    found = fetched(ARN, aws_user)
    data = yaml.safe_load(found.file_text(file="-"))
    assert data["Local"] == {"Region": "eu-west-1", "Parameters": {"Data": "s3://bucket/in", "Epochs": "3"}}
    assert data["ParallelismConfiguration"] == {"MaxParallelExecutionSteps": 2}
    in_ecr = "the image is in Amazon ECR of account 123456789012 in eu-west-1, and is pulled with your AWS credentials"
    assert [*found.remarks()] == [
        "these steps run only on the service, and need stand-ins in Local.Steps: Tell (Lambda), Quality (QualityCheck)",
        f"One, Two: {in_ecr} unless it is here already",
        "One, Two: the channel train is read from S3 with your AWS credentials: --source s3://bucket/in=DIR",
        "One, Two: ml.g4dn.xlarge has 1 GPU, which this machine may not have: --allow-cpu",
    ]


def test_what_may_not_be_read_or_is_gone_is_told(aws_user: pytest.MonkeyPatch) -> None:
    lacks = "this machine does not have"
    old = f"{PIPELINE}/execution/old"
    chosen = {"SourcePipelineExecutionArn": old, "SelectedSteps": [{"StepName": "Two"}]}
    running = {**EXECUTION, "PipelineExecutionStatus": "Executing", "SelectiveExecutionConfig": chosen}
    more = {"DescribePipelineExecution": (200, running), "DescribePipeline": UNKNOWN}
    found = fetched(ARN, aws_user, **more)
    assert found.data()["PipelineName"] == "held"
    assert found.notes == (
        f"The role and the tags of the pipeline are not known: there is no pipeline {PIPELINE} in eu-west-1.",
        f"The execution ran only selected steps (--select Two), with results of {old}, which {lacks}.",
        f"{ARN} had not ended when it was described: Executing",
    )


def test_tags_that_may_not_be_read(aws_user: pytest.MonkeyPatch) -> None:
    found = fetched(PIPELINE, aws_user, ListTags=DENIED)
    assert found.notes == ("Tags are not known: the AWS credentials may not do sagemaker:ListTags.",)
    assert "Tags" not in found.data()


def test_what_is_not_there(aws_user: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServiceJobUnknownError, match="there is no pipeline execution"):
        fetched(ARN, aws_user, DescribePipelineExecution=UNKNOWN)
    for wrong in (f"{PIPELINE}/execution", f"{PIPELINE}/a/b", PIPELINE.replace("123456789012", "1")):
        with pytest.raises(UsageRefusedError, match="is not the ARN of a pipeline"):
            fetch(wrong, profile=None, region=None)


def of(data: dict[str, Any]) -> DescribedPipeline:
    return described(Document(data, name="saved.json", directory="/"))


def test_a_saved_answer_a_request_and_a_definition_alone() -> None:
    of_another = {"Steps": {"Tell": {"Command": ["rm", "-r", "/"]}}}
    assert of({**ANSWER, "Local": of_another}).data()["Local"] == {"Region": "eu-west-1"}
    request = {"PipelineName": "held", "RoleArn": ROLE, "PipelineDefinition": json.dumps(DEFINITION)}
    local = {"Steps": {"Tell": {"Skip": True}}}
    assert of({**request, "Local": local}).data() == {**request, "PipelineDefinition": DEFINITION, "Local": local}
    assert [*of({**request, "Local": local}).stand_ins()] == ["Quality"]
    assert of(DEFINITION).data() == DEFINITION
    assert (
        of(DEFINITION)
        .file_text(file="-")
        .endswith(
            "# Local:\n"
            "#   Steps: # what stands in for steps that only the service runs\n"
            '#     Tell: {Python: "Tell.py:handler"} # Lambda; or Command, Outputs, Skip\n'
            "#     Quality: {Outputs: {}} # QualityCheck; or Command, Outputs, Skip\n"
        )
    )
    of_execution = {"PipelineDefinition": json.dumps(DEFINITION), "CreationTime": 1.0}
    assert of(of_execution).data() == DEFINITION


def test_a_definition_that_smlocal_does_not_know_is_written_as_it_is() -> None:
    newer = {**DEFINITION, "Steps": [{"Name": "New", "Type": "Newest"}]}
    found = of({**ANSWER, "PipelineDefinition": json.dumps(newer)})
    assert found.data()["PipelineDefinition"] == newer
    assert [*found.remarks()] == ["smlocal does not run all of it; smlocal validate shows why"]
    assert of({**ANSWER, "PipelineDefinition": "no JSON"}).data()["PipelineDefinition"] == "no JSON"


def test_an_answer_names_no_paths_of_this_machine() -> None:
    definition = {**DEFINITION, "Steps": [training("One", OutputDataConfig={"S3OutputPath": "/etc"})]}
    with pytest.raises(PathInDescriptionError) as error:
        of({**ANSWER, "PipelineDefinition": json.dumps(definition)}).check_local_paths(name="saved.json")
    assert error.value.details == ("One.OutputDataConfig.S3OutputPath: /etc",)
    of({"PipelineName": "held", "PipelineDefinition": definition}).check_local_paths(name="saved.json")
