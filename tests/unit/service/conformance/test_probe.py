"""The program of the image, on files of a test. It runs on old versions of Python, too."""

import ast
import json
import os
import sys
from pathlib import Path

import pytest

from smlocal.service.conformance import probe
from smlocal.service.conformance.probe import (
    config,
    control_group,
    document,
    masked_pairs,
    masked_text,
    masked_value,
    mounts,
    printed_parts,
    routes,
    tree,
    writing,
)
from smlocal.service.conformance.reading import documents

SOURCE = Path(probe.__file__).read_text()
HEX = "0123456789abcdef" * 4


def test_it_is_one_file_for_old_versions_of_python_without_dependencies() -> None:
    parsed = ast.parse(SOURCE, feature_version=(3, 7))
    roots = {
        name.split(".")[0]
        for node in ast.walk(parsed)
        for name in (
            [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert roots <= sys.stdlib_module_names


@pytest.mark.linux("the program runs in a container")
def test_no_look_ends_the_program() -> None:
    # Outside a container there is no /opt/ml: those looks are errors, and the others are there.
    seen = document("everything", "algo-1")
    json.dumps(seen)
    assert [name for name, _ in probe._LOOKS] == [*seen][4:]
    assert seen["Config"] == {"Error": "ENOENT"}
    assert seen["Process"]["Umask"]


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("MY_PASSWORD", "hunter2", "<hidden>"),
        ("AWS_SECRET_ACCESS_KEY", "abc", "<hidden>"),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "abc", "<hidden>"),
        ("EMPTY_TOKEN", "", ""),
        ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", f"/v2/credentials/proxy-{HEX}-customer", None),
        ("SECRETS_DIR", "/run/secrets", "/run/secrets"),
        ("EPOCHS", "3", "3"),
        ("NVIDIA_VISIBLE_DEVICES", "void", "void"),
    ],
)
def test_variables(name: str, value: str, shown: str | None) -> None:
    assert masked_value(name, value) == (shown or masked_value(name, value))
    if shown is None:
        assert masked_value(name, value) == "/v2/credentials/proxy-<64 hex>-customer"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "arn:aws:sagemaker:eu-west-1:123456789012:training-job/a",
            "arn:aws:sagemaker:eu-west-1:<account>:training-job/a",
        ),
        ("arn:aws:iam::123456789012:role/service/Mine", "arn:aws:iam::<account>:role/<role>"),
        ("s3://sagemaker-eu-west-1-123456789012/a/b", "s3://<bucket>/a/b"),
        ("123456789012.dkr.ecr.eu-west-1.amazonaws.com/mine:1", "<account>.dkr.ecr.<registry>"),
        ("AKIAIOSFODNN7EXAMPLE", "<key id>"),
        ("a 2f1d7c1e-0000-4000-8000-00a0b0c0d0e0 b", "a <uuid> b"),
        ("https://me:word@host/x", "https://<hidden>@host/x"),
        ("9223372036854771712", "9223372036854771712"),
        ("xxxx 10.0.0.5", "xxxx 10.0.0.5"),
    ],
)
def test_texts(text: str, shown: str) -> None:
    assert masked_text(text) == shown


def test_configuration_keeps_its_form_without_secrets(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"db_password":"x\\"y","epochs": "3","uri":"s3://mine/a"}')
    (tmp_path / "folder").mkdir()
    assert config(str(tmp_path)) == {"a.json": '{"db_password":"<hidden>","epochs": "3","uri":"s3://<bucket>/a"}'}
    assert masked_pairs('{"token" : "abc"}') == '{"token" : "<hidden>"}'


def test_a_tree(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir(mode=0o750)
    (tmp_path / "folder" / "file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("folder/file")
    os.mkfifo(tmp_path / "pipe_0", 0o600)
    seen = tree(str(tmp_path))
    assert {path.removeprefix(str(tmp_path)): each["Kind"] for path, each in seen.items()} == {
        "": "folder",
        "/folder": "folder",
        "/folder/file": "file",
        "/link": "link",
        "/pipe_0": "fifo",
    }
    assert seen[f"{tmp_path}/folder"]["Mode"] == "0750"
    assert seen[f"{tmp_path}/folder/file"]["Size"] == 3
    assert seen[f"{tmp_path}/link"]["Target"] == "folder/file"
    assert seen[f"{tmp_path}/pipe_0"]["User"] == os.getuid()
    assert [*tree(str(tmp_path / "nothing")).values()] == [{"Error": "ENOENT"}]


def test_writing(tmp_path: Path) -> None:
    assert writing(str(tmp_path)) == "works"
    assert [*tmp_path.iterdir()] == []
    assert writing(str(tmp_path / "nothing")) == "ENOENT"


def test_mount_points_without_what_is_mounted() -> None:
    text = (
        "25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/secret rw\n"
        "30 25 0:9 /volumes/private /opt/ml/input ro,nosuid - overlay overlay rw,lowerdir=/home/me\n"
    )
    assert mounts(text) == {
        "/": {"Type": "ext4", "Options": ["relatime", "rw"]},
        "/opt/ml/input": {"Type": "overlay", "Options": ["nosuid", "ro"]},
    }


def test_routes() -> None:
    text = (
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
        "eth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
    )
    assert routes(text) == [{"Interface": "eth0", "Destination": "0.0.0.0", "Gateway": "172.17.0.1", "Mask": "0.0.0.0"}]


def test_limits_of_both_versions_of_control_groups(tmp_path: Path) -> None:
    second, first = tmp_path / "second", tmp_path / "first"
    values = {"cgroup.controllers": "cpu", "memory.max": "1073741824", "cpu.max": "150000 100000", "pids.max": "max"}
    second.mkdir()
    for name, text in values.items():
        (second / name).write_text(f"{text}\n")
    values = {
        "memory/memory.limit_in_bytes": "1073741824",
        "memory/memory.memsw.limit_in_bytes": "9223372036854771712",
        "cpu/cpu.cfs_quota_us": "150000",
        "cpu/cpu.cfs_period_us": "100000",
        "pids/pids.max": "max",
    }
    for name, text in values.items():
        (first / name).parent.mkdir(parents=True, exist_ok=True)
        (first / name).write_text(f"{text}\n")
    limits = {"Memory": 1 << 30, "Swap": None, "Cpus": 1.5, "Processes": None, "CpuSet": ""}
    assert control_group(str(second)) == {"Version": 2, **limits}
    assert control_group(str(first)) == {"Version": 1, **limits}


def test_what_is_printed_is_read_again() -> None:
    seen = {"Schema": 1, "Case": "everything", "Host": "algo-1", "Text": os.urandom(20_000).hex()}
    lines = [*printed_parts(json.dumps(seen), "algo-1")]
    assert len(lines) > 2
    assert max(map(len, lines)) < 4200
    assert documents("log", "\n".join(lines)) == {"algo-1": seen}
