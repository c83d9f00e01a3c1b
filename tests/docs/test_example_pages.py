"""The examples that have a page of their own: its commands, what it shows of their output, and what it promises."""

import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.data.s3.troubled_proxy import TroubledProxy
from tests.docs.typed_commands import Typed, type_commands
from tests.kit import Run
from tests.kit.doc_blocks import EXAMPLE_PAGES, ROOT, Block, blocks
from tests.kit.fixtures import IMAGES, build_image, run_docker
from tests.kit.s3_servers import S3Servers, environment

_FROM_OUTSIDE = re.compile("SMLOCAL_(?!IMAGES_FROM)|AWS_|COLUMNS|NO_COLOR|FORCE_COLOR")
"""SMLOCAL_IMAGES_FROM is for scripts/image, not for smlocal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Followed:
    """An example whose page somebody has followed to the end."""

    folder: Path
    environment: Mapping[str, str]
    run: Run

    def describe(self, job: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.run("describe", job, "--json", check=True).stdout)
        return answer

    def logs(self, job: str) -> list[str]:
        return self.run("logs", job, check=True).stdout.splitlines()

    def model(self, job: str) -> dict[str, bytes]:
        with tarfile.open(self.folder / "out" / job / "output" / "model.tar.gz") as archive:
            return {entry.name: file.read() for entry in archive if (file := archive.extractfile(entry)) is not None}


Follow = Callable[..., Followed]


@pytest.fixture
def follow(tmp_path: Path, smlocal_home: Path, smlocal_run: Run, assert_nothing_left: Callable[[str], None]) -> Follow:
    """Copies an example, types what its page says, and compares what the page shows."""

    def make(name: str, base: str | None = None) -> Followed:
        folder = tmp_path / "examples" / name
        ignored = shutil.ignore_patterns("out", "checkpoints", "model", "__pycache__")
        shutil.copytree(ROOT / "examples" / name, folder, ignore=ignored)
        for linked in ("scripts", "src"):
            (tmp_path / linked).symlink_to(ROOT / linked)
        if base is None:
            build_image(folder / "image")  # its time is not the page's: on a new machine it takes minutes
        else:
            dockerfile = folder / "image" / "Dockerfile"
            dockerfile.write_text(re.sub("(?m)^ARG BASE=.*", f"ARG BASE={base}", dockerfile.read_text()))
        scratch = tmp_path / "typed"
        scratch.mkdir()
        outside = {key: value for key, value in os.environ.items() if not _FROM_OUTSIDE.match(key)}
        typing = {**outside, "SMLOCAL_HOME": str(smlocal_home)}
        page = blocks(EXAMPLE_PAGES[name])
        typed = type_commands(page, cwd=folder, scratch=scratch, environment=typing)
        for each in typed:
            assert each.ended == each.expected, f"{each.command}\n{each.output}"
        for block in page:
            assert_shows(block, [each for each in typed if each.block is block])
        for job in os.listdir(smlocal_home / "jobs"):
            assert_nothing_left(job)
        return Followed(folder=folder, environment=typing, run=smlocal_run)

    return make


def assert_shows(block: Block, typed: list[Typed]) -> None:
    """Every line that the block shows was printed, in this order; numbers and bars may differ, and `…` is anything."""
    commands = {each.command for each in typed}
    shown = [line for line in block.text.splitlines() if typed and line.removeprefix("$ ") not in commands]
    printed = iter([without_numbers(line) for each in typed for line in each.output.splitlines()])
    for line in shown:
        if line.strip() not in {"", "…", "$ echo $?"} and not line.isdecimal():
            output = "\n".join(each.output for each in typed)
            assert without_numbers(line) in printed, f"the page shows a line that was not printed: {line}\n{output}"


def without_numbers(line: str) -> str:
    bars = re.sub("[▁▂▃▄▅▆▇█]+", "", line)
    return re.sub(r"\s+", " ", re.sub(r"\d+(\.\d+)?", "0", bars)).strip()


def test_pipe(follow: Follow) -> None:
    done = follow("pipe")
    assert json.loads(done.model("my-pipe")["line.json"])["epochs"] == 3
    epochs = done.logs("my-pipe")
    # The program refuses what is not a FIFO; all rows come in each epoch, and the objects in another order.
    assert [line.split(", ")[0] for line in epochs] == [f"epoch {n}: 100 rows from train_{n}" for n in range(3)]
    assert len({line.split(", ")[1] for line in epochs}) > 1


@pytest.mark.slow(2)
def test_metrics(follow: Follow) -> None:
    done = follow("metrics")
    final = {each["MetricName"]: each["Value"] for each in done.describe("my-metrics")["FinalMetricDataList"]}
    assert final == pytest.approx({"train:loss": 0.00142, "validation:loss": 0.0187})
    values = done.run("metrics", "my-metrics", "--csv", check=True).stdout.splitlines()
    assert len(values) == 1 + 2 * 20
    report = (done.folder / "my-metrics.html").read_text()
    assert "validation:loss" in report
    assert "<svg" in report


@pytest.mark.engine
def test_the_pictures_of_the_readme_are_not_old() -> None:
    """They show a run of the same example, with the same name: here, it does not run at the same time."""
    done = subprocess.run(
        [ROOT / "scripts" / "pictures", "--check"], capture_output=True, text=True, timeout=240, check=False
    )
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr


@pytest.mark.slow(2)
def test_replicas(follow: Follow) -> None:
    done = follow("replicas")
    assert json.loads((done.folder / "bucket/pi/model/model.json").read_text())["pi"] == pytest.approx(3.14, abs=0.05)
    for worker in ("workerpool1-0", "workerpool1-1"):
        said = done.run("logs", "my-pi", "--host", worker, check=True).stdout
        starts = [line for line in said.splitlines() if line.startswith("starting")]
        assert starts == ["starting at round 0", "starting at round 5"]  # restarted once; nothing is done twice


@pytest.mark.slow(3)
def test_spot(follow: Follow) -> None:
    done = follow("spot")
    answer = done.describe("my-spot")
    assert (answer["Local"]["Attempts"], answer["Local"]["Interruptions"]) == (2, 1)
    assert "Interrupted" in [each["Status"] for each in answer["SecondaryStatusTransitions"]]
    assert answer["BillableTimeInSeconds"] <= answer["TrainingTimeInSeconds"]
    epochs = [int(found[1]) for line in done.logs("my-spot") if (found := re.match(r"epoch (\d+):", line))]
    assert epochs == list(range(1, 31))  # none was lost, none was done twice
    assert json.loads(done.model("my-spot")["model.json"])["epoch"] == 30
    # The next job goes on from the same checkpoints.
    assert done.logs("my-longer-spot")[:2] == ["starting at epoch 30", "epoch 31: weight=1.0000"]
    assert json.loads((done.folder / "checkpoints" / "state.json").read_text())["epoch"] == 40


@pytest.mark.large("examples/torchrun/image")
@pytest.mark.slow(26)
@pytest.mark.long
def test_torchrun(follow: Follow) -> None:
    done = follow("torchrun")
    # The host with the store may end first: torchrun of the other one then prints lines about its exit barrier.
    assert sorted(line for line in done.logs("my-torchrun") if "| rank " in line) == [
        "algo-1 | rank 0 of 2: 50 rows, 0.00 to 0.74",
        "algo-1 | rank 0: weight 2.00, bias 1.00",
        "algo-2 | rank 1 of 2: 50 rows, 0.25 to 0.99",
        "algo-2 | rank 1: weight 2.00, bias 1.00",
    ]
    assert list(done.model("my-torchrun")) == ["line.pt"]


@pytest.mark.large("examples/distributed/image")
@pytest.mark.slow(15)
@pytest.mark.long
def test_distributed(follow: Follow) -> None:
    done = follow("distributed")
    told = [line for line in done.logs("my-distributed") if "rank" in line and "weight" in line]
    assert sorted(told) == [f"algo-{1 + n // 2} | rank {n} of 4: weight 2.00, bias 1.00" for n in range(4)]
    assert list(done.model("my-distributed")) == ["line.pt"]
    used = done.describe("my-distributed")["Local"]["DataParallel"]
    assert (used["Library"], used["Backend"], used["WorldSize"], used["Ranks"]) == ("stand-in", "gloo", 4, 4)


@pytest.mark.large("examples/pruning/image")
@pytest.mark.slow(25)
@pytest.mark.long
def test_pruning(follow: Follow) -> None:
    build_image(ROOT / "src" / "smlocal" / "debugger" / "evaluator_image")  # as in `follow`
    done = follow("pruning")
    told = done.logs("my-pruning")
    good = [int(found[1]) for line in told if (found := re.match(r"iteration (\d+): accuracy", line))]
    assert good == list(range(9))
    assert told[-1] == "iteration 9: 2 units, 54 parameters"
    assert list(done.model("my-pruning")) == ["pruned.pt"]
    answer = done.describe("my-pruning")
    assert answer["TrainingJobStatus"] == "Stopped"
    (rule,) = answer["DebugRuleEvaluationStatuses"]
    assert rule["RuleEvaluationStatus"] == "IssuesFound"
    # One list for this image and the tests': the layer below is the same.
    for name in ("requirements.txt", "no-deps.txt"):
        used = ROOT / "examples" / "pruning" / "image" / name
        assert used.read_text() == (IMAGES / "debugger" / name).read_text()


@pytest.mark.slow(3)
def test_fastfile(follow: Follow, s3_servers: S3Servers, tmp_path: Path) -> None:
    done = follow("fastfile")
    assert done.logs("my-fastfile") == ["read 1.0 MiB of 64.0 MiB; pictures are bright above 120.5"]

    s3 = s3_servers("moto")
    bucket = s3.make_bucket()
    shards = sorted((done.folder / "data").iterdir())
    for path in shards:
        s3.put(bucket, f"shards/{path.name}", path.read_bytes())
    (shown,) = [each for each in blocks(EXAMPLE_PAGES["fastfile"]) if "s3://my-bucket" in each.text]
    block = replace(shown, text=shown.text.replace("my-bucket", bucket), marked=False)
    scratch = tmp_path / "typed-s3"
    scratch.mkdir()
    with TroubledProxy(s3.port) as between:
        outside = {**done.environment, **environment(between.url)}
        (typed,) = type_commands([block], cwd=done.folder, scratch=scratch, environment=outside)
        ranges = [re.search(r"\r\nrange:\s*bytes=(\d+)-(\d+)", each) for each in between.requests]
    assert typed.ended == 0, typed.output
    assert_shows(block, [typed])
    fetched = sum(int(found[2]) + 1 - int(found[1]) for found in ranges if found)
    assert 1 << 20 <= fetched < 10 << 20  # of 64 MiB


@pytest.mark.slow(7)
def test_toolkit(follow: Follow) -> None:
    done = follow("toolkit")
    assert list(done.model("my-toolkit")) == ["coefficients.npy"]
    log = "\n".join(done.logs("my-toolkit"))
    assert "Requirement already satisfied: numpy" in log
    assert 'SM_HPS={"degree":2}' in log
    reason = done.describe("my-failure")["FailureReason"]
    assert reason.startswith("AlgorithmError: ExecuteUserScriptError:\nExitCode 2\n")
    # One list for this image and the tests': the layer below is the same.
    assert (ROOT / "examples/toolkit/image/requirements.txt").read_text() == (
        IMAGES / "toolkit" / "requirements.txt"
    ).read_text()


@pytest.mark.slow(4)
def test_processing(follow: Follow) -> None:
    done = follow("processing")
    assert done.describe("my-split")["ProcessingJobStatus"] == "Completed"
    assert done.describe("my-evaluation")["ExitMessage"] == "accuracy 0.967 on 30 rows"
    assert json.loads((done.folder / "out" / "evaluation" / "evaluation.json").read_text())["rows"] == 30


@pytest.mark.slow(4)
def test_pipeline(follow: Follow) -> None:
    done = follow("pipeline")
    states = {}
    for execution in ("my-pipeline", "my-strict", "my-third"):
        steps = done.describe(execution)["Local"]["Steps"]
        states[execution] = [f"{each['Name']} {each['Status']}" for each in steps]
        cached = [each["Name"] for each in steps if "Source" in each.get("Cache", {})]
        assert cached == (["Split", "Train"] if execution == "my-strict" else [])
    assert states["my-pipeline"] == states["my-third"]
    assert states["my-pipeline"][-1] == "Register Succeeded"
    assert states["my-strict"][-1] == "TooLow Failed"
    assert "accuracy" in next((done.folder / "out").glob("*Evaluate*/evaluation/evaluation.json")).read_text()


def test_build(follow: Follow) -> None:
    built = []
    try:
        done = follow("build", base=build_image(IMAGES / "py"))
        built = [done.describe(job)["Local"]["Image"] for job in ("my-build", "my-second-build")]
        assert built[0] != built[1]
        first, second = (json.loads(done.model(job)["words.json"]) for job in ("my-build", "my-second-build"))
        assert (list(first), list(second)) == (["feeds", "fields", "hills"], ["fields", "hills", "river"])
    finally:
        run_docker("rmi", "--force", *(built or ["smlocal-example-build:latest"]))
