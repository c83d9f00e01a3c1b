"""Read the `Local` block of a document. What only one platform knows, that platform checks."""

from collections.abc import Iterator

from smlocal.contract.s3_uri import may_be_bucket
from smlocal.contract.validation.check import validate
from smlocal.contract.validation.member_path import Path, spoken
from smlocal.contract.validation.violation import Violation
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL, Kind
from smlocal.jobfile.settings import LocalSettings, refused_settings


def read_local(document: Document, *, allowed: bool = True) -> tuple[LocalSettings | None, list[Violation]]:
    """The settings of a document, and what is wrong with them on every platform. None if they cannot be read."""
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
            from smlocal.jobfile.network_settings import network_violations  # few jobs say anything about it

            found += network_violations(local, path=(LOCAL,))
        if data.keys() & {"Engines", "Placement"}:
            from smlocal.jobfile.engine_settings import engine_violations  # as above

            found += engine_violations(local)
    return local, found


def wrong_source(key: str, text: str) -> Violation:
    """A key of `Sources` that is no location in a request, so that its folder would never be used."""
    return Violation(path=(LOCAL, "Sources", key), text=f"Local.Sources: '{key}' {text}")


def wrong_region(region: str, example: str) -> Violation:
    """A region that the platform cannot have."""
    text = f"Local.Region: '{region}' is not a valid region; write it like {example}"
    return Violation(path=(LOCAL, "Region"), text=text)


def without_meaning(local: LocalSettings, kind: Kind) -> Iterator[Violation]:
    """Settings that say something other than their default, although such jobs have no use for them."""
    default = LocalSettings()
    for name, why in refused_settings(kind).items():
        if getattr(local, name) != getattr(default, name):
            yield Violation(path=(LOCAL, name), text=f"Local.{name}: {why}; remove it")


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
    from datetime import date  # few jobs say anything about it

    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
