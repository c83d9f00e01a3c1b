"""`EnableNetworkIsolation`, looked at from inside: peers are there, and nothing else is."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.kit.fixtures import gateway
from tests.kit.jobs import Ran

RunJob = Callable[..., Ran]
Looking = Callable[..., dict[str, Any]]


@pytest.fixture
def looking(image: Callable[[str], str]) -> Callable[..., dict[str, Any]]:
    """A job that looks around: with one of the scripts in the image `network`."""

    def look(name: str, **more: Any) -> dict[str, Any]:
        specification = {
            "TrainingImage": image("network"),
            "TrainingInputMode": "File",
            "ContainerArguments": [f"/usr/local/lib/network/{name}.py"],
        }
        return {"AlgorithmSpecification": specification, **more}

    return look


@pytest.fixture
def listener() -> Iterator[int]:
    """The port of a service that this machine offers on all its addresses."""
    server = socket.create_server(("0.0.0.0", 0))
    ended = threading.Event()

    def answer() -> None:
        while not ended.is_set():
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"hello")

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    yield int(server.getsockname()[1])
    ended.set()
    socket.create_connection(server.getsockname()).close()
    thread.join()
    server.close()


@pytest.fixture
def surroundings(listener: int) -> dict[str, str]:
    """The addresses at which this machine could be found, were there a way."""
    addresses = [gateway()]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        outward.connect(("192.0.2.1", 9))  # nothing is sent
        addresses.append(outward.getsockname()[0])
    return {"OUTSIDE": " ".join(addresses), "PORT": str(listener), "RES_OPTIONS": "timeout:1 attempts:1"}


@pytest.mark.slow(2)
def test_an_isolated_host_reaches_nothing(run_job: RunJob, looking: Looking, surroundings: dict[str, str]) -> None:
    secrets = {"AWS_ACCESS_KEY_ID": "planted", "AWS_SECRET_ACCESS_KEY": "planted"}
    ran = run_job(
        [],
        "",
        env=secrets,
        **looking(
            "isolated",
            EnableNetworkIsolation=True,
            Environment=surroundings,
            local={"Credentials": "inherit", "Endpoints": {"s3": f"http://localhost:{surroundings['PORT']}"}},
        ),
    )
    assert ran.exit == 0, ran.answer["Local"]["Explanation"] or ran.log()
    assert ran.answer["EnableNetworkIsolation"] is True
    found: dict[str, Any] = json.loads(ran.log())
    assert found["reached"] == []
    assert found["aws"] == ["AWS_REGION"]
    assert found["interfaces"] == ["eth0", "lo"]
    assert found["ipv6"] == []
    assert list(found["names"]) == ["algo-1"]
    assert not found["names"]["algo-1"].startswith("127.")
    assert {"isolation", "endpoints-unused"} <= ran.notes


@pytest.mark.slow(2)
def test_isolated_hosts_reach_each_other(run_job: RunJob, looking: Looking) -> None:
    ran = run_job(
        [],
        "",
        **looking(
            "every_peer",
            EnableNetworkIsolation=True,
            ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 2},
        ),
    )
    assert ran.exit == 0, ran.answer["Local"]["Explanation"] or ran.stderr
    assert (ran.log("algo-1"), ran.log("algo-2")) == ("2 1\n", "2 1\n")


@pytest.mark.slow(4)
def test_sixteen_hosts_reach_each_other(run_job: RunJob, looking: Looking) -> None:
    resources = {"InstanceType": "ml.m5.large", "InstanceCount": 16}
    ran = run_job([], "", **looking("every_peer", ResourceConfig=resources))
    assert ran.exit == 0, ran.answer["Local"]["Explanation"] or ran.stderr
    assert [ran.log(f"algo-{number}") for number in range(1, 17)] == ["16 15\n"] * 16


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("hosts", [1, 2])
def test_a_service_of_this_machine_is_reached_without_isolation(run_job: RunJob, listener: int, hosts: int) -> None:
    connect = r"""
import os, socket, urllib.parse
url = urllib.parse.urlsplit(os.environ["AWS_ENDPOINT_URL_S3"])
print(socket.create_connection((url.hostname, url.port), timeout=200).recv(99).decode())
"""
    ran = run_job(
        [],
        "",
        runs="py",
        Environment={"SCRIPT": connect},
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": hosts},
        local={"Endpoints": {"s3": f"http://localhost:{listener}"}},
    )
    assert ran.exit == 0, ran.answer["Local"]["Explanation"] or ran.log()
    assert [ran.log(f"algo-{number}") for number in range(1, hosts + 1)] == ["hello\n"] * hosts
    assert "endpoint-loopback" not in ran.notes


def test_a_service_on_loopback_is_told_of(smlocal_run: Callable[..., Any], job_file: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://localhost:{server.getsockname()[1]}"
        path = job_file([], "true", local={"Endpoints": {"s3": url}})
        done = smlocal_run("plan", path, check=True)
    assert f"the server of {url} listens only on 127.0.0.1" in done.stdout
    assert "AWS_ENDPOINT_URL_S3=http://" in done.stdout
