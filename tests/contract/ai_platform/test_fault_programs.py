"""Programs that end badly as replicas of jobs, as PID 1 and below a shell: their class, and what becomes of the job."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from tests.kit.fault_programs import FAULTS, Fault

from smlocal.ai_platform.lifecycle.states import ErrorClass

AT_ONCE = 4
ONCE = """import os
if os.path.exists('/gcs/b/{name}'): raise SystemExit
open('/gcs/b/{name}', 'w').close()
{program}"""
"""It ends well the second time, so that a job is over after one restart or one retry."""
FOLLOWS = {
    None: "succeed",
    ErrorClass.USER_EXCEPTION: "fail",
    ErrorClass.OUT_OF_MEMORY: "fail",
    ErrorClass.TRANSIENT: "retry-job",
    ErrorClass.REPLICA_FAILURE: "restart-replica",
}


@pytest.mark.slow(4)
def test_classes_with_and_without_a_shell(
    replicas: Any, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    own = replace(replicas, image=image("py"))

    def run(case: tuple[Fault, bool]) -> tuple[Any, ...]:
        fault, shell = case
        name = job_name(fault, shell=shell)
        program = ONCE.format(name=name, program=fault.program)
        file = own.training_job(name, "", **({"Memory": "64m"} if fault.oom_killed else {}))
        request = json.loads(file.read_text())
        words = ["python3", "-c", program]
        # The shell must not become the program, as it would without a command after it.
        command = ["sh", "-c", '"$@"; exit $?', "sh", *words] if shell else words
        request["trainingInput"]["masterConfig"]["containerCommand"] = command
        file.write_text(json.dumps(request))
        own("run", file)
        assert_nothing_left(name)
        first, *later = own.entries(name)[1:]
        decided = [each["Decision"] for each in (first, *later) if each["Decision"] != "nothing"]
        return first["ExitCode"], first["OomKilled"], first.get("Error"), decided, own.job(name).failure_reason

    def expected(case: tuple[Fault, bool]) -> tuple[Any, ...]:
        fault, shell = case
        code = fault.exit_code_under_init if shell else fault.exit_code
        error = fault.error_under_init if shell else fault.error
        decided = [FOLLOWS[error]]
        message = None
        if error is ErrorClass.OUT_OF_MEMORY:
            message = f"The replica master 0 ran out of memory and exited with a non-zero status of {code}."
        elif error is ErrorClass.USER_EXCEPTION:
            message = f"The replica master 0 exited with a non-zero status of {code}. Termination reason: Error."
        elif error is not None:
            decided.append("succeed")
        return code, fault.oom_killed, error, decided, message

    cases = [*product(FAULTS, (False, True))]
    names = [job_name(fault, shell=shell) for fault, shell in cases]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = dict(zip(names, pool.map(run, cases), strict=True))
    assert found == dict(zip(names, map(expected, cases), strict=True))


def job_name(fault: Fault, *, shell: bool) -> str:
    return f"aip_fault_{fault.name.replace('-', '_')}_{'shell' if shell else 'first'}"
