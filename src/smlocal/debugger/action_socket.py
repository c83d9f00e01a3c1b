"""The endpoint for the actions of a job's rules: a socket in a folder that their containers see.

A rule has no network. The library's own actions call AWS by boto3; the evaluator passes these calls on to the socket.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.unix_sockets import listen_at
from smlocal.jobs.planning.aspects.rules.plan import RulePlan
from smlocal.jobs.planning.model import JobPlan

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


def client_environment(number: int, region: str) -> dict[str, str]:
    """Settings that make clients of AWS in the container of a rule call the endpoint."""
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{_PORT}",
        "AWS_ACCESS_KEY_ID": _access_key(number),
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
    }


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
