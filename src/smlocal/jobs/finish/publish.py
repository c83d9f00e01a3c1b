"""Upload a job's artifacts to its `s3://` location, at its end or later (`smlocal publish`).

Multipart uploads that are not complete are in a journal: after a crash, the next process aborts them.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

from smlocal.base.files import replace_file
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.artifacts.s3_publish import Publisher
from smlocal.data.artifacts.s3_publish import PublishResult as PublishResult  # noqa: PLC0414  for the command
from smlocal.data.sources.s3.client import S3Client, open_store
from smlocal.data.sources.s3.interface import S3Error
from smlocal.data.sources.s3.writer import S3Writer, UploadTarget
from smlocal.data.sources.s3_listing import machine_error
from smlocal.data.sources.source_errors import RequestedSource
from smlocal.errors import ArtifactError, JobNotFinishedError, MachineNotReadyError, NothingToPublishError, SmlocalError
from smlocal.jobs.documents import LOCAL, RECALL, UNSENT, published_document, unsent_document
from smlocal.jobs.kinds import not_finished, spoken_of
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.recall import recall
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import Lease
from smlocal.jobs.store.records import JobRecord
from smlocal.terms.listing import bucket_name, s3_form, split_s3_uri
from smlocal.terms.rights import EVERYTHING, Rights

_S3 = "s3://"


@contextmanager
def publishing(plan: JobPlan, *, cancelled: Callable[[], bool]) -> Iterator[Publisher]:
    """Uploads the artifacts of a job that publishes them, while they are written.

    Once `cancelled`, which any thread may call, returns True, the upload is stopped. When the context is left, uploads
    that are not complete are aborted.
    """
    # The folder with `model.tar.gz` or `model/`.
    target = target_of(f"{plan.output.model_uri.rstrip('/').rpartition('/')[0]}/", plan.output.kms_key)
    with _publisher(plan.identity.region, plan.rights, target, plan.job_directory, cancelled) as publisher:
        yield publisher


def target_of(uri: str, kms_key: str | None) -> "UploadTarget":
    """The target for `s3://bucket/some/key/`."""
    bucket_uri, key = split_s3_uri(s3_form(uri))
    return UploadTarget(bucket=bucket_name(bucket_uri), key=key, kms_key=kms_key)


def check_publishing(region: str) -> None:
    """Check that there are AWS credentials. No request is sent to S3."""
    open_store(region, rights=EVERYTHING)


def publish_again(
    store: Store,
    name: str,
    *,
    working: Callable[[str], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> "PublishResult":
    """Upload the artifacts of a finished job and store the result. The status of the job does not change.

    Raises an error if there is nothing to upload, or S3 refuses something or is unreachable.
    """
    job = _find_artifacts(store, name)
    check_publishing(job.region)
    directory = store.directory(name)
    lease = Lease.take(directory)
    if lease is None:
        raise JobNotFinishedError(
            f"The artifacts of '{name}' are being published by another process.", remedy=["Wait for it."]
        )

    def send(uri: str, paths: Iterable[str]) -> "PublishResult":
        """Archives and folders; of a folder with a `/` at its end its contents only."""
        with _publisher(job.region, EVERYTHING, target_of(uri, job.kms_key), directory, cancelled) as publisher:
            for path in paths:
                if os.path.isdir(path):
                    publisher.add_folder(path, original=job.model_folder)
                else:
                    publisher.add_file(path)
            return publisher.finish(working)

    with lease:
        published = send(job.uri, job.paths)
        unsent = list(job.unsent)
        while unsent and published.complete:
            uri, folder = unsent[0]
            published += send(uri, [f"{folder}/"])
            unsent = unsent[1:] if published.complete else unsent
        artifacts = {**job.local["Artifacts"], **published_document(published), UNSENT: unsent_document(unsent)}
        store.put_document(name, LOCAL, {**job.local, "Artifacts": artifacts})
    if published.failure is not None:
        raise _upload_error(name, job, published)
    return published


@dataclass(frozen=True, kw_only=True, slots=True)
class _LocalArtifacts:
    """The artifacts of a finished job, and where they are uploaded to."""

    region: str
    uri: str
    """The folder, with a `/` at its end."""
    kms_key: str | None
    model_folder: str
    """In the container."""
    paths: tuple[str, ...]
    unsent: tuple[tuple[str, str], ...]
    """Mirrored folders that could not be sent to S3: prefix and local folder."""
    local: Mapping[str, Any]

    @property
    def all_paths(self) -> tuple[str, ...]:
        return (*self.paths, *(directory for _, directory in self.unsent))


def _find_artifacts(store: Store, name: str) -> _LocalArtifacts:
    record = store.get(name)
    if spoken_of(record).endless:  # endpoints have no artifacts, so do not advise to wait
        raise _no_artifacts(record)
    if not record.status.terminal:
        raise not_finished(
            record, f"Wait for it: smlocal wait {name}", "A job that runs with --publish uploads its artifacts itself."
        )
    recalled, local = store.document(name, RECALL), store.document(name, LOCAL) or {}
    if recalled is None:
        raise _no_artifacts(record)
    plan = recall(recalled)
    if not isinstance(plan, JobPlan):
        raise _no_artifacts(record)
    uri = s3_form(plan.output.model_uri)
    artifacts = local.get("Artifacts") or {}
    found = _LocalArtifacts(
        region=plan.identity.region,
        uri=f"{uri.rstrip('/').rpartition('/')[0]}/",
        kms_key=plan.output.kms_key,
        model_folder=plan.folders.model,
        paths=tuple(artifacts[kind] for kind in ("Model", "Output") if artifacts.get(kind) and uri.startswith(_S3)),
        unsent=tuple((each["S3Uri"], each["Directory"]) for each in artifacts.get(UNSENT, ())),
        local=local,
    )
    if not plan.output.uri:
        raise _no_artifacts(record)
    if not uri.startswith(_S3) and not found.unsent:
        raise NothingToPublishError(
            f"the output of '{name}' is not in S3: {plan.output.uri}",
            remedy=["Publishing uploads to where the request puts the output. Use an s3:// URI there in the next run."],
        )
    if not found.all_paths:
        raise _no_artifacts(record)
    missing = [path for path in found.all_paths if not os.path.exists(path)]
    if missing:
        raise NothingToPublishError(
            f"artifacts of '{name}' were moved or deleted",
            details=missing,
            remedy=["Restore them, or run the job again with --publish."],
        )
    return found


def _no_artifacts(record: JobRecord) -> NothingToPublishError:
    return NothingToPublishError(
        f"the job '{record.name}' has no artifacts",
        details=[spoken_of(record).no_artifacts],
        remedy=[f"smlocal describe {record.name} says what happened."],
    )


def _upload_error(name: str, job: _LocalArtifacts, published: "PublishResult") -> SmlocalError:
    """`MachineNotReadyError` for wrong credentials or an unreachable S3, else `ArtifactError`."""
    error = published.error
    if error is not None:
        source = RequestedSource(subject=f'job "{name}"', member="output", uri=job.uri, where=None, directory="")
        not_ready = machine_error(source, error)
        if isinstance(not_ready, MachineNotReadyError):
            return not_ready
    return ArtifactError(
        published.failure or "",
        details=[error.uri] if error is not None else (),
        remedy=[f"The artifacts are still in: {', '.join(job.all_paths)}"],
    )


def _publisher(
    region: str, rights: Rights, target: "UploadTarget", directory: str, cancelled: Callable[[], bool]
) -> "Publisher":
    journal = OpenUploads(directory)
    others = [OpenUploads(directory, journal_name(name)) for name in _MIRRORS]  # mirroring has ended

    def open_client() -> "S3Client":
        client = open_store(region, rights=rights)
        for each in (journal, *others):
            each.abort_all(client)
        return client

    return Publisher(open_client, target, cancelled=cancelled, journal=journal)


_MIRRORS = ("checkpoints", "tensorboard", "tensors")
"""The folders that may be mirrored to S3. Each has its own journal, because they upload at the same time."""


def journal_name(mirror: str) -> str:
    """The name of a mirror's journal."""
    return f"uploads-of-{mirror}"


class OpenUploads:
    """A journal in the job's folder. A job does not fail if it cannot be written."""

    def __init__(self, directory: str, name: str = "uploads") -> None:
        """Read the journal. No other process or thread may write to one of this name."""
        self._path = os.path.join(directory, f"{name}.json")
        self._lock = Lock()
        self._open: dict[str, list[str]] = {}
        with suppress(OSError, ValueError), open(self._path, encoding="utf-8") as file:
            self._open = json.load(file)

    def begun(self, target: "UploadTarget", upload: str) -> None:
        """An upload has begun."""
        with self._lock:
            self._open[upload] = [target.bucket, target.key]
            self._write()

    def ended(self, upload: str) -> None:
        """An upload is complete or aborted."""
        with self._lock:
            if self._open.pop(upload, None) is not None:
                self._write()

    def abort_all(self, store: "S3Client") -> None:
        """Abort the uploads of a killed process; only for the one process that publishes this job."""
        if not self._open:
            return
        for upload, (bucket, key) in list(self._open.items()):
            try:
                S3Writer(store).abort(UploadTarget(bucket=bucket, key=key), upload)
            except S3Error:
                break  # the upload that follows will fail with the same error
            self.ended(upload)

    def _write(self) -> None:
        with suppress(OSError):
            if not self._open:
                os.unlink(self._path)
                return
            replace_file(self._path, json.dumps(self._open).encode())
