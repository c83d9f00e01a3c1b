import json
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from smlocal.contract.listing import Listing
from smlocal.errors import EarlierPlanError
from smlocal.planning.model import JobPlan
from smlocal.planning.recall import recall, remember


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
            replace(host, files={}, channels=tuple(without_paths(tree) for tree in host.channels))  # type: ignore[misc]
            for host in one.hosts
        )
        return replace(one, hosts=hosts, code=without_paths(one.code))  # type: ignore[arg-type]

    assert recalled == bare(made)
    assert recalled.hosts[1].host.name == "algo-2"
    assert len(json.dumps(remember(made))) < 10_000


@dataclass(frozen=True, kw_only=True)
class Other:
    """A record with fields that are left out of another."""

    files: tuple[str, ...]
    sizes: tuple[int, ...]


def test_a_field_is_left_out_of_its_own_record_alone(plan: Callable[..., JobPlan]) -> None:
    other = replace(plan(), code=Other(files=("a",), sizes=(1,)))  # type: ignore[arg-type]
    assert remember(other)["code"] == {"files": ["a"], "sizes": [1]}


def test_a_plan_of_another_version_is_refused(plan: Callable[..., JobPlan]) -> None:
    document = remember(plan())
    del document["platform"]
    with pytest.raises(EarlierPlanError, match="'job-1' was planned by another version"):
        recall(document)
    with pytest.raises(EarlierPlanError):
        recall({**remember(plan()), "new_member": 1})
