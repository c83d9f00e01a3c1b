"""Input and moments that nobody wants: a step fails with a reason, and nothing is left."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from tests.jobs.pipelines.conftest import WAIT

from smlocal.sagemaker.pipelines.stored import CALLBACK, answer_document

Gone = Callable[[str], None]
FUNCTION = {
    "Std:Join": {"On": ":", "Values": ["arn:aws:lambda:us-east-1:111122223333:function", {"Get": "Parameters.F"}]}
}


def _callback(name: str, **arguments: Any) -> dict[str, Any]:
    url = {"Std:Join": {"On": "/", "Values": ["https://q", {"Get": "Execution.PipelineName"}]}}
    return {"Name": name, "Type": "Callback", "SqsQueueUrl": url, "Arguments": arguments, "OutputParameters": []}


@pytest.mark.slow(2)
def test_a_value_that_is_no_path_fails_its_step_alone(pipelines: Any, all_gone: Gone) -> None:
    steps = [
        _callback("Null", value={"Std:JsonGet": {"S3Uri": {"Get": "Parameters.P"}, "Path": "a"}}),
        {"Name": "Other", "Type": "Lambda", "FunctionArn": FUNCTION, "Arguments": {}},
    ]
    (pipelines.life.folder / "f.py").write_text(
        "def handler(e, c):\n    assert c.function_name == 'name', c.function_name\n"
    )
    (pipelines.life.home / "buckets" / "bucket").mkdir(parents=True)
    parameters = [
        {"Name": "P", "Type": "String", "DefaultValue": "s3://bucket/a\0b"},
        {"Name": "F", "Type": "String", "DefaultValue": "name"},
    ]
    local = {"Steps": {"Other": {"Python": "f.py:handler"}}}
    execution = pipelines.run("null", steps, code=1, Parameters=parameters, Local=local)
    assert sorted(pipelines.rows(execution)) == [
        "Null Failed ClientError: value: 'a\\x00b' cannot be the name of a file",
        "Other Succeeded",
    ]
    arn = pipelines.steps(execution)["Other"].progress.metadata["Lambda"]["Arn"]
    assert arn == "arn:aws:lambda:us-east-1:111122223333:function:name"
    all_gone(execution)


@pytest.mark.slow(3)
def test_an_execution_that_breaks_off_leaves_no_job_and_no_token(pipelines: Any, all_gone: Gone) -> None:
    life = pipelines.life
    execution = pipelines.detach("breaks", [_callback("Ask"), pipelines.training("Runs", f"echo up; {WAIT}")])
    pipelines.until_running(execution, 1)
    waits = pipelines.steps(execution)["Ask"].waits
    assert waits["QueueUrl"] == "https://q/breaks"
    life.store.put_document(execution, answer_document(waits["Token"]), {"Damaged": True})  # such as a bug would
    assert pipelines.wait(execution) == "Failed"
    assert [each.status for each in pipelines.children(execution)] == ["Stopped"]
    assert not list(life.store.resources(CALLBACK))
    all_gone(execution)


CLIENT = """
import sys, time, boto3
client = boto3.client("sagemaker", region_name="us-east-1")
definition, role = open(sys.argv[1]).read(), "arn:aws:iam::111122223333:role/R"
client.create_pipeline(PipelineName="own", PipelineDefinition=definition, RoleArn=role)
chosen = {"SourcePipelineExecutionArn": sys.argv[2], "SelectedSteps": [{"StepName": "Clean"}]}
for asked in ({}, {"SelectiveExecutionConfig": chosen}):
    arn = client.start_pipeline_execution(PipelineName="own", **asked)["PipelineExecutionArn"]
    while client.describe_pipeline_execution(PipelineExecutionArn=arn)["PipelineExecutionStatus"] == "Executing":
        time.sleep(0.1)
    print(arn.rpartition("/")[2])
"""


@pytest.mark.slow(4)
def test_a_client_has_no_outputs_of_the_user(pipelines: Any, all_gone: Gone) -> None:
    """Neither from the cache nor as the source of a selective execution: a Cleanup would even delete them."""
    life = pipelines.life
    steps = [
        pipelines.processing("Make", "echo mine > /opt/ml/processing/out/f", CacheConfig={"Enabled": True}),
        {
            "Name": "Clean",
            "Type": "Cleanup",
            "Arguments": {"Resources": {"S3": [{"StepName": "Make", "S3Uris": ["s3://nowhere/out/f"]}]}},
            "DependsOn": ["Make"],
        },
    ]
    alone = [{**steps[0], "CacheConfig": {"Enabled": True}}]
    mine = pipelines.run("own", alone)
    written = list(life.folder.glob("**/f"))
    assert [each.read_text() for each in written] == ["mine\n"]
    (life.folder / "client.py").write_text(CLIENT)
    definition = pipelines.file("of-client", steps)
    words = ("exec", "--", sys.executable, life.folder / "client.py", definition, life.job(mine).arn)
    done = life(*words)
    assert done.returncode == 0, done.stderr
    first, second = (f"own-{each}" for each in done.stdout.split())
    assert pipelines.steps(first)["Make"].cache == {
        "Why": "what earlier runs have written lies where clients of this server may not read"
    }
    assert written[0].exists()
    assert pipelines.rows(second)[-1] == "Clean Succeeded"
    assert pipelines.steps(second)["Clean"].answer["SkippedSteps"] == ["Make"]
    for each in (mine, first, second):
        all_gone(each)
