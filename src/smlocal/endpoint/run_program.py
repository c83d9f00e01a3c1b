"""`smlocal exec`: runs a program that finds the endpoint under AWS's own names."""

import asyncio
import secrets
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.browsers import Hosts
from smlocal.endpoint.door.environment import bundle, new_key, program_environment, users_bundle, users_proxy
from smlocal.endpoint.door.proxy import MOST_HEAD, USER, Authority, Proxy
from smlocal.endpoint.http_server import HttpServer, listen
from smlocal.errors.of_commands import ProgramUnusableError

_LOOPBACK = "127.0.0.1"
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_SIGNALLED = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class ProgramEnd:
    """How a program has ended."""

    code: int
    """Its exit code, or 128 and the number of the signal that ended it."""
    jobs: tuple[str, ...]
    """The names of the jobs that it has started, in this order."""


def run_program(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    home: str,
    local: Mapping[str, Any],
    stand_ins: Mapping[str, Any],
    region: str | None,
    say: Callable[[str], None],
) -> ProgramEnd:
    """Run it to its end.

    `local`: members of `Local` for its jobs. `stand_ins`: those of `Options` about steps of its pipelines.
    """
    authority, key, password = Authority(), new_key(), secrets.token_urlsafe(32)
    jobs: list[str] = []
    with listen(_LOOPBACK, 0) as door, bundle(home, authority.certificate, users_bundle(environment)) as trusted:
        # The port is open: the program may start while the server is still being imported.
        for_program = program_environment(
            environment,
            proxy=f"http://{USER}:{password}@{_LOOPBACK}:{door.getsockname()[1]}",
            bundle=trusted,
            region=region,
            key=key,
        )
        with _start(command, for_program.applied_to(environment)) as process:
            from smlocal.endpoint.application import Application
            from smlocal.endpoint.serving import ClientRights, Options, open_serving
            from smlocal.endpoint.signature import Signatures

            # The program is the owner's own, and no other program is answered.
            rights = ClientRights(allowed_buckets=None)
            options = Options(local=local, with_key=True, rights=rights, **stand_ins)
            with open_serving(
                None, log=say, submitted=jobs.append, options=options, environment=environment
            ) as serving:

                async def answer_proxy(server: HttpServer) -> None:
                    proxy = Proxy(
                        authority=authority,
                        password=password,
                        connection=server.connection,
                        upstream=users_proxy(environment),
                        log=say,
                    )
                    await asyncio.start_server(proxy.answer, sock=door, limit=MOST_HEAD)

                # No other program gets through the proxy. Requests that the program signs with keys of its own
                # configuration, and those that it does not sign, are its own too.
                verified = Signatures(access_key=key[0], secret_key=key[1], others=True)
                application = Application(serving, hosts=Hosts(), signatures=verified)
                with HttpServer(application, None, beside=answer_proxy):
                    code = process.wait()
    return ProgramEnd(code=code if code >= 0 else _SIGNALLED - code, jobs=tuple(jobs))


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
