"""The cost of importing the package, and what each way to a job needs: counts, which say the same on every machine."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.kit.needs import Needs, complaints, found_by

from smlocal.engine.endpoint import find_endpoint
from smlocal.engine.engine_facts import has_our_mounts

HEAVY = {"asyncio", "boto3", "botocore", "click", "docker", "isal", "multiprocessing", "pydantic", "requests", "yaml"}

IMAGES = Path(__file__).parents[3] / "benchmarks" / "images"
NO_OP, UP_AT_ONCE = IMAGES / "no-op", IMAGES / "up-at-once"

PURE = ("smlocal.terms", "smlocal.jobs.planning", "smlocal.jobs.kind")
"""The modules that read a request."""
HOME = {"smlocal.jobs.store", "smlocal.jobs.store.home"}
"""Only the path of the home."""


def loaded(code: str) -> set[str]:
    """The modules that this adds to those of a Python that has just started."""
    program = f"import json, sys; before = set(sys.modules)\n{code}\nprint(json.dumps([*set(sys.modules) - before]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_importing_the_package_imports_nothing_else() -> None:
    assert loaded("import smlocal; dir(smlocal)") <= {"smlocal", "__future__"}


def test_the_api_imports_no_library_of_others() -> None:
    modules = loaded("import smlocal; smlocal.run; smlocal.TrainingJob; smlocal.errors; smlocal.plan")
    assert "smlocal.api.run" in modules
    assert not {module.partition(".")[0] for module in modules} & HEAVY


def test_the_functions_of_the_api_import_nothing_that_runs_jobs() -> None:
    modules = loaded("import smlocal; smlocal.run; smlocal.errors; smlocal.plan")
    life = {module for module in modules if module.startswith("smlocal.jobs.") and not module.startswith(PURE)}
    assert not life - HOME | {module for module in modules if module.startswith(("smlocal.engine", "smlocal.cli"))}


def test_what_there_is_not() -> None:
    import smlocal

    assert {"run", "plan", "TrainingJob", "errors"} <= set(dir(smlocal))
    with pytest.raises(AttributeError, match="fly"):
        _ = smlocal.fly


def test_a_job_without_rules_imports_nothing_of_them() -> None:
    modules = loaded("import smlocal.jobs.supervision, smlocal.jobs.control.adopt, smlocal.api.execution")
    assert "smlocal.jobs.attempt" in modules
    assert not {
        module
        for module in modules
        if module.startswith(("smlocal.debugger", "smlocal.sagemaker.training.rules_of_job"))
    }


@pytest.mark.slow(0.5)
def test_a_report_imports_no_reader_of_tensors_until_there_are_some() -> None:
    modules = loaded("import smlocal.report.job_report, smlocal.report.page, smlocal.endpoint.page.live_views")
    assert "smlocal.report.page" in modules
    assert not {module for module in modules if module.startswith("smlocal.debugger.tensors")}


SIMPLE = {
    "import": Needs(ours=1, all=2, kilobytes=3, uncalled=1),
    "--help": Needs(
        ours=27,
        all=79,
        kilobytes=159,  # -V, --no-pager, and the pager of help
        extensions=7,
        dataclasses=10,
        regexes=20,
        uncalled=12,
        may=(
            "_bz2",
            "_lzma",
            "bz2",
            "lzma",
            "shutil",
        ),
    ),
    "validate": Needs(
        ours=188,
        all=251,
        kilobytes=1532,
        extensions=14,
        dataclasses=146,
        regexes=30,
        uncalled=99,
        may=("sqlite3",),
    ),
    "completion": Needs(
        ours=50,
        all=107,
        kilobytes=389,  # likewise: what stands behind every command; pipelines
        extensions=9,
        dataclasses=24,
        regexes=24,
        uncalled=23,
        may=(
            "sqlite3",
            "subprocess",
        ),
    ),
}
# Dataclasses: the place that may restrict an engine is a part of its facts.
# Kilobytes of jobs: what a list says of each kind, what its end leads to, and whether its image serves; settings for
# whole jobs on several engines and for the network of this machine; settings that exclude each other are refused before
# an engine is asked, also by `validate`, which knows the kinds of files.
JOBS = {
    "training": Needs(
        ours=237,
        all=301,
        kilobytes=2321,  # the rows of kinds say their files, requests and commands; pipelines
        extensions=14,
        dataclasses=191,
        regexes=33,
        uncalled=34,
        requests=12,  # whether a container that left no model has written elsewhere: a millisecond
        fdatasyncs=12,
        threads=5,
        may=("sqlite3",),
    ),
    "processing": Needs(
        ours=246,
        all=310,
        kilobytes=2424,  # likewise; and results of queries
        extensions=14,
        dataclasses=198,
        regexes=33,
        uncalled=51,
        requests=11,
        fdatasyncs=12,
        threads=5,
        may=(
            "sqlite3",
            "subprocess",
        ),
    ),
    "transform": Needs(
        ours=266,
        all=333,
        kilobytes=2799,  # likewise; and where a file names a job or a package in place of a model
        extensions=16,
        dataclasses=227,
        regexes=37,
        uncalled=62,
        requests=None,
        fdatasyncs=12,
        threads=7,
        may=(
            "_bz2",
            "_hashlib",
            "_lzma",
            "bz2",
            "hashlib",
            "isal",
            "logging",
            "lzma",
            "shutil",
            "sqlite3",
            "subprocess",
            "tempfile",
        ),
    ),
    "endpoint": Needs(
        ours=211,
        all=276,
        kilobytes=2032,  # likewise
        extensions=14,
        dataclasses=190,
        regexes=31,
        uncalled=75,
        requests=None,
        processes=1,
        fdatasyncs=None,
        may=("sqlite3",),
    ),
    "tuning": Needs(
        ours=257,
        all=330,
        kilobytes=2495,  # likewise
        extensions=18,
        dataclasses=208,
        regexes=41,
        uncalled=60,
        requests=None,
        fdatasyncs=None,
        threads=1,
        processes=1,
        may=(
            "sqlite3",
            "subprocess",
        ),
    ),
}


@pytest.mark.slow(2)
@pytest.mark.parametrize("way", SIMPLE)
@pytest.mark.linux("what is imported there, and counted")
def test_what_needs_no_job_needs_no_more_than_this(way: str, tmp_path: Path) -> None:
    request = {
        "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "local", "InstanceCount": 1},
    }
    job = _job_file(tmp_path, "job", request)
    ways: dict[str, tuple[list[str | Path], dict[str, str]]] = {
        "import": (["code", "import smlocal; dir(smlocal)"], {}),
        "--help": (["smlocal", "--help"], {}),
        "validate": (["smlocal", "validate", job], {}),
        "completion": (
            ["smlocal"],
            {"_SMLOCAL_COMPLETE": "bash_complete", "COMP_WORDS": "smlocal describe ", "COMP_CWORD": "2"},
        ),
    }
    (kind, *arguments), more = ways[way]
    environment = {"SMLOCAL_HOME": str(tmp_path / "home"), **more}
    found = found_by(str(kind), *arguments, folder=tmp_path, environment=environment)
    said = complaints(way, found, SIMPLE[way])
    assert not said, said


@pytest.mark.engine
@pytest.mark.slow(8)
@pytest.mark.parametrize("way", JOBS)
def test_a_job_that_does_nothing_needs_no_more_than_this(
    way: str,
    smlocal_home: Path,
    tmp_path: Path,
    image: Callable[[str | Path], str],
    smlocal_run: Callable[..., "subprocess.CompletedProcess[str]"],
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "line.csv").write_text("a\n")
    arguments = _arguments(way, tmp_path, image)
    # What is remembered of an engine and an image is found out by the first job.
    smlocal_run(*arguments, *_named(way, "first"), check=True)
    try:
        found = found_by(
            "smlocal",
            *arguments,
            *_named(way, "counted"),
            folder=tmp_path,
            environment={"SMLOCAL_HOME": str(smlocal_home)},
            traced=way != "endpoint",
        )
        said = complaints(way, found, _most(way))
        assert not said, said
    finally:
        smlocal_run("rm", "--stop", f"needs-{way}-first", f"needs-{way}-counted")


def _most(way: str) -> Needs:
    """In a root file system of its own, whose mounts the engine lacks, a container says whether it sees the model."""
    most = JOBS[way]
    looks = way == "endpoint" and not has_our_mounts(find_endpoint())
    return replace(most, ours=most.ours + 2) if looks else most  # seen_folders and networks


def _named(way: str, which: str) -> list[str]:
    return ["--name", f"needs-{way}-{which}"]


def _arguments(way: str, folder: Path, image: Callable[[str | Path], str]) -> list[str | Path]:
    out = str(folder / "out")
    if way == "training":
        return ["run", "--image", image(NO_OP), "--output", out]
    if way == "endpoint":
        (folder / "model").mkdir()
        return ["deploy", folder / "model", "--image", image(UP_AT_ONCE), "--quiet"]
    if way == "processing":
        request: dict[str, Any] = {"AppSpecification": {"ImageUri": image(NO_OP), "ContainerEntrypoint": ["train"]}}
    elif way == "transform":
        source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": str(folder / "data")}}
        request = {
            "PrimaryContainer": {"Image": image("transform")},
            "TransformInput": {"DataSource": source, "ContentType": "text/csv"},
            "TransformOutput": {"S3OutputPath": out},
        }
    else:
        request = {
            "HyperParameterTuningJobConfig": {
                "Strategy": "Grid",
                "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
                "ResourceLimits": {"MaxParallelTrainingJobs": 1},
                "ParameterRanges": {"CategoricalParameterRanges": [{"Name": "a", "Values": ["1"]}]},
            },
            "TrainingJobDefinition": {
                "AlgorithmSpecification": {
                    "TrainingImage": image("sh"),
                    "TrainingInputMode": "File",
                    "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9]+)"}],
                },
                "Environment": {"SCRIPT": "echo loss=1"},
                "OutputDataConfig": {"S3OutputPath": out},
                "ResourceConfig": {"InstanceType": "local", "InstanceCount": 1},
                "StoppingCondition": {"MaxRuntimeInSeconds": 60},
            },
        }
    return ["run", _job_file(folder, way, request)]


def _job_file(folder: Path, name: str, request: dict[str, Any]) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(request))
    return path
