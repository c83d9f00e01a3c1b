"""Several hosts, of which some fail."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit import until

Fails = Callable[..., dict[str, Any]]

HOSTS = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}}
WHO = """host=$(sed 's/.*"current_host":"\\([^"]*\\)".*/\\1/' /opt/ml/input/config/resourceconfig.json)
"""
READY = "nc -l -p 4000 </dev/null\n"
"""A program with a trap waits here until its peer has met it; that may fail then."""


def meet(peer: str) -> str:
    return f"until nc {peer} 4000 </dev/null 2>/dev/null; do sleep 0.1; done"


def hosts(answer: dict[str, Any], member: str) -> dict[str, Any]:
    return {host["Name"]: host[member] for host in answer["Local"]["Hosts"]}


def test_the_first_to_fail_decides_and_its_peer_gets_the_ladder(fails: Fails, tmp_path: Path) -> None:
    script = WHO + (
        f"if [ $host = algo-2 ]; then {meet('algo-1')}; printf first >/opt/ml/output/failure; exit 17; fi\n"
        "trap 'printf later >/opt/ml/output/failure; echo saved >/opt/ml/model/algo-1; exit 143' TERM\n"
        f"{READY}sleep 600 & wait"
    )
    answer = fails("hosts-first", script, more=HOSTS)
    assert hosts(answer, "ExitCode") == {"algo-1": 143, "algo-2": 17}
    assert hosts(answer, "Signalled") == {"algo-1": True, "algo-2": False}
    assert hosts(answer, "Killed") == {"algo-1": False, "algo-2": False}
    assert (tmp_path / "out" / "hosts-first" / "output" / "model.tar.gz").exists()


@pytest.mark.slow(2)
def test_a_deaf_peer_is_killed(fails: Fails) -> None:
    script = WHO + (
        f"if [ $host = algo-1 ]; then {meet('algo-2')}; exit 4; fi\ntrap 'echo heard' TERM\n"
        f"{READY}while true; do sleep 600 & wait || true; done"
    )
    answer = fails("hosts-deaf", script, more={**HOSTS, "Local": {"PeerGraceSeconds": 1}})
    assert hosts(answer, "ExitCode") == {"algo-1": 4, "algo-2": 137}
    assert hosts(answer, "Signalled") == {"algo-1": False, "algo-2": True}
    assert hosts(answer, "Killed") == {"algo-1": False, "algo-2": True}
    log = next(host["Log"] for host in answer["Local"]["Hosts"] if host["Name"] == "algo-2")
    assert Path(log).read_text() == "heard\n"


@pytest.mark.slow(1)
def test_an_early_success_ends_nothing(fails: Fails, beside: Callable[..., Any], docker: Callable[..., str]) -> None:
    told = "until [ -e /tmp/go ]; do sleep 0.1; done"
    script = f"{WHO}{told}; [ $host = algo-1 ] && exit 0\nprintf late >/opt/ml/output/failure; exit 5"
    end = beside(fails, "hosts-early", script, more=HOSTS)

    def running(*host: str) -> list[str]:
        labels = ("smlocal.job=hosts-early", *(f"smlocal.host={each}" for each in host))
        return docker("ps", "--quiet", *(word for each in labels for word in ("--filter", f"label={each}"))).split()

    def are_left(number: int) -> Callable[[], bool]:
        return lambda: len(running()) == number

    until(are_left(2))
    for host, left in (("algo-1", 1), ("algo-2", 0)):
        docker("exec", *running(host), "touch", "/tmp/go")
        until(are_left(left))
    answer = end()
    assert hosts(answer, "ExitCode") == {"algo-1": 0, "algo-2": 5}
    assert hosts(answer, "Signalled") == {"algo-1": False, "algo-2": False}
