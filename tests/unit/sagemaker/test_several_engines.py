"""The plan of a job whose hosts run on several engines."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from smlocal.engine.facts import EngineFacts
from smlocal.jobs.planning.aspects.accelerators.plan import AcceleratorFacts, GpuFacts
from smlocal.jobs.planning.aspects.engines.plan import EngineShare, MachineFacts
from smlocal.jobs.planning.aspects.engines.show import engine_rows
from smlocal.jobs.planning.aspects.network.look import on_network
from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.recall import recall_containers, remember
from smlocal.sagemaker.training.preparing import PREPARING
from smlocal.sagemaker.training.running import RUNNING
from smlocal.sagemaker.training.script import shell_script

Planner = Callable[..., JobPlan]
A, B = "ssh://a", "ssh://b"
GPUS = GpuFacts(ids=("0", "1", "2", "3"))


@pytest.fixture
def several(plan: Planner, facts: Facts) -> Planner:
    """Three hosts, of which the second is on the second engine."""

    def make(
        local: dict[str, Any] | None = None,
        request: dict[str, Any] | None = None,
        *,
        first: EngineFacts | None = None,
        **resources: Any,
    ) -> JobPlan:
        shares = tuple(
            EngineShare(
                engine=first
                if first is not None and first.address == address
                else replace(facts.engines.first, address=address, local=False, shares_folders=False),
                machine=MachineFacts(cpus=cpus, memory_mib=64_000, accelerators=AcceleratorFacts(gpus=GPUS)),
                hosts=hosts,
            )
            for address, cpus, hosts in ((A, 16, ("algo-1", "algo-3")), (B, 2, ("algo-2",)))
        )
        changes = {
            **(request or {}),
            "ResourceConfig": {"InstanceType": "ml.m5.xlarge", "InstanceCount": 3, **resources},
        }
        engine, machine = shares[0].engine, shares[0].machine
        return plan(changes, local, shares=shares, manager=B, engine=engine, machine=machine)

    return make


def test_each_host_knows_its_engine(several: Planner) -> None:
    made = several()
    assert [host.engine for host in made.hosts] == [A, B, A]
    assert made.engine_addresses == (A, B)
    assert dict(engine_rows(made)) == {"Engines": "ssh://a: algo-1, algo-3", "": "ssh://b: algo-2"}
    assert {tree.staging for host in made.hosts for tree in host.inputs.trees} == {"send"}
    why = "this job needs smlocal run: the engine does not see the folders of this machine; its hosts run on 2 engines"
    assert f"echo '{why}' >&2; exit 3" in shell_script(made)
    assert dict(PREPARING.plan_rows(made))["By hand"] == why


def test_the_addresses_leave_room_for_those_of_the_swarm(several: Planner) -> None:
    made = several()
    assert made.network.own is not None
    assert made.network.own.manager == B
    assert dict(made.network.own.addresses) == {f"algo-{n}": f"198.18.7.{127 + n}" for n in (1, 2, 3)}
    moved = on_network(made, "other", "198.18.9.0/24").network.own
    assert moved is not None
    assert (moved.manager, moved.addresses["algo-1"]) == (B, "198.18.9.128")


def test_gpus_are_those_of_the_engine(several: Planner) -> None:
    made = several(InstanceType="ml.g4dn.xlarge")
    assert [host.accelerators.gpus and host.accelerators.gpus.ids for host in made.hosts] == [("0",), ("0",), ("1",)]


def test_limits_are_those_of_the_machine(several: Planner) -> None:
    made = several({"EnforceInstanceLimits": True})
    assert [host.limits.cpus for host in made.hosts] == [4.0, 2.0, 4.0]


def test_memory_is_that_of_the_hosts_on_one_machine(several: Planner) -> None:
    enough = several({"EnforceInstanceLimits": True, "Memory": "30g"})
    assert "memory-together" not in {note.id for note in enough.notes}
    (note,) = (each for each in several({"Memory": "40g"}).notes if each.id == "memory-together")
    assert note.text.startswith("algo-1, algo-3 may use 80 GiB of memory together, and the machine of the engine at ")
    assert RUNNING.docker_command(enough) is None


def test_the_note_says_how_data_gets_there(several: Planner) -> None:
    notes = {note.id: note.text for note in several().notes}
    assert "the hosts run on 2 engines" in notes["several-engines"]
    assert "engine-remote" not in notes


@pytest.mark.parametrize(
    ("local", "why"), [({}, "the job has several engines"), ({"Rules": False}, "Local.Rules is false")]
)
def test_debugger_rules_need_one_engine(local: dict[str, Any], why: str, several: Planner) -> None:
    rule = {"RuleConfigurationName": "r", "RuleEvaluatorImage": "i"}
    made = several(local, {"DebugRuleConfigurations": [rule]})
    assert made.rules.each == ()
    assert f"debugger rules are recorded, not evaluated: {why}" in {note.text for note in made.notes}


def test_notes_name_the_engine_that_they_are_about(several: Planner, facts: Facts) -> None:
    made = several({"Endpoints": {"s3": "http://localhost:9000"}}, first=replace(facts.engines.first, address=A))
    notes = {note.id: note.text for note in made.notes}
    assert notes["engine-endpoints"].endswith("in the containers: the engine at ssh://b is on another machine")
    assert [made.engine_of(host).local for host in made.hosts] == [True, False, True]


def test_another_supervisor_finds_all_of_it(several: Planner) -> None:
    made = recall_containers(remember(several()))
    assert (made.engines.several, made.engines.machines) == (several().engines.several, several().engines.machines)
    assert [*made.engines.by_address] == [A, B]
