"""A user's program for the toolkit: read a channel in the mode it came in, save a model that says so, perhaps fail."""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path


def epochs(channel: str, mode: str, number: int) -> Iterator[str]:
    """All of the channel, once for each epoch."""
    for epoch in range(number):
        if mode == "Pipe":
            # The toolkit names a folder that does not exist then; the FIFOs lie beside it.
            yield Path(f"{channel}_{epoch}").read_text()
        else:
            yield "".join(path.read_text() for path in sorted(Path(channel).rglob("*")) if path.is_file())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--greeting", required=True)
    parser.add_argument("--exit", type=int, default=0)
    arguments = parser.parse_args()

    print("SM_HPS", os.environ["SM_HPS"])  # noqa: T201 - scripts talk by their log
    mode = json.loads(os.environ["SM_INPUT_DATA_CONFIG"])["train"]["TrainingInputMode"]
    read = list(epochs(os.environ["SM_CHANNEL_TRAIN"], mode, arguments.epochs))
    print("read", json.dumps(read))  # noqa: T201 - as above
    model = {
        "mode": mode,
        "greeting": arguments.greeting,
        "epochs": read,
        "seen": {
            name.removeprefix("SM_").lower(): os.environ[name]
            for name in sorted(os.environ)
            if name.startswith(("SM_CHANNEL", "SM_CURRENT_", "SM_HOSTS", "SM_NETWORK_", "SM_IS_HETERO"))
        },
    }
    Path(os.environ["SM_MODEL_DIR"], "model.json").write_text(json.dumps(model))
    sys.exit(arguments.exit)


if __name__ == "__main__":
    main()
