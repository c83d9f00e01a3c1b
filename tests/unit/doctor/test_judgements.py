"""The judgement of each check: one good case and one bad at least."""

import ssl
import time
from dataclasses import replace
from typing import Any

import pytest

from smlocal.data.sources.s3.aws_session import Profile
from smlocal.doctor.checks import (
    file_system_of,
    judge_aws_identity,
    judge_cgroup,
    judge_clock,
    judge_container,
    judge_credentials,
    judge_disk,
    judge_fuse,
    judge_gpu,
    judge_home,
    judge_leftovers,
    judge_memory,
    judge_network_address,
    judge_overlay,
    judge_region,
    judge_shared_memory,
    judge_socket,
    judge_storage,
    judge_version,
)
from smlocal.doctor.judgement import Judgement
from smlocal.doctor.machine import AwsIdentity, ContainerTrial
from smlocal.engine.endpoint import parse_address
from smlocal.engine.inspection import EngineDetails, engine_details
from smlocal.engine.interface import JOB_LABEL, RUN_LABEL, Resource, ResourceKind
from smlocal.jobs.store.records import LeftOnEngine

GIB = 1 << 30
DETAILS = EngineDetails(
    product="Docker",
    version="28.2.2",
    api=(1, 50),
    storage_driver="overlay2",
    root="/var/lib/docker",
    cgroup_version="2",
    unlimited=(),
    cpus=8,
    memory=16 * GIB,
    rootless=False,
    operating_system="Debian",
    kernel="6.1",
    system_time=time.time(),
)
TRIED = ContainerTrial(shared_memory=64 << 20, gpu_error='could not select device driver ""')
UNSEEN = replace(TRIED, shares_folders=False)
REFUSED = ContainerTrial(container_error="no space left on device")


def leftover(kind: ResourceKind, run: str) -> Resource:
    return Resource(kind=kind, id=f"{kind}-{run}", labels={JOB_LABEL: f"job-{run}", RUN_LABEL: run})


OWNED = [
    leftover(ResourceKind.CONTAINER, "aa"),
    leftover(ResourceKind.VOLUME, "aa"),
    leftover(ResourceKind.VOLUME, "bb"),
]
ELSEWHERE = LeftOnEngine(run_id="cc", name="job-cc", engine="tcp://far:2375")


@pytest.mark.parametrize(
    ("finding", "severity", "says"),
    [
        (judge_version(DETAILS), "ok", "API 1.50"),
        (judge_version(replace(DETAILS, api=(1, 39))), "warning", "API 1.39 does not support GPUs"),
        (judge_version(replace(DETAILS, api=(1, 24))), "problem", "API 1.24: smlocal needs 1.30"),
        (judge_version(replace(DETAILS, api=(1, 41), product="Podman")), "ok", "by Podman"),
        (judge_socket("/run/d.sock", mode=0o140660, usable=True), "ok", "this user may use /run/d.sock"),
        (
            judge_socket("/run/d.sock", mode=0o140660, usable=False),
            "problem",
            "this user may not write to /run/d.sock",
        ),
        (
            judge_socket("/run/d.sock", mode=0o140666, usable=True),
            "warning",
            "every user of this machine may use",
        ),
        (judge_network_address(parse_address("tcp://far:2375", None)), "warning", "does not use TLS"),
        (
            judge_network_address(parse_address("tcp://far", ssl.create_default_context())),
            "ok",
            "tcp://far",
        ),
        (judge_network_address(parse_address("tcp://127.0.0.1:2375", None)), "ok", "over the network"),
        (judge_network_address(parse_address("ssh://me@far", None)), "ok", "ssh://me@far, by ssh"),
        (judge_container(TRIED, DETAILS), "ok", "containers and volumes can be created"),
        (
            judge_container(REFUSED, DETAILS),
            "problem",
            "cannot start a container: no space left on device",
        ),
        (judge_storage(DETAILS), "ok", "storage driver overlay2"),
        (judge_storage(replace(DETAILS, storage_driver="vfs")), "warning", "vfs copies every layer"),
        (judge_overlay(TRIED, home="/h", local=True), "ok", "copy-on-write"),
        (
            judge_overlay(replace(TRIED, overlay_error="invalid argument"), home="/h", local=True),
            "warning",
            "before each run",
        ),
        (
            judge_overlay(TRIED, home="/h", local=True, rootless=True),
            "warning",
            "folders cannot be renamed",
        ),
        (judge_overlay(UNSEEN, home="/h", local=False), "warning", "the engine is on another machine"),
        (
            judge_overlay(UNSEEN, home="/h", local=True),
            "warning",
            "the engine does not see /h: channels are uploaded",
        ),
        (
            judge_overlay(replace(TRIED, slowness=11.6), home="/h", local=True),
            "warning",
            "12 times as slowly",
        ),
        (judge_overlay(replace(TRIED, slowness=1.2), home="/h", local=True), "ok", "copy-on-write"),
        (judge_overlay(REFUSED, home="/h", local=True), "unknown", "cannot start a container"),
        (judge_cgroup(DETAILS), "ok", "cgroup v2: memory and CPUs can be limited"),
        (
            judge_cgroup(replace(DETAILS, unlimited=("CPUs",))),
            "warning",
            "cgroup v2: CPUs cannot be limited",
        ),
        (
            judge_cgroup(replace(DETAILS, unlimited=("memory", "CPUs"))),
            "warning",
            "memory and CPUs cannot",
        ),
        (
            judge_gpu(replace(TRIED, gpu_error=None), driver=True, details=DETAILS),
            "ok",
            "a container gets a GPU",
        ),
        (judge_gpu(TRIED, driver=False, details=DETAILS), "warning", "could not select device driver"),
        (judge_gpu(TRIED, driver=True, details=DETAILS), "warning", "the driver is installed, but"),
        (
            judge_gpu(replace(TRIED, gpu_error=None), driver=False, details=replace(DETAILS, api=(1, 39))),
            "warning",
            "API is too old",
        ),
        (
            judge_gpu(TRIED, driver=True, details=replace(DETAILS, product="Podman")),
            "warning",
            "with GPUs are refused",
        ),
        (judge_gpu(REFUSED, driver=True, details=DETAILS), "unknown", "cannot start a container"),
        (judge_shared_memory(TRIED), "ok", "containers get 64 MiB"),
        (judge_shared_memory(replace(TRIED, shared_memory=1 << 20)), "warning", "containers get 1.0 MiB"),
        (judge_shared_memory(REFUSED), "unknown", "cannot start a container"),
        (judge_memory(DETAILS), "ok", "16 GiB of memory, 8 CPUs"),
        (judge_memory(replace(DETAILS, memory=GIB)), "warning", "1 GiB of memory"),
        (judge_home("/h", file_system="ext4"), "ok", "/h can be written"),
        (
            judge_home("/h", file_system="", one_case=True),
            "ok",
            "/h can be written, on a disk that ignores case",
        ),
        (judge_home("/h", file_system="nfs4"), "warning", "network file system (nfs4)"),
        (judge_disk({"/h": 30 * GIB, "/d": 20 * GIB}), "ok", "30 GiB free at /h; 20 GiB free at /d"),
        (judge_disk({"/h": 30 * GIB, "/d": 2 * GIB}), "warning", "2.0 GiB free at /d"),
        (judge_disk({"/h": 4096, "/d": 2 * GIB}), "problem", "4.0 KiB free at /h"),
        (judge_disk({}), "warning", "no disk"),
        (judge_fuse(None), "ok", "are streamed from S3"),
        (
            judge_fuse("mfusepy is not installed: pip install it"),
            "warning",
            "downloaded first: mfusepy is not installed",
        ),
        (
            judge_region({"AWS_REGION": "eu-west-1"}, "us-west-2"),
            "ok",
            "eu-west-1, from the environment",
        ),
        (judge_region({}, "us-west-2"), "ok", "us-west-2, from the profile"),
        (judge_region({}, ""), "warning", "jobs use us-east-1"),
        (judge_region({}, "us east"), "problem", "'us east' is not a valid region"),
        (judge_clock(engine=0.2, aws=None), "ok", "same time as the engine"),
        (judge_clock(engine=0.2, aws=-3.0), "ok", "same time as the engine and AWS"),
        (
            judge_clock(engine=60.4, aws=None),
            "warning",
            "this machine's clock is 60 s behind the engine's",
        ),
        (judge_clock(engine=0.0, aws=-900.0), "warning", "this machine's clock is 900 s ahead of AWS"),
        (judge_clock(engine=None, aws=None), "unknown", "no other clock"),
        (judge_leftovers(lost=[], owned=[], ended=set()), "ok", "ended jobs left nothing behind"),
        (
            judge_leftovers(lost=[], owned=OWNED, ended=set()),
            "ok",
            "jobs of another SMLOCAL_HOME: job-aa, job-bb",
        ),
        (
            judge_leftovers(lost=[], owned=OWNED, ended={"aa"}),
            "warning",
            "job-aa (2: container container-aa, volume",
        ),
        (
            judge_leftovers(lost=["a", "b", "c", "d"], owned=[], ended=set()),
            "warning",
            "killed: a, b, c and 1 more",
        ),
        (judge_leftovers(lost=[], owned=[], ended=set(), cleared=["a"]), "ok", "left on the engine: a"),
        (
            judge_leftovers(lost=[], owned=[], ended=set(), kept=["a"]),
            "ok",
            "except what they were told to keep: a",
        ),
        (
            judge_leftovers(lost=[], owned=[], ended=set(), elsewhere=[ELSEWHERE]),
            "warning",
            "an unreachable engine: job-cc (tcp://far:2375)",
        ),
    ],
)
def test_judgement(finding: Judgement, severity: str, says: str) -> None:
    assert finding.severity == severity, finding
    assert says in finding.sentence
    # Every message about a trouble comes with a remedy.
    assert bool(finding.remedy) is (severity in {"warning", "problem"})


KEYS = {"AWS_ACCESS_KEY_ID": "AKIAPLANTED", "AWS_SECRET_ACCESS_KEY": "planted-secret"}
NOBODY = Profile(name="default")


@pytest.mark.parametrize(
    ("environment", "profile", "severity", "says"),
    [
        (KEYS, NOBODY, "ok", "from the environment"),
        ({"AWS_WEB_IDENTITY_TOKEN_FILE": "/token"}, NOBODY, "ok", "by web identity"),
        ({}, Profile(name="dev", exists=True, settings={"sso_session": "us"}), "ok", "profile dev, by single sign-on"),
        ({}, Profile(name="dev", exists=True, settings={"aws_access_key_id": "AKIAPLANTED"}), "ok", "profile dev"),
        ({}, Profile(name="dev", exists=True, settings={"role_arn": "arn:…"}), "ok", "profile dev"),
        ({"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://…"}, NOBODY, "ok", "from the role of this container"),
        ({}, NOBODY, "warning", "no AWS credentials"),
        ({}, Profile(name="gone", named=True), "warning", "the profile gone is not in"),
    ],
)
def test_credentials_are_found_and_never_shown(
    environment: dict[str, str], profile: Profile, severity: str, says: str
) -> None:
    finding = judge_credentials(environment, profile)
    assert (finding.severity, says in finding.sentence) == (severity, True), finding
    assert "planted" not in f"{finding}".lower()


def test_what_aws_says_of_credentials() -> None:
    assert (
        judge_aws_identity(AwsIdentity(arn="arn:aws:iam::1:user/me"), {}).sentence
        == "AWS identifies you as arn:aws:iam::1:user/me"
    )
    expired = judge_aws_identity(AwsIdentity(error="ExpiredToken"), {})
    assert (expired.severity, "aws sso login" in expired.remedy[0]) == ("warning", True)
    late = judge_aws_identity(AwsIdentity(error="(SignatureDoesNotMatch) Signature expired: 2026 is now earlier"), {})
    assert (late.severity, "timedatectl" in late.remedy[0], "sso" in late.remedy[0]) == ("warning", True, False)
    lost = AwsIdentity(error="Failed to connect to proxy", unreachable=True)
    proxied = judge_aws_identity(lost, {"HTTPS_PROXY": "http://me:secret@private.example:3128"})
    assert "are not tested" in proxied.sentence
    assert proxied.remedy == ("Does the proxy answer?  HTTPS_PROXY is http://private.example:3128",)
    assert "HTTPS_PROXY" in judge_aws_identity(lost, {}).remedy[0]


def test_the_file_system_of_a_path_is_that_of_the_deepest_mount() -> None:
    mounts = (
        "/dev/vda / ext4 rw 0 0\n"
        "far:/home /home nfs4 rw 0 0\n"
        "tmpfs /home/with\\040space tmpfs rw 0 0\n"
        "tmpfs /homestead tmpfs rw 0 0\n"
    )
    for path, expected in {
        "/var": "ext4",
        "/home": "nfs4",
        "/home/me/x": "nfs4",
        "/home/with space/x": "tmpfs",
        "/homestead": "tmpfs",
    }.items():
        assert file_system_of(path, mounts) == expected, path


def test_documents_of_an_engine_that_says_little() -> None:
    details = engine_details({"ApiVersion": "1.41", "Components": [{"Name": "Podman Engine"}]}, {"SystemTime": "soon"})
    assert (details.product, details.api, details.system_time, details.memory) == ("Podman", (1, 41), None, 0)
    assert engine_details({"ApiVersion": "new"}, {}).api == (0, 0)


def test_a_network_that_cannot_be_removed_needs_a_restart() -> None:
    network = leftover(ResourceKind.NETWORK, "aa")
    assert "restart of Docker" in judge_leftovers(lost=[], owned=[network], ended={"aa"}).remedy[-1]
    assert "restart of Docker" not in judge_leftovers(lost=[], owned=OWNED, ended={"aa"}).remedy[-1]


@pytest.mark.parametrize(
    ("product", "rootless", "log", "settings"),
    [
        ("Docker", False, "journalctl -u docker", "daemon.json"),
        ("Docker", True, "journalctl --user -u docker", "daemon.json"),
        ("Podman", False, "journalctl -u podman", "/etc/containers/storage.conf"),
        ("Podman", True, "journalctl --user -u podman", "~/.config/containers/storage.conf"),
    ],
)
def test_remedies_are_those_of_the_engine(product: str, rootless: bool, log: str, settings: str) -> None:
    details = replace(DETAILS, product=product, rootless=rootless, storage_driver="vfs")
    assert judge_container(REFUSED, details).remedy[-1].endswith(log)
    assert settings in judge_storage(details).remedy[-1]


LIMITS = {"MemoryLimit": True, "CpuCfsQuota": True, "PidsLimit": True}


@pytest.mark.parametrize(
    ("info", "rootless", "unlimited"),
    [
        ({"SecurityOptions": ["name=rootless"], "CgroupVersion": "2", **LIMITS, "CpuCfsQuota": False}, True, ("CPUs",)),
        (
            {"Rootless": True, "CgroupVersion": "2", "MemoryLimit": True, "CpuCfsQuota": True, "PidsLimit": True},
            True,
            (),
        ),
        (
            {"Rootless": True, "CgroupVersion": "1", "MemoryLimit": True, "CpuCfsQuota": True, "PidsLimit": True},
            True,
            ("memory", "CPUs", "processes"),
        ),
        ({"CgroupVersion": "1", "MemoryLimit": True, "CpuCfsQuota": True, "PidsLimit": True}, False, ()),
    ],
)
def test_what_an_engine_without_root_cannot_limit(
    info: dict[str, Any], rootless: bool, unlimited: tuple[str, ...]
) -> None:
    details = engine_details({}, info)
    assert (details.rootless, details.unlimited) == (rootless, unlimited)
