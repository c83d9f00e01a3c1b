"""The most memory a `smlocal run` holds, whatever goes through it."""

from measure import Samples, progress
from results import Figure, Size, main, megabytes, spread
from workplace import COPY_TO_MODEL, NO_OP, SH, image, workplace

BOUND = 100_000_000
FILES = 100_000
MODEL_MEGABYTES = 512
PRINTED_BYTES = 200_000_000
_PRINT = "yes a line of a log that says much the same as the one before it, as logs do"


def measure(size: Size) -> list[Figure]:
    nothing, shell = image(NO_OP), image(SH)
    files, model, printed = size.of(FILES), size.of(MODEL_MEGABYTES), size.of(PRINTED_BYTES)
    with workplace() as place:
        channel = f"train={place.many_files(files)}"
        data = f"train={place.half_random(model)}"
        cases = {
            "no-op job": (nothing,),
            f"channel of {files:,} files": (nothing, "--channel", channel),
            f"model of {model} MB": (shell, "--channel", data, "--env", f"SCRIPT={COPY_TO_MODEL}"),
            (slow := f"model of {files:,} files, one round"): (
                shell,
                "--channel",
                channel,
                "--env",
                f"SCRIPT={COPY_TO_MODEL}",
            ),
            f"container prints {printed // 1_000_000} MB": (
                shell,
                "--env",
                f"SCRIPT={_PRINT} | head -c {printed}",
            ),
        }
        peaks: dict[str, list[float]] = {name: [] for name in cases}
        for number in range(1, size.rounds + 1):
            for name, arguments in cases.items():
                if name == slow and number > 1:
                    continue  # half a minute each, most of it the container's own copying
                progress(f"memory: {name}, round {number} of {size.rounds}")
                peaks[name].append(place.run(*arguments).peak_bytes)
                place.clear()
    return [_figure(name, Samples(values=tuple(values))) for name, values in peaks.items()]


def _figure(name: str, peaks: Samples) -> Figure:
    return Figure(
        what=f"peak memory, {name}",
        ours=spread(peaks, megabytes),
        theirs="",
        figure=megabytes(peaks.highest),
        bound=megabytes(BOUND),
        # A peak is what it was at worst.
        met=peaks.highest <= BOUND,
    )


if __name__ == "__main__":
    main(measure)
