"""`smlocal exec`: runs a program that finds the endpoint under AWS's own names."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any

from smlocal.errors.serving import ProgramUnusableError
from smlocal.server.door.authority import Authority
from smlocal.server.door.environment import program_environment, users_bundle, users_proxy
from smlocal.server.http_server import HttpServer, listen

_LOOPBACK = "127.0.0.1"
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_SIGNALLED = 128


def run_program(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    home: str,
    local: Mapping[str, Any],
    region: str | None,
    say: Callable[[str], None],
) -> int:
    """Run it to its end; returns its exit code, or 128 and the number of the signal that ended it.

    `local`: members of `Local` for its jobs.
    """
    authority = Authority(home)
    with listen(_LOOPBACK, 0) as listener, listen(_LOOPBACK, 0) as door:
        # Both ports are open: the program may start while the server is still being imported.
        bundle = _write_bundle(home, authority, users_bundle(environment))
        proxy = f"http://{_LOOPBACK}:{door.getsockname()[1]}"
        for_program = program_environment(environment, proxy=proxy, bundle=bundle, region=region)
        with _start(command, for_program.applied_to(environment)) as process:
            from smlocal.server.application import Application
            from smlocal.server.door.proxy import MOST_HEAD, Proxy
            from smlocal.server.hosts import Hosts
            from smlocal.server.serving import Options, open_serving

            with open_serving(listener, log=say, options=Options(local=local), environment=environment) as serving:
                to_us = Proxy(
                    authority=authority,
                    endpoint=(_LOOPBACK, listener.getsockname()[1]),
                    upstream=users_proxy(environment),
                    log=say,
                )

                async def answer_proxy() -> None:
                    await asyncio.start_server(to_us.answer, sock=door, limit=MOST_HEAD)

                with HttpServer(Application(serving, hosts=Hosts(), signatures=None), listener, beside=answer_proxy):
                    code = process.wait()
    return code if code >= 0 else _SIGNALLED - code


def _start(command: Sequence[str], environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Start it. Ctrl-C reaches it from the terminal, and is ignored here; other signals are passed on."""
    try:
        process = subprocess.Popen(command, env=environment)
    except OSError as error:
        raise ProgramUnusableError(
            f"{command[0]} cannot be started: {error.strerror}",
            remedy=["Give the path of a program, or its name on the PATH:  smlocal exec -- python train.py"],
        ) from error
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for each in _FORWARDED:
        signal.signal(each, lambda number, _: process.send_signal(number))
    return process


def _write_bundle(home: str, authority: Authority, others: str) -> str:
    """A file with our authority and those that the user's programs trust; the same one for the same content."""
    with open(others, "rb") as file:
        content = file.read() + b"\n" + authority.certificate
    path = os.path.join(home, f"certificates-{sha256(content).hexdigest()[:16]}.pem")
    if not os.path.exists(path):
        partial = f"{path}.{os.getpid()}"
        with open(partial, "wb") as file:
            file.write(content)
        with suppress(FileNotFoundError):
            os.replace(partial, path)
    return path
