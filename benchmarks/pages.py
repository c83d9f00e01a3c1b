"""50 pages open on a job that prints 10,000 lines a second, against the same job with none: all lines, and its time."""

import json
import subprocess
import sys
import zlib
from pathlib import Path

from endpoint_server import smlocal_server
from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import BIN, SH, Workplace, image, workplace

BOUND = 1.05
PAGES = 50
SECONDS = 20
SCRIPT = (
    "seq 1000 | sed 's/^/INFO step of the training, with nothing in it that anybody would read, number /' >/tmp/lines;"
    " i=0; while [ $i -lt {batches} ]; do cat /tmp/lines; sleep 0.1; i=$((i+1)); done"
)
"""Not at even times: what the machine is busy with makes the job last longer."""


def measure(size: Size) -> list[Figure]:
    tag = image(SH)
    batches = size.of(SECONDS * 10)
    with workplace() as place, smlocal_server(place.environment) as server:
        port = int(server.address.rpartition(":")[2])
        ours, theirs = alternate(
            lambda: _run(place, tag, batches, port=port, pages=PAGES),
            lambda: _run(place, tag, batches, port=port, pages=0),
            rounds=size.rounds,
            name=f"{PAGES} pages",
        )
    return [
        comparison(
            f"a job of {batches * 1000:,} lines with {PAGES} pages, all lines on all ÷ none", ours, theirs, BOUND
        )
    ]


def _run(place: Workplace, tag: str, batches: int, *, port: int, pages: int) -> float:
    name = place.new_name()
    readers = None
    if pages:
        script = Path(__file__).with_name("page_readers.py")
        readers = subprocess.Popen(
            [sys.executable, script, str(port), name, str(pages)], stdout=subprocess.PIPE, text=True
        )
    command: list[str | Path] = [BIN / "smlocal", "run", "--image", tag, "--name", name, "--output", place.output]
    seconds = execute(
        [*command, "--env", f"SCRIPT={SCRIPT.format(batches=batches)}"], environment=place.environment
    ).seconds
    if readers is not None:
        told, _ = readers.communicate(timeout=60)
        shown = json.loads(told)
        log = (place.folder / "home" / "jobs" / name / "logs" / "algo-1.log").read_bytes()
        assert shown["Lines"] == [batches * 1000] * pages, shown["Lines"]
        assert set(shown["Checks"]) == {zlib.crc32(log)}
    place.clear()
    return seconds


if __name__ == "__main__":
    main(measure)
