"""What a user of TensorFlow's parameter servers reads; every server is heard, and nobody leaves before the others."""

import json
import os
import socket
from typing import Any


def reach(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    while True:
        try:
            return socket.create_connection((host, int(port)), timeout=5)
        except ConnectionRefusedError:  # the other host may begin later
            continue


def main() -> None:
    config: dict[str, Any] = json.loads(os.environ["TF_CONFIG"])
    print("TF_CONFIG", json.dumps(config, sort_keys=True))  # noqa: T201 - scripts talk by their log
    cluster, task = config["cluster"], config["task"]
    own = cluster[task["type"]][task["index"]]
    listener = socket.create_server(("", int(own.rpartition(":")[2])))
    for address in cluster["ps"]:
        with reach(address) as connection:
            print(address, "says", connection.recv(64).decode())  # noqa: T201 - as above
    others = [address for address in cluster["master"] + cluster["worker"] if address != own]
    held = [reach(address) for address in others] + [listener.accept()[0] for _ in others]
    print("met", len(held) // 2)  # noqa: T201 - as above


if __name__ == "__main__":
    main()
