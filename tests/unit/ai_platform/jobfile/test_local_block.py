"""The `Local` block of a job file of this platform."""

from typing import Any

import pytest

from smlocal.ai_platform.jobfile.job_file import ReplicaJobFile, ReplicaReading, read_job
from smlocal.errors import RequestInvalidError
from smlocal.jobfile.reading import load_document
from smlocal.jobfile.settings import LocalSettings
from smlocal.terms.model.structure import members

CUSTOM_JOB = """\
workerPoolSpecs:
  - {machineSpec: {machineType: n1-standard-4}, containerSpec: {imageUri: image}}
  - {machineSpec: {machineType: n1-standard-4}, containerSpec: {imageUri: image}, replicaCount: 2}
scheduling: {timeout: 3600s}
"""
TRAINING_JOB = """\
trainingInput:
  scaleTier: STANDARD_1
  masterConfig: {imageUri: image}
"""
SOMETHING: dict[str, str] = {
    "AllowedBuckets": "[bucket]",
    "Publish": "true",
    "Cache": "false",
    "CacheGiB": "1",
    "Credentials": "inherit",
    "Sample": "3",
    "Code": "code",
    "Staging": "copy",
    "PeerGraceSeconds": "0",
    "Endpoints": "{s3: 'http://localhost:1'}",
    "Placement": "{workerpool0-0: a}, Engines: [a]",
    "SpreadOver": "[a]",
    "EngineInstances": "2",
    "Network": "host",
    "ResourceConfigKeys": "three-keys",
    "NetworkInterface": "eth1",
    "MergeOutput": "true",
    "DataParallel": "always",
    "Rules": "false",
    "OnRule": "{'*': stop}",
}
"""Another value than the default for each setting that is refused."""


def read(local: str, *, job: str = CUSTOM_JOB, **choices: Any) -> ReplicaJobFile:
    return read_job(load_document(f"{job}Local: {local}\n", name="job.yaml", directory="/"), strict=False, **choices)


def details(local: str, **choices: Any) -> list[str]:
    with pytest.raises(RequestInvalidError) as caught:
        read(local, **choices)
    return [line.partition("   ")[2] for line in caught.value.details]


@pytest.mark.parametrize("name", ReplicaReading.REFUSED)
def test_a_setting_without_a_meaning_is_refused_unless_it_is_the_default(name: str) -> None:
    assert details(f"{{{name}: {SOMETHING[name]}}}") == [f"Local.{name}: {ReplicaReading.REFUSED[name]}; remove it"]
    default = getattr(LocalSettings(), name)
    if default is not None:
        said = str(default).lower() if isinstance(default, bool) else default
        assert getattr(read(f"{{{name}: {said}}}").local, name) == default


def test_the_other_settings_are_taken() -> None:
    local = read(
        "{Sources: {gs://bucket/data: data}, AllowedPaths: [/data], Output: out, "
        "Region: europe-west4, StopGraceSeconds: 1, MaxHosts: 3, "
        "Engines: [there], Networks: [n], AddHosts: {a: b}, DebugPort: 1, "
        "NetworkRange: 10.99.0.0/16, EnforceInstanceLimits: true, Memory: 512m, Cpus: 1, ShmSize: 64m, "
        "Ulimits: {nofile: 100}, Processes: 100, Gpus: none, AllowCpu: true, Pull: never, Keep: all, "
        "ErrorDelaySeconds: 0, ListChanges: true, Check: {Ignore: [{Id: a, Reason: b}]}, "
        "Faults: [{Kind: StockOut}]}"
    ).local
    changed = {name for name, value in vars(local).items() if value != getattr(LocalSettings(), name)}
    assert changed | set(ReplicaReading.REFUSED) == set(members(LocalSettings))
    assert read("").local == LocalSettings()


@pytest.mark.parametrize(
    ("local", "said"),
    [
        ("{Region: europe-west}", "Local.Region: 'europe-west' is not a valid region; write it like us-central1"),
        ("{Sources: {s3://bucket: data}}", "Local.Sources: 's3://bucket' is not a Cloud Storage location; write gs://"),
        ("{ErrorDelaySeconds: 3601}", "Local.ErrorDelaySeconds"),
        ("{AllowCpu: true, Gpus: all}", "Local.Gpus requests GPUs and Local.AllowCpu a run without them"),
        ("{Output: ' '}", "Local.Output is empty"),
        ("{Engines: [here, there]}", "Local.Engines: all replicas of a job of this platform run on one engine here"),
    ],
)
def test_a_wrong_value(local: str, said: str) -> None:
    (line,) = details(local)
    assert said in line


def test_it_can_be_forbidden() -> None:
    assert details("{Keep: all}", local_allowed=False) == ["Local is for this machine: the service has no such member"]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("Kind: Interrupt", "Kind: this platform has no Interrupt; its faults are StockOut, InternalError and Mainte"),
        ("Kind: LateNames, AfterSeconds: 3", "Kind: this platform has no LateNames"),
        ("Kind: LateFifo, AfterSeconds: 3", "Kind: this platform has no LateFifo"),
        ("Kind: StockOut, When: After", "When: After is for InternalError only; a stock-out is always before the"),
        ("Kind: StockOut, AfterSeconds: 1", "AfterSeconds: a stock-out is before the replicas start; remove it"),
        ("Kind: StockOut, Replica: workerpool0-0", "Replica: is for Maintenance only; remove it"),
        ("Kind: Maintenance, When: Before", "When: Before is for InternalError only; maintenance is always during"),
        (
            "Kind: Maintenance, Replica: workerpool2-0",
            "Replica: the job has no replica 'workerpool2-0'; it has workerpool0-0, workerpool1-0, workerpool1-1",
        ),
        ("Kind: Maintenance, AfterSeconds: 3600", "AfterSeconds: must be less than timeout (3600 s)"),
        ("Kind: InternalError, AfterSeconds: 3600", "AfterSeconds: must be less than timeout (3600 s)"),
        ("Kind: InternalError, When: After", "When: After changes nothing"),
    ],
)
def test_a_fault_that_cannot_happen_is_refused(fault: str, said: str) -> None:
    (line,) = details(f"{{Faults: [{{{fault}}}]}}")
    assert f"Local.Faults.1.member.{said}" in line


@pytest.mark.parametrize(
    "fault",
    [
        "Kind: StockOut, Times: 4",
        "Kind: InternalError, When: Before",
        "Kind: InternalError, AfterSeconds: 3",
        "Kind: Maintenance",
        "Kind: Maintenance, Replica: workerpool1-1, AfterSeconds: 5",
    ],
)
def test_a_fault_that_can(fault: str) -> None:
    assert len(read(f"{{Faults: [{{{fault}}}]}}").local.Faults) == 1


def test_many_replicas_are_not_all_named() -> None:
    (line,) = details("{Faults: [{Kind: Maintenance, Replica: chief-0}]}", job=TRAINING_JOB)
    assert line.endswith("the job has no replica 'chief-0'; it has master-0 to ps-2")


def test_a_replica_is_not_looked_for_in_a_request_that_is_wrong() -> None:
    lines = details(
        "{Faults: [{Kind: Maintenance, Replica: a}, {Kind: Interrupt}]}",
        job=CUSTOM_JOB.replace("n1-standard-4", "n1-standrd-4", 1),
    )
    assert [line.partition(" ")[0] for line in lines] == [
        "workerPoolSpecs[0].machineSpec.machineType",
        "Local.Faults.2.member.Kind:",
    ]


def test_nor_in_one_that_is_refused() -> None:
    lines = details(
        "{Faults: [{Kind: Maintenance, Replica: a}, {Kind: Interrupt}]}",
        job=TRAINING_JOB.replace("STANDARD_1", "BASIC_TPU"),
    )
    assert [line.partition(" ")[0] for line in lines] == ["trainingInput.scaleTier", "Local.Faults.2.member.Kind:"]
