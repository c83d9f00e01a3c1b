"""Credentials inside a container: found by boto3 as on the service, and by no other client, while the job runs."""

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest
from tests.kit import until
from tests.kit.fixtures import gateway, touch_inside
from tests.kit.jobs import Background, Ran
from tests.kit.s3_servers import REGION, Moto

RunJob = Callable[..., Ran]
Docker = Callable[..., str]

ROLE = "arn:aws:iam::123456789012:role/service-role/trainer"
PATH = re.compile(r"/v2/credentials/proxy-[0-9a-f]{64}-customer")
SECRET = "plantedsecretthatnobodymaysee"
FETCH = 'wget -qO- "http://169.254.170.2$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"'
GO = "until [ -e /opt/ml/output/data/go ]; do sleep 0.05; done"
PYTHON = ["python3", "-c", "import os; exec(os.environ['SCRIPT'])"]
BOTO3 = """
import boto3, os
session = boto3.Session(region_name=os.environ["AWS_REGION"])
print(session.get_credentials().method, session.client("sts").get_caller_identity()["Arn"])
session.client("s3").download_file("BUCKET", "key", "/opt/ml/model/key")
"""


def keys(access_key: str, **more: str) -> dict[str, str]:
    """The environment of somebody who is logged in, and has no other AWS configuration."""
    return {
        "AWS_ACCESS_KEY_ID": access_key,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        **more,
    }


class _MotoForContainers(Moto):
    """Also reached from containers."""

    def command(self) -> list[str]:
        return [word.replace("127.0.0.1", "0.0.0.0") for word in super().command()]


@pytest.fixture(autouse=True)
def engine_that_can(docker: Docker) -> None:
    if "Podman" in docker("version"):
        pytest.skip("Podman's networks are there only while a container is on them")


@pytest.fixture(scope="module")
def moto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moto]:
    server = _MotoForContainers(tmp_path_factory.mktemp("moto"))
    server.restart()
    yield server
    server.close()


class Sts(ThreadingHTTPServer):
    """A stand-in whose credentials are soon over: a real one, and moto, give none for less than 15 minutes."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _StsAnswer)
        self.seconds = 0.0
        """The lifetime of the credentials; with 0 the role cannot be assumed."""
        self.given = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _StsAnswer(BaseHTTPRequestHandler):
    server: Sts

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.seconds:
            self.server.given += 1
            until = datetime.now(UTC) + timedelta(seconds=self.server.seconds)
            body = (
                "<AssumeRoleResponse><AssumeRoleResult><Credentials>"
                f"<AccessKeyId>ASIA{self.server.given}</AccessKeyId><SecretAccessKey>{SECRET}</SecretAccessKey>"
                f"<SessionToken>{SECRET}token</SessionToken><Expiration>{until.isoformat()}</Expiration>"
                "</Credentials></AssumeRoleResult></AssumeRoleResponse>"
            )
        else:
            body = (
                "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code>"
                "<Message>User is not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>"
            )
        self.send_response(200 if self.server.seconds else 403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def sts() -> Iterator[Sts]:
    with Sts() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def shared_network(docker: Docker) -> str:
    return docker("network", "ls", "--quiet", "--filter", "label=smlocal.credentials").strip()


def nothing_shared(docker: Docker) -> bool:
    """True when the network is gone, unless another test's job still uses it."""
    marks = docker("volume", "ls", "--quiet", "--filter", "label=smlocal.credentials").strip()
    return not shared_network(docker) or bool(marks)


def let_go(job: Background) -> None:
    touch_inside(job.home / "jobs" / job.name / "hosts" / "algo-1" / "output" / "data" / "go")


@pytest.mark.slow(2)
@pytest.mark.parametrize("mode", ["role", "inherit"])
def test_boto3_finds_them_unaided(run_job: RunJob, image: Callable[[str], str], moto: Moto, mode: str) -> None:
    bucket = moto.make_bucket()
    moto.put(bucket, "key", b"of the bucket")
    endpoint = f"http://{gateway()}:{moto.port}"
    ran = run_job(
        [],
        BOTO3.replace("BUCKET", bucket),
        env=keys("AKIAPLANTED", AWS_ENDPOINT_URL_STS=moto.url),
        flags=("--credentials", mode),
        RoleArn=ROLE,
        AlgorithmSpecification={
            "TrainingImage": image("toolkit"),
            "TrainingInputMode": "File",
            "ContainerEntrypoint": PYTHON,
        },
        Environment={"SCRIPT": BOTO3.replace("BUCKET", bucket), "AWS_ENDPOINT_URL": endpoint},
    )
    assert ran.exit == 0, ran.log()
    assert ran.model("key") == b"of the bucket"
    method, arn = ran.log().split()
    assert method == "container-role"
    assert (arn == "arn:aws:sts::123456789012:assumed-role/trainer/SageMaker") == (mode == "role"), arn
    assert ran.answer["Local"]["Credentials"] == {"Mode": mode, "Notes": []}
    assert "credentials" in ran.notes
    assert "role" not in ran.notes


@pytest.mark.slow(2)
def test_two_jobs_at_once_get_their_own_and_nobody_else_any(
    job_file: Callable[..., Path], background: Callable[..., Background], docker: Docker, image: Callable[[str], str]
) -> None:
    script = f'{FETCH} >/dev/null; for i in 1 2 3 4 5 6 7 8 9 10; do {FETCH} | grep -o "AKIA[A-Z]*"; done; env; {GO}'
    ours = [
        background(job_file([], script, local={"Credentials": "inherit"}), env=keys(key)) for key in ("AKIAA", "AKIAB")
    ]
    until(lambda: all("SCRIPT=" in job.output() for job in ours))
    for job, key in zip(ours, ("AKIAA", "AKIAB"), strict=True):
        assert job.output().split()[:10] == [key] * 10

    # The engine's answers have no keys in them, and the path of another's containers is of no use elsewhere.
    shown = "".join(
        docker(*command, "--filter", f"label=smlocal.job={job.name}", "--quiet")
        for job in ours
        for command in (("ps", "--all"), ("volume", "ls"), ("network", "ls"))
    )
    inspected = docker("inspect", *shown.split(), shared_network(docker))
    assert PATH.search(inspected)
    assert SECRET not in inspected
    path = PATH.findall(ours[0].output())[0]
    for address in (f"http://169.254.170.2{path}", "http://169.254.170.2/v2/credentials/x"):
        with pytest.raises(HTTPError) as refused:
            urlopen(address)
        assert refused.value.code == 404
        assert SECRET not in refused.value.read().decode()
    stranger = ["run", "--rm", "--label", "smlocal.job=stranger", "--entrypoint", "wget", image("sh")]
    asked = subprocess.run(
        ["docker", *stranger, "-qO-", f"http://169.254.170.2{path}"], capture_output=True, text=True, check=False
    )
    assert "404" in asked.stderr

    # The address comes back where somebody tidies up.
    docker("network", "rm", "smlocal-credentials")
    until(lambda: bool(shared_network(docker)))

    let_go(ours[0])
    assert ours[0].finish()["TrainingJobStatus"] == "Completed"
    assert shared_network(docker), "the other job still needs it"
    let_go(ours[1])
    assert ours[1].finish()["TrainingJobStatus"] == "Completed"
    until(lambda: nothing_shared(docker))
    with pytest.raises(URLError):
        urlopen(f"http://169.254.170.2{path}", timeout=3)  # passes: nobody has the address


def planted(folder: Path) -> list[Path]:
    """Every file that has the secret in it."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [path for path in files if SECRET.encode() in path.read_bytes()]


@pytest.mark.slow(3)
def test_keys_are_written_nowhere(
    job_file: Callable[..., Path], smlocal_run: Callable[..., Any], tmp_path: Path, moto: Moto
) -> None:
    # On every host, and in every attempt.
    path = job_file(
        [],
        f"{FETCH} | grep -q Secret",
        local={"Credentials": "inherit", "Faults": [{"Kind": "InternalError", "When": "After"}]},
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 2},
        RetryStrategy={"MaximumRetryAttempts": 1},
    )
    environment = keys("AKIAPLANTED", AWS_SESSION_TOKEN=f"{SECRET}token", AWS_ENDPOINT_URL_STS=moto.url)
    said = ""
    for flags in (("--json",), ("--credentials", "role", "--role", ROLE, "--replace")):
        done = smlocal_run("--debug", "run", path.name, *flags, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        said += done.stdout + done.stderr
        assert json.loads(smlocal_run("describe", path.stem, "--json").stdout)["Local"]["Attempts"] == 2
    plan = smlocal_run("--debug", "plan", path.name, "--json", cwd=tmp_path, env=environment)
    assert json.loads(plan.stdout)["Credentials"] == {"Mode": "inherit"}
    assert smlocal_run("report", path.stem, "--html", "report.html", cwd=tmp_path, env=environment).returncode == 0
    described = smlocal_run("describe", path.stem, "--json", env=environment)
    assert SECRET not in said + plan.stdout + plan.stderr + described.stdout
    assert "AKIAPLANTED" not in said + described.stdout
    assert planted(tmp_path) == []


@pytest.mark.slow(2)
def test_they_come_back_after_a_crash(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    smlocal_run: Callable[..., Any],
    docker: Docker,
    assert_nothing_left: Callable[[str], None],
) -> None:
    script = (
        f"{FETCH} >/dev/null && echo before; while {FETCH} >/dev/null; do sleep 0.05; done; echo away;"
        f" until {FETCH} >/dev/null; do sleep 0.05; done; echo again; {GO}"
    )
    job = background(job_file([], script, local={"Credentials": "inherit"}), env=keys("AKIAC"))
    until(lambda: "before" in job.output())
    job.process.send_signal(signal.SIGKILL)
    job.process.wait()
    container = docker("ps", "--quiet", "--filter", f"label=smlocal.job={job.name}").strip()
    until(lambda: "away" in docker("logs", container))
    smlocal_run("describe", job.name, env=keys("AKIAC"))
    until(lambda: "again" in docker("logs", container))
    let_go(job)
    assert smlocal_run("wait", job.name).returncode == 0
    assert_nothing_left(job.name)
    until(lambda: nothing_shared(docker))


@pytest.mark.slow(2)
def test_they_are_renewed_and_an_end_of_that_is_told(
    job_file: Callable[..., Path], background: Callable[..., Background], sts: Sts
) -> None:
    sts.seconds = 3
    script = (
        f"until {FETCH} | grep -q ASIA[2-9]; do sleep 0.05; done; echo renewed;"
        f" until {FETCH} 2>&1 | grep -F HTTP; do sleep 0.1; done"
    )
    environment = keys("AKIAD", AWS_ENDPOINT_URL_STS=sts.url)
    job = background(job_file([], script, local={"Credentials": "role"}, RoleArn=ROLE), env=environment)
    until(lambda: "renewed" in job.output())
    sts.seconds = 0
    answer = job.finish()
    assert answer["TrainingJobStatus"] == "Completed", answer
    assert "500 Internal Server Error" in job.output()
    (note,) = answer["Local"]["Credentials"]["Notes"]
    assert "could not be renewed" in note
    assert "AccessDenied" in note


def refused(
    job_file: Callable[..., Path],
    smlocal_run: Callable[..., Any],
    error: str,
    env: Mapping[str, str],
    flags: Sequence[str],
    code: int = 3,
) -> str:
    path = job_file([], "true")
    done = smlocal_run("run", path.name, *flags, cwd=path.parent, env=env)
    assert done.returncode == code, done.stderr
    assert f"[{error}]" in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(smlocal_run("jobs", "--json").stdout) == {"TrainingJobSummaries": []}
    return str(done.stderr)


@pytest.mark.slow(1)
def test_what_cannot_be_given_makes_no_job(
    job_file: Callable[..., Path], smlocal_run: Callable[..., Any], docker: Docker, sts: Sts
) -> None:
    nobody = {key: value for key, value in keys("").items() if "KEY" not in key}
    somebody = keys("AKIAE", AWS_ENDPOINT_URL_STS=sts.url)
    role = ("--credentials", "role")
    refused(job_file, smlocal_run, "credentials-missing", nobody, ("--credentials", "inherit"))
    refused(job_file, smlocal_run, "credentials-missing", nobody, (*role, "--role", ROLE))
    said = refused(job_file, smlocal_run, "role-not-assumed", somebody, (*role, "--role", ROLE))
    assert "not authorized to perform: sts:AssumeRole" in said
    refused(job_file, smlocal_run, "request-invalid", somebody, role, code=2)
    until(lambda: nothing_shared(docker))


def test_an_address_that_another_network_has(
    job_file: Callable[..., Path], smlocal_run: Callable[..., Any], own_engine: Any, image: Callable[[str], str]
) -> None:
    own_engine.load(image("sh"))
    own_engine.docker("network", "create", "--subnet", "169.254.170.0/24", "taken")
    environment = {**keys("AKIAF"), "DOCKER_HOST": own_engine.address}
    said = refused(job_file, smlocal_run, "credentials-unreachable", environment, ("--credentials", "inherit"))
    assert "overlaps" in said
    assert not own_engine.docker("volume", "ls", "--quiet")


@pytest.mark.slow(2)
def test_a_container_that_serves_has_them_too(
    life: Any, image: Callable[[str], str], docker: Docker, assert_nothing_left: Callable[[str], None]
) -> None:
    life.environment.update(keys("AKIDOFSERVER"))
    model = {"PrimaryContainer": {"Image": image("serve")}, "Local": {"Credentials": "inherit"}}
    (life.folder / "model.json").write_text(json.dumps(model))
    done = life("deploy", "model.json", "--name", "credentials-served")
    assert done.returncode == 0, done.stderr
    (container,) = docker("ps", "--quiet", "--filter", "label=smlocal.job=credentials-served").split()
    place = '"http://169.254.170.2" + os.environ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"]'
    program = f"import os, urllib.request; print(urllib.request.urlopen({place}, timeout=60).read().decode())"
    found = json.loads(docker("exec", container, "python3", "-c", program))
    assert (found["AccessKeyId"], found["SecretAccessKey"]) == ("AKIDOFSERVER", SECRET)
    assert life("rm", "--stop", "credentials-served").returncode == 0
    assert_nothing_left("credentials-served")
