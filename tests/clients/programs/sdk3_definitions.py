"""SDK v3: definitions with what its other pipelines do not use, one in a line. Nothing of them is sent."""

import json
import sys
from typing import Any

from sagemaker.core.lambda_helper import Lambda
from sagemaker.core.workflow.conditions import (
    ConditionEquals,
    ConditionGreaterThan,
    ConditionGreaterThanOrEqualTo,
    ConditionIn,
    ConditionLessThan,
    ConditionLessThanOrEqualTo,
    ConditionNot,
    ConditionOr,
)
from sagemaker.core.workflow.execution_variables import ExecutionVariables
from sagemaker.core.workflow.functions import Join, JsonGet
from sagemaker.core.workflow.parameters import ParameterBoolean, ParameterFloat, ParameterInteger, ParameterString
from sagemaker.core.workflow.pipeline_context import PipelineSession
from sagemaker.mlops.workflow import (
    CacheConfig,
    CallbackOutput,
    CallbackStep,
    CleanupStep,
    ConditionStep,
    CurrentItem,
    EMRStep,
    EMRStepConfig,
    EndpointConfigStep,
    EndpointStep,
    FailStep,
    ForEachStep,
    LambdaOutput,
    LambdaStep,
    LineageAssociation,
    LineageEntityReference,
    LineageStep,
    Pipeline,
    PipelineExperimentConfig,
    PipelineExperimentConfigProperties,
    S3CleanupSource,
    StepDependency,
    TriggerCondition,
)
from sagemaker.mlops.workflow.callback_step import CallbackOutputTypeEnum
from sagemaker.mlops.workflow.emr_serverless_step import EMRServerlessJobConfig, EMRServerlessStep
from sagemaker.mlops.workflow.lambda_step import LambdaOutputTypeEnum

session = PipelineSession()
role = "arn:aws:iam::123456789012:role/pipelines"
number = ParameterInteger(name="Number", default_value=1)
rate = ParameterFloat(name="Rate", default_value=0.5)
flag = ParameterBoolean(name="Flag", default_value=False)
text = ParameterString(name="Text", default_value="a", enum_values=["a", "b"])


def waits(name: str = "Wait", inputs: dict[str, Any] | None = None, **more: Any) -> CallbackStep:
    outputs = [CallbackOutput(f"{name}-{kind.value}", kind) for kind in CallbackOutputTypeEnum]
    return CallbackStep(name, "https://queue", inputs or {}, outputs, display_name="D", description="d", **more)


def calls(name: str, inputs: dict[str, Any], **more: Any) -> LambdaStep:
    function = Lambda(function_arn="arn:aws:lambda:us-east-1:123456789012:function:f", session=session)
    outputs = [LambdaOutput(f"{name}-{kind.value}", kind) for kind in LambdaOutputTypeEnum]
    return LambdaStep(name, function, inputs=inputs, outputs=outputs, **more)


wait = waits(inputs={"text": text, "joined": Join(on="/", values=[text, number, rate, flag, 1, "b"])})
integer = wait.properties.Outputs["Wait-Integer"]
conditions = [
    ConditionEquals(left=flag, right=True),
    ConditionGreaterThan(left=integer, right=number),
    ConditionGreaterThanOrEqualTo(left=rate, right=0.5),
    ConditionLessThan(left=number, right=2),
    ConditionLessThanOrEqualTo(left=ExecutionVariables.START_DATETIME, right="2030"),
    ConditionOr([ConditionIn(value=text, in_values=["a", text]), ConditionNot(ConditionEquals(left=text, right="b"))]),
    ConditionEquals(left=JsonGet(s3_uri=Join(on="/", values=["s3:/", text, "r.json"]), json_path="a.b[0]"), right=1),
]
inner = ConditionStep(
    "Inner", conditions=conditions[:1], if_steps=[], else_steps=[FailStep("Fail", error_message=text)]
)
compared = ConditionStep("Compare", conditions=conditions, if_steps=[inner, calls("Call", {})], else_steps=[])
after = [
    StepDependency(compared, TriggerCondition.FAILED),
    StepDependency(wait, TriggerCondition.ANY),
    StepDependency("Other", TriggerCondition.STOPPED),
]
item = CurrentItem()
config = PipelineExperimentConfig(Join(on="-", values=["e", text]), ExecutionVariables.PIPELINE_EXECUTION_ID)
names = [name for name in vars(ExecutionVariables) if name.startswith(("PIPELINE", "CURRENT"))]
variables = {name: getattr(ExecutionVariables, name) for name in names}
made = EndpointConfigStep(
    "Config",
    session.create_endpoint_config(
        name="config",
        production_variants=[
            {
                "VariantName": "AllTraffic",
                "ModelName": "model",
                "InitialInstanceCount": 1,
                "InstanceType": "ml.m5.large",
            }
        ],
    ),
    cache_config=CacheConfig(enable_caching=True, expire_after="P1D"),
)
spark = EMRServerlessJobConfig(job_driver={"sparkSubmit": {"entryPoint": "s3://a/b.py"}}, execution_role_arn=role)
own = LineageEntityReference(name="a", type="Action")
other = LineageEntityReference(arn="arn:aws:sagemaker:us-east-1:123456789012:action/b")
definitions = {
    "conditions": [wait, waits("Other"), compared, calls("After", {}, depends_on=after)],
    "names": [waits(inputs={**variables, "experiment": PipelineExperimentConfigProperties.EXPERIMENT_NAME})],
    "items": [
        ForEachStep(
            "Each",
            iterable_items=[text, 1, 0.5, True, "x"],
            max_concurrency=50,
            for_each_body=[calls("Body", {"item": item})],
        ),
        ForEachStep("Deep", text, 1, [calls("Inner", {"item": item.a.b["c"]})], depends_on=["Each"]),
    ],
    "endpoints": [
        made,
        EndpointStep(
            "Endpoint", session.create_endpoint(endpoint_name="e", config_name=made.properties.EndpointConfigName)
        ),
    ],
    "elsewhere": [
        EMRStep("Emr", "D", "d", "j-1", EMRStepConfig(jar="s3://a/b.jar", args=["--a"], main_class="c")),
        EMRServerlessStep("Spark", "D", "d", spark, application_id="app"),
        LineageStep("Record", associations=[LineageAssociation(other, other, "Produced")]),
        wait,
        CleanupStep("Clean", [S3CleanupSource("Spark", ["s3://a/b", text])], depends_on=after[1:2]),
    ],
}
for name, steps in definitions.items():
    pipeline = Pipeline(
        name, [number, rate, flag, text], steps=steps, pipeline_experiment_config=config, sagemaker_session=session
    )
    print(json.dumps({name: json.loads(pipeline.definition())}), file=sys.stdout)
