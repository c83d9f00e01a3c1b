"""The members of a pipeline's file: those of CreatePipeline and of a definition, and how each is handled."""

from typing import Annotated, Any, Final

from smlocal.sagemaker.pipelines.step_types import PARAMETER_TYPES, STEP_TYPES, StepType
from smlocal.terms.member_table import MemberTable, Row, emulated, recorded, works
from smlocal.terms.model.structure import Checked, Items, Structure, Text, Whole


class PipelineParallelism(Structure):
    """Part of CreatePipeline."""

    MaxParallelExecutionSteps: Annotated[int, Whole(minimum=1)]


class PipelineLocation(Structure):
    """Part of CreatePipeline."""

    Bucket: str
    ObjectKey: str
    VersionId: str | None = None


class PipelineTag(Structure):
    """Part of CreatePipeline."""

    Key: str
    Value: str


class PipelineParameter(Structure):
    """A parameter of a definition."""

    Name: str
    Type: str
    DefaultValue: Annotated[Any, Checked(trouble=lambda _: None, schema={})] = None
    EnumValues: list[Any] | None = None
    Description: str | None = None
    DisplayName: str | None = None


class PipelineStep(Structure):
    """A step of a definition, of any type."""

    Name: Annotated[str, Text(minimum=1, maximum=64)]
    Type: str
    Arguments: dict[str, Any] | None = None
    DependsOn: list[Any] | None = None
    DisplayName: str | None = None
    Description: str | None = None
    CacheConfig: dict[str, Any] | None = None
    RetryPolicies: list[Any] | None = None
    PropertyFiles: list[Any] | None = None
    FunctionArn: Annotated[Any, Checked(trouble=lambda _: None, schema={})] = None
    SqsQueueUrl: Annotated[Any, Checked(trouble=lambda _: None, schema={})] = None
    OutputParameters: list[Any] | None = None


class CreatePipelineRequest(Structure):
    """A CreatePipeline request, or a definition alone."""

    PipelineName: Annotated[str, Text(minimum=1, maximum=256)] | None = None
    PipelineDisplayName: str | None = None
    PipelineDefinition: Annotated[Any, Checked(trouble=lambda _: None, schema={"type": ["string", "object"]})] = None
    PipelineDefinitionS3Location: PipelineLocation | None = None
    PipelineDescription: str | None = None
    ClientRequestToken: str | None = None
    RoleArn: str | None = None
    Tags: list[PipelineTag] | None = None
    ParallelismConfiguration: PipelineParallelism | None = None
    Version: str | None = None
    Metadata: dict[str, Any] | None = None
    Parameters: list[PipelineParameter] | None = None
    PipelineExperimentConfig: dict[str, Any] | None = None
    MlflowConfig: dict[str, Any] | None = None
    Steps: list[PipelineStep] | None = None


class StandInSettings(Structure):
    """What runs in place of a step: one of the four."""

    Command: Annotated[list[str], Items(minimum=1)] | None = None
    """A program: the arguments are JSON on its input, its output is JSON with the outputs."""
    Python: str | None = None
    """A function such as step.py:handler, called as a Lambda."""
    Outputs: dict[str, Any] | None = None
    """Fixed outputs."""
    Skip: bool | None = None
    """The step has succeeded, without outputs."""


class OwnSettings(Structure):
    """The members of `Local` that only pipelines have."""

    Steps: dict[str, StandInSettings] | None = None
    Parameters: dict[str, Any] | None = None
    Select: list[str] | None = None
    Source: str | None = None
    Queue: str | None = None
    Cache: Annotated[Any, Checked(trouble=lambda _: None, schema={"enum": [True, False, "contents"]})] = True


_RUNS: Final = {
    "Condition": "All conditions, also nested ones; branches that are not taken do not run.",
    "Fail": "Ends the execution with its message.",
    "Callback": "Waits until smlocal pipeline or a client answers its token.",
    "ForEach": "Its body runs for each item, so many at once as MaxConcurrency says.",
    "Cleanup": "Deletes outputs of the named steps, where they are on this machine.",
}


def _type(kind: StepType) -> str:
    return _RUNS.get(kind.name) or f"{kind.operation}, with its values filled in."


_WORKS: Final = {kind.name: works(_type(kind)) for kind in STEP_TYPES.values() if not kind.needs_stand_in}
_NOT_HERE: Final = {
    kind.name: "Only with a stand-in: Local.Steps." for kind in STEP_TYPES.values() if kind.needs_stand_in
}
_ROWS: Final[dict[str, Row]] = {
    "PipelineName": emulated("Names the pipeline and its executions. Default: the name of the file."),
    "PipelineDisplayName": recorded("For the answers of smlocal serve."),
    "PipelineDefinition": emulated("JSON text; a file may have it as a map."),
    "PipelineDefinitionS3Location": emulated("In requests of clients; a file has the definition itself."),
    "PipelineDescription": recorded("For the answers of smlocal serve."),
    "ClientRequestToken": emulated("The same request twice makes one pipeline."),
    "RoleArn": recorded("No role is assumed; it says the account."),
    "Tags": recorded("For the answers of smlocal serve."),
    "ParallelismConfiguration": emulated("So many steps at once; by default 50."),
    "Version": emulated("Only 2020-12-01 is known."),
    "Metadata": recorded("It has no effect on the service either."),
    "Parameters": emulated(f"Of type {', '.join(PARAMETER_TYPES)}; --parameter gives their values."),
    "PipelineExperimentConfig": recorded("Nothing is written to an experiment."),
    "MlflowConfig": recorded("Nothing is written to MLflow."),
    "Steps[].Name": emulated("Names the step, and with a random part its job."),
    "Steps[].Type": emulated("What the step does.", _WORKS, **_NOT_HERE),
    "Steps[].Arguments": emulated("The request that the step makes; its expressions are evaluated when it starts."),
    "Steps[].DependsOn": emulated("Steps that come first, also with Trigger: Failed, Stopped or Any."),
    "Steps[].DisplayName": recorded("For the answers of smlocal serve."),
    "Steps[].Description": recorded("For the answers of smlocal serve."),
    "Steps[].CacheConfig": emulated("By the documented keys; smlocal describe says why a step was not in the cache."),
    "Steps[].RetryPolicies": emulated("Interval, backoff, and both limits."),
    "Steps[].PropertyFiles": emulated("Read from what the step has written."),
    "Steps[].FunctionArn": recorded("No function of AWS is called: Local.Steps says what runs."),
    "Steps[].SqsQueueUrl": recorded("Messages go to the queue of --queue, else to the screen."),
    "Steps[].OutputParameters": emulated("What other steps can refer to, of its type."),
}
TABLE: Final = MemberTable(rows=_ROWS)
