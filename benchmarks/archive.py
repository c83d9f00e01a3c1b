"""How fast a model is packed: from the container's exit to the end of `smlocal run`, against `tar -czf` of the same.

The exit is the engine's own `die` event, the end is that of the whole process: everything a user waits for in between
counts, finding out about the exit, packing, writing to disk, clean-up and the summary. The files are as the container
left them, not yet on the disk; tar reads files that are in memory and on the disk long since.
"""

import subprocess
import time

from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import COPY_TO_MODEL, SH, Workplace, image, workplace

BOUND = 0.2
MODEL_MEGABYTES = 512


def measure(size: Size) -> list[Figure]:
    tag = image(SH)
    megabytes = size.of(MODEL_MEGABYTES)
    with workplace() as place:
        data = place.half_random(megabytes)
        archive = place.folder / "model.tar.gz"

        def tar() -> float:
            took = execute(["tar", "-czf", archive, "-C", data, "."]).seconds
            archive.unlink()
            place.clear()
            return took

        ours, theirs = alternate(
            lambda: _exit_to_end(place, tag, "--channel", f"train={data}", "--env", f"SCRIPT={COPY_TO_MODEL}"),
            tar,
            rounds=size.rounds,
            name="archive",
        )
    return [comparison(f"{megabytes} MB model, container exit → end ÷ `tar -czf`", ours, theirs, BOUND)]


def _exit_to_end(place: Workplace, tag: str, *options: str) -> float:
    name = place.new_name()
    labelled = ("--filter", f"label=smlocal.job={name}", "--filter", "event=die", "--format", "{{.TimeNano}}")
    with subprocess.Popen(
        ["docker", "events", "--since", str(int(time.time())), *labelled], stdout=subprocess.PIPE, text=True
    ) as events:
        try:
            place.run(tag, *options, name=name)
            ended = time.time()
            assert events.stdout is not None
            exited = int(events.stdout.readline()) / 1e9
        finally:
            events.terminate()
    packed = place.output / name / "output" / "model.tar.gz"
    assert packed.exists(), packed
    place.clear()
    return ended - exited


if __name__ == "__main__":
    main(measure)
