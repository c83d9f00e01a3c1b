"""The commands of endpoints, without an engine."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit import Run

from smlocal.api.job_names import jobs_to_end
from smlocal.cli.commands.exec import job_lines
from smlocal.cli.request_body import written_body
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import Lease
from smlocal.sagemaker.serving.named_endpoint import body_of, record_new
from smlocal.sagemaker.serving.state import HOSTING, State
from smlocal.terms.statuses import FAILED, JobPhase, JobStatus, PhaseMessage

Make = Callable[..., None]


@pytest.fixture
def endpoint(tmp_path: Path) -> Make:
    """Puts an endpoint into the home of this test."""

    def make(name: str, *, reason: str | None = None, port: int = 4321, of: str | None = None) -> None:
        request = {"PrimaryContainer": {"Image": "held"}, **({} if of is None else {"EndpointName": of})}
        with Store.open(str(tmp_path)) as store:
            store.create(
                name,
                run_id="0" * 8,
                created=time.time(),
                documents={"request": request, HOSTING: State(port=port).document()},
                supervisor_pid=os.getpid(),
                platform="sagemaker_hosting",
            )
            store.transition(
                name,
                status=JobStatus.IN_PROGRESS,
                phase=JobPhase.TRAINING,
                message=PhaseMessage.TRAINING,
                at=time.time(),
            )
            if reason is not None:
                store.transition(
                    name,
                    status=FAILED.status,
                    phase=FAILED.phase,
                    message=FAILED.message,
                    at=time.time(),
                    failure_reason=reason,
                )

    return make


@pytest.fixture
def updated(endpoint: Make, tmp_path: Path) -> None:
    """An endpoint `e` after an update: the job `e` has ended, and `e-2` serves."""
    endpoint("e", reason="replaced")
    endpoint("e-2", of="e")
    with Store.open(str(tmp_path)) as store:
        record_new(store, "e", arn="arn", created=time.time(), body=body_of("config", "e-2"))


def test_there_are_none_at_first(smlocal: Run) -> None:
    done = smlocal("endpoints")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "No endpoints yet. Make one with smlocal deploy.\n"
    assert json.loads(smlocal("endpoints", "--json").stdout) == {"Endpoints": []}


def test_only_endpoints_are_listed_and_jobs_lists_them_apart(
    smlocal: Run, endpoint: Make, remember: Callable[..., None]
) -> None:
    endpoint("serves")
    endpoint("failed", reason="did not pass")
    remember("trains")
    head, failed, serves = smlocal("endpoints").stdout.splitlines()
    assert head.split() == ["NAME", "STATUS", "RESTARTS", "ADDRESS", "OR", "REASON"]
    assert failed.split() == ["failed", "Failed", "did", "not", "pass"]
    assert serves.split() == ["serves", "InService", "http://127.0.0.1:4321/endpoints/serves/invocations"]
    listed = json.loads(smlocal("endpoints", "--json").stdout)["Endpoints"]
    assert [each["EndpointStatus"] for each in listed] == ["Failed", "InService"]
    jobs = json.loads(smlocal("jobs", "--json").stdout)
    assert [each["TrainingJobName"] for each in jobs["TrainingJobSummaries"]] == ["trains"]
    assert [each["EndpointName"] for each in jobs["Endpoints"]] == ["failed", "serves"]


def test_what_is_no_endpoint_is_not_invoked(
    smlocal: Run, endpoint: Make, remember: Callable[..., None], tmp_path: Path
) -> None:
    remember("trains")
    endpoint("failed", reason="did not pass")
    for name, error in (("trains", "not-an-endpoint"), ("failed", "endpoint-not-in-service")):
        assert f"[{error}]" in smlocal("invoke", name, "--body", "-").stderr
    for body in (("--body-file", "absent"), ("--body", "absent.csv"), ("--body", "./data/absent.JSON")):
        assert "[invocation-body]" in smlocal("invoke", "failed", *body).stderr
    for given in ((), ("--body", "1", "--body-file", "absent")):
        assert "give the body with --body, or a file with --body-file" in smlocal("invoke", "failed", *given).stderr
    endpoint("stopping")
    with Store.open(str(tmp_path)) as store:
        store.transition(
            "stopping",
            status=JobStatus.STOPPING,
            phase=JobPhase.STOPPING,
            message=PhaseMessage.STOPPING,
            at=time.time(),
        )
    lease = Lease.take(str(tmp_path / "jobs" / "stopping"))  # without a supervisor it would get one, which ends it
    assert lease is not None
    with lease:
        assert "smlocal wait stopping" in smlocal("invoke", "stopping", "--body", "-").stderr
    done = smlocal("invoke", "failed", "--body", "-", "--custom-attributes", "a\r\nX-Evil: b")
    assert (done.returncode, "only printable ASCII" in done.stderr) == (2, True)


def test_a_body_is_what_is_written_unless_a_file_has_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "request").write_text("from the file")
    (tmp_path / "folder").mkdir()
    for written, sent in {
        "1,2": b"1,2",
        "": b"",
        "request": b"from the file",
        "folder": b"folder",
        '{"a": "b.csv"}': b'{"a": "b.csv"}',
        "1.5": b"1.5",
        "h\u00e9, 2 lines\n": "h\u00e9, 2 lines\n".encode(),
        "\0": b"\0",
        "1," * 5000: b"1," * 5000,
    }.items():
        assert written_body(written) == sent


def test_what_is_about_the_end_of_a_job_is_not_advised_for_an_endpoint(smlocal: Run, endpoint: Make) -> None:
    endpoint("serves")
    done = smlocal("publish", "serves")
    assert (done.returncode, "[nothing-to-publish]" in done.stderr) == (2, True), done.stderr
    assert "It is an endpoint, which writes no artifacts." in done.stderr
    assert "ait for it" not in done.stderr


@pytest.mark.parametrize("platform", ["sagemaker", "sagemaker_tuning", "sagemaker_hosting"])
def test_replace_is_advised_only_where_it_is_possible(
    platform: str, smlocal: Run, remember: Callable[..., None], tmp_path: Path
) -> None:
    documents = {"hosting": State(port=1).document(), "tuning": {}}
    remember("runs", ended=False, platform=platform, documents=documents)
    remember("ended", platform=platform, documents=documents)
    (tmp_path / "model.tar.gz").touch()
    deploy = ("deploy", "model.tar.gz", "--image", "held", "--name")
    for words, error, advised in (
        (("ended",), "name-in-use", "--replace"),
        (("runs",), "name-in-use", "smlocal rm --stop runs"),
        (("runs", "--replace"), "job-not-finished", "smlocal rm --stop runs"),
    ):
        done = smlocal(*deploy, *words, cwd=tmp_path)
        assert (done.returncode, f"[{error}]" in done.stderr) == (2, True), done.stderr
        assert advised in done.stderr
        assert ("use --replace" in done.stderr) is (words == ("ended",))


def test_the_last_word_about_a_program_is_not_an_endpoint_that_is_gone(
    remember: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path))
    remember("trained", local={})
    remember("gone", platform="sagemaker_hosting", documents={HOSTING: State(port=1).document()})
    assert [*job_lines(["trained", "gone"])][-1] == "  next      smlocal logs trained · smlocal describe trained"


def test_what_cannot_be_deployed_is_said(smlocal: Run, remember: Callable[..., None], tmp_path: Path) -> None:
    remember("trains")
    (tmp_path / "model.tar.gz").touch()
    (tmp_path / "job.yaml").write_text("AlgorithmSpecification: {TrainingImage: held}")
    variants = "ProductionVariants: [{VariantName: a, InstanceType: ml.m5.large, InitialInstanceCount: 1}]\n"
    (tmp_path / "misspelt.yaml").write_text(f"PrimaryContaner: {{Image: held}}\n{variants}")
    (tmp_path / "without.yaml").write_text(f"PrimaryContainer: {{}}\n{variants}")
    for words, error in (
        (("trains",), "model-missing"),
        (("absent",), "job-unknown"),
        (("absent.tar.gz", "--image", "held"), "model-missing"),
        (("model.tar.gz",), "deploy-image"),
        (("model.tar.gz", "--image", "held", "--name", "a b"), "request-invalid"),
        (("job.yaml",), "not-an-endpoint"),
        (("misspelt.yaml",), "request-invalid"),
        (("without.yaml",), "deploy-image"),
    ):
        done = smlocal("deploy", *words, cwd=tmp_path)
        assert (done.returncode, f"[{error}]" in done.stderr) == (2, True), done.stderr


@pytest.mark.usefixtures("updated")
@pytest.mark.parametrize("more", [(), ("--foreground",)])
def test_an_endpoint_that_is_served_is_not_replaced(smlocal: Run, tmp_path: Path, more: tuple[str, ...]) -> None:
    (tmp_path / "model.tar.gz").touch()
    done = smlocal("deploy", "model.tar.gz", "--image", "held", "--name", "e", "--replace", *more, cwd=tmp_path)
    assert (done.returncode, "[name-in-use]" in done.stderr) == (2, True), done.stderr


@pytest.mark.usefixtures("updated")
def test_by_the_name_of_an_endpoint_the_job_that_serves_is_ended(
    smlocal: Run, endpoint: Make, remember: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path))
    endpoint("e-1", reason="replaced", of="e")
    endpoint("other")
    remember("trains")
    with Store.open(str(tmp_path)) as store:  # a client's, whose name a training job has too
        record_new(store, "trains", arn="arn", created=time.time(), body=body_of("config", "other"))
    for given, jobs in (("e", ["e-2"]), ("e-2", ["e-2"]), ("e-1", ["e-1"]), ("oth", ["other"]), ("trains", ["trains"])):
        assert jobs_to_end(given) == jobs
    assert jobs_to_end("e", whole_endpoint=True) == ["e-2", "e-1", "e"]

    lease = Lease.take(str(tmp_path / "jobs" / "e-2"))
    assert lease is not None
    with lease:
        done = smlocal("rm", "e")
    assert (done.returncode, "[job-not-finished]" in done.stderr, "removed" in done.stderr) == (2, True, False)
    with Store.open(str(tmp_path)) as store:
        store.transition("e-2", status=FAILED.status, phase=FAILED.phase, message=FAILED.message, at=time.time())
    assert jobs_to_end("e") == ["e"]
