"""What it costs to watch what a job uses: processor time of the supervisor of a job on four hosts that sleeps a minute."""

import json
import subprocess
import time

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
        place.run(tag, "--detach", "--instance-count", str(HOSTS), "--env", f"SCRIPT=sleep {seconds + 30}", name=name)
        supervisor = int(_described(place.environment, name)["SupervisorPid"])
        # From the start, since it looks most often then; what the containers' start costs is no part of it.
        time.sleep(1)
        progress(f"watching {HOSTS} hosts for {seconds} s")
        before, at = processor_seconds(supervisor), time.monotonic()
        time.sleep(seconds)
        used, passed = processor_seconds(supervisor) - before, time.monotonic() - at
        subprocess.run([BIN / "smlocal", "stop", name, "--grace", "0", "--wait"], env=place.environment, check=False)
        looked = sum(host["Points"] for host in _described(place.environment, name)["Usage"]["Hosts"])
    return [
        Figure(
            what=f"usage of {HOSTS} hosts for {seconds} s: processor time of the supervisor ÷ time ({looked} points)",
            ours=f"{used:.2f} s",
            theirs=f"{passed:.0f} s",
            figure=f"{used / passed:.1%}",
            bound=f"{BOUND:.0%}",
            met=used / passed <= BOUND,
        )
    ]
