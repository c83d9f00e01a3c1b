"""All jobs of `smlocal check` on the decision-tree example against one plain `smlocal run` of it."""

from pathlib import Path

from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import BIN, ROOT, image, workplace

BOUND = 12
EXAMPLE = ROOT / "examples" / "decision-tree"
_TAG = "smlocal-example-decision-tree:latest"


def measure(size: Size) -> list[Figure]:
    tag = image(EXAMPLE / "image")
    with workplace() as place:
        job = place.folder / "job.yaml"
        text = (EXAMPLE / "job.yaml").read_text()
        job.write_text(text.replace(_TAG, tag).replace("./data", str(EXAMPLE / "data")))

        def check() -> float:
            return execute([BIN / "smlocal", "check", job], environment=place.environment).seconds

        def run() -> float:
            command: list[str | Path] = [
                BIN / "smlocal",
                "run",
                job,
                "--name",
                place.new_name(),
                "--output",
                place.output,
            ]
            return execute(command, environment=place.environment).seconds

        ours, theirs = alternate(check, run, rounds=size.rounds, name="jobs of a check")
    return [comparison("`smlocal check` of the decision-tree example ÷ `smlocal run` of it", ours, theirs, BOUND)]


if __name__ == "__main__":
    main(measure)
