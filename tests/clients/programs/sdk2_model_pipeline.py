"""SDK v2: a pipeline that searches, trains, registers and uses a model, its cache, a Lambda, and functions as steps."""

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

from botocore.exceptions import WaiterError
from sagemaker.estimator import Estimator
from sagemaker.inputs import TrainingInput, TransformInput
from sagemaker.lambda_helper import Lambda
from sagemaker.model import Model
from sagemaker.processing import ProcessingInput, ProcessingOutput, ScriptProcessor
from sagemaker.s3 import S3Downloader
from sagemaker.transformer import Transformer
from sagemaker.tuner import HyperparameterTuner, IntegerParameter
from sagemaker.workflow.condition_step import ConditionStep
from sagemaker.workflow.conditions import ConditionGreaterThanOrEqualTo, ConditionIn, ConditionNot, ConditionOr
from sagemaker.workflow.execution_variables import ExecutionVariables
from sagemaker.workflow.fail_step import FailStep
from sagemaker.workflow.function_step import step
from sagemaker.workflow.functions import Join, JsonGet
from sagemaker.workflow.lambda_step import LambdaOutput, LambdaOutputTypeEnum, LambdaStep
from sagemaker.workflow.model_step import ModelStep
from sagemaker.workflow.parameters import ParameterFloat, ParameterInteger, ParameterString
from sagemaker.workflow.pipeline import Pipeline
from sagemaker.workflow.pipeline_context import PipelineSession
from sagemaker.workflow.properties import PropertyFile
from sagemaker.workflow.retry import (
    SageMakerJobExceptionTypeEnum,
    SageMakerJobStepRetryPolicy,
    StepExceptionTypeEnum,
    StepRetryPolicy,
)
from sagemaker.workflow.selective_execution_config import SelectiveExecutionConfig
from sagemaker.workflow.steps import CacheConfig, ProcessingStep, TrainingStep, TransformStep, TuningStep

image, code_image, function_image, name, role = *sys.argv[1:], "arn:aws:iam::123456789012:role/pipelines"
session = PipelineSession()
client = session.sagemaker_client
bucket = session.default_bucket()
plain = {"instance_count": 1, "instance_type": "ml.m5.large", "sagemaker_session": session}
cache = CacheConfig(enable_caching=True, expire_after="30d")
retries = [
    StepRetryPolicy(exception_types=[StepExceptionTypeEnum.SERVICE_FAULT, StepExceptionTypeEnum.THROTTLING]),
    SageMakerJobStepRetryPolicy(exception_types=[SageMakerJobExceptionTypeEnum.CAPACITY_ERROR], max_attempts=2),
]
Path("rows").mkdir()
Path("rows/rows.csv").write_text("1,2\n")
Path("prepare.py").write_text(
    "import json, shutil, sys\n"
    "shutil.copy('/opt/ml/processing/rows/rows.csv', '/opt/ml/processing/train')\n"
    "report = {'metrics': {'accuracy': {'value': float(sys.argv[1])}}}\n"
    "json.dump(report, open('/opt/ml/processing/report/report.json', 'w'))\n"
)
accuracy = ParameterFloat(name="Accuracy", default_value=0.75)
factor = ParameterInteger(name="Factor", default_value=3)
kind = ParameterString(name="Kind", default_value="a", enum_values=["a", "b"])
approval = ParameterString(name="Approval", default_value="PendingManualApproval")

report = PropertyFile(name="Report", output_name="report", path="report.json")
prepare = ProcessingStep(
    name="Prepare",
    step_args=ScriptProcessor(role=role, image_uri=code_image, command=["python3"], **plain).run(
        code="prepare.py",
        arguments=[accuracy.to_string()],
        inputs=[ProcessingInput(source="rows", destination="/opt/ml/processing/rows")],
        outputs=[
            ProcessingOutput(source="/opt/ml/processing/train", output_name="train"),
            ProcessingOutput(
                source="/opt/ml/processing/report",
                output_name="report",
                destination=Join(on="/", values=[f"s3://{bucket}", ExecutionVariables.PIPELINE_EXECUTION_ID, "report"]),
            ),
        ],
    ),
    property_files=[report],
    cache_config=cache,
    retry_policies=retries,
)
train = prepare.properties.ProcessingOutputConfig.Outputs["train"].S3Output.S3Uri
channels = {"train": TrainingInput(train)}
search = TuningStep(
    name="Search",
    step_args=HyperparameterTuner(
        Estimator(image_uri=image, role=role, output_path=f"s3://{bucket}/search", **plain),
        "factor",
        {"factor": IntegerParameter(factor, 9)},
        metric_definitions=[{"Name": "factor", "Regex": "factor=([0-9.]+);"}],
        strategy="Random",
        max_jobs=2,
        max_parallel_jobs=2,
    ).fit(channels),
    cache_config=cache,
)
fit = TrainingStep(
    name="Fit",
    step_args=Estimator(
        image_uri=image,
        role=role,
        hyperparameters={"factor": factor, "job": ExecutionVariables.TRAINING_JOB_NAME},
        environment={"BEST": search.properties.BestTrainingJob.TrainingJobName},
        **plain,
    ).fit(channels),
    retry_policies=retries,
)
model = Model(
    image_uri=image,
    role=role,
    model_data=fit.properties.ModelArtifacts.S3ModelArtifacts,
    sagemaker_session=session,
)
make = ModelStep(name="Make", step_args=model.create(instance_type="ml.m5.large"))
apply = TransformStep(
    name="Apply",
    step_args=Transformer(
        make.properties.ModelName,
        accept="text/csv",
        assemble_with="Line",
        strategy="SingleRecord",
        output_path=Join(on="/", values=[f"s3://{bucket}", "applied", ExecutionVariables.PIPELINE_EXECUTION_ID]),
        **plain,
    ).transform(TransformInput(train).data, content_type="text/csv", split_type="Line"),
)
best = Model(
    image_uri=image,
    role=role,
    model_data=search.get_top_model_s3_uri(top_k=0, s3_bucket=bucket, prefix="search"),
    sagemaker_session=session,
)
register = ModelStep(
    name="Register",
    step_args=best.register(
        content_types=["text/csv"],
        response_types=["text/csv"],
        inference_instances=["ml.m5.large"],
        transform_instances=["ml.m5.large"],
        model_package_group_name=f"{name}-models",
        approval_status=approval,
    ),
)
found = LambdaOutput(output_name="found", output_type=LambdaOutputTypeEnum.String)
tell = LambdaStep(
    name="Tell",
    lambda_func=Lambda(function_arn="arn:aws:lambda:us-east-1:123456789012:function:tell", session=session),
    inputs={"package": register.properties.ModelPackageArn, "factor": factor},
    outputs=[found],
)
value = JsonGet(step_name="Prepare", property_file=report, json_path="metrics.accuracy.value")
check = ConditionStep(
    name="Check",
    conditions=[
        ConditionGreaterThanOrEqualTo(left=value, right=0.5),
        ConditionOr(conditions=[ConditionIn(value=kind, in_values=["a"]), ConditionNot(ConditionIn(kind, ["b"]))]),
    ],
    if_steps=[make, apply, register, tell],
    else_steps=[FailStep(name="Bad", error_message=Join(on=" ", values=["only", value, "of kind", kind]))],
    depends_on=[fit],
)
pipeline = Pipeline(
    name=name,
    parameters=[accuracy, factor, kind, approval],
    steps=[prepare, search, fit, check],
    sagemaker_session=session,
)


def followed(execution: Any) -> dict[str, Any]:
    """What is told of its steps, and of itself as of a step."""
    with contextlib.suppress(WaiterError):
        execution.wait()
    steps = execution.list_steps()
    found = {each["StepName"].split("-")[0]: each["StepStatus"] + told(each) for each in reversed(steps)}
    return {**found, "": execution.describe()["PipelineExecutionStatus"]}


def told(listed: dict[str, Any]) -> str:
    """What is special about a step."""
    hit, reused = listed.get("CacheHitResult"), listed.get("SelectiveExecutionResult")
    return f"{': ' + listed['FailureReason'] if 'FailureReason' in listed else ''}" + (
        " from the cache" if hit else " from its source" if reused else ""
    )


pipeline.upsert(role)
first = pipeline.start(parallelism_config={"MaxParallelExecutionSteps": 2})
results = {"first": followed(first)}
(listed,) = client.list_model_packages(ModelPackageGroupName=f"{name}-models")["ModelPackageSummaryList"]
package = client.describe_model_package(ModelPackageName=listed["ModelPackageArn"])
(container,) = package["InferenceSpecification"]["Containers"]
steps = {each["StepName"]: each for each in first.list_steps()}
trained = client.describe_training_job(TrainingJobName=steps["Fit"]["Metadata"]["TrainingJob"]["Arn"].split("/")[-1])
execution_id = first.arn.split("/")[-1]
made = client.describe_model(ModelName=steps["Make-CreateModel"]["Metadata"]["Model"]["Arn"].split("/")[-1])
variant = {"VariantName": "A", "ModelName": made["ModelName"], "InstanceType": "ml.m5.large", "InitialInstanceCount": 1}
config = client.create_endpoint_config(EndpointConfigName=f"{name}-config", ProductionVariants=[variant])
results["of the first"] = {
    "status": package["ModelApprovalStatus"],
    "of the best": trained["Environment"]["BEST"] in container["ModelDataUrl"],
    "own name": trained["HyperParameters"]["job"].strip('"') == trained["TrainingJobName"],
    "told": steps["Tell"]["Metadata"]["Lambda"]["OutputParameters"],
    "package": listed["ModelPackageArn"].split(":")[-1],
    "config": config["EndpointConfigArn"].split(":")[-1],
    "applied": S3Downloader.read_file(f"s3://{bucket}/applied/{execution_id}/rows.csv.out", sagemaker_session=session),
}
chosen = SelectiveExecutionConfig(source_pipeline_execution_arn=first.arn, selected_steps=["Fit"])
results["selected"] = followed(pipeline.start(selective_execution_config=chosen, parameters={"Factor": 5}))
results["again"] = followed(pipeline.start(parameters={"Kind": "b"}))
results["bad"] = followed(pipeline.start(parameters={"Accuracy": 0.25}))


def pair(number: int) -> tuple[int, int]:
    return number, number + 1


def product(one: int, other: int) -> int:
    return one * other


settings = {"role": role, "instance_type": "ml.m5.large", "image_uri": function_image}
numbers = step(pair, name="pair", **settings)(factor)
multiplied = step(product, name="product", **settings)(numbers[0], numbers[1])
functions = Pipeline(name=f"{name}-functions", parameters=[factor], steps=[multiplied], sagemaker_session=session)
functions.upsert(role)
execution = functions.start(parameters={"Factor": 6})
results["functions"] = {**followed(execution), "result": execution.result("product")}
print(json.dumps(results))
