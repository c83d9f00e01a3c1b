import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from smlocal.errors import EarlierPlanError
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.recall import engine_of_each_host, recall, remember
from smlocal.terms.listing import Listing

STORED = Path(__file__).parent / "stored"
"""Plans as smlocal stored them before they were made of records."""


def test_a_plan_comes_back_without_contents(plan: Callable[..., JobPlan], listing: Listing) -> None:
    made = plan(
        {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}, "Tags": [{"Key": "a", "Value": "b"}]},
        {"Code": "./src"},
        code=listing,
    )
    recalled = recall(json.loads(json.dumps(remember(made))))

    def bare(one: JobPlan) -> JobPlan:
        def without_paths(tree: object) -> object:
            return replace(tree, listing=replace(tree.listing, paths=()))  # type: ignore[type-var,attr-defined]

        hosts = tuple(
            replace(
                host,
                files={},
                inputs=replace(host.inputs, trees=tuple(without_paths(tree) for tree in host.inputs.trees)),  # type: ignore[misc]
            )
            for host in one.hosts
        )
        return replace(one, hosts=hosts, inputs=replace(one.inputs, code=without_paths(one.inputs.code)))  # type: ignore[arg-type]

    assert recalled == bare(made)
    assert recalled.hosts[1].host.name == "algo-2"
    assert len(json.dumps(remember(made))) < 10_000


@dataclass(frozen=True, kw_only=True)
class Other:
    """A record with fields that are left out of another."""

    files: tuple[str, ...]
    sizes: tuple[int, ...]


def test_a_field_is_left_out_of_its_own_record_alone(plan: Callable[..., JobPlan]) -> None:
    other = replace(plan(), inputs=Other(files=("a",), sizes=(1,)))  # type: ignore[arg-type]
    assert remember(other)["inputs"] == {"files": ["a"], "sizes": [1]}


def test_a_plan_of_another_version_is_refused(plan: Callable[..., JobPlan]) -> None:
    document = remember(plan())
    del document["platform"]
    with pytest.raises(EarlierPlanError, match="'job-1' was planned by another version"):
        recall(document)
    with pytest.raises(EarlierPlanError):
        recall({**remember(plan()), "new_member": 1})


def test_a_stored_plan_of_an_earlier_version_is_read() -> None:
    stored = json.loads((STORED / "one_engine.json").read_text())
    read = recall(stored)
    first, _ = read.hosts
    assert (read.name, read.identity.region, read.image.name, read.image.command) == (
        "job-1",
        "us-east-1",
        "held-tree:latest",
        ("fit",),
    )
    assert read.image.facts is not None
    assert read.image.facts.id == "sha256:1"
    assert (read.engines.first.address, read.engines.several) == ("unix:///var/run/docker.sock", ())
    machine = read.engines.machine
    assert (machine.cpus, machine.accelerators.plain_runtime, machine.accelerators.gpus.busy) == (
        16,
        None,
        {"0": "other"},
    )
    assert (machine.limits.unlimited, machine.limits.free_disk) == (("memory",), 1 << 40)
    assert machine.limits.no_volume == "only root can create a disk of a fixed size"
    assert read.network.own is not None
    assert read.network.own.addresses == {"algo-1": "198.18.7.2", "algo-2": "198.18.7.3"}
    assert read.network.unreachable == ("s3",)
    assert first.accelerators.gpus is not None
    assert (first.accelerators.gpus.ids, first.accelerators.gpu_count) == (("1", "2", "3", "4"), 4)
    assert (first.names.aliases, first.names.hostname) == (("algo-1",), stored["hosts"][0]["hostname"])
    assert [tree.name for tree in read.trees] == ["train"]
    assert [(pipe.name, pipe.seed, pipe.shard.count) for pipe in read.pipes] == [("lines", 7, 2)]
    assert (first.limits.memory, first.limits.ulimits) == (1 << 30, {"nofile": (1024, 1024)})
    assert read.inputs.code is not None
    assert (read.inputs.code.uri, read.inputs.cache_bytes) == ("./src", 20 << 30)
    assert read.mirrored.checkpoints is not None
    assert [each.member for each in read.mirrored.collectors] == ["TensorBoardOutputConfig", "DebugHookConfig"]
    assert ([rule.name for rule in read.rules.each], read.rules.actions) == (["loss"], {"*": "stop"})
    assert (read.stop.retries, read.stop.max_wait) == (2, 90)
    assert ([fault.kind for fault in read.faults.each], read.faults.names_after, read.faults.fifos_after) == (
        ["interrupt"],
        2,
        4,
    )
    assert (read.kept.containers, read.kept.changes) == ("failed", True)
    assert read.credentials is not None
    assert read.data_parallel is not None
    assert read.rights.folders == ("/data",)
    assert [note.id for note in read.notes] == [note["id"] for note in stored["notes"]]
    assert recall(json.loads(json.dumps(remember(read)))) == read


def test_a_stored_plan_of_several_engines_is_read() -> None:
    stored = json.loads((STORED / "several_engines.json").read_text())
    read = recall(stored)
    assert read.engine_addresses == ("ssh://a", "ssh://b", "ssh://m")
    assert [read.engine_of(host).address for host in read.hosts] == ["ssh://a", "ssh://b"]
    assert list(read.engines.by_address) == ["ssh://a", "ssh://b"]
    assert [host.accelerators.neuron for host in read.hosts] == [("/dev/neuron0",), ("/dev/neuron1",)]
    for document in (stored, remember(read)):
        assert engine_of_each_host(document) == {"algo-1": "ssh://a", "algo-2": "ssh://b"}


def test_a_stored_plan_of_another_platform_is_read() -> None:
    stored = json.loads((STORED / "one_engine.json").read_text())
    program = {"image": "other:1", "entrypoint": ["python"], "command": None}
    stored["hosts"][0]["program"] = program
    found = recall(stored).hosts[0].program
    assert found is not None
    assert (found.name, found.entrypoint, found.command) == ("other:1", ("python",), None)


def test_what_is_stored_of_a_plan_is_left_out_of_its_own_records_only(plan: Callable[..., JobPlan]) -> None:
    request = {"HyperParameters": {"files": "3"}, "Environment": {"paths": "/a", "keys": "b"}}
    recalled = recall(json.loads(json.dumps(remember(plan(request)))))
    assert recalled.request["HyperParameters"] == {"files": "3"}
    assert recalled.hosts[0].environment["paths"] == "/a"
