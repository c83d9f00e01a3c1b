from typing import Any

import pytest

from smlocal.jobs.decide.hints import HostExit, exit_hint, is_full


def hints(log_tail: str = "", exit_code: int = 1, **known: Any) -> list[str]:
    hint = exit_hint(
        HostExit(exit_code=exit_code, log_tail=log_tail, root="/opt/ml", data="/opt/ml/input/data", **known)
    )
    return [] if hint is None else [hint]


# As PyTorch 2, its data loader, NCCL, glibc and the shells say it.
SHARED = (
    "RuntimeError: unable to allocate shared memory(shm) for file </torch_7_1>: Resource temporarily unavailable (11)",
    "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
    "DataLoader worker (pid 8) is killed by signal: Bus error. Please try to raise your shared memory limit.",
    "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-hOzQ7o (size 9637888)",
    "OSError: [Errno 28] No space left on device: '/dev/shm/x'",
)
BUS = ("Bus error (core dumped)", "bash: line 2:     7 Bus error               python3 train.py")
FULL = (
    "OSError: [Errno 28] No space left on device: '/opt/ml/model/x'",
    "dd: error writing 'x': No space left on device",
    "cp: error writing 'x': Disk quota exceeded",
)
LINE_ENDS = (
    "/usr/bin/env: 'python3\\r': No such file or directory\n/usr/bin/env: use -[v]S to pass options in shebang lines",
    "env: can't execute 'python3\r': No such file or directory",
    "bash: ./train.sh: /bin/bash^M: bad interpreter: No such file or directory",
    "/tmp/x: line 1: $'true\\r': command not found",
    "/tmp/x: 1: true\r: not found",
    "bash: line 1: /t/crlf/train: cannot execute: required file not found",
)


@pytest.mark.parametrize("log", SHARED)
def test_shared_memory_that_ran_out(log: str) -> None:
    (hint,) = hints(f"before\n{log}\nafter\n")
    assert hint.startswith("Shared memory ran out")
    assert "usually 64 MiB" in hint
    assert "Shared memory (/dev/shm) has 2.0 GiB" in hints(log, shared_memory=2 << 30)[0]


@pytest.mark.parametrize(("log", "code"), [*((log, 1) for log in BUS), ("", 135)])
def test_a_bus_error(log: str, code: int) -> None:
    (hint,) = hints(log, code)
    assert hint.startswith("A bus error")
    assert "Local.ShmSize" in hint


@pytest.mark.parametrize("log", FULL)
def test_a_full_disk(log: str) -> None:
    assert is_full(log)
    (hint,) = hints(log, volume=1 << 30, free=0)
    assert "0 B of 1.0 GiB (the volume, less the channels) were free at the end" in hint
    assert "were free" not in hints(log)[0]


@pytest.mark.parametrize("log", LINE_ENDS)
def test_windows_line_ends(log: str) -> None:
    (hint,) = hints(log, 127)
    assert "CRLF" in hint


def test_a_missing_interpreter() -> None:
    (hint,) = hints("exec /usr/bin/train: no such file or directory\n")
    assert "CRLF" in hint
    (hint,) = hints("exec /usr/bin/train: no such file or directory\n", mounted=("/opt/ml/model", "/lib"))
    assert hint.startswith("A folder of the job is mounted at /lib")
    assert hints("the exec /usr/bin/train: no such file or directory\n") == []


def test_a_program_that_may_not_be_executed() -> None:
    (hint,) = hints("sh: 1: /opt/run: Permission denied\n", 126)
    assert "chmod +x" in hint
    assert hints("sh: 1: /opt/run: Permission denied\n", 1) == []


@pytest.mark.parametrize(
    "log",
    [
        "sh: can't create /opt/ml/model/x: Permission denied",
        "PermissionError: [Errno 13] Permission denied: '/opt/ml/model/x'",
        "mkdir: cannot create directory '/opt/ml/model/x': Permission denied",
    ],
)
@pytest.mark.parametrize("user", ["nobody", "1000:1000"])
def test_a_user_without_the_right_to_write(log: str, user: str) -> None:
    (hint,) = hints(log, user=user)
    assert f"USER {user.partition(':')[0]}, who has no access to /opt/ml/model/x" in hint
    for root in ("", "0", "root", "0:0", "root:users"):
        assert hints(log, user=root) == []
    assert hints("open /etc/shadow: Permission denied\nreading /opt/ml/input", user=user) == []


def test_a_user_without_the_right_to_read_a_channel() -> None:
    (hint,) = hints("PermissionError: [Errno 13] Permission denied: '/opt/ml/input/data/train/x'", user="nobody")
    assert "--staging copy" in hint


def test_sigkill_from_outside() -> None:
    (hint,) = hints(exit_code=137)
    assert "docker kill" in hint
    assert hints(exit_code=137, oom_killed=True) == []
    (hint,) = hints(exit_code=137, oom_killed=True, memory=1 << 27)
    assert "128 MiB by Local.Memory" in hint
    assert hints(exit_code=137, signalled=True) == []


def test_a_child_without_memory() -> None:
    (hint,) = hints(exit_code=1, oom_killed=True)
    assert "PID 1 then exited 1" in hint
    assert "Local.Memory" not in hint
    (hint,) = hints(exit_code=1, oom_killed=True, memory=1 << 27)
    assert "PID 1 then exited 1. Memory was limited to 128 MiB" in hint


def test_a_process_that_ignored_sigterm_is_named() -> None:
    known: dict[str, Any] = {"signalled": True, "killed": True, "first_process": "python train.py", "grace": 120.0}
    (hint,) = hints(exit_code=137, **known)
    assert "python train.py" in hint
    assert "120 s" in hint
    (hint,) = hints(exit_code=137, killed_early=True, **known)
    assert "before the grace period ended" in hint


def test_code_that_asks_aws_is_told_of_credentials() -> None:
    log = "botocore.exceptions.NoCredentialsError: Unable to locate credentials\n"
    (hint,) = hints(log)
    assert "--credentials" in hint
    assert hints(log, credentials=True) == []


@pytest.mark.parametrize("code", [1, 2, 126, 127, 134, 139, 143, 255])
def test_what_is_not_known_is_not_explained(code: int) -> None:
    log = "Traceback (most recent call last):\nValueError: loss is nan\nplease share memory of the bus\n" * 20
    assert hints(log, code, user="nobody", mounted=("/opt/ml/model", "/tmp/checkpoints")) == []


def test_the_platform_knows_more_than_a_message_and_less_than_how_the_program_ended() -> None:
    end = HostExit(exit_code=1, log_tail="exec /usr/bin/train: no such file or directory\n")
    assert exit_hint(end, lambda: "it is there") == "it is there"
    assert exit_hint(end, lambda: None) == hints(end.log_tail)[0]
    killed = HostExit(exit_code=137, signalled=True, killed=True)
    assert (exit_hint(killed) or "").endswith(
        "and was killed. Does it handle SIGTERM? PID 1 does not get signals without a handler."
    )
    assert (exit_hint(killed, lambda: "The shell has it.") or "").endswith("and was killed. The shell has it.")
    early = HostExit(exit_code=137, signalled=True, killed=True, killed_early=True)
    assert (exit_hint(early, lambda: "The shell has it.") or "").endswith("before the grace period ended.")
    outside = HostExit(exit_code=137)
    assert exit_hint(outside, lambda: "it is there") == exit_hint(outside)
