"""Why a job failed on the service, where its reason or its log says more than the sentence. Pure."""

import re
from collections.abc import Iterator, Mapping

from smlocal.job.decide.hints import is_full, is_without_credentials, is_without_shared_memory, program_hint

_EXIT_CODE = re.compile(r"exit code: (\d+)\s*$")
_KILLED = 137


def failure_hints(reason: str, tails: Mapping[str, str]) -> Iterator[str]:
    """Hints on a failed job. `tails`: the end of the log of each host."""
    found = _EXIT_CODE.search(reason)
    code = int(found[1]) if found else 1
    log = "\n".join(tails.values())
    program = program_hint(code, log)
    if program is not None:
        yield program
    if code == _KILLED:
        yield "Exit code 137 means SIGKILL, mostly because the memory of the instance ran out."
    if is_without_shared_memory(log):
        yield "Shared memory (/dev/shm) ran out: use fewer workers of a data loader, or a larger instance."
    elif is_full(log):
        yield "A disk was full: increase ResourceConfig.VolumeSizeInGB."
    if is_without_credentials(log):
        yield "It called AWS without credentials: on the service it gets those of RoleArn, unless it is isolated."
