"""Servers that do not keep the contract: what the service would say of each, and what is left."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

Clean = Callable[[str], None]
NOT_HEALTHY = (
    "The primary container for production variant AllTraffic did not pass the ping health check. "
    "Please check CloudWatch logs for this endpoint."
)


@pytest.mark.slow(3)
@pytest.mark.parametrize(
    ("variables", "because"),
    [
        ({"PING": "500"}, "/ping answered 500"),
        ({"PING": "slow"}, "no answer to /ping within 1 s"),
        ({"PING": "never"}, "nothing can be reached at port 8080"),
        ({"BIND": "127.0.0.1"}, "nothing can be reached at port 8080"),
    ],
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else "",
)
def test_a_server_that_never_gets_healthy_fails(
    hosting: Any, assert_nothing_left: Clean, variables: dict[str, str], because: str
) -> None:
    name = "-".join(["ill", *variables.values()]).replace(".", "-")
    done = hosting.deploy(name, variables=variables, limits={"StartupSeconds": 3, "PingSeconds": 1}, grace=5)
    assert done.returncode == 1
    assert NOT_HEALTHY in " ".join(done.stderr.split())
    described = hosting.described(name)
    assert (described["EndpointStatus"], described["FailureReason"]) == ("Failed", NOT_HEALTHY)
    assert because in described["Local"]["Explanation"]
    assert_nothing_left(name)


@pytest.mark.slow(2)
def test_a_server_that_ends_at_once_is_tried_again_and_given_up(hosting: Any, assert_nothing_left: Clean) -> None:
    done = hosting.deploy("ends", variables={"DIES": "at-once"})
    assert done.returncode == 1
    assert "cannot load the model" in done.stderr
    described = hosting.described("ends")
    assert described["FailureReason"] == NOT_HEALTHY
    assert described["Local"]["RestartCount"] == 2
    assert described["Local"]["Hosts"][0]["ExitCode"] == 7
    assert hosting.log("ends").count("cannot load the model") == 3
    assert_nothing_left("ends")


@pytest.mark.slow(2)
def test_a_server_that_lacks_a_module_is_told_so(hosting: Any, assert_nothing_left: Clean) -> None:
    done = hosting.deploy("lacks", variables={"DIES": "module"})
    assert done.returncode == 1
    (hint,) = hosting.described("lacks")["Local"]["Hints"]
    assert hint.startswith("The Python that ran in the container has no module pandas: install it in the Dockerfile")
    assert hint in " ".join(done.stderr.split())
    assert_nothing_left("lacks")


def test_a_program_that_is_not_there_fails(hosting: Any, life: Any, image: Any, assert_nothing_left: Clean) -> None:
    done = life("deploy", hosting.archive(), "--image", image("py"), "--name", "none")
    assert done.returncode == 1
    assert life.job("none").failure_reason == NOT_HEALTHY
    assert "the container cannot be started: " in hosting.described("none")["Local"]["Explanation"]
    assert_nothing_left("none")


@pytest.mark.slow(2)
def test_a_server_that_loads_for_a_while_gets_into_service(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.in_service("serves-late", variables={"PING": "late:2"})
    assert hosting.invoke("serves-late", "x").stdout == "x"
    life("rm", "--stop", "serves-late")
    assert_nothing_left("serves-late")


@pytest.mark.slow(3)
def test_a_container_that_dies_is_started_again(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    address = hosting.in_service("dies")
    done = hosting.invoke("dies", "die")
    assert (done.returncode, "ModelError" in done.stderr) == (1, True), done.stderr
    hosting.until(lambda: hosting.invoke("dies", "again").stdout == "again")
    local = hosting.described("dies")["Local"]
    assert (local["RestartCount"], local["Restarts"][0]["ExitCode"]) == (1, 3)
    assert local["Address"] == address
    assert "Restarts" in life("describe", "dies").stdout
    assert hosting.log("dies") == "serving\nserving\n"
    life("rm", "--stop", "dies")
    assert_nothing_left("dies")


@pytest.mark.slow(2)
def test_a_stop_ends_a_server_that_dies_again_and_again(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.in_service("dying")

    def dies_twice() -> bool:
        hosting.invoke("dying", "die")
        restarts: int = hosting.described("dying")["Local"]["RestartCount"]
        return restarts >= 2

    hosting.until(dies_twice)
    assert life("stop", "dying", "--wait").returncode == 0
    assert_nothing_left("dying")


@pytest.mark.slow(2)
def test_a_server_that_ignores_sigterm_is_killed(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.in_service("serves-deaf", variables={"ON_TERM": "ignore"}, grace=1)
    assert life("stop", "serves-deaf", "--wait").returncode == 0
    host = hosting.described("serves-deaf")["Local"]["Hosts"][0]
    assert (host["ExitCode"], host["Killed"]) == (137, True)
    assert_nothing_left("serves-deaf")


@pytest.mark.slow(2)
@pytest.mark.parametrize(
    ("answer", "status"), [("half", 0), ("close", 0), ("silent", 0), ("error:500", 500), ("error:404", 404)]
)
def test_bad_answers_are_model_errors(
    hosting: Any, life: Any, assert_nothing_left: Clean, answer: str, status: int
) -> None:
    name = answer.replace(":", "-")
    hosting.in_service(name, variables={"ANSWER": answer}, limits={"InvocationSeconds": 1})
    done = hosting.invoke(name)
    assert (done.returncode, done.stdout) == (1, "")
    assert "[invocation-failed] ModelError: " in " ".join(done.stderr.split()) or "ModelError" in done.stderr
    assert f"OriginalStatusCode  {status}" in done.stderr
    life("rm", "--stop", name)
    assert_nothing_left(name)


@pytest.mark.slow(2)
def test_large_answers_and_bodies(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.in_service("huge", variables={"ANSWER": "huge"})
    done = hosting.invoke("huge")
    assert len(done.stdout) == 64 << 20
    assert "the answer has 67,108,864 bytes; the service's model of InvokeEndpoint allows 6,291,456" in done.stderr
    (life.folder / "large").write_bytes(b"x" * 26_214_401)
    refused = life("invoke", "huge", "--body", "large")
    assert refused.returncode == 1
    assert "26214401 has exceeded the upper limit of 26214400 bytes" in " ".join(refused.stderr.split())
    life("rm", "--stop", "huge")
    assert_nothing_left("huge")


@pytest.mark.slow(2)
def test_an_answer_does_nothing_to_a_terminal(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.in_service("codes")
    answer = "\x1b[2J\x1b]0;title\x07a\x1b[31mred\x1b[0m\n"
    (life.folder / "body").write_text(answer)
    command = [sys.executable, "-m", "smlocal", "invoke", "codes", "--body", "body"]
    ours, theirs = pty.openpty()
    with open(ours, "rb", buffering=0) as terminal:
        subprocess.run(command, cwd=life.folder, env=life.environment, stdout=theirs, check=True, timeout=240)
        os.close(theirs)
        shown = terminal.read(1000)
    assert shown == b"\\x1b[2J\\x1b]0;title\\x07a\x1b[31mred\x1b[0m\r\n"
    assert hosting.invoke("codes", answer).stdout == answer  # a pipe gets the bytes
    life("rm", "--stop", "codes")
    assert_nothing_left("codes")


@pytest.mark.slow(2)
def test_health_that_comes_and_goes_is_told(hosting: Any, life: Any) -> None:
    hosting.in_service("flaps", variables={"PING": "flaps"})
    hosting.until(lambda: json.loads(life("describe", "flaps", "--json").stdout)["Local"]["PingTrouble"] is not None)
    assert hosting.listed() == {"flaps": "InService"}
    assert hosting.invoke("flaps", "x").stdout == "x"
    life("rm", "--stop", "flaps")
