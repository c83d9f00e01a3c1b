"""`smlocal check` on real images: exit codes, what is shown, lines of the Dockerfile, what is remembered."""

import io
import json
import os
import subprocess
import tarfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run
from tests.kit.fixtures import run_docker
from tests.kit.own_engine import OwnEngine

from smlocal.check.check_image import check_image
from smlocal.check.interface import Outcome
from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import find_endpoint
from smlocal.errors import ImageArchiveError, ImageMissingError

Image = Callable[[str], str]

DOCKERFILE = """\
FROM {base} AS build
ENTRYPOINT ["/elsewhere"]

FROM {base}
ENV AWS_REGION=eu-west-1
COPY train /usr/local/bin/train
RUN mkdir -p /opt/ml/model && \\
    touch /opt/ml/model/weights
STOPSIGNAL SIGINT
ENTRYPOINT /usr/local/bin/train
"""


def rules_of(done: "subprocess.CompletedProcess[str]") -> dict[str, dict[str, Any]]:
    return {each["Id"]: each for each in json.loads(done.stdout)["Check"]["Rules"]}


def imported(tag: str, *members: tarfile.TarInfo) -> str:
    """An image of these empty files."""
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    subprocess.run(["docker", "import", "-", tag], input=into.getvalue(), check=True, capture_output=True)
    return tag


@pytest.fixture
def own_tag() -> Generator[str, None, None]:
    tag = f"smlocal-test-check:{os.getpid()}"
    yield tag
    subprocess.run(["docker", "rmi", "--force", tag], capture_output=True, check=False)


def test_a_good_image_exits_0_and_a_bad_one_1(smlocal_run: Run, image: Image) -> None:
    good = smlocal_run("check", "--static", image("sh"))
    assert (good.returncode, good.stdout) == (0, "")
    assert "rules passed" in good.stderr
    bad = smlocal_run("check", "--static", image("shell-form"))
    assert bad.returncode == 1
    assert bad.stdout.startswith("✗ entrypoint-shell-form ")
    assert "Write ENTRYPOINT as a JSON list" in bad.stdout
    baked = smlocal_run("check", "--static", image("baked"))
    assert baked.returncode == 0
    assert baked.stdout.startswith("! reserved-files ")
    assert smlocal_run("check", "--static", image("baked"), "--fail-on", "warning").returncode == 1


def test_what_is_refused_and_what_is_missing(smlocal_run: Run, image: Image, tmp_path: Path) -> None:
    tag = image("sh")
    for arguments, code, said in (
        (("--only", "reserved-file"), 2, "Did you mean reserved-files?"),
        (("--skip", "nothing-like-it"), 2, "The rules are: train-missing, "),
        (("--ignore", "reserved-files"), 2, "an ignore needs a reason"),
        (("--ignore", "reserved-files= "), 2, "an ignore needs a reason"),
        (("--ignore", "reserved=x"), 2, "there is no rule 'reserved'"),
        (("--dockerfile", tmp_path / "none"), 2, "[dockerfile-missing]"),
    ):
        done = smlocal_run("check", "--static", tag, *arguments)
        assert done.returncode == code, arguments
        assert said in done.stderr
    absent = smlocal_run("check", "--static", "smlocal-absent:latest")
    assert absent.returncode == 3
    assert "[image-missing]" in absent.stderr
    gone = smlocal_run("check", "--static", tag, env={"DOCKER_HOST": f"unix://{tmp_path}/none.sock"})
    assert gone.returncode == 3
    assert smlocal_run("check", "--static", tmp_path / "none.yaml").returncode == 2


def test_lines_of_the_dockerfile(smlocal_run: Run, image: Image, tmp_path: Path, own_tag: str) -> None:
    (tmp_path / "Dockerfile").write_text(DOCKERFILE.format(base=image("sh")))
    (tmp_path / "train").write_text("#!/bin/sh\n")
    (tmp_path / "train").chmod(0o644)
    subprocess.run(
        ["docker", "build", "--quiet", "--label", "a=b", "--tag", own_tag, tmp_path], capture_output=True, check=True
    )
    done = smlocal_run("check", "--static", own_tag, "--json", "--dockerfile", tmp_path / "Dockerfile")
    found = {
        name: [each.get("Line") for each in rule["Findings"]]
        for name, rule in rules_of(done).items()
        if rule["Outcome"] == "finding"
    }
    assert found == {
        "entrypoint-shell-form": [10],
        "stop-signal": [9],
        "reserved-files": [7],
        "variable-overridden": [5],
    }
    # Without an ENTRYPOINT the same file is the first process.
    (tmp_path / "Dockerfile").write_text(DOCKERFILE.format(base=image("sh")).rpartition("ENTRYPOINT")[0])
    subprocess.run(["docker", "build", "--quiet", "--tag", own_tag, tmp_path], capture_output=True, check=True)
    done = smlocal_run(
        "check", "--static", own_tag, "--only", "train-not-executable", "--dockerfile", tmp_path / "Dockerfile"
    )
    assert f"({tmp_path / 'Dockerfile'}:6)" in done.stdout


def test_a_job_file_with_its_ignores(smlocal_run: Run, image: Image, tmp_path: Path) -> None:
    job = {
        "AlgorithmSpecification": {"TrainingImage": image("baked"), "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
        "Local": {
            "Check": {
                "Ignore": [
                    {"Id": "reserved-files", "Reason": "an example", "Path": "/opt/ml/model/*"},
                    {"Id": "stop-signal", "Reason": "left over"},
                ]
            }
        },
    }
    path = tmp_path / "job.json"
    path.write_text(json.dumps(job, indent=1))
    found = rules_of(smlocal_run("check", "--static", path, "--json"))
    assert [each["Path"] for each in found["reserved-files"]["Ignored"]] == ["/opt/ml/model/baked"]
    assert found["reserved-files"]["Findings"][0]["File"] == str(path)
    assert found["reserved-files"]["Findings"][0]["Line"] == 3
    (unused,) = found["ignore-unused"]["Findings"]
    assert unused["Message"].endswith("left over")
    assert path.read_text().splitlines()[unused["Line"] - 1].strip() == "{"


def test_the_file_of_a_processing_job(smlocal_run: Run, image: Image, tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(
        f"AppSpecification: {{ImageUri: {image('sh')}, ContainerEntrypoint: [split]}}\n"
        "Local: {Check: {Ignore: [{Id: image-size, Reason: left over}]}}\n"
    )
    done = smlocal_run("check", path, "--json")
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["Check"]["JobFile"] == str(path)
    found = rules_of(done)
    assert found["processing-program-missing"]["Findings"][0]["Message"] == "the image has no split on its PATH"
    assert found["processing-programs"]["Outcome"] == "passed"
    assert not {"train-missing", "job-fails"} & found.keys()
    assert found["ignore-unused"]["Findings"][0]["Line"] == 2

    path.write_text(f"AppSpecification: {{ImageUri: {image('sh')}, ContainerEntrypoint: [sh, -c, ls]}}\n")
    assert smlocal_run("check", path).returncode == 0


@pytest.mark.parametrize("name", ["", " ", "Team/Image", "../../no/such-file"])
def test_what_is_no_image_name_is_a_wrong_command(smlocal_run: Run, name: str) -> None:
    done = smlocal_run("check", "--static", "--", name)
    assert done.returncode == 2, done.stderr
    assert f"error: {name!r} is not a valid image name" in done.stderr


class NoReading(DockerEngine):
    def save(self, image: str) -> Generator[bytes, None, None]:
        pytest.fail(f"{image} is read")


class Removing(DockerEngine):
    def save(self, image: str) -> Generator[bytes, None, None]:
        run_docker("rmi", "--force", image)
        yield from super().save(image)


def test_an_image_is_read_once_and_not_at_all_without_need(image: Image, tmp_path: Path) -> None:
    tag, home = image("sh"), str(tmp_path)
    without = check_image(tag, NoReading(find_endpoint()), home=home, only=["entrypoint-shell-form"])
    assert [result.outcome for result in without.results] == [Outcome.PASSED]
    first = check_image(tag, DockerEngine(find_endpoint()), home=home, static=True)
    again = check_image(tag, NoReading(find_endpoint()), home=home, static=True)
    assert [(each.rule.id, each.findings, each.skipped) for each in again.results] == [
        (each.rule.id, each.findings, each.skipped) for each in first.results
    ]


def test_an_image_that_is_removed_meanwhile(tmp_path: Path, own_tag: str) -> None:
    imported(own_tag, tarfile.TarInfo(f"of-{os.getpid()}"))
    with pytest.raises(ImageMissingError, match="was removed while it was being checked"):
        check_image(own_tag, Removing(find_endpoint()), home=str(tmp_path), static=True)


class Damaged(DockerEngine):
    """Breaks an archive off, as an engine does that runs out of disk."""

    def save(self, image: str) -> Generator[bytes, None, None]:
        yield next(iter(super().save(image)))[:1000]


class Compressed(DockerEngine):
    """Delivers layers as an engine keeps them that has pulled them compressed with zstd."""

    def save(self, image: str) -> Generator[bytes, None, None]:
        del image
        into = io.BytesIO()
        with tarfile.open(fileobj=into, mode="w") as archive:
            for name, content in (
                ("layer", b"\x28\xb5\x2f\xfd" + bytes(600)),
                ("manifest.json", b'[{"Config": "", "Layers": ["layer"]}]'),
            ):
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        yield into.getvalue()


def test_an_archive_that_is_broken_off(image: Image, tmp_path: Path) -> None:
    with pytest.raises(ImageArchiveError, match=r"did not deliver the files of the image .* ends too early"):
        check_image(image("sh"), Damaged(find_endpoint()), home=str(tmp_path), static=True)
    assert not (tmp_path / "checked-images").exists()


def test_layers_that_cannot_be_read_are_unpacked_by_the_engine(image: Image, tmp_path: Path) -> None:
    usual = check_image(image("baked"), DockerEngine(find_endpoint()), home=str(tmp_path / "1"), static=True)
    other = check_image(image("baked"), Compressed(find_endpoint()), home=str(tmp_path / "2"), static=True)
    assert [[each.message for each in result.findings] for result in other.results] == [
        [each.message for each in result.findings] for result in usual.results
    ]
    assert {result.outcome for result in other.results} == {Outcome.PASSED, Outcome.FINDING}
    assert all(finding.layer is None for result in other.results for finding in result.findings)
    left = run_docker("ps", "--all", "--quiet", "--filter", "label=smlocal.job=image-check")
    assert left == ""


def test_odd_names_and_links(smlocal_run: Run, own_tag: str) -> None:
    odd = tarfile.TarInfo("opt/ml/f\udcff\x1b[31m")
    loop, there = tarfile.TarInfo("usr/bin/train"), tarfile.TarInfo("usr/bin/other")
    loop.type = there.type = tarfile.SYMTYPE
    loop.linkname, there.linkname = "other", "train"
    imported(own_tag, odd, loop, there)
    done = smlocal_run("check", "--static", own_tag)
    assert done.returncode == 1
    assert "there is no ENTRYPOINT, and no train on the PATH" in done.stdout
    assert "\x1b" not in done.stdout
    document = rules_of(smlocal_run("check", "--static", own_tag, "--json"))
    assert document["reserved-files"]["Findings"][0]["Path"] == "/opt/ml/f\ufffd\x1b[31m"


def test_two_checks_at_once(smlocal_run: Run, image: Image) -> None:
    from concurrent.futures import ThreadPoolExecutor

    tag = image("baked")
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda _: smlocal_run("check", "--static", tag, "--json"), range(3)))
    assert {each.returncode for each in done} == {0}
    assert len({rules_of(each)["reserved-files"]["Outcome"] for each in done}) == 1


@pytest.fixture
def full_engine(image: Image) -> Iterator[OwnEngine]:
    """An engine whose disk has less room than the image `sh` has bytes."""
    if os.geteuid() != 0:
        pytest.skip("only root can start a dockerd")
    engine = OwnEngine(image=image("sh"))
    data = engine.folder / "data"
    data.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", data], check=True)
    try:
        engine.start()
        seen = os.statvfs(data)
        (data / "others").write_bytes(bytes(seen.f_bavail * seen.f_frsize - (1 << 20)))
        yield engine
    finally:
        engine.close()


@pytest.mark.slow(3)
def test_an_image_of_which_the_engine_cannot_make_a_copy_is_read_without(
    full_engine: OwnEngine, smlocal_run: Run
) -> None:
    """Docker writes an image to its disk before it delivers its layers."""
    on_it = {"DOCKER_HOST": full_engine.address}
    done = smlocal_run("check", full_engine.image, "--static", "--json", env=on_it)
    assert done.returncode == 0, done.stderr
    assert f"without its layers: it has 1.9 MiB, and 1.0 MiB are free at {full_engine.folder}/data" in done.stderr
    with_layers = smlocal_run("check", full_engine.image, "--static", "--json")
    assert _outcomes(done) == _outcomes(with_layers)


def _outcomes(done: "subprocess.CompletedProcess[str]") -> dict[str, str]:
    return {name: each["Outcome"] for name, each in rules_of(done).items()}
