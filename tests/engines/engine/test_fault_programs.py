"""The traces of programs that end badly, as smlocal sees them: the table from which errors get their class."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
from tests.kit.fault_programs import FAULTS, KILLED_FROM_OUTSIDE, Fault
from tests.kit.fixtures import IMAGES, build_image

from smlocal.ai_platform.lifecycle.states import ErrorClass, error_class
from smlocal.engine.docker import DockerEngine
from smlocal.engine.interface import JOB_LABEL

MEMORY = ("--memory", "64m", "--memory-swap", "64m")


@pytest.mark.slow(2)
def test_exit_codes_and_classes_with_and_without_an_init(engine: DockerEngine, job: str) -> None:
    image = build_image(IMAGES / "py")

    def create(program: str, *options: str) -> str:
        words = (*options, *MEMORY, "--label", f"{JOB_LABEL}={job}", "--entrypoint", "python3", image, "-c", program)
        made = subprocess.run(["docker", "create", *words], check=True, capture_output=True, text=True)
        return made.stdout.strip()

    def end_of(container: str) -> tuple[int, bool]:
        code = engine.wait(container)
        return code, code != 0 and engine.state(container).oom_killed

    def of_fault(case: tuple[Fault, bool]) -> tuple[int, bool]:
        container = create(case[0].program, *(["--init"] if case[1] else []))
        engine.start(container)
        return end_of(container)

    def of_killed(options: tuple[str, ...]) -> tuple[int, bool]:
        container = create("import time; time.sleep(600)", *options)
        engine.start(container)
        subprocess.run(["docker", "kill", container], check=True, capture_output=True)  # by somebody else than smlocal
        return end_of(container)

    cases = [*product(FAULTS, (False, True))]
    with ThreadPoolExecutor(6) as pool:
        killed = pool.map(of_killed, [(), ("--init",)])
        found = dict(zip([(fault.name, init) for fault, init in cases], pool.map(of_fault, cases), strict=True))
    expected = {
        (fault.name, init): (fault.exit_code_under_init if init else fault.exit_code, fault.oom_killed)
        for fault, init in cases
    }
    assert found == expected
    assert [*killed] == [(KILLED_FROM_OUTSIDE, False)] * 2
    error = error_class(KILLED_FROM_OUTSIDE, oom_killed=False)
    assert error is ErrorClass.REPLICA_FAILURE
