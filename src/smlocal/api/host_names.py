"""Which host of a job a person means: by its name, by what its platform calls it, or by its number."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from smlocal.errors import HostUnknownError

if TYPE_CHECKING:
    from smlocal.store.jobs import Store


def host_in_job(store: "Store", name: str, text: str) -> str:
    """The name of the host of a recorded job that `text` means; `2` is `algo-2`, or the second replica."""
    from smlocal.job.host_names import host_called, job_hosts

    return host_named(name, text, job_hosts(store, name), called=host_called(store, name))


def host_named(job: str, text: str, hosts: Sequence[str], *, called: Mapping[str, str] | None = None) -> str:
    """The name of the host that `text` means, of a job with these hosts. `called`: their other names."""
    for number, name in enumerate(hosts, 1):
        if text in {name, str(number)}:
            return name
    if called is not None and text in called:
        return called[text]
    raise HostUnknownError(f"the job '{job}' has no host {text}", details=[f"It has {', '.join(_listed(hosts))}."])


def _listed(names: Sequence[str]) -> Iterator[str]:
    """`algo-1 to algo-4`; of replicas each group for itself."""
    for _, members in groupby(names, lambda name: name.rpartition("-")[0]):
        first, *others = members
        yield f"{first} to {others[-1]}" if len(others) > 1 else ", ".join([first, *others])
