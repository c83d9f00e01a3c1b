"""SDK v2: a pipeline with a job whose result decides what follows, retried, selected from, and stopped."""

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError, WaiterError
from sagemaker.processing import ProcessingOutput, ScriptProcessor
from sagemaker.workflow.callback_step import CallbackOutput, CallbackOutputTypeEnum, CallbackStep
from sagemaker.workflow.condition_step import ConditionStep
from sagemaker.workflow.conditions import ConditionEquals, ConditionGreaterThan
from sagemaker.workflow.fail_step import FailStep
from sagemaker.workflow.functions import Join, JsonGet
from sagemaker.workflow.parameters import ParameterFloat
from sagemaker.workflow.pipeline import Pipeline
from sagemaker.workflow.pipeline_context import PipelineSession
from sagemaker.workflow.properties import PropertyFile
from sagemaker.workflow.selective_execution_config import SelectiveExecutionConfig
from sagemaker.workflow.steps import ProcessingStep

image, name, role = *sys.argv[1:], "arn:aws:iam::123456789012:role/pipelines"
session = PipelineSession()
client = session.sagemaker_client
Path("evaluate.py").write_text(
    "import json, sys\njson.dump({'score': float(sys.argv[1])}, open('/opt/ml/processing/out/found.json', 'w'))\n"
)
score = ParameterFloat(name="Score", default_value=0.25)
processor = ScriptProcessor(
    role=role,
    image_uri=image,
    command=["python3"],
    instance_count=1,
    instance_type="ml.m5.large",
    sagemaker_session=session,
)
found = PropertyFile(name="Found", output_name="out", path="found.json")
evaluated = ProcessingStep(
    name="Evaluate",
    step_args=processor.run(
        code="evaluate.py",
        arguments=[score.to_string()],
        outputs=[ProcessingOutput(source="/opt/ml/processing/out", output_name="out")],
    ),
    property_files=[found],
)
value = JsonGet(step_name="Evaluate", property_file=found, json_path="score")
status = evaluated.properties.ProcessingJobStatus
bad = FailStep(name="Bad", error_message=Join(on=" ", values=[status, "and bad:", score]))
check = ConditionStep(
    name="Check", conditions=[ConditionGreaterThan(left=value, right=0.5)], if_steps=[], else_steps=[bad]
)
pipeline = Pipeline(name=name, parameters=[score], steps=[evaluated, check], sagemaker_session=session)


def followed(execution: Any) -> list[Any]:
    """The status, and the steps, the newest first."""
    with contextlib.suppress(WaiterError):
        execution.wait()
    steps = [[each["StepName"], each["StepStatus"], each.get("FailureReason")] for each in execution.list_steps()]
    return [execution.describe()["PipelineExecutionStatus"], *steps]


pipeline.upsert(role, tags=[{"Key": "a", "Value": "b"}])
pipeline.upsert(role, tags=[{"Key": "c", "Value": "d"}])
tags = client.list_tags(ResourceArn=pipeline.describe()["PipelineArn"])["Tags"]
good = pipeline.start(parameters={"Score": 0.75})
results = {"good": followed(good)}
low = pipeline.start()
results["bad"] = followed(low)
client.retry_pipeline_execution(PipelineExecutionArn=low.arn)
results["retried"] = followed(low)
selected = SelectiveExecutionConfig(source_pipeline_execution_arn=good.arn, selected_steps=["Check"])
results["selected"] = followed(pipeline.start(selective_execution_config=selected, parameters={"Score": 0.1}))
parameters = good.list_parameters()["PipelineParameters"]

told = CallbackOutput(output_name="told", output_type=CallbackOutputTypeEnum.String)
asking = CallbackStep(name="Ask", sqs_queue_url="https://sqs.us-east-1.amazonaws.com/1/q", inputs={}, outputs=[told])
long = [FailStep(name=f"F{each}", error_message="x" * 2000) for each in range(60)]
more = ConditionStep(name="More", conditions=[ConditionEquals(left=told, right="yes")], if_steps=[], else_steps=long)
large = Pipeline(name=f"{name}-large", steps=[asking, more], sagemaker_session=session)
large.upsert(role)


def token(execution: Any) -> str:
    """The token of the Callback that has begun."""
    while True:
        for each in execution.list_steps():
            if "Callback" in each["Metadata"]:
                return str(each["Metadata"]["Callback"]["CallbackToken"])
        time.sleep(0.05)


answered = large.start()
outputs = [{"Name": "told", "Value": "yes"}]
client.send_pipeline_execution_step_success(CallbackToken=token(answered), OutputParameters=outputs)
results["answered"] = followed(answered)
stopped = large.start()
waits = token(stopped)
stopped.stop()
client.send_pipeline_execution_step_failure(CallbackToken=waits, FailureReason="stopped")
with contextlib.suppress(WaiterError):
    stopped.wait(delay=1, max_attempts=2)
results["stopped"] = stopped.describe()["PipelineExecutionStatus"]
refused = ""
try:
    stopped.stop()
except ClientError as error:
    refused = error.response["Error"]["Message"]
print(
    json.dumps(
        {
            "tags": tags,
            "parameters": parameters,
            "version": pipeline.latest_pipeline_version_id,
            "refused": refused,
            **results,
        }
    )
)
