"""The cost of watching the usage of a job: processor time of the supervisor of four hosts that sleep for a minute."""

import json
import subprocess
import time
from collections.abc import Mapping
from typing import Any

from idle import processor_seconds
from measure import progress
from results import Figure, Size, main
from workplace import BIN, SH, image, workplace

BOUND = 0.02
HOSTS = 4


def measure(size: Size) -> list[Figure]:
    seconds = size.of(60)
    tag = image(SH)
    with workplace() as place:
        name = place.new_name()
        place.run(tag, "--detach", "--instance-count", str(HOSTS), "--env", f"SCRIPT=sleep {seconds + 60}", name=name)
        supervisor = _local(place.environment, name)["SupervisorPid"]
        # Begun early, since it looks most often then; the start of containers is not part of it.
        time.sleep(2)
        progress(f"watching {HOSTS} hosts for {seconds} s")
        before, began = processor_seconds(supervisor), time.monotonic()
        time.sleep(seconds)
        used, passed = processor_seconds(supervisor) - before, time.monotonic() - began
        subprocess.run([BIN / "smlocal", "stop", name, "--grace", "0", "--wait"], env=place.environment, check=False)
        points = sum(host["Points"] for host in _local(place.environment, name)["Usage"]["Hosts"])
    return [
        Figure(
            what=f"processor time of the supervisor of {HOSTS} hosts for {seconds} s ({points} points kept) ÷ the time",
            ours=f"{used:.2f} s",
            theirs=f"{passed:.0f} s",
            figure=f"{100 * used / passed:.2f} %",
            bound=f"{100 * BOUND:g} %",
            met=used / passed <= BOUND,
        )
    ]


def _local(environment: Mapping[str, str], name: str) -> dict[str, Any]:
    described = subprocess.run(
        [BIN / "smlocal", "describe", name, "--json"], env=environment, check=True, capture_output=True
    )
    local: dict[str, Any] = json.loads(described.stdout)["Local"]
    return local


if __name__ == "__main__":
    main(measure)
