"""Which host of a job a person means: by its name, or by its number."""

from collections.abc import Sequence

from smlocal.errors import HostUnknownError


def host_named(job: str, text: str, hosts: Sequence[str]) -> str:
    """The name of the host that `text` means, of a job with these hosts; `2` is `algo-2`."""
    for number, name in enumerate(hosts, 1):
        if text in {name, str(number)}:
            return name
    raise HostUnknownError(f"the job '{job}' has no host {text}", details=[f"It has {_listed(hosts)}."])


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
