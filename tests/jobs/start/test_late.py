"""Late events of the service, as `Local.Faults` simulates them: names of peers, and FIFOs of Pipe mode."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.kit.jobs import Ran, channel

RunJob = Callable[..., Ran]
HOSTS: dict[str, Any] = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}}
LOOK_UP = """import json, socket, time
find, t = socket.gethostbyname, time.monotonic()
config = json.load(open("/opt/ml/input/config/resourceconfig.json"))
own = config["current_host"]
(peer,) = {*config["hosts"]} - {own}
print("own", find(own), find(socket.gethostname()), flush=True)
tries = 0
while 1:
    try:
        print("peer", find(peer), "tries", tries, "seconds", time.monotonic() - t)
        break
    except OSError:
        tries += 1
        time.sleep(0.05)
"""


def seconds(ran: Ran, host: str) -> float:
    own, peer = ran.log(host).splitlines()[-2:]
    assert re.fullmatch(r"own (198\.\S+) \1", own), own
    found = re.fullmatch(r"peer 198\.\S+ tries (\d+) seconds (\S+)", peer)
    assert found, peer
    return float(found[2])


@pytest.mark.slow(2)
def test_names_resolve_late(run_job: RunJob) -> None:
    for late in (3, 15, 45):  # the interpreter starts meanwhile; on a busy machine it takes seconds
        faults = {"Faults": [{"Kind": "LateNames", "AfterSeconds": late}]}
        ran = run_job([], LOOK_UP, runs="py", local=faults, **HOSTS)
        assert ran.answer["TrainingJobStatus"] == "Completed", ran.reason
        took = [seconds(ran, host) for host in ("algo-1", "algo-2")]
        if min(took) > 0.5:
            break
    assert min(took) > 0.5


@pytest.mark.slow(1)
def test_this_machine_has_its_added_name_although_those_of_peers_are_late(run_job: RunJob) -> None:
    faults = {"Faults": [{"Kind": "LateNames", "AfterSeconds": 1}]}
    ran = run_job([], "grep mlflow /etc/hosts", local={**faults, "AddHosts": {"mlflow": "host-gateway"}}, **HOSTS)
    assert re.fullmatch(r"198\.\S+\.1\s+mlflow\n", ran.log("algo-1")), ran.reason


@pytest.mark.slow(1)
def test_names_that_are_not_late(run_job: RunJob) -> None:
    ran = run_job([], LOOK_UP, runs="py", **HOSTS)
    assert "tries 0 " in ran.log("algo-1") + ran.log("algo-2"), ran.reason


@pytest.mark.slow(2)
@pytest.mark.usefixtures("data")
def test_the_next_fifo_comes_late(run_job: RunJob) -> None:
    script = """cd /opt/ml/input/data; cat train_0; ls
    while [ ! -e train_1 ]; do sleep 0.1; n=$((n + 1)); done
    cat train_1; echo waited $((n > 1)); while [ ! -e train_2 ]; do sleep 0.1; done; cat train_2"""
    data = "one\ntwo\nthree\n"
    for late in (2, 10, 30):  # on a busy machine the shell looks late itself
        faults = {"Faults": [{"Kind": "LateFifo", "AfterSeconds": late}]}
        ran = run_job([channel(mode="Pipe")], script.replace("cat train_0", "n=0; cat train_0"), local=faults)
        assert ran.answer["TrainingJobStatus"] == "Completed", ran.reason
        if "waited 1" in ran.log():
            break
    assert ran.log() == f"{data}train_0\n{data}waited 1\n{data}"
