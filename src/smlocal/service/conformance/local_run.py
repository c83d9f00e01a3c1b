"""Runs the jobs of the probe's image on this machine, side by side, and stops one of them, as its scenario asks."""

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from smlocal.api.overrides import Overrides
from smlocal.api.recovering import OwnedJobs
from smlocal.api.run import run
from smlocal.api.training_job import TrainingJob
from smlocal.engine.engines import connect
from smlocal.engine.pull import build_image
from smlocal.errors import BuildFailedError, JobFinishedError, SmlocalError
from smlocal.sagemaker.contract.identity import default_name
from smlocal.service.conformance.cases import (
    PREFIX,
    READY,
    ConformanceCase,
    image_tag,
    request,
    write_context,
    write_data,
)

_POLL_SECONDS = 0.1
_LOCAL_ROLE = "arn:aws:iam::000000000000:role/smlocal-conformance"

Said = Callable[[str], None]


def see_to_image(base: str, *, tag: str | None = None, always: bool = False, quiet: bool = True) -> str:
    """Build the image on this base, if the engine does not have it; returns its name."""
    engine = connect()
    name = tag or image_tag(base)
    if always or engine.image(name) is None:
        with tempfile.TemporaryDirectory(prefix="smlocal-conformance-") as folder:
            write_context(folder, base=base)
            try:
                build_image(engine, folder, name, quiet=quiet)
            except BuildFailedError as error:
                raise BuildFailedError(
                    f"the image of smlocal conformance could not be built from {base}",
                    details=[error.sentence, *error.details],
                    remedy=[
                        *error.remedy,
                        "Without a registry: --base names an image that is here, with Python 3.7 or newer.",
                    ],
                ) from error
    return name


def run_cases(
    cases: Iterable[ConformanceCase],
    image: str,
    *,
    output: str,
    folder: str,
    grace: int,
    overrides: Overrides,
    said: Said,
) -> list[str]:
    """Run the cases; returns the names of their jobs. `folder` gets the data of the channels, and must be empty."""
    write_data(f"{folder}/data")
    with OwnedJobs() as owned:
        return _run_owned(
            cases, image, output=output, folder=folder, grace=grace, overrides=overrides, said=said, owned=owned
        )


def _run_owned(
    cases: Iterable[ConformanceCase],
    image: str,
    *,
    output: str,
    folder: str,
    grace: int,
    overrides: Overrides,
    said: Said,
    owned: OwnedJobs,
) -> list[str]:
    started: dict[ConformanceCase, str] = {}
    try:
        for case in cases:
            name = default_name(f"conformance-{case}", datetime.now(UTC))
            owned.add(name)
            run(_request(case, name, image, folder=folder, output=output, grace=grace), detach=True, **overrides)
            started[case] = name
            said(f"{case}: the job {name} runs")
        _see_through(started, said)
    except BaseException:
        for name in started.values():
            with suppress(SmlocalError):
                TrainingJob(name).stop(grace=0)
        for name in started.values():
            with suppress(SmlocalError):
                TrainingJob(name).wait(timeout=60)
        raise
    return [*started.values()]


def _request(case: ConformanceCase, name: str, image: str, *, folder: str, output: str, grace: int) -> dict[str, Any]:
    asked = request(case, name=name, image=image, role=_LOCAL_ROLE)
    asked["Local"] = {
        "Output": output,
        "StopGraceSeconds": grace,
        "PeerGraceSeconds": grace,
        "Pull": "missing",
    }
    if case is ConformanceCase.EVERYTHING:
        places = {f"{PREFIX}/data": f"{folder}/data", asked["CheckpointConfig"]["S3Uri"]: f"{folder}/checkpoints"}
        os.makedirs(f"{folder}/checkpoints")
        asked["Local"]["Sources"] = places
    return asked


def _see_through(started: Mapping[ConformanceCase, str], said: Said) -> None:
    jobs = {case: TrainingJob(name) for case, name in started.items()}
    stopped = False
    while jobs:  # each has its MaxRuntimeInSeconds
        for case, job in [*jobs.items()]:
            if case is ConformanceCase.STOPPED and not stopped and _is_ready(job):
                stopped = True
                with suppress(JobFinishedError):
                    job.stop()
                    said(f"{case}: SIGTERM was sent; waiting for it to end")
            if job.status.terminal:
                said(f"{case}: {job.status}")
                del jobs[case]
        time.sleep(_POLL_SECONDS)


def _is_ready(job: TrainingJob) -> bool:
    for path in job.log_files.values():
        with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            if READY in file.read():
                return True
    return False
