"""Warm pools: what a job leaves in the cache folder, which other job finds it, and when it is gone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.resources import WARM_POOL

CACHE = "$SAGEMAKER_MANAGED_WARMPOOL_CACHE_DIRECTORY"
LEAVES = f"mkdir -p {CACHE}/pip; echo cached >{CACHE}/pip/$TRAINING_JOB_NAME; echo m >/opt/ml/model/m"
LOOKS = f"cd {CACHE}; echo found $(find . -type f)"
Clean = Callable[[str], None]


def kept(seconds: int = 600, **others: Any) -> dict[str, Any]:
    return {"InstanceType": "ml.m5.large", "InstanceCount": 1, "KeepAlivePeriodInSeconds": seconds, **others}


def run(life: Any, name: str, script: str, *, code: int = 0, **members: Any) -> dict[str, Any]:
    done = life("run", life.job_file(name, script, **{"ResourceConfig": kept(), **members}))
    assert done.returncode == code, done.stderr
    answer: dict[str, Any] = life.describe(name)
    return answer


def pools(life: Any) -> list[str]:
    """The jobs that have a folder."""
    folder = Path(life.home) / "warm-pools"
    return sorted(each.name.partition(".")[0] for each in folder.iterdir()) if folder.exists() else []


def open_store(life: Any) -> list[str]:
    """Any command does this; returns the jobs that have a folder then."""
    Store.open(str(life.home)).close()
    return pools(life)


@pytest.mark.slow(4)
def test_the_next_job_like_it_finds_what_a_job_has_cached(life: Any, assert_nothing_left: Clean) -> None:
    first = run(life, "warm-first", LEAVES)
    assert first["WarmPoolStatus"] == {"Status": "Available"}
    assert first["SecondaryStatusTransitions"][-1]["StatusMessage"] == "Resource retained for reuse"
    assert {"warm-pool"} <= {note["Id"] for note in first["Local"]["Notes"]}

    run(life, "warm-other-type", LOOKS, ResourceConfig=kept(InstanceType="ml.m5.xlarge"))
    assert life.log("warm-other-type").split() == ["found"]
    run(life, "warm-without", LOOKS, ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1})
    assert life.log("warm-without").split() == ["found"]
    assert "WarmPoolStatus" not in life.describe("warm-without")
    assert pools(life) == ["warm-first", "warm-other-type"]

    second = life.job_file("warm-second", LOOKS, ResourceConfig=kept(), HyperParameters={"epochs": "2"})
    assert "in the warm pool of warm-first" in life("run", second).stderr
    assert life.log("warm-second").split() == ["found", "./pip/warm-first"]
    assert pools(life) == ["warm-other-type", "warm-second"]
    first = life.describe("warm-first")
    retained = first["WarmPoolStatus"].pop("ResourceRetainedBillableTimeInSeconds")
    assert first["WarmPoolStatus"] == {"Status": "Reused", "ReusedByJob": "warm-second"}
    assert first["SecondaryStatusTransitions"][-1]["StatusMessage"] == "Resource reused by training job: warm-second"
    assert f"Reused by warm-second, {retained} s after the job" in life("describe", "warm-first").stdout

    assert life("rm", "warm-first", "warm-second", "warm-other-type").returncode == 0
    assert pools(life) == []
    for name in ("warm-first", "warm-second", "warm-other-type"):
        assert_nothing_left(name)


@pytest.mark.slow(2)
def test_a_pool_ends_by_its_time_and_whoever_comes_next_deletes_its_folder(life: Any) -> None:
    run(life, "warm-short", LEAVES, ResourceConfig=kept(1))
    life.until(lambda: open_store(life) == [])
    answer = life.describe("warm-short")
    assert answer["WarmPoolStatus"] == {"Status": "Terminated", "ResourceRetainedBillableTimeInSeconds": 1}
    last = answer["SecondaryStatusTransitions"][-1]
    assert last["StatusMessage"] == "Resource released due to keep alive period expiry"
    run(life, "warm-too-late", LOOKS)
    assert life.log("warm-too-late").split() == ["found"]


@pytest.mark.slow(3)
def test_failures_of_the_program_keep_a_pool_and_those_of_machines_do_not(life: Any) -> None:
    failed = run(life, "warm-failed", f"{LEAVES}; exit 3", code=1)
    assert failed["WarmPoolStatus"] == {"Status": "Available"}
    assert failed["SecondaryStatusTransitions"][-1]["StatusMessage"] == "Training job failed"
    fault = {"Faults": [{"Kind": "InternalError", "When": "Before"}]}
    broken = run(life, "warm-broken", LEAVES, code=1, Local=fault)
    assert broken["WarmPoolStatus"] == {"Status": "Terminated", "ResourceRetainedBillableTimeInSeconds": 0}
    assert life.describe("warm-failed")["WarmPoolStatus"]["ReusedByJob"] == "warm-broken"
    assert pools(life) == []


@pytest.mark.slow(2)
def test_another_attempt_begins_with_an_empty_cache(life: Any) -> None:
    fault = {"Faults": [{"Kind": "InternalError", "When": "After"}]}
    run(life, "warm-retried", f"{LOOKS}; {LEAVES}", RetryStrategy={"MaximumRetryAttempts": 1}, Local=fault)
    assert life.log("warm-retried").split() == ["found", "found"]


@pytest.mark.slow(3)
def test_a_pool_survives_its_supervisor_and_still_ends(life: Any, assert_nothing_left: Clean) -> None:
    run(life, "warm-before", LEAVES)
    waits = f"{LOOKS}; echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.02; done"
    life.detach("warm-killed", waits, ResourceConfig=kept())
    life.until_logged("warm-killed", "ready")
    assert life.describe("warm-killed")["WarmPoolStatus"] == {"Status": "InUse"}
    life.crash("warm-killed")
    assert open_store(life) == ["warm-killed"]
    recovery = life.begin("recover")
    life.let_go("warm-killed")
    _, err = recovery.communicate(timeout=200)
    assert recovery.returncode == 0, err
    assert life.describe("warm-killed")["WarmPoolStatus"] == {"Status": "Available"}
    assert life.log("warm-killed").split() == ["found", "./pip/warm-before", "ready"]

    # As if it had gone from job to job for longer than any may.
    life.store.change_document("warm-killed", WARM_POOL, lambda document: {**document, "Since": 0})
    assert open_store(life) == []
    assert life.describe("warm-killed")["WarmPoolStatus"]["Status"] == "Terminated"
    assert_nothing_left("warm-killed")


@pytest.mark.slow(2)
def test_each_host_has_its_own_cache(life: Any) -> None:
    host = f"grep -o 'current_host[^,]*' /opt/ml/input/config/resourceconfig.json >{CACHE}/name"
    for name in ("warm-hosts-1", "warm-hosts-2"):
        run(life, name, f"cat {CACHE}/name || true; {host}", ResourceConfig=kept(InstanceCount=2))
    assert "algo-1" in life.log("warm-hosts-2", "algo-1")
    assert "algo-2" in life.log("warm-hosts-2", "algo-2")


@pytest.mark.slow(3)
def test_a_shell_has_the_cache_of_a_kept_container_until_the_pool_moves_on(
    life: Any, assert_nothing_left: Clean
) -> None:
    looks = ("--", "sh", "-c", LOOKS)
    run(life, "warm-looked-at", f"{LEAVES}; exit 3", code=1, Local={"Keep": "all"})
    assert life("shell", "warm-looked-at", *looks).stdout.split() == ["found", "./pip/warm-looked-at"]
    new = life("shell", life.folder / "warm-looked-at.json", *looks)  # a container of nobody's
    assert new.stdout.split() == ["found"], new.stderr
    run(life, "warm-goes-on", LOOKS)
    done = life("shell", "warm-looked-at", *looks)
    assert done.stdout.split() == ["found"], done.stderr
    assert "the warm pool is no longer this job's: /opt/ml/sagemaker/warmpoolcache is empty" in done.stderr
    assert open_store(life) == ["warm-goes-on"]
    assert life("rm", "warm-looked-at").returncode == 0
    assert_nothing_left("warm-looked-at")
