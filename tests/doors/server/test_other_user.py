"""Another user of the machine, who reaches its loopback as its owner does."""

import json
import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import ClientError
from tests.kit.boto_sessions import boto_session

from smlocal.base.accounts import other_users

PROGRAM = """
import json, os, sys
print(json.dumps(dict(os.environ)), flush=True)
for line in sys.stdin:
    exec(line)
    print(flush=True)
"""
MADE_UP = "AWS4-HMAC-SHA256 Credential=made-up/20260101/us-east-1/{}/aws4_request, SignedHeaders=host, Signature=0"
CALLS = [
    f"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n{signed}X-Amz-Target: SageMaker.ListTrainingJobs\r\n"
    "Content-Length: 2\r\nConnection: close\r\n\r\n{}"
    for signed in ("", f"Authorization: {MADE_UP.format('sagemaker')}\r\n")
]
OBJECTS = f"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {MADE_UP.format('s3')}\r\nConnection: close\r\n\r\n"
PAGE = "GET /-/new HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def as_somebody_else(requests: Sequence[tuple[int, str]], files: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """The answers that another user gets, and what it reads in these files."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("other_user.py"))],
        input=json.dumps({"requests": requests, "files": files}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found["answers"], found["files"]


@dataclass(kw_only=True)
class Run:
    """A program of `smlocal exec` that waits to be told what to do."""

    process: "subprocess.Popen[str]"
    environment: dict[str, str]

    def do(self, line: str) -> str:
        """Run a line in the program; returns what it prints."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        printed = []
        while (text := self.process.stdout.readline()) != "\n":
            assert text, "the program has ended"
            printed.append(text)
        return "".join(printed).strip()

    def ports(self) -> list[int]:
        """Those on which the process of `smlocal exec` listens."""
        folder = Path(f"/proc/{self.process.pid}/fd")
        sockets = set()
        for descriptor in folder.iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile, such as a connection that has been answered
                sockets.add(os.readlink(descriptor))
        lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return [
            int(line[1].partition(":")[2], 16) for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets
        ]


@pytest.fixture
def execute(smlocal_home: Path) -> Callable[[], Any]:
    """`with execute() as run:` runs a program by `smlocal exec`."""

    @contextmanager
    def executing(**environment: str) -> Iterator[Run]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SMLOCAL_"))}
        with subprocess.Popen(
            [sys.executable, "-m", "smlocal", "exec", "--", sys.executable, "-c", PROGRAM],
            env={**kept, "SMLOCAL_HOME": str(smlocal_home), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            try:
                yield Run(process=process, environment=json.loads(process.stdout.readline()))
            finally:
                process.stdin.close()
                said = process.stderr.read()
        assert (process.returncode, said) == (0, "")

    return executing


def connect(host: str, login: str = "") -> str:
    header = f"Proxy-Authorization: Basic {b64encode(login.encode()).decode()}\r\n" if login else ""
    return f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n{header}\r\n"


@pytest.mark.slow(2)
def test_the_proxy_of_exec_answers_its_own_program_alone(execute: Callable[..., Any]) -> None:
    with execute() as run:
        # Its own calls have come through, so the server is there.
        run.do("import boto3; boto3.client('sts').get_caller_identity()")
        proxy = urlsplit(run.environment["HTTPS_PROXY"])
        port = proxy.port
        assert port is not None
        login = f"{proxy.username}:{proxy.password}"
        sts = "sts.us-east-1.amazonaws.com"
        answers, files = as_somebody_else(
            [
                (port, connect(sts)),
                (port, connect("127.0.0.1")),
                (port, connect(sts, "smlocal:")),
                (port, connect(sts, f"smlocal:{'x' * 43}")),
                (port, connect(sts, login[:-1])),
                (port, connect(sts, login + "x")),
                (port, connect(sts).replace("\r\n\r\n", "\r\nProxy-Authorization: Bearer x\r\n\r\n")),
                (port, connect(sts).replace("\r\n\r\n", "\r\nProxy-Authorization: Basic \xff\r\n\r\n")),
                (port, connect(sts, login)),
            ],
            [f"/proc/{run.process.pid}/environ", run.environment["AWS_CA_BUNDLE"]],
        )
        assert [each.partition("\r\n")[0] for each in answers] == [
            *["HTTP/1.1 407 Proxy Authentication Required"] * 8,
            "HTTP/1.1 200 Connection Established",  # who knows the password
        ]
        assert 'Proxy-Authenticate: Basic realm="smlocal exec"' in answers[0]
        assert files == ["PermissionError", "PermissionError"]


@pytest.mark.slow(3)
def test_exec_has_no_other_port_and_nothing_is_answered_there_without_the_proxy(execute: Callable[..., Any]) -> None:
    with execute() as run:
        run.do("import boto3; boto3.client('sts').get_caller_identity()")
        (port,) = run.ports()
        assert port == urlsplit(run.environment["HTTPS_PROXY"]).port
        answers, _ = as_somebody_else(
            [(port, each) for each in (*CALLS, OBJECTS, PAGE, "GET http://a/ HTTP/1.1\r\n\r\n")]
        )
        assert {each.partition("\r\n")[0] for each in answers} == {"HTTP/1.1 400 Bad Request"}


@pytest.mark.slow(3)
def test_each_run_has_keys_of_its_own_and_they_are_verified(execute: Callable[..., Any]) -> None:
    with execute() as run, execute() as other:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "AWS_CA_BUNDLE"):
            assert run.environment[name] != other.environment[name]
        run.do("import boto3, os, botocore; from botocore.config import Config")
        run.do("c = lambda s='sts', **k: boto3.client(s, config=Config(signature_version=k.pop('v', None)), **k)")
        run.do("i = os.environ['AWS_ACCESS_KEY_ID']; e = botocore.exceptions.ClientError")
        refused = "\ntry: {}\nexcept e as error: print(error.response['Error']['Code'])"

        def code(call: str) -> str:
            printed: str = run.do(f"exec({refused.format(call)!r})")
            return printed

        guessed = "aws_access_key_id=i, aws_secret_access_key='guessed'"
        assert code(f"c({guessed}).get_caller_identity()") == "SignatureDoesNotMatch"
        assert code(f"c('iam', {guessed}).get_role(RoleName='x')") == "SignatureDoesNotMatch"
        assert code(f"c('s3', {guessed}).list_buckets()") == "SignatureDoesNotMatch"
        assert code(f"c('logs', {guessed}).describe_log_groups()") == "InvalidSignatureException"
        assert code(f"c('sagemaker', {guessed}).list_training_jobs()") == "InvalidSignatureException"
        # Keys of its own configuration, and none: it is the program all the same.
        own = "aws_access_key_id='AKIAOWN', aws_secret_access_key='own'"
        assert code(f"c('sagemaker', {own}).list_training_jobs()") == ""
        assert code("c('s3', v=botocore.UNSIGNED).list_buckets()") == ""


@pytest.mark.slow(2)
def test_dual_stack_addresses_are_answered(execute: Callable[..., Any]) -> None:
    with execute(AWS_USE_DUALSTACK_ENDPOINT="true") as run:
        run.do("import boto3")
        for region, domain in (("eu-west-1", "api.aws"), ("cn-north-1", "api.amazonwebservices.com.cn")):
            for service, call in (("sagemaker", "list_training_jobs"), ("sts", "get_caller_identity")):
                told = run.do(
                    f"c = boto3.client({service!r}, region_name={region!r});"
                    f"print(c.meta.endpoint_url, c.{call}()['ResponseMetadata']['HTTPStatusCode'])"
                )
                assert told.endswith(f".{region}.{domain} 200")


@pytest.mark.slow(1)
def test_an_authority_of_earlier_runs_is_removed(execute: Callable[..., Any], smlocal_home: Path) -> None:
    with execute():
        pass
    assert [path.name for path in smlocal_home.iterdir() if path.suffix == ".pem"] == []


@contextmanager
def served(home: Path, *options: str) -> Iterator[tuple[int, str]]:
    """The port of `smlocal serve`, and what it has said before it was ended."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SMLOCAL_"))}
    with subprocess.Popen(
        [sys.executable, "-m", "smlocal", "serve", "--port", "0", *options],
        env={**kept, "SMLOCAL_HOME": str(home)},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        try:
            said = server.stderr.readline()
            if "to anyone with the key" in said:
                said += server.stderr.readline() + server.stderr.readline()
            found = re.search(r"http://127\.0\.0\.1:(\d+)", said)
            assert found is not None, said
            yield int(found[1]), said
        finally:
            server.terminate()
            server.stderr.read()
    assert server.returncode == 0


@pytest.mark.slow(1)
def test_a_server_that_demands_its_key_is_closed_to_others(smlocal_home: Path) -> None:
    with served(smlocal_home, "--key") as (port, said):
        answers, files = as_somebody_else(
            [(port, each) for each in (*CALLS, OBJECTS, PAGE)], [str(smlocal_home / "endpoint-key.json")]
        )
        assert "MissingAuthenticationTokenException" in answers[0]
        assert [each.split()[1] for each in answers] == ["400", "400", "403", "403"]
        assert files == ["PermissionError"]
        key = re.search(r"AWS_ACCESS_KEY_ID=(\S+) AWS_SECRET_ACCESS_KEY=(\S+)", said)
        assert key is not None
        session = boto_session(aws_access_key_id=key[1], aws_secret_access_key=key[2], region_name="eu-west-1")
        sagemaker = session.client("sagemaker", endpoint_url=f"http://127.0.0.1:{port}")
        assert sagemaker.list_training_jobs()["TrainingJobSummaries"] == []
        other = boto_session(aws_access_key_id=key[1], aws_secret_access_key="x", region_name="eu-west-1")
        with pytest.raises(ClientError, match="InvalidSignatureException"):
            other.client("sagemaker", endpoint_url=f"http://127.0.0.1:{port}").list_training_jobs()


def test_a_server_demands_its_key_if_others_have_an_account(smlocal_home: Path) -> None:
    others = other_users()
    with served(smlocal_home) as (port, said):
        assert ("to anyone with the key" in said) is bool(others)
        assert ("nobody else has an account" in said) is not bool(others)
        (answer,) = as_somebody_else([(port, CALLS[0])])[0]
        assert answer.startswith("HTTP/1.1 400" if others else "HTTP/1.1 200")


@pytest.mark.slow(1)
def test_an_owner_may_open_it_to_everybody(smlocal_home: Path) -> None:
    with served(smlocal_home, "--no-key") as (port, said):
        assert "to every user of this machine, without a key" in said
        (answer,) = as_somebody_else([(port, CALLS[0])])[0]
        assert answer.startswith("HTTP/1.1 200")
