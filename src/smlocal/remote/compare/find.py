"""Finds one of two jobs to compare: of this machine, of the service, or in a saved document."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smlocal.errors import JobUnknownError, SmlocalError
from smlocal.remote.compare.archives import Archive, read_archive
from smlocal.remote.compare.subject import NAMES, Subject, subject_of

if TYPE_CHECKING:
    from smlocal.remote.service import Service

SERVICE = "service:"
DOCUMENTS = (".json", ".yaml", ".yml")
_KEYS = ("Model", "Output")


def find_subject(text: str, *, service: "Callable[[], Service]", download: bool) -> Subject:
    """The job that `text` names: `service:NAME`, a path (with a `/`, or an ending of YAML or JSON), or a job here."""
    if text.startswith(SERVICE):
        return _on_service(text, service(), download=download)
    if "/" in text or text.endswith(DOCUMENTS):
        return _in_document(text)
    return _here(text)


def _here(text: str) -> Subject:
    from smlocal.api.job_names import resolve_job_name
    from smlocal.api.training_job import TrainingJob

    try:
        name = resolve_job_name(text)
    except JobUnknownError as error:
        remedy = (*error.remedy, f"A job of the service: {SERVICE}{text}   A saved description: ./{text}.json")
        raise JobUnknownError(error.sentence, details=error.details, remedy=remedy) from error
    return _described(TrainingJob(name).describe(), title=name, origin="here")


def _in_document(path: str) -> Subject:
    from smlocal.remote.answer_file import read_answer

    return _described(read_answer(path).data, title=path, origin="a document")


def _on_service(text: str, service: "Service", *, download: bool) -> Subject:
    answer = service.describe(text.removeprefix(SERVICE))
    archives: Mapping[str, Archive | None] = {}
    why = f"those of {text} are in S3: --download reads them"
    if download:
        from smlocal.remote.compare.s3_archives import archives_in_s3

        try:
            archives, why = archives_in_s3(service, answer), ""
        except SmlocalError as error:
            why = f"those of {text} cannot be read: {error.sentence}"
    found = _described(answer, title=text, origin=f"the service in {service.region}", archives=archives, unknown=why)
    from smlocal.remote.compare.service_usage import service_usage

    try:
        return replace(found, usage=service_usage(service, answer))
    except SmlocalError as error:
        return replace(found, no_usage=f"that of {text} cannot be read: {error.sentence}")


def _described(
    answer: Mapping[str, Any],
    *,
    title: str,
    origin: str,
    archives: Mapping[str, Archive | None] | None = None,
    unknown: str = "",
) -> Subject:
    from smlocal.remote.answer_shape import check_shape
    from smlocal.remote.described_job import described_job

    job = described_job(answer, name=title)
    known = job.answer or {}
    check_shape(known, name=title)
    if archives is None:
        archives, unknown = _of_this_machine(known, title)
    return subject_of(known, job.request, title=title, origin=origin, archives=archives, no_archives=unknown)


def _of_this_machine(answer: Mapping[str, Any], title: str) -> tuple[Mapping[str, Archive | None], str]:
    """The artifacts that a `Local` block names, or why they are not known."""
    artifacts = (answer.get("Local") or {}).get("Artifacts")
    if artifacts is None:
        return {}, f"{title} does not say where its artifacts are on this machine"
    paths = dict(zip(NAMES, (artifacts.get(key) for key in _KEYS), strict=True))
    return {name: None if path is None else read_archive(path) for name, path in paths.items()}, ""
