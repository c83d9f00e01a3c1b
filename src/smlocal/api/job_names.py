"""Names of jobs and hosts as people write them.

A job by its whole name, by the beginning of one name, as `@last`, or as the `EXECUTION/STEP` that has made it; a host
by its name, by what its platform calls it, or by its number.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.errors import HostUnknownError, JobNameAmbiguousError, JobUnknownError, SmlocalError
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.job_search import stored_names
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.training.facts import NAME as TRAINING
from smlocal.terms.validation.violation import closest_words

if TYPE_CHECKING:
    from smlocal.jobs.kinds import host_called, job_hosts
    from smlocal.sagemaker.serving.named_endpoint import endpoint_of, find_endpoint
else:
    endpoint_of = at_use("smlocal.sagemaker.serving.named_endpoint", "endpoint_of")
    find_endpoint = at_use("smlocal.sagemaker.serving.named_endpoint", "find_endpoint")
    host_called = at_use("smlocal.jobs.kinds", "host_called")
    job_hosts = at_use("smlocal.jobs.kinds", "job_hosts")

_MOST_SHOWN = 20
_MOST_SUGGESTED = 3
_MOST_COMPARED = 1000
"""Only the newest names are compared: comparing ten thousand takes a second."""
LAST = "@last"
"""Instead of a name: the newest job that no other has made."""


def resolve_job_name(text: str) -> str:
    """The name of the job that is meant. `JobUnknownError` or `JobNameAmbiguousError` if that is not one job."""
    with Store.open(home_directory()) as store:
        return _resolved(store, text)


def _resolved(store: Store, text: str) -> str:
    if text == LAST:
        return _newest(store, f"there is no job yet, so {LAST} names none")
    execution, slash, step = text.partition("/")
    if slash and step and (execution == LAST or (execution and store.names(execution))):
        from smlocal.api.pipelines import job_of_step  # few jobs are those of steps

        return job_of_step(store, _resolved(store, execution), step)
    found = store.names(text) if text else []
    if text in found:
        return text
    if len(found) == 1:
        return found[0]
    if found:
        raise _ambiguous(text, found)
    raise _unknown(text, store)


def jobs_to_end(text: str, *, whole_endpoint: bool = False) -> list[str]:
    """The job to stop or remove. The name of an endpoint means the job that serves it, which changes with an update.

    With `whole_endpoint`, the other jobs of the endpoint follow.
    """
    with Store.open(home_directory()) as store:
        name = _resolved(store, text)
        platform = store.get(name).platform
        if platform == TRAINING:
            return [name]
        from smlocal.sagemaker.serving import facts  # not to stop a training job

        if platform != facts.NAME or endpoint_of(store, name) != name:
            return [name]
        endpoint = find_endpoint(store, name)
        if endpoint is None or endpoint.job.status.terminal:
            return [name]
        serves = endpoint.job.name
        jobs = (each.name for each in store.list() if whole_endpoint and each.platform == facts.NAME)
        return [serves, *(job for job in jobs if job != serves and endpoint_of(store, job) == name)]


def newest_job_name() -> str:
    """The name of the job that was made last, and by no other; `JobUnknownError` if there is none."""
    with Store.open(home_directory()) as store:
        return _newest(store, "there is no job yet")


def _newest(store: Store, none: str) -> str:
    newest = store.list(limit=_MOST_COMPARED)
    if newest:
        from smlocal.jobs.documents import LED_BY  # not to complete a name

        names = [record.name for record in newest]
        led = {record.name for kind in LED_BY for record, _ in store.jobs_with(kind, names)}
        return next((name for name in names if name not in led), names[0])
    raise JobUnknownError(
        none,
        details=[f"Jobs are in {store.home}."],
        remedy=["Start one with smlocal run, or smlocal demo for a first one."],
    )


def _ambiguous(text: str, found: Sequence[str]) -> JobNameAmbiguousError:
    more = len(found) - _MOST_SHOWN
    return JobNameAmbiguousError(
        f"{len(found):,} jobs have names that begin with '{text}'",
        details=[*found[:_MOST_SHOWN], *([f"… and {more:,} more"] if more > 0 else [])],
        remedy=["Write more of the name."],
    )


def _unknown(text: str, store: Store) -> JobUnknownError:
    near = closest_words(
        text, [LAST, *(record.name for record in store.list(limit=_MOST_COMPARED))], most=_MOST_SUGGESTED
    )
    return JobUnknownError(
        "Requested resource not found.",
        details=[f"There is no job or endpoint '{text}' in {store.home}."],
        remedy=[
            *([f"Did you mean {' or '.join(near)}?"] if near else []),
            "smlocal jobs lists all jobs.",
        ],
    )


def completed_names(begun: str) -> list[str]:
    """Names that begin so, newest first. A shell shows no errors, so none are raised."""
    if begun and LAST.startswith(begun):
        return [LAST]
    try:
        return stored_names(home_directory(), begun)
    except SmlocalError:
        return []


def host_in_job(store: Store, name: str, text: str) -> str:
    """The name of the host of a recorded job that `text` means; `2` is `algo-2`, or the second replica."""
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
