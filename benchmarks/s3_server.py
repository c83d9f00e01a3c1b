"""A fast S3 server for measurements: rclone's, over files of this machine."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workplace import BIN

KEYS = ("smlocalbenchkey", "smlocalbenchsecret")


def cat(address: str, name: str) -> list[str | Path]:
    """The command that writes an object of that server to its standard output."""
    remote = f":s3,provider=Other,access_key_id={KEYS[0]},secret_access_key={KEYS[1]},endpoint='{address}'"
    return [BIN / "rclone", "--config", os.devnull, "cat", f"{remote}:{name}"]


@contextmanager
def rclone_server(folder: Path, *, writable: bool = False) -> Iterator[str]:
    """Serves the folders in a folder as buckets; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    command: list[str | Path] = [BIN / "rclone", "--config", os.devnull, "serve", "s3", "--addr", address]
    command += ["--auth-key", ",".join(KEYS), *([] if writable else ["--read-only"]), folder]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(200):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            yield f"http://{address}"
        finally:
            process.terminate()


def configuration(address: str) -> dict[str, str]:
    """The AWS configuration for its users."""
    return {
        "AWS_ENDPOINT_URL_S3": address,
        "AWS_ACCESS_KEY_ID": KEYS[0],
        "AWS_SECRET_ACCESS_KEY": KEYS[1],
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
