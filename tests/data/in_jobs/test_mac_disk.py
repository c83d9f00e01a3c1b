"""x"""

import json, os, sys, tarfile, subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
import pytest
from tests.kit.life import Life
from tests.kit.mac_disk import mac_disk
from tests.doors.remote.test_remote import channel
from tests.jobs.hosting.conftest import Hosting


@pytest.fixture(scope="module", params=["kept", "decomposed"])
def disk(request, tmp_path_factory) -> Iterator[Path]:
    with mac_disk(tmp_path_factory.mktemp("disk"), request.param) as disk:
        yield disk


@pytest.fixture
def life(disk, tmp_path, image, docker):
    folder = disk / tmp_path.name
    folder.mkdir()
    it = Life(folder=folder, home=folder / "Library/Application Support/smlocal", image=image("sh"))
    yield it
    it.close(docker)


def show(done):
    print(done.returncode, done.stdout[-1500:], done.stderr[-2500:])


def test_names(life):
    show(life("run", life.job_file("Train", "echo big >/opt/ml/model/m; echo BIG")))
    os.remove(life.folder / "Train.json")
    show(life("run", life.job_file("train", "echo small >/opt/ml/model/m; echo small")))
    show(life("jobs"))
    print(sorted(str(p.relative_to(life.folder)) for p in life.folder.rglob("*") if "lease" not in p.name))
    show(life("logs", "Train"))
    show(life("logs", "train"))
    show(life("rm", "train"))
    show(life("jobs"))
    print(os.listdir(life.home / "jobs"))


def test_channels(life):
    for n in ("one", "two"):
        (life.folder / n).mkdir()
        (life.folder / n / n).write_text(n)
    show(
        life(
            "run",
            life.job_file(
                "channels",
                "cd /opt/ml/input/data; ls; ls *; cat A/* ; cat a/*",
                InputDataConfig=[{**channel("./one"), "ChannelName": "A"}, {**channel("./two"), "ChannelName": "a"}],
            ),
        )
    )
    print(life.log("channels"))


def test_s3(life, s3):
    b = s3.make_bucket()
    for k in ("d/A.csv", "d/a.csv", "e/é/x", "e/e\u0301/x", "f/B/x", "f/b/y"):
        s3.put(b, k, k.encode())
    life.environment |= s3.environment
    for mode in ("File", "FastFile"):
        for n in "def":
            show(
                life(
                    "run",
                    life.job_file(
                        f"s3-{n}-{mode}",
                        "cd /opt/ml/input/data/train; find . -type f; cat */* *",
                        InputDataConfig=[channel(f"s3://{b}/{n}/", mode)],
                    ),
                )
            )
            print(life.log(f"s3-{n}-{mode}"))


def test_local(life):
    (life.folder / "Données").mkdir()
    (life.folder / "Données" / "é.csv").write_text("é")
    print([ascii(p) for p in os.listdir(life.folder / "Données")])
    for n, uri in (("nfc", "./Donn\xe9es"), ("nfd", "./Donne\u0301es"), ("case", "./DONN\xc9ES")):
        show(
            life(
                "run",
                life.job_file(
                    f"local-{n}",
                    "cd /opt/ml/input/data/train; ls | od -c; cat *; touch /opt/ml/model/\xe9",
                    InputDataConfig=[channel(uri)],
                    Local={"Code": uri},
                ),
            )
        )
        print(life.log(f"local-{n}"))
        print(life.model(f"local-{n}"))


def test_outputs(life, tmp_path):
    script = "cd /opt/ml; echo A >model/A; echo a >model/a; echo C >checkpoints/C; echo c >checkpoints/c; ls model checkpoints; cat model/A"
    show(life("run", life.job_file("outputs", script, CheckpointConfig={"S3Uri": "./ckpt"})))
    print(life.log("outputs"), life.model("outputs"), os.listdir(life.folder / "ckpt"))
    # home elsewhere
    life.environment["SMLOCAL_HOME"] = str(tmp_path / "home")
    show(
        life(
            "run",
            life.job_file(
                "outputs-2",
                script,
                CheckpointConfig={"S3Uri": "./ckpt2"},
                OutputDataConfig={"S3OutputPath": "./out", "CompressionType": "NONE"},
            ),
        )
    )
    print(
        sorted(str(p.relative_to(life.folder)) for p in (life.folder / "ckpt2").rglob("*")),
        sorted(str(p.relative_to(life.folder)) for p in (life.folder / "out").rglob("*")),
    )


def test_archive(life, image):
    hosting = Hosting(life=life, image=image("serve"))
    hosting.archive({"A": "1", "a": "2"})
    show(life("deploy", hosting.model_file("arch"), "--name", "arch"))
    show(life("rm", "--stop", "arch"))


def test_endpoint(life):
    (life.folder / "c.py").write_text("""
import boto3
s3=boto3.client("s3")
s3.create_bucket(Bucket="buck")
for k in ("A.csv","a.csv","\\u00e9","e\\u0301","D/x","d/x"):
    try:
        s3.put_object(Bucket="buck",Key=k,Body=k.encode())
    except Exception as e: print(ascii(k), e)
for o in s3.list_objects_v2(Bucket="buck")["Contents"]:
    print(ascii(o["Key"]), s3.get_object(Bucket="buck",Key=o["Key"])["Body"].read())
for k in ("A.CSV","D/X","DD"):
    try: print(k, s3.get_object(Bucket="buck",Key=k)["Body"].read())
    except Exception as e: print(k, e)
""")
    show(life("exec", "--", sys.executable, "c.py"))
