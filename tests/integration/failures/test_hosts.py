"""Several hosts, of which some fail."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Fails = Callable[..., dict[str, Any]]

HOSTS = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}}
WHO = """host=$(sed 's/.*"current_host":"\\([^"]*\\)".*/\\1/' /opt/ml/input/config/resourceconfig.json)
"""
READY = "nc -l -p 4000 </dev/null\n"
"""Whoever has a trap waits here until its peer has met it; that may fail then."""


def meet(peer: str) -> str:
    return f"until nc {peer} 4000 </dev/null 2>/dev/null; do sleep 0.1; done"


def hosts(answer: dict[str, Any], member: str) -> dict[str, Any]:
    return {host["Name"]: host[member] for host in answer["Local"]["Hosts"]}


def test_the_first_to_fail_decides_and_its_peer_gets_the_ladder(fails: Fails, tmp_path: Path) -> None:
    script = WHO + (
        f"if [ $host = algo-2 ]; then {meet('algo-1')}; printf first >/opt/ml/output/failure; exit 17; fi\n"
        "trap 'printf later >/opt/ml/output/failure; echo saved >/opt/ml/model/algo-1; exit 143' TERM\n"
        f"{READY}sleep 60 & wait"
    )
    answer = fails("hosts-first", script, more=HOSTS)
    assert hosts(answer, "ExitCode") == {"algo-1": 143, "algo-2": 17}
    assert hosts(answer, "Signalled") == {"algo-1": True, "algo-2": False}
    assert hosts(answer, "Killed") == {"algo-1": False, "algo-2": False}
    assert (tmp_path / "out" / "hosts-first" / "output" / "model.tar.gz").exists()


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


def test_an_early_success_ends_nothing(fails: Fails) -> None:
    script = WHO + "[ $host = algo-1 ] && exit 0\nsleep 2; printf late >/opt/ml/output/failure; exit 5"
    answer = fails("hosts-early", script, more=HOSTS)
    assert hosts(answer, "ExitCode") == {"algo-1": 0, "algo-2": 5}
    assert hosts(answer, "Signalled") == {"algo-1": False, "algo-2": False}
