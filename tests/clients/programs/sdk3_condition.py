"""SDK v3: a pipeline with a job whose result decides what follows."""

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

from botocore.exceptions import WaiterError
from sagemaker.core.processing import ScriptProcessor
from sagemaker.core.shapes import ProcessingOutput, ProcessingS3Output
from sagemaker.core.workflow.conditions import ConditionGreaterThan
from sagemaker.core.workflow.functions import Join, JsonGet
from sagemaker.core.workflow.parameters import ParameterFloat
from sagemaker.core.workflow.pipeline_context import PipelineSession
from sagemaker.core.workflow.properties import PropertyFile
from sagemaker.mlops.workflow.condition_step import ConditionStep
from sagemaker.mlops.workflow.fail_step import FailStep
from sagemaker.mlops.workflow.pipeline import Pipeline
from sagemaker.mlops.workflow.steps import ProcessingStep

image, name, role = *sys.argv[1:], "arn:aws:iam::123456789012:role/pipelines"
session = PipelineSession()
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
output = ProcessingS3Output(
    s3_uri=f"s3://{session.default_bucket()}/{name}/out", local_path="/opt/ml/processing/out", s3_upload_mode="EndOfJob"
)
found = PropertyFile(name="Found", output_name="out", path="found.json")
evaluated = ProcessingStep(
    name="Evaluate",
    step_args=processor.run(
        code="evaluate.py",
        arguments=[score.to_string()],
        outputs=[ProcessingOutput(output_name="out", s3_output=output)],
    ),
    property_files=[found],
)
value = JsonGet(step_name="Evaluate", property_file=found, json_path="score")
bad = FailStep(name="Bad", error_message=Join(on=" ", values=["bad:", score]))
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


arns = [pipeline.upsert(role)["PipelineArn"], pipeline.upsert()["PipelineArn"]]  # of the caller, if there is no role
results = {"good": followed(pipeline.start(parameters={"Score": 0.75})), "bad": followed(pipeline.start())}
print(json.dumps({"arns": arns, **results}))
