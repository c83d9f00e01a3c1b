"""In place of the toolkit's C extension, which it imports at once and preloads into MPI programs only."""

import json


def call(length: int) -> str:
    with open("/opt/ml/input/config/resourceconfig.json") as file:
        host: str = json.load(file)["current_host"]
    return host[: length - 1]
