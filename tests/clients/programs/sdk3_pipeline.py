"""SDK v3: a pipeline of jobs, a model and its package, a ForEach, steps that run after failures, functions as steps."""

import contextlib
import json
import logging
import sys
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import WaiterError
from sagemaker.core.lambda_helper import Lambda
from sagemaker.core.processing import ScriptProcessor
from sagemaker.core.shapes import ProcessingInput, ProcessingOutput, ProcessingS3Input, ProcessingS3Output
from sagemaker.core.workflow.conditions import ConditionGreaterThan
from sagemaker.core.workflow.execution_variables import ExecutionVariables
from sagemaker.core.workflow.functions import Join, JsonGet
from sagemaker.core.workflow.parameters import ParameterInteger, ParameterString
from sagemaker.core.workflow.pipeline_context import PipelineSession
from sagemaker.core.workflow.properties import PropertyFile
from sagemaker.mlops.workflow.condition_step import ConditionStep
from sagemaker.mlops.workflow.fail_step import FailStep
from sagemaker.mlops.workflow.for_each_step import CurrentItem, ForEachSelector, ForEachStep, IterationOutput
from sagemaker.mlops.workflow.function_step import step
from sagemaker.mlops.workflow.lambda_step import LambdaOutput, LambdaOutputTypeEnum, LambdaStep
from sagemaker.mlops.workflow.model_step import ModelStep
from sagemaker.mlops.workflow.pipeline import Pipeline
from sagemaker.mlops.workflow.step_dependency import StepDependency, TriggerCondition
from sagemaker.mlops.workflow.steps import CacheConfig, ProcessingStep, TrainingStep
from sagemaker.serve.model_builder import ModelBuilder
from sagemaker.train import ModelTrainer
from sagemaker.train.configs import Compute, InputData

image, code_image, function_image, name, role = *sys.argv[1:], "arn:aws:iam::123456789012:role/pipelines"
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
session = PipelineSession()
client = session.sagemaker_client
s3 = boto3.client("s3")
s3.create_bucket(Bucket="rows")
s3.put_object(Bucket="rows", Key="in/rows.csv", Body=b"1,2\n")
Path("prepare.py").write_text(
    "import json, shutil, sys\n"
    "shutil.copy('/opt/ml/processing/rows/rows.csv', '/opt/ml/processing/train')\n"
    "json.dump({'factors': sys.argv[1]}, open('/opt/ml/processing/train/report.json', 'w'))\n"
)
factors = ParameterString(name="Factors", default_value='[{"factor": 2}, {"factor": 4}, {"factor": 3}]')
most = ParameterInteger(name="Most", default_value=3)
cache = CacheConfig(enable_caching=True, expire_after="PT1H")

report = PropertyFile(name="Report", output_name="train", path="report.json")
prepare = ProcessingStep(
    name="Prepare",
    step_args=ScriptProcessor(
        role=role,
        image_uri=code_image,
        command=["python3"],
        instance_count=1,
        instance_type="ml.m5.large",
        sagemaker_session=session,
    ).run(
        code="prepare.py",
        arguments=[factors],
        inputs=[
            ProcessingInput(
                input_name="rows",
                s3_input=ProcessingS3Input(
                    s3_uri="s3://rows/in",
                    local_path="/opt/ml/processing/rows",
                    s3_data_type="S3Prefix",
                    s3_input_mode="File",
                ),
            )
        ],
        outputs=[
            ProcessingOutput(
                output_name="train",
                s3_output=ProcessingS3Output(
                    s3_uri=Join(on="/", values=["s3://rows", ExecutionVariables.PIPELINE_EXECUTION_ID]),
                    local_path="/opt/ml/processing/train",
                    s3_upload_mode="EndOfJob",
                ),
            )
        ],
    ),
    property_files=[report],
    cache_config=cache,
)


def told(name: str, inputs: dict[str, Any], kind: LambdaOutputTypeEnum, **more: Any) -> LambdaStep:
    """A Lambda with the output `told`."""
    function = Lambda(function_arn="arn:aws:lambda:us-east-1:123456789012:function:tell", session=session)
    output = LambdaOutput(output_name="told", output_type=kind)
    return LambdaStep(name=name, lambda_func=function, inputs=inputs, outputs=[output], **more)


item = CurrentItem()
half = told("Half", {"number": item.factor}, LambdaOutputTypeEnum.Float)
again = told("Again", {"number": half.properties.Outputs["told"]}, LambdaOutputTypeEnum.Float)
each = ForEachStep(
    name="Each",
    iterable_items=JsonGet(step_name="Prepare", property_file=report, json_path="factors"),
    max_concurrency=2,
    for_each_body=[half, again],
    selector=ForEachSelector("MaxBy", IterationOutput(again).OutputParameters["told"]),
)
train = TrainingStep(
    name="Train",
    step_args=ModelTrainer(
        training_image=image,
        compute=Compute(instance_type="ml.m5.large", instance_count=1),
        base_job_name=name,
        hyperparameters={"factor": "3"},
        environment={"BEST": each.properties.Selected.OutputParameters["told"].to_string()},
        sagemaker_session=session,
        role=role,
        input_data_config=[
            InputData(
                channel_name="train",
                data_source=prepare.properties.ProcessingOutputConfig.Outputs["train"].S3Output.S3Uri,
            )
        ],
    ).train(),
    cache_config=cache,
)
builder = ModelBuilder(
    s3_model_data_url=train.properties.ModelArtifacts.S3ModelArtifacts,
    image_uri=image,
    sagemaker_session=session,
    role_arn=role,
)
make = ModelStep(name="Make", step_args=builder.build())
register = ModelStep(
    name="Register",
    step_args=builder.register(
        model_package_group_name=f"{name}-models",
        content_types=["text/csv"],
        response_types=["text/csv"],
        inference_instances=["ml.m5.large"],
        approval_status="Approved",
    ),
)
check = ConditionStep(
    name="Check",
    conditions=[ConditionGreaterThan(left=most, right=each.properties.SucceededStepCount)],
    if_steps=[FailStep(name="Few", error_message=Join(on=" ", values=[each.properties.Status, most]))],
    else_steps=[],
)
failed = [StepDependency(each, TriggerCondition.FAILED)]
sorry = told("Sorry", {"number": 1}, LambdaOutputTypeEnum.Float, depends_on=failed)
pipeline = Pipeline(
    name=name,
    parameters=[factors, most],
    steps=[prepare, each, train, make, register, check, sorry],
    sagemaker_session=session,
)


def followed(execution: Any, attempts: int = 60) -> dict[str, str]:
    """The status of each step, and of the execution as of a step."""
    with contextlib.suppress(WaiterError):
        execution.wait(delay=1, max_attempts=attempts)
    found = {}
    for listed in execution.list_steps():
        hit = " from the cache" if "CacheHitResult" in listed else ""
        why = f": {listed['FailureReason']}" if "FailureReason" in listed else ""
        found[listed["StepName"]] = f"{listed['StepStatus']}{hit}{why}"
    return {**found, "": execution.describe()["PipelineExecutionStatus"]}


pipeline.upsert(role)
first = pipeline.start()
results: dict[str, Any] = {"first": followed(first)}
steps = {each["StepName"]: each for each in first.list_steps()}
job = steps["Train"]["Metadata"]["TrainingJob"]["Arn"].split("/")[-1]
trained = client.describe_training_job(TrainingJobName=job)
(package,) = client.list_model_packages(ModelPackageGroupName=f"{name}-models")["ModelPackageSummaryList"]
results["of the first"] = {
    "each": steps["Each"]["Metadata"]["ForEach"],
    "item": steps["Again-1"]["IterationContext"],
    "best": trained["Environment"]["BEST"],
    "approved": package["ModelApprovalStatus"],
    "versions": [each["PipelineVersionId"] for each in pipeline.list_pipeline_versions()["PipelineVersionSummaries"]],
}
results["few"] = followed(pipeline.start(parameters={"Most": 100}))
without = pipeline.start(parameters={"Factors": '[{"factor": "none"}]'})
results["without"] = followed(without, attempts=2)  # the SDK's wait() does not know how it ends


def double(number: int) -> int:
    return 2 * number


if sys.version_info[:2] == (3, 11):  # that of the image
    settings = {"role": role, "instance_type": "ml.m5.large", "image_uri": function_image}
    once = step(double, name="once", **settings)(most)
    twice = step(double, name="twice", **settings)(once)
    functions = Pipeline(name=f"{name}-functions", parameters=[most], steps=[twice], sagemaker_session=session)
    functions.upsert(role)
    execution = functions.start(parameters={"Most": 5})
    results["functions"] = {**followed(execution), "result": execution.result("twice")}
print()
print(json.dumps(results))
