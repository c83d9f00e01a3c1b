"""Finds one of two jobs to compare: of this machine, of the service, or in a saved document."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smlocal.errors import JobUnknownError, SmlocalError, UsageRefusedError
from smlocal.jobfile.document import Document
from smlocal.platforms.job_files import compared_replica_job, is_replica_job
from smlocal.remote.compare.archives import Archive, read_archive
from smlocal.remote.compare.subject import NAMES, Subject, subject_of, subject_of_replicas

if TYPE_CHECKING:
    from smlocal.remote.service import Service

SERVICE = "service:"
DOCUMENTS = (".json", ".yaml", ".yml")
_KEYS = ("Model", "Output")


def find_subject(
    text: str, *, service: "Callable[[], Service]", download: bool, allow_local_paths: bool = False
) -> Subject:
    """The job that `text` names: `service:NAME`, a path (with a `/`, or an ending of YAML or JSON), or a job here.

    `allow_local_paths`: read the artifacts of any document where it says that they are.
    """
    if text.startswith(SERVICE):
        return _on_service(text, service(), download=download)
    if "/" in text or text.endswith(DOCUMENTS):
        return _in_document(text, allow_local_paths=allow_local_paths)
    return _here(text)


def check_same_kind(a: Subject, b: Subject) -> None:
    """Refuse two jobs that have no members in common."""
    if a.kind != b.kind:
        raise UsageRefusedError(
            f"{a.title} is a {a.kind} and {b.title} a {b.kind}: they have no members in common",
            remedy=["Compare two jobs of one kind."],
        )


def _here(text: str) -> Subject:
    from smlocal.api.job_names import resolve_job_name
    from smlocal.api.training_job import TrainingJob

    try:
        name = resolve_job_name(text)
    except JobUnknownError as error:
        remedy = (*error.remedy, f"A job of the service: {SERVICE}{text}   A saved description: ./{text}.json")
        raise JobUnknownError(error.sentence, details=error.details, remedy=remedy) from error
    answer = TrainingJob(name).describe()
    if is_replica_job(answer):
        return _of_replicas(Document(answer, name=name, directory=os.getcwd()), title=name, origin="here")
    return _described(answer, title=name, origin="here", paths_known=True)


def _in_document(path: str, *, allow_local_paths: bool) -> Subject:
    from smlocal.remote.answer_file import read_answer

    document = read_answer(path)
    if is_replica_job(document.data):
        return _of_replicas(document, title=path, origin="a document")
    answer = document.data
    return _described(answer, title=path, origin="a document", paths_known=allow_local_paths)


def _of_replicas(document: Document, *, title: str, origin: str) -> Subject:
    image = (document.data.get("Local") or {}).get("Image")
    return subject_of_replicas(compared_replica_job(document), title=title, origin=origin, image_id=image)


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
    paths_known: bool = False,
) -> Subject:
    from smlocal.remote.answer_shape import check_shape
    from smlocal.remote.described_job import described_job

    job = described_job(answer, name=title)
    known = job.answer or {}
    check_shape(known, name=title)
    if archives is None:
        archives, unknown = _of_this_machine(known, title, paths_known=paths_known)
    return subject_of(known, job.request, title=title, origin=origin, archives=archives, no_archives=unknown)


def _of_this_machine(
    answer: Mapping[str, Any], title: str, *, paths_known: bool
) -> tuple[Mapping[str, Archive | None], str]:
    """The artifacts that a `Local` block names, or why they are not known.

    Without `paths_known`, only the paths of a job of this machine are read, because a document can name any.
    """
    artifacts = (answer.get("Local") or {}).get("Artifacts")
    if artifacts is None:
        return {}, f"{title} does not say where its artifacts are on this machine"
    if not paths_known and not _are_own(answer, artifacts):
        return {}, f"{title} names paths that are not those of a job here: --allow-local-paths reads them"
    paths = dict(zip(NAMES, (artifacts.get(key) for key in _KEYS), strict=True))
    return {name: None if path is None else read_archive(path) for name, path in paths.items()}, ""


def _are_own(answer: Mapping[str, Any], artifacts: Any) -> bool:
    """Whether the described job is one of this machine, with these artifacts."""
    if not any(artifacts.get(key) for key in _KEYS):
        return True
    from smlocal.api.recorded_job import own_answer

    own = own_answer(str(answer.get("TrainingJobName") or ""), arn=str(answer.get("TrainingJobArn") or ""))
    known = ((own or {}).get("Local") or {}).get("Artifacts") or {}
    return all(artifacts.get(key) in (None, known.get(key)) for key in _KEYS)
