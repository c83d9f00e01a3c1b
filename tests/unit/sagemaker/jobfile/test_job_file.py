from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import InvalidRegionError
from botocore.utils import validate_region_name

from smlocal.errors import FieldRefusedError, RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.jobfile.reading import load_document
from smlocal.jobfile.settings import CheckSettings, LocalSettings
from smlocal.sagemaker.contract.coverage.members import TABLE
from smlocal.sagemaker.contract.identity import is_region_name
from smlocal.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.terms.member_table import Support, Value

TEXT = """\
TrainingJobName: a
RoleArn:
HyperParameters:
AlgorithmSpecification: {TrainingImage: image, TrainingInputMode: File, ContainerArguments: }
OutputDataConfig: {S3OutputPath: ./out}
ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 2}
"""


def read(text: str, *, strict: bool = False) -> JobFile:
    return read_job(load_document(text, name="job.yaml", directory="/jobs"), strict=strict)


def test_the_request_is_typed_and_kept_as_given() -> None:
    job = read(TEXT + "Local: {Sources: {s3://bucket/: ./data}, Pull: never, PeerGraceSeconds: 0}")
    assert job.request.ResourceConfig is not None
    assert job.request.ResourceConfig.InstanceCount == 2
    assert job.document.directory == "/jobs"
    assert job.local == LocalSettings(Sources={"s3://bucket/": "./data"}, Pull="never", PeerGraceSeconds=0)
    # An empty key says nothing: it is neither in the request nor echoed.
    assert job.raw == {
        "TrainingJobName": "a",
        "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2},
    }


@pytest.mark.parametrize("key", ["./x", "/abs", "data", "file:///x", "s3:/b", "s3://", "s3:///b", "https://", "fs-"])
def test_a_mapping_of_what_no_request_names_is_refused(key: str) -> None:
    with pytest.raises(RequestInvalidError) as caught:
        read(TEXT + f'Local:\n  Sources:\n    "{key}": ./data')
    assert caught.value.details == (
        f"job.yaml:9   Local.Sources: '{key}' is neither an s3:// prefix nor a file-system id; write s3://bucket/prefix",
    )


@pytest.mark.parametrize("key", ["s3://b", "s3://b/x/", "https://s3.amazonaws.com/b", "fs-0123456789abcdef0"])
def test_a_mapping_has_a_location(key: str) -> None:
    assert read(TEXT + f'Local: {{Sources: {{"{key}": ./data}}}}').local.Sources == {key: "./data"}


def test_defaults_of_local() -> None:
    local = read(TEXT).local
    assert vars(local) == {
        "Sources": {},
        "AllowedPaths": None,
        "AllowedBuckets": None,
        "Output": None,
        "Publish": False,
        "Cache": True,
        "CacheGiB": 20,
        "Credentials": "none",
        "Sample": None,
        "Code": None,
        "Staging": None,
        "Region": None,
        "PeerGraceSeconds": 10,
        "StopGraceSeconds": 120,
        "MaxHosts": 32,
        "Engines": [],
        "Placement": "spread",
        "SpreadOver": [],
        "EngineInstances": None,
        "NetworkRange": "198.18.0.0/15",
        "Network": None,
        "Networks": [],
        "AddHosts": {},
        "Endpoints": {},
        "ResourceConfigKeys": "newest",
        "NetworkInterface": "eth0",
        "MergeOutput": False,
        "EnforceInstanceLimits": False,
        "Memory": None,
        "Cpus": None,
        "ShmSize": None,
        "Ulimits": None,
        "Processes": None,
        "Gpus": "auto",
        "AllowCpu": False,
        "DataParallel": "auto",
        "Pull": "missing",
        "DebugPort": 0,
        "Keep": "none",
        "Faults": [],
        "ErrorDelaySeconds": 60,
        "ListChanges": False,
        "Rules": True,
        "OnRule": {},
        "Check": CheckSettings(),
    }
    assert read(TEXT + "Local:").local == local


@pytest.mark.parametrize(
    "uri", ["./out", "/abs/out", "out", "file:///out", "file://out", "s3://b/p", "https://h/p", "a:b"]
)
def test_paths_stand_where_locations_would(uri: str) -> None:
    assert read(TEXT.replace("./out", f'"{uri}"')).request.OutputDataConfig.S3OutputPath == uri


@pytest.mark.parametrize("uri", ["", "file://", "s3://", "s3:/b", "https:x", "gs://b/k", "a\\0b"])
def test_what_is_neither_a_location_nor_a_path_is_refused(uri: str) -> None:
    with pytest.raises(RequestInvalidError) as caught:
        read(TEXT.replace("./out", f'"{uri}"'))
    assert "(https|s3)://([^/]+)/?(.*)" in caught.value.service_message


@pytest.mark.parametrize("uri", ["./out", "/abs/out", "file:///out"])
def test_strict_takes_no_path(uri: str) -> None:
    with pytest.raises(RequestInvalidError, match="2 problems"):
        read(TEXT.replace("./out", uri), strict=True)


def test_strict_asks_for_what_the_service_asks_for() -> None:
    with pytest.raises(RequestInvalidError) as caught:
        read(TEXT.replace("TrainingJobName: a\n", "").replace("./out", "s3://bucket/"), strict=True)
    assert caught.value.service_message == (
        "2 validation errors detected: Value null at 'trainingJobName' failed to satisfy constraint: Member must not "
        "be null; Value null at 'roleArn' failed to satisfy constraint: Member must not be null"
    )
    job = read(
        TEXT.replace("RoleArn:", "RoleArn: arn:aws:iam::123456789012:role/r").replace("./out", "s3://b"), strict=True
    )
    assert job.request.TrainingJobName == "a"


def test_flags_are_named_as_such() -> None:
    document = load_document(TEXT, name="job.yaml", directory="/")
    document.set(("TrainingJobName",), "a_b")
    with pytest.raises(RequestInvalidError) as caught:
        read_job(document, strict=False)
    assert caught.value.details[0].startswith("command line   Value 'a_b' at 'trainingJobName'")


def test_the_head_names_what_is_wrong() -> None:
    for places, who in (
        ([("TrainingJobName",)], "1 problem in the command line"),
        ([("TrainingJobName",), ("ResourceConfig", "InstanceType")], "2 problems in the command line"),
        ([], "1 problem in job.yaml"),
        ([("ResourceConfig", "InstanceType")], "2 problems in job.yaml and the command line"),
    ):
        document = load_document(
            TEXT if places[:1] == [("TrainingJobName",)] else "X: 1\n" + TEXT, name="job.yaml", directory="/"
        )
        for place in places:
            document.set(place, "a b")
        with pytest.raises(RequestInvalidError) as caught:
            read_job(document, strict=False)
        assert caught.value.sentence == who


def test_a_flag_that_is_refused_is_blamed_and_told_what_to_say_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        word: Value(support=support, note="")
        for word, support in (("true", Support.REFUSED), ("false", Support.EMULATED))
    }
    monkeypatch.setitem(TABLE, "EnableNetworkIsolation", replace(TABLE["EnableNetworkIsolation"], values=values))
    document = load_document(TEXT, name="job.yaml", directory="/")
    document.set(("EnableNetworkIsolation",), value=True)
    with pytest.raises(FieldRefusedError) as caught:
        read_job(document, strict=False)
    member = "EnableNetworkIsolation"
    assert caught.value.sentence == f"the command line uses fields that smlocal does not support: {member}"
    assert caught.value.remedy[0] == f"Use false for {member}."


def test_a_member_that_is_refused_can_be_left_out() -> None:
    with pytest.raises(FieldRefusedError) as caught:
        read(TEXT.replace("TrainingImage: image", "AlgorithmName: abc"))
    assert caught.value.remedy[0].startswith("Remove ")


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        (
            "NetworkRange",
            "10.99.0.1/16",
            "'10.99.0.1/16' is not a valid range of IPv4 addresses; write it like 10.99.0.0/16",
        ),
        ("NetworkRange", "fd00::/64", "'fd00::/64' is not a valid range"),
        ("NetworkRange", "private", "'private' is not a valid range"),
        ("NetworkRange", "127.0.0.0/8", "'127.0.0.0/8' has loopback addresses"),
        ("NetworkRange", "127.12.0.0/16", "has loopback addresses"),
        ("NetworkRange", "169.254.0.0/16", "has link-local addresses"),
        ("NetworkRange", "239.1.0.0/16", "has multicast addresses"),
        ("NetworkRange", "250.0.0.0/8", "has reserved addresses"),
        ("NetworkRange", "0.0.0.0/0", "has unspecified addresses"),
        ("NetworkRange", "128.0.0.0/1", "has link-local addresses"),
        ("NetworkRange", "10.0.0.0/31", "is too small"),
        ("NetworkRange", "10.0.0.0", "is too small"),
        ("Region", "../../x", "'../../x' is not a valid region; write it like us-east-1"),
        ("Region", "us east 1", "'us east 1' is not a valid region"),
        ("Region", "-x", "'-x' is not a valid region"),
        ("Output", "' '", "Local.Output is empty; give the path of a folder"),
        ("Code", '"\\t"', "Local.Code is empty"),
        ("Endpoints", "{s 3!: 'http://localhost:1'}", "s 3!: is not a valid service name"),
        (
            "Endpoints",
            "{s3: localhost:9000}",
            "'localhost:9000' is not a valid service URL; write it like http://localhost:9000",
        ),
        ("Endpoints", "{s3: 'ftp://localhost'}", "'ftp://localhost' is not a valid service URL"),
        ("Endpoints", "{s3: 'http://localhost:99999'}", "'http://localhost:99999' is not a valid service URL"),
        ("Endpoints", "{s3: 'http://'}", "'http://' is not a valid service URL"),
    ],
)
def test_settings_of_the_network(setting: str, value: str, said: str) -> None:
    with pytest.raises(RequestInvalidError, match="1 problem") as caught:
        read(TEXT + f"Local: {{{setting}: {value}}}")
    assert said in caught.value.details[0]
    good = "Local: {NetworkRange: 10.99.0.0/16, Endpoints: {s3: 'https://[::1]:9000/x', secrets_manager: 'http://h'}}"
    assert read(TEXT + good).local.NetworkRange == "10.99.0.0/16"


@pytest.mark.parametrize(
    ("local", "line", "said"),
    [
        ("Engines: []", 0, "length greater than or equal to 1"),
        ("Engines: far", 0, 'Local.Engines is "far" (a string) and must be a list'),
        ("Engines: [1]", 0, "Local.Engines.1.member is 1 (a number) and must be a string"),
        (f"Engines: [{', '.join(f'e{n}' for n in range(33))}]", 0, "length less than or equal to 32"),
        ("Engines:\n  - far\n  - ' '", 2, "Local.Engines.2.member: is empty; write an address such as ssh://HOST"),
        ("Engines:\n  - far\n  - near\n  - far", 3, "Local.Engines.3.member: 'far' is in the list twice"),
        (
            "Engines:\n  - far\n  - npipe:////./pipe/docker_engine",
            2,
            "'npipe:////./pipe/docker_engine' is a Windows pipe: smlocal supports unix://, tcp:// and ssh://",
        ),
        ("Engines: ['fd://far']", 0, "'fd://far' is an engine over fd://"),
        ("SpreadOver:\n  - far\n  - far", 2, "Local.SpreadOver.2.member: 'far' is in the list twice"),
        ("SpreadOver: ['fd://far']", 0, "'fd://far' is an engine over fd://"),
        ("EngineInstances: 2", 0, "Local.EngineInstances: needs the engines in Local.SpreadOver, or --spread-over"),
        ("EngineInstances: 0\nSpreadOver: [far]", 0, "greater than or equal to 1"),
        ("Placement: sprad", 0, "is 'sprad' and must be spread, or a map with the engine of each host: did you mean"),
        ("Placement: {}", 0, "Local.Placement must be spread, or a map with the engine of each host"),
        ("Placement: [far]", 0, "Local.Placement must be spread, or a map with the engine of each host"),
        ("Engines: [a]\nPlacement: {algo-1: 1, algo-2: a}", 1, "has algo-1: 1, and must have the engine of algo-1"),
        ("Engines: [a]\nPlacement: {algo-1: a, algo-2: ''}", 1, "has algo-2: '', and must have the engine of algo-2"),
        ("Placement: {algo-1: a, algo-2: a}", 0, "Local.Placement: needs the engines in Local.Engines, or --engine"),
        (
            "Engines: [far, near]\nPlacement:\n  algo-1: far\n  algo-2: neer",
            3,
            "Local.Placement.algo-2: 'neer' is not in Local.Engines; did you mean 'near'?",
        ),
        (
            "Engines: [far, near]\nPlacement:\n  algo-1: far\n  algo-2: ssh://x",
            3,
            "Local.Placement.algo-2: 'ssh://x' is not in Local.Engines; it has far, near",
        ),
        (
            "Engines: [a]\nPlacement:\n  algo-1: a\n  algo-2: a\n  algo-3: a",
            4,
            "Local.Placement.algo-3: the job has no host 'algo-3'; it has algo-1, algo-2",
        ),
        ("Engines: [a]\nPlacement: {algo-1: a}", 1, "Local.Placement: no engine is given for algo-2"),
    ],
)
def test_engines_and_who_runs_where(local: str, line: int, said: str) -> None:
    head = f"{TEXT}Local:\n"
    with pytest.raises(RequestInvalidError, match="1 problem") as caught:
        read(head + "".join(f"  {each}\n" for each in local.splitlines()))
    (detail,) = caught.value.details
    assert said in detail
    assert detail.startswith(f"job.yaml:{head.count(chr(10)) + 1 + line} ")


def test_a_placement_is_compared_with_hosts_that_are_known() -> None:
    placed = "Local: {Engines: [a, b], Placement: {algo-1: b, algo-2: a}}"
    assert read(TEXT + placed).local.Placement == {"algo-1": "b", "algo-2": "a"}
    with pytest.raises(RequestInvalidError, match="1 problem"):
        read(TEXT.replace("InstanceCount: 2", "InstanceCount: some") + placed)
    assert read(TEXT.replace("InstanceCount: 2", "InstanceCount: 100000") + placed).local.Placement  # refused later


def test_many_hosts_without_an_engine_are_counted() -> None:
    with pytest.raises(RequestInvalidError) as caught:
        read(TEXT.replace("InstanceCount: 2", "InstanceCount: 9") + "Local: {Engines: [a], Placement: {algo-2: a}}")
    assert "no engine is given for algo-1 and 7 more" in caught.value.details[0]


def test_an_empty_document_asks_for_what_every_job_needs() -> None:
    with pytest.raises(RequestInvalidError) as caught:
        read("{}")
    places = ["algorithmSpecification", "outputDataConfig", "resourceConfig"]
    assert sorted(detail.split("'")[1] for detail in caught.value.details) == places


def test_raw_is_what_is_printed_again(request_with: Any) -> None:
    request = request_with("Tags[].Key")
    job = read_job(Document(request, name="x", directory="/"), strict=False)
    assert job.raw == request
    assert job.raw is not request


SPOT = "EnableManagedSpotTraining: true\n"
ONE_HOST = TEXT.replace("InstanceCount: 2", "InstanceCount: 1")
PIPE = """\
InputDataConfig:
  - {ChannelName: a, InputMode: Pipe, DataSource: {S3DataSource: {S3DataType: S3Prefix, S3Uri: ./data}}}
"""


@pytest.mark.parametrize(
    ("more", "fault", "said"),
    [
        ("", "Kind: Interrupt", "Kind: only spot instances are interrupted; set EnableManagedSpotTraining: true"),
        ("EnableManagedSpotTraining: false\n", "Kind: Interrupt", "Kind: only spot instances are interrupted"),
        (SPOT, "Kind: Interrupt, When: After", "When: After is for InternalError only"),
        ("", "Kind: InternalError, When: Before, AfterSeconds: 3", "AfterSeconds: counts seconds of training"),
        (
            "",
            "Kind: InternalError, AfterSeconds: 86400",
            "AfterSeconds: must be less than MaxRuntimeInSeconds (86400 s)",
        ),
        (
            "StoppingCondition: {MaxRuntimeInSeconds: 5}\n",
            "Kind: InternalError, AfterSeconds: 5",
            "AfterSeconds: must be less than MaxRuntimeInSeconds (5 s)",
        ),
        ("", "Kind: LateFifo, AfterSeconds: 2", "Kind: no channel is in Pipe mode"),
        ("", "Kind: LateNames", "AfterSeconds: LateNames needs a delay of at least 1 second"),
        (PIPE, "Kind: LateFifo, AfterSeconds: 2, Times: 2", "Times: LateFifo happens in every attempt"),
        (PIPE, "Kind: LateFifo, AfterSeconds: 2, When: Before", "When: Before is for InternalError only"),
        (
            "",
            "Kind: StockOut",
            "Kind: this platform has no StockOut; its faults are Interrupt, InternalError, LateNames",
        ),
        ("", "Kind: Maintenance, Replica: a", "Kind: this platform has no Maintenance; its faults are Interrupt,"),
        ("", "Kind: InternalError, Replica: algo-1", "Replica: is for Maintenance only; remove it"),
        ("", "Kind: CapacityError, When: After", "When: CapacityError happens before any instance is there"),
        ("", "Kind: CapacityError, AfterSeconds: 1", "AfterSeconds: CapacityError happens before any instance"),
        (
            "",
            "Kind: CapacityError, Instance: ml.c5.large",
            "Instance: the job does not ask for 'ml.c5.large'; it has ml.",
        ),
        ("", "Kind: InternalError, Instance: ml.c5.large", "Instance: is for CapacityError only; remove it"),
        ("", "Kind: ResourceLimitExceeded, Times: 2", "Times: ResourceLimitExceeded happens before any instance"),
    ],
)
def test_a_fault_that_cannot_strike_is_refused(more: str, fault: str, said: str) -> None:
    with pytest.raises(RequestInvalidError, match="1 problem") as caught:
        read(TEXT + more + f"Local: {{Faults: [{{{fault}}}]}}")
    assert f"Local.Faults.1.member.{said}" in caught.value.details[0]


def test_a_setting_of_another_platform() -> None:
    with pytest.raises(RequestInvalidError, match="1 problem") as caught:
        read(TEXT + "Local: {ErrorDelaySeconds: 0}")
    assert "Local.ErrorDelaySeconds: jobs of this platform have no error code; remove it" in caught.value.details[0]
    assert read(TEXT + "Local: {ErrorDelaySeconds: 60}").local.ErrorDelaySeconds == 60


def test_names_of_peers_cannot_be_late_on_one_host() -> None:
    with pytest.raises(RequestInvalidError) as caught:
        read(ONE_HOST + "Local: {Faults: [{Kind: LateNames, AfterSeconds: 2}]}")
    assert "Local.Faults.1.member.Kind: a job of one host has no peers" in caught.value.details[0]


@pytest.mark.parametrize(
    "fault",
    [
        "Kind: Interrupt, AfterSeconds: 30",
        "Kind: InternalError, When: After",
        "Kind: InternalError, AfterSeconds: 3",
        "Kind: LateNames, AfterSeconds: 3",
        "Kind: LateFifo, AfterSeconds: 3",
        "Kind: CapacityError",
        "Kind: ResourceLimitExceeded",
    ],
)
def test_a_fault_that_can(fault: str) -> None:
    assert len(read(TEXT + SPOT + PIPE + f"Local: {{Faults: [{{{fault}}}]}}").local.Faults) == 1


@pytest.mark.parametrize("region", ["us-east-1", "eusc-de-east-1", "garage", "auto", "US-EAST-1", "a" * 63])
def test_regions_are_those_that_botocore_takes(region: str) -> None:
    """Other servers than Amazon's have regions of any name."""
    validate_region_name(region)
    assert read(TEXT + f"Local: {{Region: {region}}}").local.Region == region


@pytest.mark.parametrize("region", ["../../x", "a_b", "x.y", "a" * 64, "-a", "a-", "", " us-east-1", "é"])
def test_and_no_others(region: str) -> None:
    assert not is_region_name(region)
    assert not is_region_name("us-east-1\n")  # which botocore overlooks
    if region:
        with pytest.raises(InvalidRegionError):
            validate_region_name(region)


@pytest.mark.parametrize("path", ["", " ", "file://", "file:// ", "a\nb"])
@pytest.mark.parametrize("place", [("OutputDataConfig", "S3OutputPath"), ("CheckpointConfig", "S3Uri")])
def test_a_blank_path_is_refused(path: str, place: tuple[str, str]) -> None:
    document = load_document(TEXT, name="job.yaml", directory="/")
    document.set(place, path)
    with pytest.raises(RequestInvalidError, match="1 problem") as caught:
        read_job(document, strict=False)
    assert ("write a path or an s3:// location" in caught.value.details[0]) == (path == "")
