import json
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from smlocal.errors import EarlierPlanError
from smlocal.jobs.decide.spreading import Need, taken_by_plan
from smlocal.jobs.planning.model import IdentityPlan, JobPlan, Note, RecordedPlan
from smlocal.jobs.planning.recall import engine_of_each_host, recall, recall_containers, remember
from smlocal.terms.listing import Listing


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


def test_where_hosts_ran_is_read_of_plans_that_cannot_be_recalled() -> None:
    host = {"host": {"name": "algo-1"}, "engine": "ssh://a"}
    several = {"first": {}, "several": [{"address": "ssh://a"}]}
    for engines in (several, [{"address": "ssh://a"}]):
        document = {"image": "held-tree:latest", "engines": engines, "hosts": [host]}
        with pytest.raises(EarlierPlanError):
            recall(document)
        assert engine_of_each_host(document) == {"algo-1": "ssh://a"}
    assert engine_of_each_host({"engines": [], "hosts": [host]}) == engine_of_each_host(None) == {}


def test_what_is_stored_of_a_plan_is_left_out_of_its_own_records_only(plan: Callable[..., JobPlan]) -> None:
    request = {"HyperParameters": {"files": "3"}, "Environment": {"paths": "/a", "keys": "b"}}
    recalled = recall_containers(json.loads(json.dumps(remember(plan(request)))))
    assert recalled.request["HyperParameters"] == {"files": "3"}
    assert recalled.hosts[0].environment["paths"] == "/a"


def test_a_plan_without_containers_is_recalled_as_it_is() -> None:
    made = RecordedPlan(
        platform="sagemaker_tuning",
        name="search",
        run_id="0a",
        job_directory="/jobs/search",
        request={"a": 1},
        identity=IdentityPlan(arn="arn", region="us-east-1", account="000000000000"),
        notes=(Note(id="some", text="differs"),),
        details={"Output": "/out"},
    )
    recalled = recall(json.loads(json.dumps(remember(made))))
    assert recalled == made
    assert (recalled.host_names, recalled.engine_addresses, recalled.model_uri) == ((), (), "")


def test_jobs_of_one_engine_count_by_their_plans(plan: Callable[..., JobPlan]) -> None:
    made = plan({"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}})
    stored = json.loads(json.dumps(remember(made)))
    assert taken_by_plan(stored) == {made.engines.first.address: Need(cpus=4, memory_mib=16384, instances=2)}
    assert taken_by_plan({"name": "search"}) == {}
