"""Read the `Local` block of a document, and say every mistake in a job file as one error.

Rules that only one platform knows are checked by that platform.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Final

from smlocal.base.at_use import at_use
from smlocal.base.regex import regex
from smlocal.errors import RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.settings import FAULTS_OF_A_TYPE, Fault, LocalSettings
from smlocal.terms.hosts import listed
from smlocal.terms.listing import may_be_bucket
from smlocal.terms.validation.violation import Path, Violation, closest, spoken
from smlocal.terms.validation.walk import MOST_VIOLATIONS, validate
from smlocal.terms.validation.wording import one_line

if TYPE_CHECKING:
    from ipaddress import IPv4Network
    from urllib.parse import urlsplit
else:
    urlsplit = at_use("urllib.parse", "urlsplit")
    IPv4Network = at_use("ipaddress", "IPv4Network")

_SCHEMES: Final = ("unix", "tcp", "http", "https", "ssh")
_ENGINES: Final = (LOCAL, "Engines")
_PLACEMENT: Final = (LOCAL, "Placement")
_FEWEST_BITS: Final = 30
"""A network needs its own address, the gateway's, a host's, and the broadcast address."""
_RESERVED: Final = {
    "0.0.0.0/8": "unspecified",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
}
_SERVICE: Final = regex(r"[A-Za-z][A-Za-z0-9]*([ _-][A-Za-z0-9]+)*", re.ASCII)
Wrong = Iterator[tuple[str, str]]
"""Members of a fault, and the mistake in each."""


def read_local(document: Document, *, allowed: bool = True) -> tuple[LocalSettings | None, list[Violation]]:
    """The settings of a document, and the mistakes in them on every platform. None if they cannot be read."""
    if LOCAL not in document.data:
        return LocalSettings(), []
    found = []
    if not allowed:
        found.append(Violation(path=(LOCAL,), text=f"{LOCAL} is for this machine: the service has no such member"))
    data = document.data[LOCAL]
    if data is None:
        return LocalSettings(), found
    local, violations = validate(LocalSettings, data, strict=False, path=(LOCAL,), written=document.written)
    found += violations
    if local is not None:
        found += _wrong(local)
        if data.keys() & {"Endpoints", "NetworkRange"}:
            found += _wrong_network(local)
        if data.keys() & {"Engines", "Placement"}:
            found += [*_wrong_engines(local.Engines, _ENGINES), *_wrong_placement(local)]
        found += _wrong_engines(local.SpreadOver, (LOCAL, "SpreadOver"))
    return local, found


def wrong_source(key: str, text: str) -> Violation:
    """A key of `Sources` that is not a location in a request, so that its folder would never be used."""
    return Violation(path=(LOCAL, "Sources", key), text=f"Local.Sources: '{key}' {text}")


def wrong_region(region: str, example: str) -> Violation:
    """A region that the platform cannot have."""
    text = f"Local.Region: '{region}' is not a valid region; write it like {example}"
    return Violation(path=(LOCAL, "Region"), text=text)


def without_meaning(local: LocalSettings, refused: Mapping[str, str]) -> Iterator[Violation]:
    """Settings that say something other than their default, although such jobs have no use for them.

    `refused`: those settings, and why.
    """
    default = LocalSettings()
    for name, why in refused.items():
        if getattr(local, name) != getattr(default, name):
            yield Violation(path=(LOCAL, name), text=f"Local.{name}: {why}; remove it")


def placement_violations(local: LocalSettings, hosts: Sequence[str]) -> list[Violation]:
    """The mistake in a placement of these hosts: it names every one of them, and no other."""
    if isinstance(local.Placement, str):
        return []
    found = [
        _says((*_PLACEMENT, host), f"the job has no host '{host}'; it has {listed(hosts)}")
        for host in local.Placement
        if host not in hosts
    ]
    missing = [host for host in hosts if host not in local.Placement]
    if missing:
        others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        found.append(_says(_PLACEMENT, f"no engine is given for {missing[0]}{others}"))
    return found


def fault_violations(
    faults: Sequence[Fault], *, kinds: Sequence[str], wrong: Callable[[Fault], Wrong]
) -> list[Violation]:
    """The mistakes in the faults of a job: a platform says which faults it has, and these rules are shared by all.

    `kinds`: those of the platform. `wrong`: the platform's rules for one of these.
    """
    return [
        _says((LOCAL, "Faults", index, member), text)
        for index, fault in enumerate(faults)
        for member, text in _of_one(fault, kinds, wrong)
    ]


def wrong_time(fault: Fault, *, longest: int, limit: str) -> Wrong:
    """`AfterSeconds` without an effect. `longest`: seconds that the job may run; `limit`: where it says so."""
    if fault.When != "During":
        if fault.AfterSeconds:
            yield "AfterSeconds", f"counts seconds of training and has no effect with When: {fault.When}; remove it"
    elif fault.AfterSeconds >= longest:
        yield "AfterSeconds", f"must be less than {limit} ({longest} s), when training is stopped"


def _of_one(fault: Fault, kinds: Sequence[str], wrong: Callable[[Fault], Wrong]) -> Wrong:
    if fault.Kind not in kinds:
        *others, last = kinds
        yield "Kind", f"this platform has no {fault.Kind}; its faults are {', '.join(others)} and {last}"
        return
    if fault.Replica is not None and fault.Kind != "Maintenance":
        yield "Replica", "is for Maintenance only; remove it"
    if fault.Instance is not None and fault.Kind not in FAULTS_OF_A_TYPE:
        yield "Instance", f"is for {', '.join(FAULTS_OF_A_TYPE)} only; remove it"
    yield from wrong(fault)


def _wrong(local: LocalSettings) -> Iterator[Violation]:
    for name, path in (("Output", local.Output), ("Code", local.Code)):
        if path is not None and not path.strip():
            yield Violation(path=(LOCAL, name), text=f"Local.{name} is empty; give the path of a folder")
    for index, path in enumerate(local.AllowedPaths or ()):
        if not path.startswith("/"):
            text = f"Local.AllowedPaths: '{path}' is not an absolute path"
            yield Violation(path=(LOCAL, "AllowedPaths", index), text=text)
    for index, name in enumerate(local.AllowedBuckets or ()):
        if not may_be_bucket(name):
            text = f"Local.AllowedBuckets: no bucket is named '{name}'; write it without s3:// and without a key"
            yield Violation(path=(LOCAL, "AllowedBuckets", index), text=text)
    yield from _ignores(local)
    if local.AllowCpu and local.Gpus not in ("auto", "none", 0):
        text = "Local.Gpus requests GPUs and Local.AllowCpu a run without them: remove one of the two"
        yield Violation(path=(LOCAL, "Gpus"), text=text)


def _ignores(local: LocalSettings) -> Iterator[Violation]:
    """Mistakes in `Check.Ignore` that the types do not find: a blank reason, an impossible date."""
    for index, ignore in enumerate(local.Check.Ignore):
        path: Path = (LOCAL, "Check", "Ignore", index)
        if not ignore.Reason.strip():
            yield Violation(path=(*path, "Reason"), text=f"{spoken((*path, 'Reason'))}: write why it is ignored")
        if ignore.Until is not None and not _is_day(ignore.Until):
            text = f"{spoken((*path, 'Until'))}: '{ignore.Until}' is not a day; write it like 2026-12-31"
            yield Violation(path=(*path, "Until"), text=text)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _wrong_engines(engines: Sequence[str], member: Path) -> Iterator[Violation]:
    for index, engine in enumerate(engines):
        place = (*member, index)
        scheme, separator, _ = engine.partition("://")
        if not engine.strip():
            yield _says(place, "is empty; write an address such as ssh://HOST, or the name of a Docker context")
        elif separator and scheme not in _SCHEMES:
            what = "a Windows pipe" if scheme == "npipe" else f"an engine over {scheme}://"
            yield _says(place, f"'{engine}' is {what}: smlocal supports unix://, tcp:// and ssh://")
        elif engine in engines[:index]:
            yield _says(place, f"'{engine}' is in the list twice")


def _wrong_placement(local: LocalSettings) -> Iterator[Violation]:
    if isinstance(local.Placement, str):
        return
    if not local.Engines:
        yield _says(_PLACEMENT, "needs the engines in Local.Engines, or --engine")
        return
    for host, engine in local.Placement.items():
        if engine not in local.Engines:
            meant = closest(engine, local.Engines)
            said = f"did you mean '{meant}'?" if meant else f"it has {', '.join(local.Engines)}"
            yield _says((*_PLACEMENT, host), f"'{engine}' is not in Local.Engines; {said}")


def _wrong_network(local: LocalSettings) -> Iterator[Violation]:
    trouble = _range_trouble(local.NetworkRange)
    if trouble is not None:
        yield _says((LOCAL, "NetworkRange"), f"'{local.NetworkRange}' {trouble}; write it like 10.99.0.0/16")
    for service, url in local.Endpoints.items():
        place = (LOCAL, "Endpoints", service)
        if _SERVICE.fullmatch(service) is None:
            yield _says(place, "is not a valid service name; write it like s3, sts, dynamodb or secrets_manager")
        if not _is_url(url):
            yield _says(place, f"'{url}' is not a valid service URL; write it like http://localhost:9000")


def _range_trouble(given: str) -> str | None:
    try:
        network = IPv4Network(given)
    except ValueError:
        return "is not a valid range of IPv4 addresses"
    if network.prefixlen > _FEWEST_BITS:
        return "is too small: the network of a job needs at least four addresses"
    reserved = next((what for each, what in _RESERVED.items() if network.overlaps(IPv4Network(each))), None)
    return None if reserved is None else f"has {reserved} addresses, which a container network cannot use"


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _says(path: Path, text: str) -> Violation:
    return Violation(path=path, text=f"{spoken(path)}: {text}")


_MOST_SENTENCES = 100
"""The most sentences of the service's message."""
_MOST_LINES = 30
"""The most lines of one error, so that it fits on a page."""
_LONGEST_LINE = 800
"""The most characters of one line: a key may be as long as the file."""


def invalid_request(document: Document, violations: list[Violation]) -> RequestInvalidError:
    """One error for all of them, in the order of the file."""
    ordered = sorted(violations, key=lambda violation: document.nearest_line(violation.path) or 0)
    service = list(dict.fromkeys(violation.service for violation in ordered if violation.service))
    number = len(ordered)
    message = ""
    if service:
        shown = "; ".join(service[:_MOST_SENTENCES])
        message = f"{len(service)} validation error{'s' if len(service) > 1 else ''} detected: {shown}"
    least = "at least " if number >= MOST_VIOLATIONS else ""  # looking for them ends there
    where = document.blamed(violation.path for violation in violations)
    return RequestInvalidError(
        f"{least}{number:,} problem{'s' * (number > 1)} in {where}",
        details=mistake_lines(document, ordered),
        service_message=message,
    )


def mistake_lines(document: Document, violations: list[Violation]) -> list[str]:
    """A line for each of the first violations, and the number of the others."""
    shown = [(document.where(violation.path), one_line(violation.text)) for violation in violations[:_MOST_LINES]]
    width = max(len(where) for where, _ in shown)
    lines = [f"{where:<{width}}   {_shortened(text)}" for where, text in shown]
    more = len(violations) - len(shown)
    return [*lines, f"… and {more:,} more"] if more else lines


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}…"
