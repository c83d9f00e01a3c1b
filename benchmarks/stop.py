"""How long a stop takes to arrive: `smlocal stop` until the process has its SIGTERM, against a whole `docker stop`."""

import subprocess
import time
from pathlib import Path

from measure import alternate
from results import Figure, Size, comparison, main
from workplace import BIN, SH, Workplace, image, workplace

BOUND = 1.5
# The wait ends the moment the signal comes; a sleep in the foreground would hold it back.
SCRIPT = "trap ': >/opt/ml/model/seen; exit 0' TERM; : >/opt/ml/model/ready; sleep 600 & wait"


def measure(size: Size) -> list[Figure]:
    tag = image(SH)
    with workplace() as place:
        ours, theirs = alternate(
            lambda: _smlocal(place, tag), lambda: _docker(place, tag), rounds=size.rounds, name="stop"
        )
    return [comparison("`smlocal stop` → SIGTERM seen ÷ whole `docker stop`", ours, theirs, BOUND)]


def _smlocal(place: Workplace, tag: str) -> float:
    name = place.new_name()
    place.run(tag, "--detach", "--env", f"SCRIPT={SCRIPT}", name=name)
    model = place.folder / "home" / "jobs" / name / "hosts" / "algo-1" / "model"
    _appears(model / "ready")
    began = time.time()
    with subprocess.Popen([BIN / "smlocal", "stop", name], env=place.environment, stderr=subprocess.DEVNULL):
        seen = _appears(model / "seen")
    subprocess.run([BIN / "smlocal", "wait", name], env=place.environment, check=False)
    return seen - began


def _docker(place: Workplace, tag: str) -> float:
    model = place.folder / "by-hand"
    model.mkdir(exist_ok=True)
    for old in model.iterdir():
        old.unlink()
    name = place.new_name()
    volume = f"{model}:/opt/ml/model"
    subprocess.run(
        ["docker", "run", "-d", "--rm", "--name", name, "-v", volume, "-e", f"SCRIPT={SCRIPT}", tag, "train"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    _appears(model / "ready")
    began = time.perf_counter()
    subprocess.run(["docker", "stop", name], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def _appears(path: Path) -> float:
    """When the file was made; it is gone soon after."""
    for _ in range(60_000):
        try:
            return path.stat().st_mtime
        except FileNotFoundError:
            time.sleep(0.001)
    raise TimeoutError(path)


if __name__ == "__main__":
    main(measure)
