"""`smlocal jobs` with ten thousand finished jobs in the store against ten."""

import time
from pathlib import Path

from measure import alternate, execute, progress
from results import Figure, Size, comparison, main
from workplace import BIN, workplace

from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import COMPLETED

BOUND = 1.2


def measure(size: Size) -> list[Figure]:
    many, few = size.of(10_000), 10
    with workplace() as place:
        homes = {count: home_with_jobs(place.folder / f"home-{count}", count) for count in (many, few)}

        def listed(count: int) -> float:
            environment = {**place.environment, "SMLOCAL_HOME": str(homes[count])}
            return execute([BIN / "smlocal", "jobs"], environment=environment).seconds

        ours, theirs = alternate(lambda: listed(many), lambda: listed(few), rounds=size.rounds * 2, name="jobs")
    return [comparison(f"`smlocal jobs` with {many} jobs ÷ with {few}", ours, theirs, BOUND)]


def home_with_jobs(folder: Path, count: int) -> Path:
    progress(f"making a store of {count} jobs")
    with Store.open(str(folder)) as store:
        for number in range(count):
            name = f"job-{number}"
            store.create(
                name, run_id="0", created=time.time(), documents={"request": {"n": "x" * 500}}, supervisor_pid=None
            ).release()
            store.transition(
                name,
                status=COMPLETED.status,
                phase=COMPLETED.phase,
                message=COMPLETED.message,
                at=time.time(),
            )
    return folder


if __name__ == "__main__":
    main(measure)
