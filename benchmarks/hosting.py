"""An endpoint until its first ping, against `docker run` and a loop of curl; and what it costs while idle."""

import subprocess
import time
from dataclasses import replace
from datetime import datetime

from hosting_place import container_of, deployed, smlocal
from idle import processor_seconds
from measure import Samples, alternate, execute, progress
from results import Figure, Size, comparison, main
from workplace import PROGRAMS, ROOT, Workplace, image, workplace

DEPLOY_BOUND = 1.3
IDLE_BOUND = 0.3
UP_AT_ONCE = ROOT / "benchmarks" / "images" / "up-at-once"


def measure_deploy(size: Size) -> list[Figure]:
    tag = image(UP_AT_ONCE)
    with workplace() as place:
        whole: list[float] = []
        ours, theirs = alternate(
            lambda: _deploy(place, tag, whole), lambda: _by_hand(place, tag), rounds=size.rounds, name="deploy"
        )
    ended = Samples(values=tuple(whole[1:]))
    return [
        comparison(
            "`smlocal deploy` until the first ping is answered ÷ `docker run` and curl", ours, theirs, DEPLOY_BOUND
        ),
        replace(comparison("the whole command ÷ the same", ended, theirs, 0), bound="reported", met=True),
    ]


def measure_idle(size: Size) -> list[Figure]:
    wait = size.of(60)
    with workplace() as place, deployed(place) as one:
        time.sleep(2)
        progress(f"watching for {wait} s")
        before = processor_seconds(one.supervisor)
        time.sleep(wait)
        used = processor_seconds(one.supervisor) - before
    return [
        Figure(
            what=f"processor time of the supervisor of an endpoint that is not invoked for {wait} s",
            ours=f"{used:.2f} s",
            theirs="",
            figure=f"{used:.2f} s",
            bound=f"{IDLE_BOUND:g} s",
            met=used <= IDLE_BOUND,
        )
    ]


def _model(place: Workplace) -> str:
    model = place.folder / "model"
    model.mkdir(exist_ok=True)
    return str(model)


def _deploy(place: Workplace, tag: str, whole: list[float]) -> float:
    """Seconds until the first ping is answered, by the engine's clock, which is this machine's."""
    name = place.new_name()
    command = ["deploy", _model(place), "--image", tag, "--name", name, "--quiet"]
    began = time.time()
    smlocal(place, *command)
    whole.append(time.time() - began)
    answered = _answered(container_of(name))
    smlocal(place, "rm", "--stop", name)
    return answered - began


def _by_hand(place: Workplace, tag: str) -> float:
    name = place.new_name()
    began = time.time()
    try:
        execute([PROGRAMS / "until_first_ping.sh", name, tag, _model(place)])
        return _answered(name) - began
    finally:
        subprocess.run(["docker", "rm", "--force", name], check=True, capture_output=True)


def _answered(container: str) -> float:
    """When the server has written its first line, which is about the first answer."""
    while True:
        done = subprocess.run(["docker", "logs", "--timestamps", container], check=True, capture_output=True, text=True)
        lines = (done.stdout + done.stderr).splitlines()
        if lines:
            when, _, rest = lines[0].partition("Z ")
            assert "200" in rest, lines
            whole, _, fraction = when.partition(".")
            return datetime.fromisoformat(f"{whole}+00:00").timestamp() + float(f"0.{fraction}")


if __name__ == "__main__":
    main(measure_deploy, measure_idle)
