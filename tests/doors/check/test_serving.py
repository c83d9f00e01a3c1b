"""Checks of an image as an endpoint, with real containers: what is found, and what is left."""

import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run
from tests.kit.fixtures import build_image, run_docker

from smlocal.check.rules.serving import BASE, COPIED, server

_WITHIN = 200.0


@dataclass(kw_only=True, slots=True)
class Serving:
    """Checks in one folder."""

    folder: Path
    home: Path
    image: str
    run: Run

    def job(self, **parameters: str) -> str:
        """A job file of the image."""
        request = {
            "AlgorithmSpecification": {"TrainingImage": self.image, "TrainingInputMode": "File"},
            "HyperParameters": parameters,
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        }
        (self.folder / "job.json").write_text(json.dumps(request))
        return "job.json"

    def archive(self, name: str) -> str:
        """A model with one file."""
        (self.folder / name).write_text("5")
        with tarfile.open(self.folder / f"{name}.tar.gz", "w:gz") as file:
            file.add(self.folder / name, arcname=name)
        return f"{name}.tar.gz"

    def check(self, *words: str) -> "tuple[subprocess.CompletedProcess[str], dict[str, Any]]":
        """What was found, by the ids of the rules."""
        done = self.run("check", "--json", "--timeout", "120", "--fail-on", "warning", *words, cwd=self.folder)
        return done, {rule["Id"]: rule for rule in json.loads(done.stdout)["Check"]["Rules"]}

    def assert_nothing_left(self) -> None:
        """Neither jobs nor endpoints nor folders nor containers."""
        assert not self.run("jobs").stdout.strip()
        assert json.loads(self.run("endpoints", "--json").stdout)["Endpoints"] == []
        assert list((self.home / "checks").iterdir()) == []


@pytest.fixture
def serving(tmp_path: Path, smlocal_home: Path, image: Callable[[str], str], smlocal_run: Run) -> Serving:
    return Serving(folder=tmp_path, home=smlocal_home, image=image("train-serve"), run=smlocal_run)


def test_an_image_with_a_model_keeps_every_rule(serving: Serving) -> None:
    done, rules = serving.check(serving.image, "--for", "serve", "--model", serving.archive("factor"))
    assert done.returncode == 0, done.stderr
    assert {rule["Outcome"] for rule in rules.values()} == {"passed"}, done.stderr
    assert {"server-missing", "no-listener", "server-ignores-sigterm", "image-size"} <= rules.keys()
    assert not {"train-missing", "job-fails", "trained-model-fails"} & rules.keys()
    assert "serve: InService" in done.stderr
    serving.assert_nothing_left()


@pytest.mark.slow(2)
def test_an_image_that_misses_its_model_is_told_how_to_get_one(serving: Serving) -> None:
    done, rules = serving.check(serving.image, "--for", "serve")
    assert done.returncode == 1
    assert "--model PATH" in rules["no-listener"]["Remedy"]
    assert "--train-and-serve" in rules["no-listener"]["Remedy"]
    serving.assert_nothing_left()


@pytest.mark.slow(2)
def test_a_model_file_is_checked_as_an_endpoint(serving: Serving) -> None:
    container = {"Image": serving.image, "ModelDataUrl": serving.archive("other")}
    (serving.folder / "model.json").write_text(json.dumps({"PrimaryContainer": container}))
    done, rules = serving.check("model.json")
    assert done.returncode == 1
    (found,) = rules["no-listener"]["Findings"]
    assert found["Message"] == "the container ended 3 times before anything listened on port 8080, with exit code 1"
    assert "No such file or directory: '/opt/ml/model/factor'" in found["Details"][-1]
    assert "--model PATH" not in rules["no-listener"]["Remedy"]  # one is served
    assert rules["server-ignores-sigterm"]["Outcome"] == "skipped"
    serving.assert_nothing_left()


def test_a_model_file_whose_model_is_missing_is_refused(serving: Serving) -> None:
    container = {"Image": serving.image, "ModelDataUrl": "./absent.tar.gz"}
    (serving.folder / "model.json").write_text(json.dumps({"PrimaryContainer": container}))
    done = serving.run("check", "model.json", "--timeout", "120", cwd=serving.folder)
    assert (done.returncode, "[model-missing]" in done.stderr) == (2, True), done.stderr
    assert f"the archive of the model does not exist: {serving.folder}/absent.tar.gz" in " ".join(done.stderr.split())
    assert serving.run("check", "model.json", "--static", cwd=serving.folder).returncode == 0
    served = serving.archive("factor")
    assert serving.run("check", "model.json", "--model", served, cwd=serving.folder).returncode == 0
    serving.assert_nothing_left()


@pytest.mark.slow(2)
@pytest.mark.parametrize(
    ("variables", "rule", "said"),
    [
        ({"PING": "slow"}, "ping-unhealthy", "no answer to /ping within 2 s, and so for {startup} s"),
        ({"PING": "flaps"}, "ping-unhealthy", "/ping answered 500, while the endpoint was in service"),
        ({"BIND": "127.0.0.1"}, "localhost-only", "port 8080 is bound to the loopback address of the container only"),
        ({"PING": "never"}, "no-listener", "nothing listens on port 8080 within {startup} s"),
        ({"ANSWER": "close"}, "rubbish-accepted", "did not answer 19 bytes (application/json) completely"),
    ],
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else "",
)
def test_a_server_that_breaks_a_rule(
    serving: Serving, image: Callable[[str], str], variables: dict[str, str], rule: str, said: str
) -> None:
    container = {"Image": image("serve"), "Environment": variables}
    for startup in (5, 20, 80):  # on a busy machine the server needs longer until it listens
        limits = {"Serving": {"StartupSeconds": startup}}
        (serving.folder / "model.json").write_text(json.dumps({"PrimaryContainer": container, "Local": limits}))
        _, rules = serving.check("model.json", "--only", rule)
        found = rules[rule].get("Findings", [{"Message": ""}])[0]["Message"]
        if said.format(startup=startup) in found:
            break
    assert said.format(startup=startup) in found


@pytest.mark.slow(2)
def test_a_server_that_does_not_end_although_it_hears_the_signal(serving: Serving) -> None:
    instructions = COPIED.replace(BASE, "FROM ${BASE}\n")
    (serving.folder / "Dockerfile").write_text(f"ARG BASE=python:3.11-slim-bookworm\n{instructions}")
    for name, text in server(first="signal.signal(signal.SIGTERM, lambda *_: None)"):
        (serving.folder / name).write_text(text)
        (serving.folder / name).chmod(0o755)
    words = ("--only", "server-ignores-sigterm", "--timeout", "3")
    _, rules = serving.check(build_image(serving.folder), *words)
    (found,) = rules["server-ignores-sigterm"]["Findings"]
    assert found["Message"] == "serve, the first process, has a handler for SIGTERM, and had not ended 3 s later"


@pytest.mark.slow(3)
@pytest.mark.parametrize(
    "invocations", ["self.answer(200) if body.strip(b',1') == b'' else os._exit(3)", "os._exit(3)"], ids=["odd", "any"]
)
def test_a_server_that_dies_of_a_request_is_told_that_alone(serving: Serving, invocations: str) -> None:
    instructions = COPIED.replace(BASE, "FROM ${BASE}\n")
    (serving.folder / "Dockerfile").write_text(f"ARG BASE=python:3.11-slim-bookworm\n{instructions}")
    for name, text in server(invocations=invocations):
        (serving.folder / name).write_text(text)
        (serving.folder / name).chmod(0o755)
    asked = ("rubbish-accepted", "ping-unhealthy", "one-request-at-a-time", "server-ignores-sigterm")
    _, rules = serving.check(build_image(serving.folder), *(word for rule in asked for word in ("--only", rule)))
    (found,) = rules["rubbish-accepted"]["Findings"]
    assert found["Message"].startswith("the container ended, with exit code 3, ")
    assert rules["rubbish-accepted"]["Remedy"].startswith("Let the server catch the errors of a request")
    for rule in asked[1:]:
        assert "Findings" not in rules[rule] or rules[rule]["Findings"] == []
        assert rules[rule].get("Skipped", found["Message"]) == found["Message"]


@pytest.mark.slow(3)
def test_the_model_of_a_job_is_served_and_asked_once(serving: Serving) -> None:
    (serving.folder / "request.csv").write_text("1,2\n")
    job = serving.job()
    asks = ("--only", "trained-model-fails")
    done, rules = serving.check(job, *asks)
    assert done.returncode == 0, done.stderr
    assert "serve: asked 0,0,0 (text/csv), it answered 200: 0,0,0" in done.stderr
    done, rules = serving.check(job, *asks, "--body", "request.csv")
    assert "it answered 200: 3,6" in done.stderr
    assert rules["trained-model-fails"]["Outcome"] == "passed"
    serving.assert_nothing_left()


@pytest.mark.slow(4)
def test_a_model_that_cannot_be_served_is_found(serving: Serving) -> None:
    done, rules = serving.check(serving.job(**{"as": "weights"}), "--only", "trained-model-fails")
    (found,) = rules["trained-model-fails"]["Findings"]
    assert found["Message"] == (
        "the endpoint does not get into service with the model: the container ended with exit code 1"
    )
    (serving.folder / "request").write_text("fail")
    done, rules = serving.check(serving.job(), "--only", "trained-model-fails", "--body", "request")
    (found,) = rules["trained-model-fails"]["Findings"]
    assert found["Message"] == "asked fail (text/csv) of its own model, the image answered 500: cannot predict"
    assert done.returncode == 1
    serving.assert_nothing_left()


@pytest.mark.slow(1)
def test_a_request_that_was_guessed_is_not_held_against_the_image(serving: Serving) -> None:
    words = ("--only", "trained-model-fails", "--content-type", "application/json")
    done, rules = serving.check(serving.job(), *words)
    rule = rules["trained-model-fails"]
    assert (rule["Outcome"], rule["Skipped"]) == ("skipped", "the server refuses 0,0,0 (application/json): 415")
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--train-and-serve", "--model", "x"), "--model is served in place of what --train-and-serve trains"),
        (("--model", "nowhere.tar.gz"), "the model does not exist: nowhere.tar.gz"),
        (("--train-and-serve", "--body", "nowhere"), "nowhere cannot be read"),
        (("--train-and-serve", "--content-type", "a\nb: c"), "--content-type: only printable ASCII"),
    ],
)
def test_what_does_not_go_together_is_refused(serving: Serving, words: tuple[str, ...], said: str) -> None:
    done = serving.run("check", serving.image, *words, cwd=serving.folder)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.slow(2)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_a_check_that_ends_early_leaves_no_endpoint(
    serving: Serving, image: Callable[[str], str], how: signal.Signals
) -> None:
    """A server that never listens keeps the check waiting."""
    container = {"Image": image("serve"), "Environment": {"PING": "never"}}
    (serving.folder / "model.json").write_text(json.dumps({"PrimaryContainer": container}))
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SMLOCAL_", "AWS_"))}
    process = subprocess.Popen(
        [sys.executable, "-m", "smlocal", "check", "model.json"],
        cwd=serving.folder,
        env={**kept, "SMLOCAL_HOME": str(serving.home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        name = _container_of_a_check(serving.home)
        process.send_signal(how)
        process.wait(timeout=_WITHIN)
    finally:
        process.kill()
        process.wait()
    if how is signal.SIGKILL:  # the next check removes it
        serving.check(serving.image, "--only", "no-listener")
    serving.assert_nothing_left()
    assert not run_docker("ps", "--all", "--quiet", "--filter", f"label=smlocal.job={name}").strip()


def _container_of_a_check(home: Path) -> str:
    deadline = time.monotonic() + _WITHIN
    while time.monotonic() < deadline:
        for folder in (home / "jobs").glob("check-*-serve"):
            if run_docker("ps", "--all", "--quiet", "--filter", f"label=smlocal.job={folder.name}").strip():
                return folder.name
        time.sleep(0.1)
    pytest.fail("no endpoint of the check runs")
