"""The cost of a supervisor while its job prints nothing: processor time over a minute."""

import json
import os
import subprocess
import time
from pathlib import Path

from measure import progress
from results import Figure, Size, main
from workplace import BIN, SH, image, workplace

BOUND = 0.1


def measure(size: Size) -> list[Figure]:
    seconds = size.of(60)
    tag = image(SH)
    with workplace() as place:
        name = place.new_name()
        place.run(tag, "--detach", "--env", "SCRIPT=sleep 600", name=name)
        described = subprocess.run(
            [BIN / "smlocal", "describe", name, "--json"], env=place.environment, check=True, capture_output=True
        )
        supervisor = json.loads(described.stdout)["Local"]["SupervisorPid"]
        time.sleep(2)
        progress(f"watching for {seconds} s")
        before = processor_seconds(supervisor)
        time.sleep(seconds)
        used = processor_seconds(supervisor) - before
        subprocess.run([BIN / "smlocal", "stop", name, "--grace", "0", "--wait"], env=place.environment, check=False)
    return [
        Figure(
            what=f"processor time of the supervisor of a job that prints nothing for {seconds} s",
            ours=f"{used:.2f} s",
            theirs="",
            figure=f"{used:.2f} s",
            bound=f"{BOUND:g} s",
            met=used <= BOUND,
        )
    ]


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main(measure)
