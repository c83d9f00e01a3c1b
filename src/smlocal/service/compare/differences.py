"""The differences between two jobs, section by section; pure."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.service.compare.subject import (
    ARTIFACT_NAMES,
    ENVIRONMENT,
    IMAGE,
    TRAINING_JOB,
    Archive,
    File,
    JobToCompare,
)
from smlocal.service.job_end import JobEnd, same_reason, same_value


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """One thing that is not the same."""

    path: str
    a: Any
    """None if A does not have it."""
    b: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """One kind of things that were compared."""

    name: str
    differences: tuple[Difference, ...] = ()
    same: int = 0
    """How many things are the same."""
    unknown: str = ""
    """Why they were not compared."""
    measured: bool = False
    """For times and usage: they differ between any two runs, and do not count."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Two jobs, and their differences."""

    a: JobToCompare
    b: JobToCompare
    sections: tuple[Section, ...]

    @property
    def same(self) -> bool:
        """Whether nothing differs that counts."""
        return not any(section.differences for section in self.sections if not section.measured)


def compare(a: JobToCompare, b: JobToCompare) -> Comparison:
    """Compare two jobs."""
    outcome: tuple[Section, ...]
    if a.end is None or b.end is None:
        which = "neither is" if a.end is b.end else f"{a.title if a.end is None else b.title} is not"
        outcome = (Section(name="outcome", unknown=f"{which} a job, only a request"),)
    else:
        outcome = (*_outcome(a, b, a.end, b.end), _archives(a, b), _times(a, b, a.end, b.end), _usage(a, b))
    return Comparison(a=a, b=b, sections=(*_requests(a, b), *outcome))


def _requests(a: JobToCompare, b: JobToCompare) -> Iterator[Section]:
    yield _images(a, b)
    yield _mappings("environment", *(_part(each, environment=True) for each in (a, b)))
    yield _mappings("request", *(_part(each, environment=False) for each in (a, b)))


def _part(subject: JobToCompare, *, environment: bool) -> dict[str, Any]:
    return {
        path: value
        for path, value in subject.members.items()
        if path.startswith(ENVIRONMENT) is environment and path != IMAGE
    }


def _images(a: JobToCompare, b: JobToCompare) -> Section:
    names = _mappings("image", *({IMAGE: each.members[IMAGE]} if IMAGE in each.members else {} for each in (a, b)))
    if not a.image_id or not b.image_id:
        return names
    ids = _mappings("image", {"id": a.image_id}, {"id": b.image_id})
    # The same image under another name is another request, but not another image.
    return Section(name="image", differences=(*names.differences, *ids.differences), same=names.same + ids.same)


def _outcome(one: JobToCompare, other: JobToCompare, a: JobEnd, b: JobEnd) -> Iterator[Section]:
    if one.kind == TRAINING_JOB:
        codes_known = None not in {a.exit_code, b.exit_code}
        yield _mappings("exit", _exit(a, code=codes_known), _exit(b, code=codes_known))
    else:
        ends = ((one, a), (other, b))
        known = one.exits is not None and other.exits is not None
        sides = ({each.status_member: end.status, **((each.exits or {}) if known else {})} for each, end in ends)
        yield _mappings("exit", *sides)
    if a.reason is None and b.reason is None:
        yield Section(name="reason")
    elif same_reason(a.reason or "", b.reason or "", names=(a.name, b.name)):
        yield Section(name="reason", same=1)
    else:
        yield Section(name="reason", differences=(Difference(path=one.reason_member, a=a.reason, b=b.reason),))
    yield _mappings("metrics", a.metrics, b.metrics, equal=same_value)


def _exit(end: JobEnd, *, code: bool) -> dict[str, Any]:
    return {
        "TrainingJobStatus": end.status,
        "SecondaryStatus": end.secondary,
        **({"ExitCode": end.exit_code} if code else {}),
    }


def _archives(a: JobToCompare, b: JobToCompare) -> Section:
    unknown = next((each.no_archives for each in (a, b) if each.no_archives), "")
    if unknown:
        return Section(name="archives", unknown=unknown)
    differences: list[Difference] = []
    same, troubles = 0, []
    for name in ARTIFACT_NAMES:
        one, other = a.archives.get(name), b.archives.get(name)
        if one is None or other is None:
            if one is not other:
                differences.append(Difference(path=name, a=_shown(one), b=_shown(other)))
            continue
        trouble = next((f"{each.place}: {each.trouble}" for each in (one, other) if each.trouble), "")
        if trouble or one.files is None or other.files is None:
            troubles.append(trouble or f"the files in {name} were not read")
            continue
        found = _mappings(name, one.files, other.files, equal=_same_file, shown=_file, prefix=f"{name}: ")
        differences += found.differences
        same += found.same
    return Section(name="archives", differences=tuple(differences), same=same, unknown="; ".join(troubles))


def _same_file(one: File, other: File) -> bool:
    return one.size == other.size and (one.digest == other.digest or None in {one.digest, other.digest})


def _file(file: File) -> str:
    size = "" if file.size is None else f"{file.size:,} bytes"
    return " ".join(filter(None, (size, file.digest)))


def _shown(archive: Archive | None) -> str | None:
    if archive is None:
        return None
    if archive.files is None:
        return "written"
    return "1 file" if len(archive.files) == 1 else f"{len(archive.files):,} files"


def _times(a: JobToCompare, b: JobToCompare, one: JobEnd, other: JobEnd) -> Section:
    return _measured("seconds", _seconds(a, one), _seconds(b, other))


def _seconds(subject: JobToCompare, end: JobEnd) -> dict[str, float]:
    """The seconds of the phases, and the billed seconds. A terminal status has no duration."""
    found = {each.status: round(each.seconds, 1) for each in end.phases if each.seconds is not None}
    found = {status: seconds for status, seconds in found.items() if status not in {end.status, end.secondary}}
    return found if subject.seconds is None else {**found, "TrainingTimeInSeconds": subject.seconds}


def _usage(a: JobToCompare, b: JobToCompare) -> Section:
    unknown = next((each.no_usage for each in (a, b) if each.no_usage), "")
    if unknown or (not a.usage and not b.usage):
        return Section(name="usage", unknown=unknown, measured=True)
    lacking = next((each.title for each in (a, b) if not each.usage), None)
    if lacking is not None:
        return Section(name="usage", unknown=f"{lacking} was not measured", measured=True)
    figures = (
        {f"{host}.{name}": value for host, found in each.usage.items() for name, value in found.items()}
        for each in (a, b)
    )
    return _measured("usage", *figures)


def _measured(name: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Section:
    found = _mappings(name, a, b)
    return Section(name=name, differences=found.differences, same=found.same, measured=True)


def _mappings(
    name: str,
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    *,
    equal: Callable[[Any, Any], bool] = lambda one, other: bool(one == other),
    shown: Callable[[Any], Any] = lambda value: value,
    prefix: str = "",
) -> Section:
    """The members of two mappings, in the order of A."""
    differences, same = [], 0
    for key in dict.fromkeys((*a, *b)):
        if key in a and key in b and equal(a[key], b[key]):
            same += 1
            continue
        sides = [shown(each[key]) if key in each else None for each in (a, b)]
        differences.append(Difference(path=f"{prefix}{key}", a=sides[0], b=sides[1]))
    return Section(name=name, differences=tuple(differences), same=same)


def comparison_document(found: Comparison) -> dict[str, Any]:
    """The output of `smlocal compare --json`. Values are as the requests have them, secrets too."""
    return {
        "Version": 1,
        "Same": found.same,
        "A": _subject(found.a),
        "B": _subject(found.b),
        "Sections": {section.name: _section(section) for section in found.sections},
    }


def _subject(subject: JobToCompare) -> dict[str, Any]:
    return {
        "Name": subject.title,
        "From": subject.origin,
        subject.status_member: None if subject.end is None else subject.end.status,
    }


def _section(section: Section) -> dict[str, Any]:
    return {
        "Differences": [{"Path": each.path, "A": each.a, "B": each.b} for each in section.differences],
        "Same": section.same,
        "Counts": not section.measured,
        **({"NotCompared": section.unknown} if section.unknown else {}),
    }
