"""The page of each kind of job is in its words, and has what only such jobs have."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.unit.report.conftest import BEGAN, StoredJob
from tests.unit.report.test_page import HOSTILE, Reader, read
from tests.unit.sagemaker.tuning.test_tuning_file import REQUEST as TUNING_REQUEST

from smlocal.jobs.store.jobs import Store
from smlocal.report.job_report import read_job_report
from smlocal.report.page import about_job, render, render_report
from smlocal.sagemaker.serving.invocations import read_invocations
from smlocal.sagemaker.serving.state import HOSTING, State
from smlocal.sagemaker.tuning.facts import TUNING
from smlocal.sagemaker.tuning.trials import Trial, document_kind
from smlocal.terms.statuses import JobPhase, PhaseMessage

NO_COUNTS = dict.fromkeys(("Completed", "InProgress", "RetryableError", "NonRetryableError", "Stopped"), 0)
ROOT = "/opt/ml/processing"


def tuning(job: StoredJob) -> None:
    trials = [
        Trial(number=1, name=f"{job.name}-001-ab", tuned={"lr": "0.10000001"}, status="Completed", value=0.51234567)
    ]
    trials.append(Trial(number=2, name=f"{job.name}-002-cd", tuned={"lr": "0.2"}, created=BEGAN + 1))
    trials[0].started, trials[0].ended = BEGAN + 1, BEGAN + 3
    state = {"Count": 2, "TrainingJobStatusCounters": {**NO_COUNTS, "Completed": 1, "InProgress": 1}}
    documents = {TUNING: state, **{document_kind(each.number): each.document() for each in trials}}
    job.store.put_documents(job.name, documents)


def processing(job: StoredJob) -> None:
    mounts = [
        {"Target": f"{ROOT}/raw", "Uri": "./raw", "Source": "/data/raw", "Files": 1200, "Bytes": 4096},
        {"Target": f"{ROOT}/rows_0", "Uri": "s3://b/rows", "Source": "s3://b/", "Files": 2, "Bytes": None},
    ]
    job.store.put_document(job.name, "plan", {"Hosts": [{"Name": "algo-1", "Mounts": mounts}]})
    out = job.directory / "out"
    out.mkdir()
    (out / "a.csv").write_bytes(b"x" * 2048)
    usual = {"LocalPath": f"{ROOT}/o", "S3Uri": "./o", "S3UploadMode": "EndOfJob", "Published": None}
    known = {"Files": 10_000, "Bytes": 5 << 20, "AllCounted": False}
    job.local["Outputs"] = [
        {"Name": "counted", "Directory": "/gone", **usual, **known},
        {"Name": "there", "Directory": str(out), **usual},
        {"Name": "unknown", "Directory": "/gone", **usual},
    ]


def transform(job: StoredJob) -> None:
    job.local["Transform"] = {
        "Objects": 3,
        "Outputs": 1,
        "Requests": 1234,
        "Retries": 7,
        "Directory": "/out",
        "RecordsRead": 5000,
        "BytesRead": 4096,
        "LinesWritten": 4000,
        "BytesWritten": 8192,
        "Failed": ["a.csv", HOSTILE],
        "Causes": ["ClientError: 400: no such feature", HOSTILE],
        "FailedCount": 5,
        "BatchStrategy": "MULTI_RECORD",
        "MaxConcurrentTransforms": 4,
        "MaxPayloadInMB": 6,
    }


def endpoint(job: StoredJob) -> None:
    state = State(port=4321, key_file="/home/me/key", in_service=BEGAN + 1)
    state.restarted("Blue", 139)
    job.store.put_document(job.name, HOSTING, state.document())
    kept = read_invocations(str(job.directory))
    for _ in range(3):
        kept.answered("Blue", 0.010, None)
    kept.answered("Green", 0.5, (424, {"OriginalStatusCode": 500, "OriginalMessage": f"no such feature {HOSTILE}"}))
    kept.write()


@dataclass(frozen=True, kw_only=True)
class Case:
    """A kind: what is stored, and what its page has."""

    platform: str
    word: str
    request: Mapping[str, Any]
    store: Callable[[StoredJob], None]
    headings: tuple[str, ...]
    phases: tuple[str, ...]
    texts: tuple[str, ...]
    running: str = "was still running when this page was made"


CONTAINER = {"Image": "held", "ModelDataUrl": "s3://b/m.tar.gz"}
CASES = {
    "tuning": Case(
        platform="sagemaker_tuning",
        word="Tuning job",
        request={**TUNING_REQUEST, "HyperParameterTuningJobName": "my-tree"},
        store=tuning,
        headings=("Timeline", "Training jobs", "Request"),
        phases=("Starting", "Searching"),
        texts=("0.5123", "001-ab", "my-tree-002-cd", "1 completed, 1 running", "Best loss"),
    ),
    "processing": Case(
        platform="sagemaker_processing",
        word="Processing job",
        request={
            "ProcessingJobName": "my-tree",
            "AppSpecification": {"ImageUri": "clean:1", "ContainerEntrypoint": ["python3", "clean.py"]},
            "ProcessingInputs": [
                {"InputName": "raw", "S3Input": {"S3Uri": "./raw", "LocalPath": f"{ROOT}/raw"}},
                {"InputName": "rows", "S3Input": {"S3Uri": "s3://b/rows", "LocalPath": f"{ROOT}/rows"}},
            ],
            "ProcessingResources": {"ClusterConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}},
        },
        store=processing,
        headings=("Timeline", "Inputs", "Outputs", "Request"),
        phases=("Starting", "Downloading", "Processing"),
        texts=(
            *("2 × ml.m5.large", "python3 clean.py", "clean:1", "1,200", "4.0 KiB", "s3://b/rows", "/data/raw"),
            *("more than 10,000", "more than 5.0 MiB", "2.0 KiB"),
        ),
    ),
    "transform": Case(
        platform="sagemaker_transform",
        word="Transform job",
        request={
            "TransformJobName": "my-tree",
            "PrimaryContainer": CONTAINER,
            "TransformInput": {"DataSource": {"S3DataSource": {"S3Uri": "./data"}}},
            "TransformResources": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        },
        store=transform,
        headings=("Timeline", "Data", "Objects without output", "Request"),
        phases=("Preparing", "Transforming"),
        texts=(
            *("1 of 3 transformed", "5,000 in, 4,000 lines out", "4.0 KiB in, 8.0 KiB out", "1,234", "Retries", "7"),
            *("ClientError: 400: no such feature", HOSTILE, "And 3 more objects", "4, MULTI_RECORD", "s3://b/m.tar.gz"),
        ),
    ),
    "endpoint": Case(
        platform="sagemaker_hosting",
        word="Endpoint",
        request={
            "EndpointName": "here",
            "PrimaryContainer": CONTAINER,
            "ProductionVariants": [
                {"VariantName": "Blue", "InitialInstanceCount": 2, "InitialVariantWeight": 3},
                {"VariantName": "Green", "InitialInstanceCount": 1, "InitialVariantWeight": 0.5},
            ],
        },
        store=endpoint,
        headings=("How to invoke it", "Model", "Timeline", "Requests", "Last errors", "Restarts", "Request"),
        phases=("Creating", "InService"),
        texts=(
            *("smlocal invoke here", "curl -H @/home/me/key", "http://127.0.0.1:4321/endpoints/here/invocations"),
            *("held", "s3://b/m.tar.gz", "p50 9.7 ms", "p95", "Green", f"no such feature {HOSTILE}", "139"),
            *("1 error", "InService for 9.5 s"),
        ),
        running="This page shows the endpoint as it was at",
    ),
}


@pytest.fixture
def job_of(store: Store) -> Callable[[Case], StoredJob]:
    def make(case: Case) -> StoredJob:
        job = StoredJob(store=store, name="my-tree", request=dict(case.request), platform=case.platform)
        lease = job.create()
        case.store(job)
        store.put_document(job.name, "local", job.local)
        if case.platform == "sagemaker_tuning":
            job.phase(JobPhase.TRAINING, PhaseMessage.TRAINING, 0.5)
        else:
            job.train()
        lease.release()
        return job

    return make


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_page_speaks_of_its_kind(case: Case, job_of: Callable[[Case], StoredJob], store: Store) -> None:
    job = job_of(case)
    report = read_job_report(store, job.name, BEGAN + 10)
    reader = read(render_report(report))
    assert tuple(reader.headings) == case.headings
    assert [stage.name for stage in report.view.stages] == list(case.phases)
    for text in (case.word, case.running, *case.texts):
        assert text in reader.text, text
    assert "This job" not in reader.text
    assert ("Training job" in reader.text) == (case.word == "Tuning job")
    assert "script" not in reader.seen


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_so_does_the_page_of_the_server(case: Case, job_of: Callable[[Case], StoredJob], store: Store) -> None:
    about = {**about_job(read_job_report(store, job_of(case).name, BEGAN + 10)), "address": "/-/jobs/my-tree"}
    parts = [render(f"partials/{part}.html", **about) for part in ("outcome", "leading", "timeline", "sections")]
    assert f'<p class="kind">{case.word}</p>' in parts[0]
    assert f"Stop this {case.word.lower()}" in render("live/state.html", **about, token="t")
    links = '<a href="/-/jobs/my-tree-001-ab">my-tree-001-ab</a>' in "".join(parts)
    assert links == (case.word == "Tuning job")


def test_headers_of_a_saved_table_sort_it(job_of: Callable[[Case], StoredJob], store: Store) -> None:
    reader: Reader = read(render_report(read_job_report(store, job_of(CASES["tuning"]).name, BEGAN + 10)))
    classes = [value for name, value in reader.attributes if name == "class" and value is not None]
    assert sorted(each for each in classes if re.fullmatch("s[0-9]", each)) == [f"s{number}" for number in range(5)]
    assert [each for each in classes if re.fullmatch("o[0-9]", each)] == [f"o{number}" for number in range(5)]
    style = (Path(__file__).parents[3] / "src/smlocal/report/templates/style.css").read_text()
    assert all(f".sorts:has(.s{number}:checked) .o{number}" in style for number in range(8))


def test_an_endpoint_that_was_never_invoked_says_so(job_of: Callable[[Case], StoredJob], store: Store) -> None:
    job = job_of(CASES["endpoint"])
    os.unlink(job.directory / "invocations.json")
    reader = read(render_report(read_job_report(store, job.name, BEGAN + 10)))
    assert "none so far" in reader.text
    assert "Last errors" not in reader.headings


def test_a_training_job_of_a_search_names_it(store: Store) -> None:
    job = StoredJob(store=store, name="my-tree")
    lease = job.create()
    store.put_document(job.name, "tuned-by", {"Arn": "arn:aws:sagemaker:x:1:hyper-parameter-tuning-job/search"})
    job.train()
    lease.release()
    report = read_job_report(store, job.name, BEGAN + 10)
    assert "Training job of the search search" in read(render_report(report)).text
    page = render("partials/outcome.html", **about_job(report), address="/-/jobs/my-tree")
    assert '<a href="/-/jobs/search">search</a>' in page
