"""From a model to an answer, and to nothing that is left."""

import json
import os
import signal
import tarfile
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from smlocal.base.accounts import other_users

Clean = Callable[[str], None]


@pytest.mark.slow(4)
def test_an_endpoint_lives_until_it_is_stopped(hosting: Any, assert_nothing_left: Clean) -> None:
    address = hosting.in_service("lives", variables={"ANSWER": "json"})
    assert address.endswith("/endpoints/lives/invocations")
    assert hosting.listed() == {"lives": "InService"}

    seen = json.loads(hosting.invoke("lives", "1,2", "--content-type", "text/csv", "--accept", "text/plain").stdout)
    assert seen["path"] == "/invocations"
    assert seen["body"] == "1,2"
    assert seen["headers"]["content-type"] == "text/csv"
    assert seen["headers"]["accept"] == "text/plain"
    assert seen["environment"]["SAGEMAKER_BIND_TO_PORT"] == "8080"
    assert seen["environment"]["SAGEMAKER_SAFE_PORT_RANGE"]
    assert "serving" in hosting.log("lives")
    assert hosting.life("logs", "lives").stdout == "serving\n"

    described = hosting.described("lives")
    assert described["EndpointStatus"] == "InService"
    assert described["Local"]["Address"] == address
    assert described["Local"]["RestartCount"] == 0
    assert described["ProductionVariants"][0]["VariantName"] == "AllTraffic"

    again = hosting.deploy("lives")
    assert (again.returncode, "An endpoint with the name 'lives' already exists" in again.stderr) == (2, True)
    replaced = hosting.deploy("lives", "--replace")
    refused = hosting.life("rm", "lives")
    assert (refused.returncode, "[job-not-finished]" in refused.stderr) == (2, True), refused.stderr
    assert all("smlocal rm --stop lives" in each.stderr for each in (again, replaced, refused))
    assert not any("ait for it" in each.stderr for each in (again, replaced, refused))

    followed = hosting.life.begin("logs", "--follow", "lives")
    assert hosting.life("stop", "lives", "--wait").returncode == 0
    assert followed.communicate(timeout=200) == ("serving\n", "")
    assert hosting.listed() == {"lives": "Stopped"}
    assert_nothing_left("lives")
    gone = hosting.invoke("lives")
    assert (gone.returncode, "[endpoint-not-in-service]" in gone.stderr) == (1, True), gone.stderr
    assert hosting.life("rm", "lives").returncode == 0
    assert hosting.listed() == {}
    assert not (hosting.life.home / "jobs" / "lives").exists()


@pytest.mark.slow(3)
def test_an_address_with_a_key_answers_who_can_read_its_file(
    hosting: Any, life: Any, assert_nothing_left: Clean
) -> None:
    done = hosting.deploy("keyed", "--key")
    address, line = done.stdout.strip(), done.stderr.splitlines()[-1]
    file = Path(hosting.described("keyed")["Local"]["KeyFile"])
    assert line == f"curl -H @{file} -H 'Content-Type: text/csv' --data-binary @FILE {address}"
    typed = done.stderr.splitlines()[-2].partition("  # ")[0]
    assert typed == "smlocal invoke keyed --content-type text/csv --body-file FILE"
    assert file.stat().st_mode & 0o777 == 0o600
    name, _, value = file.read_text().strip().partition(": ")

    def status(headers: Mapping[str, str]) -> int:
        request = urllib.request.Request(address, data=b"7", headers={"Content-Type": "text/csv", **headers})
        try:
            with urllib.request.urlopen(request) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    assert [status({}), status({name: f"{value}x"}), status({name: value})] == [403, 403, 200]
    assert hosting.invoke("keyed", "7").stdout == "7"
    described = " ".join(life("describe", "keyed").stdout.split())
    assert f"Key in {file} (curl -H @{file})" in described
    life.crash("keyed")
    assert hosting.invoke("keyed", "8").stdout == "8"
    assert status({name: value}) == 200  # the clients of one that was killed have the key still
    assert life("rm", "--stop", "keyed").returncode == 0
    assert not file.exists()
    assert_nothing_left("keyed")
    done = hosting.deploy("open", "--no-key")
    assert "KeyFile" not in {name for name, value in hosting.described("open")["Local"].items() if value}
    address = done.stdout.strip()
    assert status({}) == 200
    lines = done.stderr.splitlines()
    curl = next(index for index, line in enumerate(lines) if line.startswith("curl "))
    assert lines[curl] == f"curl -H 'Content-Type: text/csv' --data-binary @FILE {address}"
    others = bool(other_users())
    assert lines[curl + 1 :] == (["every user of this machine can invoke it"] if others else [])
    described = " ".join(life("describe", "open").stdout.split())
    assert ("Key none: every user of this machine can invoke it" in described) is others
    assert life("rm", "--stop", "open").returncode == 0


@pytest.mark.slow(3)
def test_a_job_is_deployed_with_its_model_and_image(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    request = {
        "TrainingJobName": "trained",
        "AlgorithmSpecification": {
            "TrainingImage": hosting.image,
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["python3", "-c", "open('/opt/ml/model/weights.txt', 'w').write('42')"],
        },
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "local", "InstanceCount": 1},
    }
    (life.folder / "job.json").write_text(json.dumps(request))
    assert life("run", "job.json").returncode == 0
    done = life("deploy", "trained", "--name", "served", "-e", "ANSWER=model")
    assert done.returncode == 0, done.stderr
    assert json.loads(hosting.invoke("served").stdout) == {"/opt/ml/model/weights.txt": "42"}
    assert life("rm", "--stop", "served").returncode == 0
    assert_nothing_left("served")


@pytest.mark.slow(3)
def test_an_archive_and_a_folder_are_deployed_with_an_image(
    hosting: Any, life: Any, assert_nothing_left: Clean
) -> None:
    archive = hosting.archive({"code/a.py": "a", "b": "b"})
    without = life("deploy", archive)
    assert (without.returncode, "[deploy-image]" in without.stderr) == (2, True)
    flags = ("--image", hosting.image, "-e", "ANSWER=model", "--quiet")
    assert life("deploy", archive, "--name", "deployed-archive", *flags).returncode == 0
    expected = {"/opt/ml/model/code/a.py": "a", "/opt/ml/model/b": "b"}
    assert json.loads(hosting.invoke("deployed-archive").stdout) == expected
    with tarfile.open(archive) as file:
        file.extractall(life.folder / "folder", filter="data")
    assert life("deploy", life.folder / "folder", "--name", "deployed-folder", *flags).returncode == 0
    assert json.loads(hosting.invoke("deployed-folder").stdout) == expected
    assert life("rm", "--stop", "deployed-archive", "deployed-folder").returncode == 0
    assert_nothing_left("deployed-archive")
    assert_nothing_left("deployed-folder")
    assert sorted(os.listdir(life.folder / "folder")) == ["b", "code"]


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("form", ["not-executable", "no-train", "shell-form", "show"])
def test_the_argument_is_serve_in_every_form(hosting: Any, life: Any, image: Any, form: str) -> None:
    """What the engine is asked for: these images do not serve."""
    name = f"serve-{form}"
    life("deploy", hosting.archive(), "--image", image(form), "--name", name)
    plan = json.loads((life.home / "jobs" / name / "plan.json").read_text())
    assert plan["Hosts"][0]["Command"] == ["serve"]
    assert life.job(name).status == "Failed"
    if form == "show":
        assert "<serve>" in hosting.log(name)


@pytest.mark.slow(2)
def test_the_log_is_followed_in_the_foreground_until_ctrl_c(
    hosting: Any, life: Any, assert_nothing_left: Clean
) -> None:
    hosting.archive()
    process = life.begin("deploy", hosting.model_file("followed-front"), "--name", "followed-front", "--foreground")
    hosting.until(lambda: life.store.count() == 1 and life.job("followed-front").phase == "Training")
    assert hosting.invoke("followed-front", "hello").stdout == "hello"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    assert "serving\n" in out
    assert "InService" in err
    assert "smlocal invoke followed-front --content-type text/csv --body-file FILE  # - is standard input; " in err
    (curl,) = [line for line in err.splitlines() if "curl -H 'Content-Type: text/csv' --data-binary @FILE" in line]
    assert curl.endswith("/endpoints/followed-front/invocations")
    assert life.job("followed-front").status == "Stopped"
    assert_nothing_left("followed-front")


@pytest.mark.slow(2)
def test_the_host_name_and_isolation(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    done = hosting.deploy(
        "served-apart",
        container={"ContainerHostname": "model-host"},
        variables={"ANSWER": "json"},
        EnableNetworkIsolation=True,
    )
    assert done.returncode == 0, done.stderr
    notes = hosting.described("served-apart")["Local"]["Notes"]
    shown = " ".join(life("describe", "served-apart").stdout.split())
    assert "Differences from the service" in shown
    assert all(each["Text"] in shown for each in notes)
    warned = " ".join(done.stderr.split())
    assert [each["Id"] for each in notes if each["Text"] in warned] == [each["Id"] for each in notes if each["Warning"]]
    assert "engine-isolation" in {each["Id"] for each in notes if each["Warning"]}
    assert json.loads(hosting.invoke("served-apart").stdout)["hostname"] == "model-host"
    assert life("rm", "--stop", "served-apart").returncode == 0
    assert_nothing_left("served-apart")


def test_a_bad_archive_fails_with_the_words_of_the_service(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    (life.folder / "bad.tar.gz").write_bytes(b"no archive")
    done = life("deploy", life.folder / "bad.tar.gz", "--image", hosting.image, "--name", "no-archive")
    assert done.returncode == 1
    reason = life.job("no-archive").failure_reason
    assert reason.startswith('Failed to extract model data archive for container "container_1" from URL ')
    assert_nothing_left("no-archive")


def test_what_is_refused_leaves_nothing(hosting: Any, life: Any) -> None:
    hosting.archive()
    absent = life("deploy", "absent.tar.gz", "--image", hosting.image)
    assert (absent.returncode, "[model-missing]" in absent.stderr) == (2, True), absent.stderr
    serverless = {"ProductionVariants": [{"ServerlessConfig": {"MemorySizeInMB": 2048, "MaxConcurrency": 1}}]}
    refused = life("deploy", hosting.model_file("refused", **serverless))
    assert (refused.returncode, "ServerlessConfig" in refused.stderr) == (2, True), refused.stderr
    assert life.store.count() == 0


@pytest.mark.slow(2)
def test_an_endpoint_is_not_run(hosting: Any, life: Any) -> None:
    hosting.archive()
    model = hosting.model_file("no-job")
    done = life("run", model)
    assert (done.returncode, "[is-an-endpoint]" in done.stderr) == (2, True), done.stderr
    assert f"Deploy it: smlocal deploy {model}" in done.stderr
    assert life("deploy", model, "--name", "no-job", "-e", "DIES=at-once").returncode == 1
    for command in ("rerun", "shell"):
        done = life(command, "no-job")
        assert (done.returncode, "[is-an-endpoint]" in done.stderr) == (2, True), done.stderr


def test_a_job_is_not_invoked(hosting: Any, life: Any) -> None:
    life("run", life.job_file("trains", "exit 0"))
    done = hosting.invoke("trains")
    assert (done.returncode, "[not-an-endpoint]" in done.stderr) == (2, True), done.stderr
    done = life("invoke", "trains", "--body-file", "absent")
    assert (done.returncode, "[invocation-body]" in done.stderr) == (2, True), done.stderr


@pytest.mark.slow(2)
def test_an_endpoint_goes_on_that_was_not_waited_for(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.archive()
    deploying = life.begin("deploy", hosting.model_file("goes-on", variables={"PING": "never"}), "--name", "goes-on")
    life.until(lambda: hosting.listed().get("goes-on") == "Creating" and hosting.log("goes-on"))
    deploying.send_signal(signal.SIGINT)
    _, said = deploying.communicate(timeout=200)
    assert deploying.returncode == 130, said
    assert said.splitlines()[-3:] == [
        "goes-on is Creating and keeps running",
        "  next      smlocal endpoints · smlocal logs -f goes-on",
        "  to stop   smlocal rm --stop goes-on",
    ]
    assert hosting.listed() == {"goes-on": "Creating"}
    assert life("rm", "--stop", "goes-on").returncode == 0
    assert_nothing_left("goes-on")


@pytest.mark.slow(3)
def test_training_leads_to_an_endpoint(life: Any, image: Callable[[str], str], assert_nothing_left: Clean) -> None:
    life.image = image("train-serve")
    done = life("run", life.job_file("leads", ""))
    assert done.stderr.splitlines()[-1].startswith("  next      smlocal deploy leads · "), done.stderr
    assert life.describe("leads")["Local"]["ServeProgram"] == "/usr/local/bin/serve"
    deployed = life("deploy", "leads", "--name", "leads-on", "--no-key")
    assert deployed.returncode == 0, deployed.stderr
    assert life("invoke", "leads-on", "--body", "1,2", "--content-type", "text/csv").stdout == "3,6\n"
    assert life("rm", "--stop", "leads-on").returncode == 0
    assert_nothing_left("leads-on")
