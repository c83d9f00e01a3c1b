"""How fast a container's request for credentials is answered, against an HTTP request on its own loopback address.

Both are made by one client in the container of a job, by turns and in the same run; beside it a process answers with a
document of the same size, by Python's own HTTP server. Requests are timed in tens, so that a median is worth something.
"""

import json
import shutil
from pathlib import Path

from measure import Samples, progress
from results import Figure, Size, comparison, main
from workplace import PROGRAMS, PY, Workplace, image, workplace

BOUND = 10
AT_ONCE = 10
"""Requests that are timed together."""
KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIABENCHMARK",
    "AWS_SECRET_ACCESS_KEY": "benchmark",
    "AWS_REGION": "us-east-1",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
}


def measure(size: Size) -> list[Figure]:
    rounds = size.rounds * size.of(20)
    tag = image(PY)
    with workplace() as place:
        progress(f"{rounds} rounds of {AT_ONCE} requests")
        place.environment = {**place.environment, **KEYS}
        ours, theirs = _run(place, tag, rounds)
    return [
        comparison(
            f"{AT_ONCE} requests for credentials in a container ÷ to its own loopback address", ours, theirs, BOUND
        )
    ]


def _run(place: Workplace, tag: str, rounds: int) -> tuple[Samples, Samples]:
    code = place.folder / "code"
    code.mkdir()
    shutil.copy(PROGRAMS / "ask_for_credentials.py", code / "client.py")
    script = f"import sys; sys.argv = ['', {rounds}, {AT_ONCE}]; exec(open('/opt/ml/code/client.py').read())"
    name = place.new_name()
    place.run(tag, "--credentials", "inherit", "--code", str(code), "--env", f"SCRIPT={script}", name=name)
    return _read(place.output / name / "output" / "output.tar.gz")


def _read(archive: Path) -> tuple[Samples, Samples]:
    import tarfile

    with tarfile.open(archive) as tar:
        file = tar.extractfile("took.json")
        assert file is not None
        ours, theirs = json.load(file)
    return Samples(values=tuple(ours)), Samples(values=tuple(theirs))


if __name__ == "__main__":
    main(measure)
