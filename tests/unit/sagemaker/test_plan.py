"""The plan of a job, byte for byte where the service's bytes are known."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from smlocal.engine.documents import container_document
from smlocal.jobs.containers import container_spec
from smlocal.jobs.planning.aspects.accelerators.plan import AcceleratorFacts
from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.training.preparing import PREPARING
from smlocal.terms.gpus import GpuDevices
from smlocal.terms.listing import Listing

Planner = Callable[..., JobPlan]
CONFIG = "/opt/ml/input/config"
TWO_HOSTS = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}}


def channel(name: str, **more: Any) -> dict[str, Any]:
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/train/"}}
    return {"ChannelName": name, "DataSource": source, **more}


def specification(**more: Any) -> dict[str, Any]:
    return {"AlgorithmSpecification": {"TrainingImage": "i", "TrainingInputMode": "File", **more}}


def test_one_plain_channel_gives_the_107_bytes_that_were_seen(plan: Planner, listing: Listing) -> None:
    made = plan({"InputDataConfig": [channel("training")]}, listings={"training": listing})
    content = made.hosts[0].files[f"{CONFIG}/inputdataconfig.json"]
    assert len(content) == 107
    assert content == (
        b'{"training":{"TrainingInputMode":"File","S3DistributionType":"FullyReplicated","RecordWrapperType":"None"}}'
    )


def test_a_content_type_comes_first_and_only_when_given(plan: Planner) -> None:
    made = plan({"InputDataConfig": [channel("train", ContentType="text/csv")]})
    (entry,) = json.loads(made.hosts[0].files[f"{CONFIG}/inputdataconfig.json"]).values()
    assert list(entry) == ["ContentType", "TrainingInputMode", "S3DistributionType", "RecordWrapperType"]


def test_nothing_asked_for_gives_the_five_files_all_empty(plan: Planner) -> None:
    made = plan({"InputDataConfig": None})
    files = {path.removeprefix(f"{CONFIG}/"): content for path, content in made.hosts[0].files.items()}
    assert sorted(files) == [
        "hyperparameters.json",
        "init-config.json",
        "inputdataconfig.json",
        "metric-definition-regex.json",
        "resourceconfig.json",
    ]
    assert files["hyperparameters.json"] == b"{}"
    assert files["inputdataconfig.json"] == b"{}"
    assert files["metric-definition-regex.json"] == b"[]"


def test_hyperparameters_are_the_requests_strings(plan: Planner) -> None:
    made = plan({"HyperParameters": {"arg2": '"hello"', "name": "Zoë", "n": "5"}})
    content = made.hosts[0].files[f"{CONFIG}/hyperparameters.json"]
    assert content == '{"arg2":"\\"hello\\"","name":"Zoë","n":"5"}'.encode()


def test_the_manifest_lists_the_prefix_and_every_object(plan: Planner) -> None:
    content = plan().hosts[0].files["/opt/ml/input/data/train-manifest"]
    assert content == b"train/\ns3://bucket/train/a.csv\ns3://bucket/train/b/c.csv\n"


@pytest.mark.parametrize(
    ("member", "file", "content"),
    [
        (
            {"DebugHookConfig": {"S3OutputPath": "s3://b/d"}},
            "debughookconfig.json",
            (
                '{"S3OutputPath":"s3://b/d","LocalPath":"/opt/ml/output/tensors","HookParameters":null,'
                '"CollectionConfigurations":null}'
            ),
        ),
        (
            {"TensorBoardOutputConfig": {"S3OutputPath": "s3://b/t"}},
            "tensorboardoutputconfig.json",
            '{"S3OutputPath":"s3://b/t","LocalPath":"/opt/ml/output/tensorboard/"}',
        ),
        (
            {"ProfilerConfig": {"S3OutputPath": "s3://b/p", "ProfilingIntervalInMilliseconds": 500}},
            "profilerconfig.json",
            '{"ProfilingIntervalInMilliseconds":500,"ProfilingParameters":null,"S3OutputPath":"s3://b/p"}',
        ),
        (
            specification(MetricDefinitions=[{"Name": "loss", "Regex": "loss=(.*)"}]),
            "metric-definition-regex.json",
            '[{"Name":"loss","Regex":"loss=(.*)"}]',
        ),
    ],
)
def test_what_is_configured_has_its_file(plan: Planner, member: dict[str, Any], file: str, content: str) -> None:
    assert plan(member).hosts[0].files[f"{CONFIG}/{file}"].decode() == content


def test_a_disabled_profiler_has_no_file(plan: Planner) -> None:
    made = plan({"ProfilerConfig": {"DisableProfiler": True}})
    assert f"{CONFIG}/profilerconfig.json" not in made.hosts[0].files


def test_collectors_have_their_folders(plan: Planner) -> None:
    made = plan(
        {"DebugHookConfig": {"S3OutputPath": "s3://b/d"}, "TensorBoardOutputConfig": {"S3OutputPath": "s3://b/t"}}
    )
    assert {"/opt/ml/output/tensors", "/opt/ml/output/tensorboard"} <= set(made.hosts[0].directories)
    assert not {"/opt/ml/output/tensors", "/opt/ml/output/tensorboard"} & set(plan().hosts[0].directories)


@pytest.mark.parametrize(
    ("more", "entrypoint", "command"),
    [
        ({}, None, ("train",)),
        ({"ContainerEntrypoint": ["a", "b"]}, ("a", "b"), None),
        ({"ContainerArguments": ["c"]}, None, ("c",)),
        ({"ContainerEntrypoint": ["a"], "ContainerArguments": ["c", "d"]}, ("a",), ("c", "d")),
    ],
)
def test_the_four_ways_to_start(
    plan: Planner, more: dict[str, Any], entrypoint: tuple[str, ...] | None, command: tuple[str, ...] | None
) -> None:
    made = plan(specification(**more))
    assert (made.image.entrypoint, made.image.command) == (entrypoint, command)


def test_the_environment_is_the_services_and_the_requests(plan: Planner) -> None:
    made = plan({"Environment": {"MINE": "1"}})
    assert dict(made.hosts[0].environment) == {
        "TRAINING_JOB_NAME": "job-1",
        "TRAINING_JOB_ARN": "arn:aws:sagemaker:us-east-1:000000000000:training-job/job-1",
        "AWS_REGION": "us-east-1",
        "DMLC_INTERFACE": "eth0",
        "SAGEMAKER_METRICS_DIRECTORY": "/opt/ml/output/metrics/sagemaker",
        "SAGEMAKER_MANAGED_WARMPOOL_CACHE_DIRECTORY": "/opt/ml/sagemaker/warmpoolcache",
        "MINE": "1",
    }
    assert "/opt/ml/sagemaker/warmpoolcache" in made.hosts[0].directories


@pytest.mark.parametrize("runtime", ["", "runc", None])
def test_gpus_are_kept_out_by_the_runtime_or_else_by_the_variable(
    plan: Planner, facts: Facts, runtime: str | None
) -> None:
    machine = replace(facts.engines.machine, accelerators=AcceleratorFacts(plain_runtime=runtime))
    host = plan({"Environment": {"NVIDIA_VISIBLE_DEVICES": "all"}}, machine=machine).hosts[0]
    assert host.accelerators.runtime == (runtime or "")
    assert host.environment["NVIDIA_VISIBLE_DEVICES"] == ("void" if runtime is None else "all")
    gpu = {"ResourceConfig": {"InstanceType": "ml.g4dn.xlarge", "InstanceCount": 1}}
    host = plan(gpu, machine=machine).hosts[0]
    assert host.accelerators.gpus is not None
    assert host.accelerators.runtime == ""
    assert "NVIDIA_VISIBLE_DEVICES" not in host.environment


def test_one_host_knows_its_own_name_without_a_network(plan: Planner) -> None:
    made = plan()
    assert made.network.own is None
    assert dict(made.hosts[0].names.extra_hosts) == {"algo-1": "127.0.0.1"}


def test_several_hosts_share_a_network_and_differ_in_resourceconfig(plan: Planner) -> None:
    made = plan({"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 3}})
    assert made.network.own is not None
    assert (made.network.own.name, made.network.own.subnet) == ("smlocal-job-1-0123abcd", "198.18.7.0/24")
    addresses = {"algo-1": "198.18.7.2", "algo-2": "198.18.7.3", "algo-3": "198.18.7.4"}
    assert (dict(made.network.own.addresses), made.network.own.gateway) == (addresses, "198.18.7.1")
    assert [dict(host.names.extra_hosts) for host in made.hosts] == [{}, {}, {}]
    assert [host.names.aliases for host in made.hosts] == [("algo-1",), ("algo-2",), ("algo-3",)]
    current = [json.loads(host.files[f"{CONFIG}/resourceconfig.json"])["current_host"] for host in made.hosts]
    assert current == ["algo-1", "algo-2", "algo-3"]
    assert len({host.container for host in made.hosts}) == 3


def test_an_isolated_host_has_a_network_too(plan: Planner) -> None:
    made = plan({"EnableNetworkIsolation": True})
    assert made.network.own is not None
    assert made.network.own.isolated
    assert dict(made.network.own.addresses) == {"algo-1": "198.18.7.2"}
    assert not plan(TWO_HOSTS).network.own.isolated  # type: ignore[union-attr]  # two hosts have one


@pytest.mark.parametrize(
    ("url", "one", "two"),
    [
        ("http://localhost:9000", "http://172.17.0.1:9000", "http://198.18.7.1:9000"),
        ("http://127.0.0.1:9000/x", "http://172.17.0.1:9000/x", "http://198.18.7.1:9000/x"),
        ("http://127.9.0.1", "http://172.17.0.1", "http://198.18.7.1"),
        ("https://u:p@[::1]:9000", "https://172.17.0.1:9000", "https://198.18.7.1:9000"),
        ("http://minio.lan:9000", "http://minio.lan:9000", "http://minio.lan:9000"),
    ],
)
def test_services_of_this_machine_have_another_name_in_a_container(plan: Planner, url: str, one: str, two: str) -> None:
    local = {"Endpoints": {"s3": url, "secrets-manager": "http://h"}}
    for made, seen in ((plan({}, local), one), (plan(TWO_HOSTS, local), two)):
        assert [host.environment["AWS_ENDPOINT_URL_S3"] for host in made.hosts] == [seen] * len(made.hosts)
        assert made.hosts[0].environment["AWS_ENDPOINT_URL_SECRETS_MANAGER"] == "http://h"
    own = plan({"Environment": {"AWS_ENDPOINT_URL_S3": "mine"}}, local)
    assert own.hosts[0].environment["AWS_ENDPOINT_URL_S3"] == "mine"
    isolated = plan({"EnableNetworkIsolation": True}, local)
    assert not [name for name in isolated.hosts[0].environment if name.startswith("AWS_ENDPOINT_URL")]


@pytest.mark.parametrize("kind", ["desktop", "rootless", "remote"])
def test_an_engine_elsewhere_is_asked_for_the_name_of_this_machine(plan: Planner, facts: Facts, kind: str) -> None:
    here = facts.engines.first
    engine = replace(here, desktop=kind == "desktop", rootless=kind == "rootless", local=kind != "remote")
    made = plan({}, {"Endpoints": {"s3": "http://localhost:1"}}, engine=engine)
    assert made.hosts[0].environment["AWS_ENDPOINT_URL_S3"] == "http://host.docker.internal:1"
    assert dict(made.hosts[0].names.extra_hosts) == {"algo-1": "127.0.0.1", "host.docker.internal": "host-gateway"}
    made = plan({}, {"Endpoints": {"s3": "http://minio.lan:1"}}, engine=engine)
    assert dict(made.hosts[0].names.extra_hosts) == {"algo-1": "127.0.0.1"}


def test_gpus_come_from_the_instance_type(plan: Planner) -> None:
    gpu = {"ResourceConfig": {"InstanceType": "ml.g4dn.12xlarge", "InstanceCount": 1}}
    assert plan(gpu).hosts[0].accelerators.gpus == GpuDevices(ids=("0", "1", "2", "3"))
    assert "NVIDIA_VISIBLE_DEVICES" not in plan(gpu).hosts[0].environment
    assert plan(gpu, {"AllowCpu": True}).hosts[0].accelerators.gpu_count == 0
    assert plan().hosts[0].accelerators.gpu_count == 0


@pytest.mark.parametrize(
    ("asked", "uri"),
    [
        ({"S3OutputPath": "s3://bucket/out/"}, "s3://bucket/out/job-1/output/model.tar.gz"),
        ({"S3OutputPath": "s3://bucket/out", "CompressionType": "NONE"}, "s3://bucket/out/job-1/output/model/"),
        ({"S3OutputPath": "./out"}, "file:///results/job-1/output/model.tar.gz"),
    ],
)
def test_the_models_place(plan: Planner, asked: dict[str, str], uri: str) -> None:
    made = plan({"OutputDataConfig": asked})
    assert made.output.model_uri == uri
    assert made.output.directory == "/results/job-1"


def test_a_long_file_is_shown_as_head_count_and_digest(plan: Planner, listing: Listing) -> None:
    many = replace(listing, paths=tuple(f"{number:06}" for number in range(1000)))
    document = PREPARING.plan_document(plan(listings={"train": many}))
    shown = document["Hosts"][0]["Files"]["/opt/ml/input/data/train-manifest"]
    assert shown["Lines"] == 1001
    assert shown["Head"][:2] == ["train/", "s3://bucket/train/000000"]
    assert len(shown["Sha256"]) == 64
    assert "Content" not in shown


def test_the_document_is_json_and_tells_how_each_mount_is_made(plan: Planner) -> None:
    document = json.loads(json.dumps(PREPARING.plan_document(plan({}, {"Staging": "copy"}))))
    kinds = {mount["Target"]: mount["Kind"] for mount in document["Hosts"][0]["Mounts"]}
    assert kinds == {
        "/opt/ml/input": "bind",
        "/opt/ml/model": "bind",
        "/opt/ml/output": "bind",
        "/opt/ml/sagemaker/warmpoolcache": "bind",
        "/opt/ml/input/data/train": "copy",
    }


def test_each_host_waits_for_its_own_debugger(plan: Planner) -> None:
    made = plan(TWO_HOSTS, {"DebugPort": 5678})
    specs = [container_spec(made, host, labels={}, mounts=()) for host in made.hosts]
    assert [spec.ports for spec in specs] == [(5678,), (5679,)]
    assert [spec.environment["SMLOCAL_DEBUG_PORT"] for spec in specs] == ["5678", "5679"]
    assert {spec.environment["PYTHONPATH"] for spec in specs} == {"/opt/smlocal/debugging"}
    own = plan({"Environment": {"PYTHONPATH": "/a:/b"}}, {"DebugPort": 1})
    spec = container_spec(own, own.hosts[0], labels={}, mounts=())
    assert spec.environment["PYTHONPATH"] == "/opt/smlocal/debugging:/a:/b"
    plain = container_spec(plan(), plan().hosts[0], labels={}, mounts=())
    assert (plain.ports, plain.joined, "PYTHONPATH" in plain.environment) == ((), (), False)
    assert [host["DebugPort"] for host in PREPARING.plan_document(made)["Hosts"]] == [5678, 5679]


def test_a_host_on_the_network_of_the_machine_asks_for_nothing_of_its_own(plan: Planner) -> None:
    endpoints = {"s3": "http://localhost:9000"}
    made = plan({}, {"Network": "host", "Endpoints": endpoints, "AddHosts": {"mlflow": "host-gateway"}})
    spec = container_spec(made, made.hosts[0], labels={}, mounts=())
    assert (made.network.shared, spec.network) == ("host", "host")
    assert (spec.address, spec.aliases, spec.ports, spec.published) == ("", (), (), {})
    assert spec.extra_hosts == {"algo-1": "127.0.0.1", "mlflow": "host-gateway"}
    assert spec.environment["AWS_ENDPOINT_URL_S3"] == "http://127.0.0.1:9000"
    document = container_document(spec)
    assert document["HostConfig"]["NetworkMode"] == "host"
    assert "NetworkingConfig" not in document


def test_hosts_join_networks_and_know_added_names(plan: Planner) -> None:
    local = {"Networks": ["a", "b"], "AddHosts": {"mlflow": "host-gateway"}}
    for made in (plan({}, local), plan(TWO_HOSTS, local)):
        for host in made.hosts:
            spec = container_spec(made, host, labels={}, mounts=())
            assert spec.joined == ("a", "b")
            assert spec.extra_hosts["mlflow"] == "host-gateway"
        assert PREPARING.plan_document(made)["JoinedNetworks"] == ["a", "b"]
