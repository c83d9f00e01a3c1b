"""The container that evaluates one rule: its mounts, rights and report, and the socket for the actions of rules."""

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from hashlib import sha256
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.unix_sockets import listen_at
from smlocal.debugger.evaluator import evaluator_tag
from smlocal.engine.interface import JOB_LABEL, RULE_LABEL, RUN_LABEL, ContainerSpec, Mount
from smlocal.engine.place import is_in_home
from smlocal.jobs.planning.aspects.rules.plan import RulePlan
from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.contract.outcome.reasons import RuleStatus
from smlocal.terms.limits import Limits

# A rule has no network. The library's own actions call AWS by boto3; the evaluator passes these calls on to the socket.

FOLDER_IN_CONTAINER = "/smlocal-endpoint"
SOCKET_IN_CONTAINER = f"{FOLDER_IN_CONTAINER}/aws.sock"
_PORT = 4597
"""In the container, on its loopback device."""
_BACKLOG = 128
_END_SECONDS = 5.0


def acts(rule: RulePlan) -> bool:
    """True if the rule asks for actions."""
    stops_stalled = rule.parameters.get("stop_training_on_fire", "").strip().lower() == "true"
    return stops_stalled or bool(rule.parameters.get("action_json", "").strip())


def socket_folder(plan: JobPlan) -> str:
    """The folder with the socket."""
    return f"{plan.job_directory}/rules/endpoint"


def client_environment(number: int, region: str, *, port: int = _PORT) -> dict[str, str]:
    """Settings that make clients of AWS in the container of a rule call the endpoint."""
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": _access_key(number),
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
    }


def _free_port() -> int:
    """Where rules share the ports of smlocal, each has another one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _access_key(number: int) -> str:
    """It tells the endpoint which rule has signed. It is not a secret: the endpoint serves only this job's rules."""
    return f"smlocal-rule-{number}"


@dataclass(kw_only=True, slots=True)
class ActionSocket:
    """A process that answers at the socket until it is closed, or this process ends."""

    home: str
    job: str
    folder: str
    """For the socket."""
    rules: Sequence[str]
    """The names of all rules of the job."""
    _process: "subprocess.Popen[bytes] | None" = field(default=None)

    def open(self) -> None:
        """Listen. `OSError` if that is not possible."""
        with _listen(self.folder) as listener:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "smlocal.endpoint.rules.endpoint_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[listener.fileno()],
                start_new_session=True,  # Ctrl-C is for smlocal
            )
            names = {_access_key(number): name for number, name in enumerate(self.rules)}
            self._tell({"Home": self.home, "Job": self.job, "Rules": names, "Socket": listener.fileno()})

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(_END_SECONDS)

    def _tell(self, task: Mapping[str, object]) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.write(f"{json.dumps(task)}\n".encode())
                self._process.stdin.flush()


def _listen(folder: str) -> socket.socket:
    """The socket, which only this user and the containers reach: no other user may enter the folder of the job."""
    os.makedirs(folder, exist_ok=True)
    # The user of the container is another one.
    return listen_at(f"{folder}/{os.path.basename(SOCKET_IN_CONTAINER)}", mode=0o666, backlog=_BACKLOG)


MEMORY = 2 << 30
"""Bytes."""
_PROCESSES = 256
_CONFIGURATION = "/smlocal"
_PACKAGE = "/smlocal-rules"
_TENSORS = "/smlocal-tensors"
_TRIALS = "/smlocal-trials"
_SOURCE = "/smlocal-source"
_NOBODY = "65534:65534"
_PACKAGE_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "evaluator_package")


def result_folder(plan: JobPlan, number: int) -> str:
    """The folder that the rule writes as its LocalPath."""
    return f"{plan.job_directory}/rules/{number}/result"


def rule_container(plan: JobPlan, number: int, rule: RulePlan, tensors: str) -> ContainerSpec:
    """Prepare the folders of a rule; returns its container. All that it names is on this machine.

    `tensors`: the local folder with the tensors of the job.
    """
    configuration = f"{plan.job_directory}/rules/{number}/configuration"
    os.makedirs(configuration, exist_ok=True)
    result = result_folder(plan, number)
    os.makedirs(result, exist_ok=True)
    os.chmod(result, 0o777)  # noqa: S103 - the user of the container is another one
    with open(f"{configuration}/rule.json", "w", encoding="utf-8") as file:
        json.dump(_document(plan, rule), file)
    mounts = [
        Mount(source=configuration, target=_CONFIGURATION, read_only=True),
        Mount(source=os.path.realpath(tensors), target=_TENSORS, read_only=True),
        Mount(source=result, target=rule.local_path),
        *(
            Mount(source=_mountable(plan, number, folder), target=f"{_TRIALS}/{index}", read_only=True)
            for index, folder in enumerate(rule.trials)
        ),
    ]
    if rule.source is not None:
        source = _mountable(plan, number, rule.source)
        mounts.append(Mount(source=source, target=_source_in_container(rule.source), read_only=True))
    if acts(rule):
        mounts.append(Mount(source=socket_folder(plan), target=FOLDER_IN_CONTAINER, read_only=True))
    ours, place = rule.image is None, plan.engines.first.place
    port = _PORT if place is None else _free_port()
    if ours:
        mounts.append(Mount(source=_package(plan, number), target=_PACKAGE, read_only=True))
    return ContainerSpec(
        name=f"smlocal-{plan.name}-{plan.run_id}-rule-{number}",
        image=rule.image or evaluator_tag(),
        labels={JOB_LABEL: plan.name, RUN_LABEL: plan.run_id, RULE_LABEL: str(number)},
        entrypoint=("python3", "-m", "smlocal_rules", f"{_CONFIGURATION}/rule.json") if ours else None,
        command=() if ours else None,
        environment={
            "SMLOCAL_RULE": f"{_CONFIGURATION}/rule.json",
            **({"PYTHONPATH": _PACKAGE, "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/tmp"} if ours else {}),  # noqa: S108 - the only folder that this user may write to
            "SMDEBUG_TRAINING_END_DELAY_REFRESH": "0",  # the end marker comes after the last tensor
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            **(client_environment(number, plan.identity.region, port=port) if acts(rule) else {}),
        },
        hostname="",
        user=_user(plan),
        mounts=tuple(mounts),
        network="none" if place is None else place.network,
        limits=Limits(memory=MEMORY, cpus=1.0, processes=_PROCESSES),
        behind_others=place is None,
    )


def _mountable(plan: JobPlan, number: int, path: str) -> str:
    """The path, or that of a copy in the job's folder, in a place that may not mount folders outside of the home."""
    if plan.engines.first.place is None or is_in_home(path):
        return path
    copy = f"{plan.job_directory}/rules/{number}/copies/{sha256(path.encode()).hexdigest()[:16]}"
    os.makedirs(copy, exist_ok=True)
    copy = f"{copy}/{os.path.basename(path)}"
    if os.path.isdir(path):
        shutil.copytree(path, copy, dirs_exist_ok=True)
    else:
        shutil.copyfile(path, copy)
    return copy


def _package(plan: JobPlan, number: int) -> str:
    """The folder of the evaluator; a copy in that of the job, if the engine may not see where smlocal is installed."""
    if plan.engines.first.same_mounts:
        return _mountable(plan, number, _PACKAGE_HERE)
    folder = f"{plan.job_directory}/rules/{number}/package"
    shutil.copytree(_PACKAGE_HERE, folder, dirs_exist_ok=True)
    return folder


def _user(plan: JobPlan) -> str:
    if plan.engines.first.rootless:
        return "0:0"  # who is this machine's user, without privileges; any other could not be read by this user
    return _NOBODY if os.geteuid() == 0 else f"{os.geteuid()}:{os.getegid()}"


def _document(plan: JobPlan, rule: RulePlan) -> dict[str, object]:
    return {
        "RuleConfigurationName": rule.name,
        "RuleParameters": dict(rule.parameters),
        "TensorsPath": _TENSORS,
        "OtherTrials": [f"{_TRIALS}/{index}" for index in range(len(rule.trials))],
        "SourcePath": None if rule.source is None else _source_in_container(rule.source),
        "ResultPath": rule.local_path,
        "JobName": plan.name,
        "EndpointSocket": SOCKET_IN_CONTAINER if acts(rule) else None,
    }


def _source_in_container(source: str) -> str:
    return f"{_SOURCE}/{os.path.basename(source)}"


_STATUS_FILE = "status.json"
_MOST_STATUS_BYTES = 1 << 16
_SAID = {RuleStatus.IN_PROGRESS, RuleStatus.NO_ISSUES_FOUND, RuleStatus.ISSUES_FOUND, RuleStatus.ERROR}


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """How the evaluation of a rule stands, as its container says."""

    status: RuleStatus
    details: str = ""
    step: int | None = None
    reason: str = ""
    """The finding of a built-in rule of smlocal, in a sentence."""


def read_result(folder: str) -> Evaluation | None:
    """The status document in a folder; None if there is none, or it is not one.

    The container may be a user's program, so nothing of it is trusted.
    """
    try:
        descriptor = os.open(f"{folder}/{_STATUS_FILE}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        document = json.loads(os.read(descriptor, _MOST_STATUS_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    finally:
        os.close(descriptor)
    return _result(document) if isinstance(document, Mapping) else None


def sign_of_progress(folder: str) -> tuple[int, ...]:
    """Something that changes each time the container writes its status; empty before it does."""
    try:
        found = os.lstat(f"{folder}/{_STATUS_FILE}")
    except OSError:
        return ()
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def _result(document: Mapping[str, Any]) -> Evaluation | None:
    status, step = document.get("Status"), document.get("Step")
    if not isinstance(status, str) or status not in _SAID:
        return None
    return Evaluation(
        status=RuleStatus(status),
        details=str(document.get("StatusDetails") or ""),
        step=step if isinstance(step, int) and not isinstance(step, bool) else None,
        reason=str(document.get("Reason") or ""),
    )
