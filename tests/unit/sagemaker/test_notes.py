"""Each note appears for one job and not for another."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.sagemaker.conftest import REQUEST, planned

from smlocal.engine.facts import Place
from smlocal.jobfile.document import Document, RanBefore
from smlocal.jobs.planning.aspects.accelerators.plan import AcceleratorFacts, GpuFacts
from smlocal.jobs.planning.aspects.engines.plan import MachineFacts
from smlocal.jobs.planning.aspects.limits.plan import LimitFacts
from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.sagemaker.jobfile.job_file import read_job
from smlocal.sagemaker.training import notes as training_notes
from smlocal.terms.listing import Listing

Planner = Callable[..., JobPlan]
STUDIO: dict[str, Any] = {"place": Place(app="JupyterLab")}
S3 = {"S3OutputPath": "s3://bucket/x"}
IMAGE = {"TrainingImage": "i", "TrainingInputMode": "File"}
TWO = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}}
LARGE = {"ResourceConfig": {"InstanceType": "ml.m5.24xlarge", "InstanceCount": 1}}
VOLUME = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10}}
NEURON = {"ResourceConfig": {"InstanceType": "ml.trn1.2xlarge", "InstanceCount": 1}}
DEBUGGED = {"DebugRuleConfigurations": [{"RuleConfigurationName": "r", "RuleEvaluatorImage": "i"}]}


def debugged(rule: str) -> dict[str, Any]:
    """With a rule in an image of AWS."""
    image = "895741380848.dkr.ecr.us-west-2.amazonaws.com/sagemaker-debugger-rules:latest"
    parameters = {"rule_to_invoke": rule}
    named = {"RuleConfigurationName": "r", "RuleEvaluatorImage": image, "RuleParameters": parameters}
    return {"DebugRuleConfigurations": [named]}


GPU = {"ResourceConfig": {"InstanceType": "ml.g4dn.xlarge", "InstanceCount": 1}}

SHARDED = {"S3DataDistributionType": "ShardedByS3Key"}


def channel(mode: str = "File", source: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """The request's only channel, changed."""
    s3 = {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/train/", **(source or {})}
    return {
        "InputDataConfig": [{"ChannelName": "train", "InputMode": mode, "DataSource": {"S3DataSource": s3}, **more}]
    }


FILE_SYSTEM = {
    "FileSystemId": "fs-01234567",
    "FileSystemAccessMode": "ro",
    "FileSystemType": "EFS",
    "DirectoryPath": "/data",
}
MOUNTED = {"InputDataConfig": [{"ChannelName": "train", "DataSource": {"FileSystemDataSource": FILE_SYSTEM}}]}
VPC = {"VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]}}
REMOTE = {"root": ""}
ISOLATED = {"EnableNetworkIsolation": True}
ENDPOINTS = {"s3": "http://localhost:9000"}

# Note id: (members, Local settings, changes of the listing, changes of the image) that bring it about, and those of a
# job that does not have it.
Change = tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any], Mapping[str, Any] | None]
NOTHING: Change = ({}, {}, {}, {})


def _data_parallel(instance_type: str, **hyperparameters: str) -> dict[str, Any]:
    return {
        "HyperParameters": {"sagemaker_distributed_dataparallel_enabled": "true", **hyperparameters},
        "ResourceConfig": {"InstanceType": instance_type, "InstanceCount": 1},
    }


CASES: dict[str, tuple[Change, Change]] = {
    "entrypoint-shell-form": (({}, {}, {}, {"entrypoint": ("/bin/sh", "-c", "python t.py")}), NOTHING),
    "sample": (({}, {"Sample": 2}, {"left_out": 5}, {}), NOTHING),
    "stop-signal": (({}, {}, {}, {"stop_signal": "SIGINT"}), ({}, {}, {}, {"stop_signal": "SIGTERM"})),
    "entrypoint-init": (
        ({}, {}, {}, {"entrypoint": ("/sbin/tini", "--")}),
        ({}, {}, {}, {"entrypoint": ("/opt/program", "tini")}),
    ),
    "model-trainer-stop": (
        (
            {
                "AlgorithmSpecification": {
                    "TrainingImage": "my-image",
                    "TrainingInputMode": "File",
                    "ContainerEntrypoint": ["/bin/bash"],
                    "ContainerArguments": ["-c", "/opt/ml/input/data/sm_drivers/sm_train.sh"],
                }
            },
            {},
            {},
            {},
        ),
        NOTHING,
    ),
    "code-unread": (
        ({}, {"Code": "./src"}, {}, {}),
        ({"Environment": {"SAGEMAKER_PROGRAM": "train.py"}}, {"Code": "./src"}, {}, {}),
    ),
    "image-reserved-files": (({}, {}, {}, {"reserved_files": ("/opt/ml/data/vocab.txt",)}), NOTHING),
    "resource-config": (({}, {"ResourceConfigKeys": "three-keys"}, {}, {}), NOTHING),
    "submit-directory": (
        # A mapping is not seen by the toolkit, which runs in the container.
        (
            {"HyperParameters": {"sagemaker_submit_directory": '"s3://b/source.tar.gz"'}},
            {"Sources": {"s3://b": "./s"}},
            {},
            {},
        ),
        ({"HyperParameters": {"sagemaker_submit_directory": '"s3://b/source.tar.gz"'}}, {"Code": "./src"}, {}, {}),
    ),
    "download-fails": (({}, {}, {"failure": "it has an illegal char sub-sequence"}, {}), NOTHING),
    "file-system-vpc": ((MOUNTED, {}, {}, {}), ({**MOUNTED, **VPC}, {}, {}, {})),
    "file-systems": ((MOUNTED, {}, {}, {}), NOTHING),
    "s3-credentials": (({}, {}, REMOTE, {}), NOTHING),
    "fastfile-downloaded": ((channel("FastFile"), {}, REMOTE, {}), (channel("FastFile"), {}, {}, {})),
    "fastfile-folder": ((channel("FastFile"), {}, {"prefix": "train"}, {}), (channel("FastFile"), {}, {}, {})),
    "fastfile-converse": (
        (channel("FastFile", {"S3DataType": "Converse"}), {}, {}, {}),
        (channel("File", {"S3DataType": "Converse"}), {}, {}, {}),
    ),
    "fastfile-sharded": ((channel("FastFile", SHARDED), {}, {}, {}), (channel("File", SHARDED), {}, {}, {})),
    "shuffle-order": (
        (channel("Pipe", ShuffleConfig={"Seed": 1}), {}, {}, {}),
        (channel(ShuffleConfig={"Seed": 1}), {}, {}, {}),
    ),
    "shuffle-ignored": (
        (channel(ShuffleConfig={"Seed": 1}), {}, {}, {}),
        (channel("Pipe", ShuffleConfig={"Seed": 1}), {}, {}, {}),
    ),
    "attribute-text": (
        (channel("Pipe", {"S3DataType": "AugmentedManifestFile", "AttributeNames": ["label"]}), {}, {}, {}),
        (channel("Pipe"), {}, {}, {}),
    ),
    "image-absent": (({}, {}, {}, None), NOTHING),
    "gpus-unseen": ((GPU, {}, {}, {}), (GPU, {"Gpus": "none"}, {}, {})),
    "neuron-unseen": ((NEURON, {}, {}, {}), (NEURON, {"AllowCpu": True}, {}, {})),
    "gpus-shared": ((GPU, {"Gpus": ["3"]}, {}, {}), (GPU, {"Gpus": [2]}, {}, {})),
    "gpu-count": ((GPU, {"Gpus": 2}, {}, {}), (GPU, {"Gpus": [2]}, {}, {})),
    "relaxed-instance": (({"ResourceConfig": {"InstanceType": "local", "InstanceCount": 1}}, {}, {}, {}), NOTHING),
    "data-parallel-type": (
        (_data_parallel("ml.m5.large"), {}, {}, {}),
        (_data_parallel("ml.p4d.24xlarge"), {}, {}, {}),
    ),
    "data-parallel-processes": (
        (_data_parallel("ml.p4d.24xlarge", sagemaker_mpi_num_of_processes_per_host="2"), {}, {}, {}),
        (_data_parallel("ml.p4d.24xlarge", sagemaker_mpi_num_of_processes_per_host="8"), {}, {}, {}),
    ),
    "data-parallel-groups": (
        (_data_parallel("ml.p4d.24xlarge", sagemaker_distribution_instance_groups='["other"]'), {}, {}, {}),
        (
            _data_parallel("ml.p4d.24xlarge", sagemaker_distribution_instance_groups='["homogeneousCluster"]'),
            {},
            {},
            {},
        ),
    ),
    "data-parallel-off": (
        (_data_parallel("ml.p4d.24xlarge"), {"DataParallel": "never"}, {}, {}),
        (_data_parallel("ml.p4d.24xlarge"), {}, {}, {}),
    ),
    "data-parallel": ((_data_parallel("ml.p4d.24xlarge"), {}, {}, {}), NOTHING),
    "allow-cpu": ((GPU, {"AllowCpu": True}, {}, {}), (GPU, {}, {}, {})),
    "instance-size": (NOTHING, ({"ResourceConfig": {"InstanceType": "ml.m5.4xlarge", "InstanceCount": 1}}, {}, {}, {})),
    "volume-size": ((VOLUME, {}, {}, {}), NOTHING),
    "volume-full": (
        (VOLUME, {"EnforceInstanceLimits": True}, {"total_bytes": 10 << 30}, {}),
        (VOLUME, {"EnforceInstanceLimits": True}, {}, {}),
    ),
    "limits-unsupported": (({}, {"Cpus": 1.0}, {}, {}), ({}, {"Memory": "1g"}, {}, {})),
    "instance-clamped": ((LARGE, {"EnforceInstanceLimits": True}, {}, {}), (LARGE, {}, {}, {})),
    "memory-together": ((TWO, {"Memory": "40g"}, {}, {}), (TWO, {"Memory": "30g"}, {}, {})),
    "limits-own": (({}, {"ShmSize": "1g"}, {}, {}), ({}, {"EnforceInstanceLimits": True}, {}, {})),
    "relaxed-name": (({"TrainingJobName": None}, {}, {}, {}), NOTHING),
    "relaxed-role": (({"RoleArn": None}, {}, {}, {}), NOTHING),
    "relaxed-uri": (({"OutputDataConfig": {"S3OutputPath": "./out"}}, {}, {}, {}), NOTHING),
    "role": (NOTHING, ({"RoleArn": None}, {}, {}, {})),
    "credentials": (({}, {"Credentials": "role"}, {}, {}), NOTHING),
    "mapped-sources": (NOTHING, ({}, {}, REMOTE, {})),
    "sources-unused": (
        ({}, {"Sources": {"s3://bucket/train": "./a", "s3://bucket/tra": "./b"}}, {}, {}),
        (
            {
                "CheckpointConfig": {"S3Uri": "s3://bucket/ckpt/1"},
                "DebugRuleConfigurations": [
                    {
                        "RuleConfigurationName": "Mine",
                        "RuleEvaluatorImage": "mine:1",
                        "RuleParameters": {"source_s3_uri": "s3://bucket/rules/mine.py", "other_trial_0": "s3://b/t/1"},
                    }
                ],
            },
            {
                "Sources": {
                    "s3://bucket/train/": "./a",
                    "s3://bucket/ckpt": "./c",
                    "s3://bucket/rules": "./r",
                    "s3://b/t": "./t",
                }
            },
            {},
            {},
        ),
    ),
    "output-local": (NOTHING, ({"OutputDataConfig": {"S3OutputPath": "./out"}}, {}, {}, {})),
    "output-published": (({}, {"Publish": True}, {}, {}), NOTHING),
    "mirrors-published": (
        ({"TensorBoardOutputConfig": S3}, {"Publish": True}, {}, {}),
        ({"TensorBoardOutputConfig": S3}, {}, {}, {}),
    ),
    "publish-unused": (
        ({"OutputDataConfig": {"S3OutputPath": "./out"}}, {"Publish": True}, {}, {}),
        ({}, {"Publish": True}, {}, {}),
    ),
    "checkpoints": (({"CheckpointConfig": {"S3Uri": "s3://bucket/ckpt"}}, {}, {}, {}), NOTHING),
    "code-filled": (({}, {"Code": "./src"}, {}, {}), NOTHING),
    "staging-copied": (({}, {}, {"copy_reasons": ("a link leads out",)}, {}), NOTHING),
    "channel-modes": (
        ({}, {}, {"unlike_service_modes": 1}, {}),
        ({}, {"Staging": "copy"}, {"unlike_service_modes": 1}, {}),
    ),
    "channel-empty-folders": (
        ({}, {}, {"directories": ("empty",)}, {}),
        ({}, {}, {"directories": ("empty",), **REMOTE}, {}),
    ),
    "channel-skipped": (({}, {}, {"skipped": ("s is a socket",)}, {}), NOTHING),
    "peer-grace": ((TWO, {}, {}, {}), NOTHING),
    "output-merged": ((TWO, {"MergeOutput": True}, {}, {}), (TWO, {}, {}, {})),
    "encryption": (({"EnableInterContainerTrafficEncryption": True}, {}, {}, {}), NOTHING),
    "vpc": (({"VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]}}, {}, {}, {}), NOTHING),
    "warm-pool": (
        ({"ResourceConfig": {**TWO["ResourceConfig"], "KeepAlivePeriodInSeconds": 60}}, {}, {}, {}),
        ({"ResourceConfig": {**TWO["ResourceConfig"], "KeepAlivePeriodInSeconds": 0}}, {}, {}, {}),
    ),
    "max-hosts": ((TWO, {"MaxHosts": 1}, {}, {}), (TWO, {}, {}, {})),
    "isolation": ((ISOLATED, {}, {}, {}), NOTHING),
    "isolated-code": (
        ({**ISOLATED, "HyperParameters": {"sagemaker_submit_directory": '"s3://b/source.tar.gz"'}}, {}, {}, {}),
        (ISOLATED, {}, {}, {}),
    ),
    "endpoints": (({}, {"Endpoints": ENDPOINTS}, {}, {}), (ISOLATED, {"Endpoints": ENDPOINTS}, {}, {})),
    "endpoints-unused": ((ISOLATED, {"Endpoints": ENDPOINTS}, {}, {}), ({}, {"Endpoints": ENDPOINTS}, {}, {})),
    "networks-joined": (({}, {"Networks": ["compose_default"]}, {}, {}), NOTHING),
    "host-network": (({}, {"Network": "host"}, {}, {}), NOTHING),
    "hosts-added": (({}, {"AddHosts": {"mlflow": "host-gateway"}}, {}, {}), NOTHING),
    "debug": (({}, {"DebugPort": 5678}, {}, {}), NOTHING),
    "endpoint-loopback": (({}, {"Endpoints": ENDPOINTS}, {}, {}), (ISOLATED, {"Endpoints": ENDPOINTS}, {}, {})),
    "metric-definitions": (
        (
            {"AlgorithmSpecification": {**IMAGE, "MetricDefinitions": [{"Name": "loss", "Regex": "loss=(.*)"}]}},
            {},
            {},
            {},
        ),
        NOTHING,
    ),
    "metric-words": (
        (
            {"AlgorithmSpecification": {**IMAGE, "MetricDefinitions": [{"Name": "s", "Regex": "state=([a-z]+)"}]}},
            {},
            {},
            {},
        ),
        (
            {"AlgorithmSpecification": {**IMAGE, "MetricDefinitions": [{"Name": "s", "Regex": "state=([a-z0-9]+)"}]}},
            {},
            {},
            {},
        ),
    ),
    "metric-controls": (
        (
            {"AlgorithmSpecification": {**IMAGE, "MetricDefinitions": [{"Name": "loss", "Regex": r"loss\t(.*)"}]}},
            {},
            {},
            {},
        ),
        (
            {"AlgorithmSpecification": {**IMAGE, "MetricDefinitions": [{"Name": "loss", "Regex": "loss#011(.*)"}]}},
            {},
            {},
            {},
        ),
    ),
    "collectors": (
        ({"TensorBoardOutputConfig": S3}, {}, {}, {}),
        # The hyperparameters that version 2 of the SageMaker SDK sends with every job.
        (
            {
                "DebugHookConfig": {**S3, "CollectionConfigurations": []},
                "ProfilerConfig": {**S3, "DisableProfiler": False},
            },
            {},
            {},
            {},
        ),
    ),
    "rules-hook": ((DEBUGGED, {}, {}, {}), ({**DEBUGGED, "DebugHookConfig": {"S3OutputPath": "./d"}}, {}, {}, {})),
    "rules-unknown": ((debugged("VanishingGradien"), {}, {}, {}), (debugged("VanishingGradient"), {}, {}, {})),
    "rules-action": (
        (DEBUGGED, {"OnRule": {"other": "stop", "*": "stop"}}, {}, {}),
        (DEBUGGED, {"OnRule": {"r": "stop", "*": "stop"}}, {}, {}),
    ),
    "rules": (
        ({"ProfilerRuleConfigurations": [{"RuleConfigurationName": "r", "RuleEvaluatorImage": "i"}]}, {}, {}, {}),
        NOTHING,
    ),
    "recorded": (({"Tags": [{"Key": "a", "Value": "b"}]}, {}, {}, {}), NOTHING),
}
# Those that depend only on the engine, which else is Docker on this machine.
ENGINES: dict[str, dict[str, Any]] = {
    "engine-endpoints": {"rootless": True},
    "engine-isolation": {"product": "podman"},
    "engine-podman": {"product": "podman"},
    "engine-remote": {"local": False, "shares_folders": False},
    "engine-rootless": {"rootless": True},
    "engine-ulimits": {"rootless": True, "product": "podman"},
    "engine-untried": {"untried": "no image is at hand to try it with"},
    "folders-ignore-case": {"ignores_case": True},
    "folders-slow": {"slowness": 11.6},
    "staging-renames": {"rootless": True},
    "studio-network": STUDIO,
    "studio-folders": STUDIO,
    "studio-changes": STUDIO,
    "studio-debugger": STUDIO,
    "studio-rules": STUDIO,
    "studio-usage": STUDIO,
}


def test_every_note_has_its_cases() -> None:
    every = training_notes.RULES
    rules = [rule for each in every for rule in ([each] if isinstance(each, NoteRule) else each.rules)]
    assert {*CASES, *ENGINES, "studio-ports", "output-small", "image-changed", "several-engines"} == {
        rule.id for rule in rules
    }
    assert len({rule.id for rule in rules}) == len(rules)


@pytest.mark.parametrize("note", CASES)
def test_a_note_is_there_when_it_applies_and_only_then(
    note: str, plan: Planner, listing: Listing, facts: Facts
) -> None:
    with_it, without = CASES[note]
    assert note in _ids(plan, with_it, listing, facts)
    assert note not in _ids(plan, without, listing, facts)


@pytest.mark.parametrize("note", ENGINES)
def test_a_note_on_the_engine(note: str, plan: Planner, facts: Facts) -> None:
    local = {
        "engine-endpoints": {"Endpoints": {"s3": "http://localhost:9000"}},
        "engine-ulimits": {"Ulimits": {"nofile": 1}},
        "staging-renames": {"Staging": "overlay"},
        "studio-changes": {"ListChanges": True},
        "studio-debugger": {"DebugPort": 5678},
    }.get(note, {})
    members = {"engine-isolation": {"EnableNetworkIsolation": True}, "studio-rules": DEBUGGED}.get(note, {})
    assert note in {
        each.id for each in plan(members, local, engine=replace(facts.engines.first, **ENGINES[note])).notes
    }
    assert note not in {each.id for each in plan(members, local).notes}


@pytest.mark.parametrize(
    ("engine", "says"),
    [
        ({"local": False, "shares_folders": False}, "is on another machine: data is uploaded"),
        ({"local": False, "shares_folders": False, "identity": "tcp://here id"}, "does not see the folders of this"),
        ({"shares_folders": False}, "does not see the folders of this machine: data is uploaded"),
        ({"untried": "no space left"}, "was not tried (no space left); smlocal assumes that it does"),
        ({"slowness": 11.6}, "12 times as slowly as files of their own"),
    ],
)
def test_what_is_said_of_folders(engine: dict[str, Any], says: str, plan: Planner, facts: Facts) -> None:
    (said,) = [
        each.text
        for each in plan({}, {}, engine=replace(facts.engines.first, **engine)).notes
        if each.id in {"engine-remote", "engine-untried", "folders-slow"}
    ]
    assert says in said


def test_a_mount_that_is_a_little_slower_is_not_worth_a_note(plan: Planner, facts: Facts) -> None:
    assert "folders-slow" not in {
        each.id for each in plan({}, {}, engine=replace(facts.engines.first, slowness=1.4)).notes
    }


@pytest.mark.parametrize(
    ("prefix", "paths", "noted"),
    [
        ("train", ("a", "b"), True),
        ("train/", ("a", "b"), False),
        ("data/train.csv", ("train.csv",), False),
        ("", ("a",), False),
    ],
)
def test_a_fastfile_folder_without_its_slash(
    prefix: str, paths: tuple[str, ...], noted: bool, plan: Planner, listing: Listing
) -> None:
    base = f"{prefix}/" if noted else prefix[: prefix.rfind("/") + 1]
    listed = replace(listing, prefix=prefix, key_base=base, paths=paths)
    made = plan(channel("FastFile"), listings={"train": listed})
    assert ("fastfile-folder" in {note.id for note in made.notes}) == noted


def test_a_mapping_for_the_submit_directory_is_called_unused(plan: Planner) -> None:
    parameters = {"HyperParameters": {"sagemaker_submit_directory": '"s3://b/source.tar.gz"'}}
    made = plan(parameters, {"Sources": {"s3://b": "./s", "s3://bucket/train": "./a"}})
    assert next(note.text for note in made.notes if note.id == "sources-unused").endswith(": s3://b")


def test_neuron_devices_that_are_not_here(plan: Planner, facts: Facts) -> None:
    def note(there: int | None, **local: Any) -> str | None:
        made = plan(NEURON, local, machine=replace(facts.engines.machine, accelerators=AcceleratorFacts(neuron=there)))
        return next((note.text for note in made.notes if note.id in {"neuron-unseen", "allow-cpu"}), None)

    need = "the job needs 1 Neuron device"
    assert note(1) is None
    assert note(0) == f"{need} and this machine has 0: a run will be refused (--allow-cpu runs it without them)"
    assert note(None) == f"{need}: whether the engine's machine has them is checked when the job runs"
    has = "ml.trn1.2xlarge has 1 Neuron device"
    assert note(0, AllowCpu=True) == f"{has}; this run has none, because --allow-cpu is set"


@pytest.mark.parametrize(("free", "said"), [(1 << 20, True), (100 << 20, False), (None, False)])
def test_a_small_output_is_noted_before_the_start(free: int | None, said: bool, plan: Planner) -> None:
    found = {note.id: note for note in plan(output_free=free).notes}
    assert ("output-small" in found) == said
    assert not said or (found["output-small"].warning and "1 MiB" in found["output-small"].text)


@pytest.mark.parametrize(
    ("image", "image_id", "said"),
    [("held-tree:latest", "sha256:0", True), ("held-tree:latest", "sha256:1", False), ("other:1", "sha256:0", False)],
)
def test_another_image_of_the_same_name_is_noted(image: str, image_id: str, said: bool, facts: Facts) -> None:
    before = Document(deepcopy(REQUEST), name="the request of first", directory="/work")
    before.ran_before = RanBefore(job="first", image=image, image_id=image_id)
    made = planned(read_job(before, strict=False), facts)
    found = [note.text for note in made.notes if note.id == "image-changed"]
    assert found == (["held-tree:latest is now another image (1) than the one that first ran (0)"] if said else [])


def test_warnings_come_first(plan: Planner, facts: Facts) -> None:
    assert facts.image is not None
    made = plan(image=replace(facts.image, entrypoint=("/bin/sh", "-c", "x")))
    assert [note.warning for note in made.notes] == sorted((note.warning for note in made.notes), reverse=True)
    assert made.notes[0].id == "entrypoint-shell-form"


def _ids(plan: Planner, change: Change, listing: Listing, facts: Facts) -> set[str]:
    members, local, of_listing, of_image = change
    assert facts.image is not None
    made = plan(
        members,
        local,
        listings={"train": replace(listing, **of_listing)},
        file_systems={"train": listing},
        no_fuse="it is not installed",
        loopback_only=("s3",),
        image=None if of_image is None else replace(facts.image, **of_image),
        code=listing if "Code" in local else None,
        checkpoints=listing if "CheckpointConfig" in members else None,
        machine=MachineFacts(
            cpus=16,
            memory_mib=64_000,
            accelerators=AcceleratorFacts(gpus=GpuFacts(busy={"3": "other"})),
            limits=LimitFacts(unlimited=("CPUs",)),
        ),
    )
    return {note.id for note in made.notes}


@pytest.mark.parametrize(
    ("member", "config", "said"),
    [
        (
            "DebugHookConfig",
            {"CollectionConfigurations": [{"CollectionName": "losses"}]},
            "nothing is written to s3://",
        ),
        ("DebugHookConfig", {"HookParameters": {"save_interval": "10"}}, "nothing is written to s3://"),
        ("ProfilerConfig", {"ProfilingIntervalInMilliseconds": 500}, "the config file is written"),
        ("ProfilerConfig", {"ProfilingParameters": {"a": "b"}, "DisableProfiler": False}, "the config file is written"),
        ("ProfilerConfig", {"ProfilingParameters": {"a": "b"}, "DisableProfiler": True}, None),
        ("ProfilerConfig", {"DisableProfiler": True}, None),
    ],
)
def test_a_config_with_something_in_it_gets_a_note(
    member: str, config: dict[str, Any], said: str | None, plan: Planner
) -> None:
    found = [note.text for note in plan({member: {**S3, **config}}).notes if note.id == "collectors"]
    assert found == [] if said is None else (len(found) == 1 and f"{member}: {said}" in found[0])


def test_no_note_shows_a_password(plan: Planner) -> None:
    config = {"S3OutputPath": "https://me:hunter2@s3.example/b"}
    notes = plan({"OutputDataConfig": config, "TensorBoardOutputConfig": config}, {}).notes
    assert "•••@s3.example" in str(notes)
    assert "hunter2" not in str(notes)


@pytest.mark.parametrize(
    ("request_members", "image"),
    [
        ({}, {"entrypoint": ("python", "/opt/ml/code/train.py")}),
        ({}, {"working_directory": "/opt/ml/code"}),
        ({}, {"environment": {"PATH": "/bin:/opt/ml/code"}}),
        ({}, {"environment": {"SAGEMAKER_TRAINING_MODULE": "toolkit"}}),
        ({"HyperParameters": {"sagemaker_program": '"train.py"'}}, {}),
        (
            {
                "AlgorithmSpecification": {
                    "TrainingImage": "i",
                    "TrainingInputMode": "File",
                    "ContainerEntrypoint": ["python", "/opt/ml/code/train.py"],
                }
            },
            {},
        ),
    ],
)
def test_code_that_something_names_is_read(
    request_members: dict[str, Any], image: dict[str, Any], plan: Planner, listing: Listing, facts: Facts
) -> None:
    assert "code-unread" not in _ids(plan, (request_members, {"Code": "./src"}, {}, image), listing, facts)


@pytest.mark.parametrize(("count", "end"), [(3, "/opt/ml/2"), (4, "/opt/ml/2 and more")])
def test_no_number_is_named_of_files_that_were_not_counted(
    count: int, end: str, plan: Planner, listing: Listing, facts: Facts
) -> None:
    assert facts.image is not None
    image = replace(facts.image, reserved_files=tuple(f"/opt/ml/{number}" for number in range(count)))
    made = plan(listings={"train": listing}, image=image)
    (text,) = [note.text for note in made.notes if note.id == "image-reserved-files"]
    assert text.endswith(end)
