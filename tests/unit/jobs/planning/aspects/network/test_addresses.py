"""Addresses for the hosts of a job, dealt out before there is a network."""

from collections.abc import Callable
from ipaddress import IPv4Network
from itertools import islice

import pytest

from smlocal.jobs.planning.aspects.network.look import on_network
from smlocal.jobs.planning.aspects.network.plan import candidates, overlaps, plan_network
from smlocal.jobs.planning.model import JobPlan

Planner = Callable[..., JobPlan]


@pytest.mark.parametrize(
    ("within", "hosts", "bits", "count"),
    [
        ("198.18.0.0/15", 1, 24, 512),
        ("198.18.0.0/15", 253, 24, 512),
        ("198.18.0.0/15", 254, 23, 256),
        ("198.18.0.0/15", 1000, 22, 128),
        ("10.0.0.0/24", 16, 24, 1),
        ("10.0.0.0/28", 13, 28, 1),
        ("10.0.0.0/28", 14, 0, 0),
        ("10.0.0.0/31", 1, 0, 0),
    ],
)
def test_subnets_have_room_for_the_hosts(within: str, hosts: int, bits: int, count: int) -> None:
    found = [IPv4Network(each) for each in candidates(within, hosts, seed=12345)]
    assert len(set(found)) == len(found) == count
    assert {each.prefixlen for each in found} <= {bits}
    assert all(each.subnet_of(IPv4Network(within)) for each in found)


def test_jobs_begin_at_different_subnets() -> None:
    first = {next(candidates("198.18.0.0/15", 2, seed=seed)) for seed in range(100)}
    assert len(first) == 100


def test_every_host_has_an_address_of_its_own() -> None:
    hosts = [f"algo-{number}" for number in range(1, 1001)]
    network = plan_network("n", "10.1.4.0/22", hosts, within="10.0.0.0/8", isolated=False)
    assert list(network.addresses) == hosts
    assert network.addresses["algo-255"] == "10.1.5.0"
    ends = {network.gateway, "10.1.4.0", "10.1.7.255"}
    assert len(set(network.addresses.values()) | ends) == 1003


def test_a_job_moves_to_another_network_as_a_whole(plan: Planner) -> None:
    changes = {
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2},
        "Environment": {"PEER": "198.18.7.1"},
    }
    made = on_network(plan(changes, {"Endpoints": {"s3": "http://localhost:9000"}}), "other", "10.0.0.0/24")
    assert made.network.own is not None
    assert made.network.own.name == "other"
    assert dict(made.network.own.addresses) == {"algo-1": "10.0.0.2", "algo-2": "10.0.0.3"}
    for host in made.hosts:
        assert host.environment["AWS_ENDPOINT_URL_S3"] == "http://10.0.0.1:9000"
        assert host.environment["PEER"] == "198.18.7.1"
    assert on_network(plan(), "other", "10.0.0.0/24") == plan()


def test_overlaps() -> None:
    assert overlaps("10.0.1.0/24", ["192.168.0.0/16", "10.0.0.0/8"])
    assert not overlaps("10.0.1.0/24", ["10.0.0.0/24", "10.0.2.0/23"])
    assert list(islice(candidates("10.0.0.0/23", 3, seed=1), 2)) == ["10.0.1.0/24", "10.0.0.0/24"]
