"""How an endpoint is reached: an address for any program of this machine, and a socket for smlocal itself."""

import os
import shlex
from collections.abc import Iterator
from typing import Final

from smlocal.base.files import replace_file

_SOCKET: Final = "invocations.socket"
_KEY_FILE: Final = "authorization"
_HEADER: Final = "Authorization: "
OPEN_TO_ALL: Final = "every user of this machine can invoke it"
"""Of an address without a key, where there are others."""


def invocation_address(name: str, port: int) -> str:
    """Where any program invokes the endpoint."""
    return f"http://127.0.0.1:{port}/endpoints/{name}/invocations"


def invoking_commands(name: str, port: int, key: str | None) -> Iterator[str]:
    """Commands to type, for CSV: most containers need a type. `key`: the key file, if the address demands a key."""
    more = "- is standard input; --body '1,2' is the body itself"
    yield f"{invoke_command(name)}  # {more}"
    yield curl_command(invocation_address(name, port), key)


def invoke_command(name: str) -> str:
    """By smlocal."""
    return f"smlocal invoke {name} --content-type text/csv --body-file FILE"


def curl_command(address: str, key: str | None) -> str:
    """By curl."""
    header = "" if key is None else f"-H {curl_header(key)} "
    return f"curl {header}-H 'Content-Type: text/csv' --data-binary @FILE {address}"


def curl_header(key: str) -> str:
    """The key file as an argument of `curl -H`."""
    return shlex.quote(f"@{key}")


def socket_path(directory: str) -> str:
    """The socket in the folder of the job, where only the owner can listen, and only the owner is answered."""
    return os.path.join(directory, _SOCKET)


def key_file(directory: str) -> str:
    """The file with the header that the address demands, in the form that curl reads: `curl -H @FILE`.

    A key on a command line could be read by every user of the machine.
    """
    return os.path.join(directory, _KEY_FILE)


def demanded_authorization(directory: str) -> str:
    """What `Authorization` must be. It is made once, so that clients of the endpoint still have it after a crash."""
    path = key_file(directory)
    try:
        return read_authorization(path)
    except FileNotFoundError:
        replace_file(path, f"{_HEADER}Bearer {os.urandom(32).hex()}\n".encode(), mode=0o600)
        return read_authorization(path)


def key_headers(path: str | None) -> dict[str, str]:
    """The headers for a request to the address; `path`: its key file, if it has one."""
    return {} if path is None else {"Authorization": read_authorization(path)}


def read_authorization(path: str) -> str:
    """The value of the header in such a file."""
    with open(path, encoding="ascii") as file:
        return file.read().strip().removeprefix(_HEADER)
