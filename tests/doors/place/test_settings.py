"""What jobs ask for in a place like SageMaker Studio: given in another way, or refused before anything is made."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.doors.place.conftest import RESOURCES, Here

pytestmark = [pytest.mark.engine, pytest.mark.slow(20, together=True)]

_KEYS = {"AWS_ACCESS_KEY_ID": "AKIATHEUSER", "AWS_SECRET_ACCESS_KEY": "hidden"}
_ASKS = """
import json, os, socket, urllib.request
token = {"Authorization": os.environ["AWS_CONTAINER_AUTHORIZATION_TOKEN"]}
asked = urllib.request.Request(os.environ["AWS_CONTAINER_CREDENTIALS_FULL_URI"], headers=token)
print(json.load(urllib.request.urlopen(asked))["AccessKeyId"], socket.gethostbyname("sagemaker-local"))
open("/opt/ml/code/made", "w").close()
"""

_TAKES = """
import socket, sys, time
taken = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("taken", flush=True)
time.sleep(240)
"""


def test_code_from_outside_the_home_gets_credentials(here: Here) -> None:
    here.place.run("sh", "-c", "mkdir /tmp/code && cat > /tmp/code/train.py", input=_ASKS, check=True)
    specification = {"TrainingImage": here.image("py"), "TrainingInputMode": "File"}
    entrypoint = {"ContainerEntrypoint": ["python3", "/opt/ml/code/train.py"]}
    file = here.training("place-code", "", AlgorithmSpecification={**specification, **entrypoint})
    flags = ("--code", "/tmp/code", "--credentials", "inherit", "--json")
    done = here.place.run("smlocal", "run", file, *flags, env=_KEYS)
    answer = json.loads(done.stdout)
    assert answer["TrainingJobStatus"] == "Completed", answer
    assert here.smlocal("logs", "place-code") == "AKIATHEUSER 127.0.0.1\n"
    assert here.place.run("ls", "/tmp/code").stdout == "train.py\n"


@pytest.mark.parametrize("folder", ["./tensors", "/tmp/tensors"])
def test_rules_are_evaluated_beside_the_job(folder: str, here: Here) -> None:
    def rule(name: str, script: str) -> dict[str, object]:
        parameters = {"script": script}
        return {"RuleConfigurationName": name, "RuleEvaluatorImage": here.image("rule"), "RuleParameters": parameters}

    rules = [
        rule("fine", "at_end; say NoIssuesFound 1 fine"),
        rule("bad", "until_there a; say IssuesFound 2 bad"),
    ]
    wait = "mkdir -p /opt/ml/output/tensors; echo tensor > /opt/ml/output/tensors/a; sleep 1"
    more: dict[str, Any] = {"DebugHookConfig": {"S3OutputPath": folder}, "DebugRuleConfigurations": rules}
    answer = here.run(here.training("place-rules", wait, **more))
    assert answer["TrainingJobStatus"] == "Completed", answer
    found = {each["RuleConfigurationName"]: each for each in answer["DebugRuleEvaluationStatuses"]}
    assert {name: each["RuleEvaluationStatus"] for name, each in found.items()} == {
        "fine": "NoIssuesFound",
        "bad": "IssuesFound",
    }


def test_containers_of_an_endpoint_have_ports_of_their_own_and_are_continued(here: Here) -> None:
    """Two instances of a model with two containers; the model of one is in a folder that cannot be mounted."""
    here.place.run("sh", "-c", "mkdir -p /tmp/model && echo w > /tmp/model/weights", check=True)
    here.write({"model/weights": "w"})
    containers = [
        {
            "Image": here.image("serve"),
            "ContainerHostname": name,
            "Environment": {"ANSWER": f"append:{name}"},
            "ModelDataSource": {
                "S3DataSource": {"S3Uri": folder, "S3DataType": "S3Prefix", "CompressionType": "None"},
            },
        }
        for name, folder in (("a", "/tmp/model"), ("b", "./model"))
    ]
    variant = {"VariantName": "V", **RESOURCES, "InitialInstanceCount": 2}
    variant.pop("InstanceCount")
    file = here.file({"Containers": containers, "ProductionVariants": [variant]}, "model")
    here.smlocal("deploy", file, "--name", "place-two")
    assert here.smlocal("invoke", "place-two", "--body", "x") == "xab"

    here.kill_supervisor("place-two")
    here.smlocal("recover")

    assert [here.smlocal("invoke", "place-two", "--body", "y") for _ in range(2)] == ["yab"] * 2
    here.smlocal("stop", "place-two")
    here.place.run("smlocal", "wait", "place-two")
    assert here.described("place-two")["Local"]["Leftovers"] == []


def test_an_endpoint_whose_port_another_program_has_taken_fails(here: Here, docker: Callable[..., str]) -> None:
    """In service, its container would be started again for ever."""
    file = here.file({"PrimaryContainer": {"Image": here.image("serve")}}, "model")
    here.smlocal("deploy", file, "--name", "place-taken")
    here.kill_supervisor("place-taken")
    container = docker("ps", "-q", "--filter", "label=smlocal.job=place-taken").strip()
    variables = json.loads(docker("inspect", container))[0]["Config"]["Env"]
    port = next(each for each in variables if each.startswith("SAGEMAKER_BIND_TO_PORT=")).partition("=")[2]
    docker("kill", container)
    docker("wait", container)
    with here.place.begin("python3", "-c", _TAKES, port) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "taken\n"

        here.smlocal("recover")
        here.place.run("smlocal", "wait", "place-taken")

        other.kill()
    local = here.described("place-taken")["Local"]
    assert f"another program uses port {port} of this machine" in local["Explanation"]
    assert local["Leftovers"] == []


@pytest.mark.parametrize(
    ("flags", "error"),
    [
        (("--instance-count", "2"), "one-host"),
        (("--set", "EnableNetworkIsolation=true"), "not-in-studio"),
        (("--network", "other"), "not-in-studio"),
    ],
)
def test_what_is_not_possible_is_refused_before_anything_is_made(
    flags: tuple[str, ...], error: str, here: Here
) -> None:
    done = here.place.run("smlocal", "run", here.training("place-refused", "true"), *flags)
    assert (done.returncode, f"[{error}]" in done.stderr, "smlocal submit" in done.stderr) == (3, True, True)
    assert not [call for call in here.place.engine.calls if call.startswith("POST")]
    assert not Path(here.home / ".local/share/smlocal/jobs/place-refused").exists()


def test_replicas_of_ai_platform_are_refused(here: Here) -> None:
    asked = {"region": "europe-west4", "scaleTier": "BASIC", "masterConfig": {"imageUri": here.image("sh")}}
    done = here.place.run("smlocal", "run", here.file({"jobId": "replicas", "trainingInput": asked}, "replicas"))
    assert (done.returncode, "[not-in-studio]" in done.stderr) == (3, True), done.stderr
