"""Upload a job's artifacts to its `s3://` location, at its end or later (`smlocal publish`)."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from smlocal.contract.s3_uri import bucket_name, s3_form, split_s3_uri
from smlocal.errors import JobNotFinishedError, MachineNotReadyError, NothingToPublishError
from smlocal.job.finish.describe import LOCAL, PLAN, REQUEST
from smlocal.job.finish.open_uploads import MIRRORS, OpenUploads, journal_name
from smlocal.planning.model import JobPlan
from smlocal.quick_dataclass import dataclass
from smlocal.store.jobs import Store
from smlocal.store.lease import Lease

if TYPE_CHECKING:
    from smlocal.artifacts.s3_publish import Published as Published  # noqa: PLC0414  for the command
    from smlocal.artifacts.s3_publish import Publisher
    from smlocal.sources.s3.client import S3Client
    from smlocal.sources.s3.writer import Target

_S3 = "s3://"
_KINDS = ("Model", "Output")
UNSENT = "Unsent"
"""The member of `Local.Artifacts` with the mirrored folders that could not be sent to S3."""


@contextmanager
def publishing(plan: JobPlan, *, cancelled: Callable[[], bool]) -> "Iterator[Publisher | None]":
    """Uploads the artifacts of a job while they are written; None if the job does not publish.

    Once `cancelled`, which any thread may call, returns True, the upload is stopped. When the context is left, uploads
    that are not complete are aborted.
    """
    if not plan.output.publish:
        yield None
        return
    # The folder with `model.tar.gz` or `model/`.
    target = target_of(f"{plan.output.model_uri.rstrip('/').rpartition('/')[0]}/", kms_key(plan.request))
    with _publisher(plan.region, target, plan.job_directory, cancelled) as publisher:
        yield publisher


def kms_key(request: Mapping[str, Any]) -> str | None:
    """The key that encrypts everything a job uploads."""
    key: str | None = (request.get("OutputDataConfig") or {}).get("KmsKeyId")
    return key


def target_of(uri: str, kms_key: str | None) -> "Target":
    """The target for `s3://bucket/some/key/`."""
    from smlocal.sources.s3.writer import Target

    bucket_uri, key = split_s3_uri(s3_form(uri))
    return Target(bucket=bucket_name(bucket_uri), key=key, kms_key=kms_key)


def check_publishing(region: str) -> None:
    """Check that there are AWS credentials. No request is sent to S3."""
    from smlocal.sources.s3.client import open_store

    open_store(region)


def published_document(published: "Published") -> dict[str, Any]:
    """The members of `Local.Artifacts` on an upload."""
    return {
        "Published": [{"S3Uri": each.uri, "Bytes": each.bytes} for each in published.objects],
        "PublishFailure": published.failure or ("it was interrupted" if published.broken_off else None),
    }


def unsent_document(unsent: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Its member on folders that could not be sent."""
    return [{"S3Uri": uri, "Directory": directory} for uri, directory in unsent]


@dataclass(frozen=True, kw_only=True, slots=True)
class Publishable:
    """The artifacts of a finished job, and where they are uploaded to."""

    name: str
    region: str
    uri: str
    """The folder, with a `/` at its end."""
    kms_key: str | None
    paths: tuple[str, ...]
    unsent: tuple[tuple[str, str], ...]
    """Mirrored folders that could not be sent to S3: prefix and local folder."""
    local: Mapping[str, Any]

    @property
    def local_paths(self) -> tuple[str, ...]:
        """The local paths of everything that is uploaded."""
        return (*self.paths, *(directory for _, directory in self.unsent))


def publishable(store: Store, name: str) -> Publishable:
    """Check a job before anything is sent; raises `JobNotFinishedError` or `NothingToPublishError`."""
    record = store.get(name)
    if not record.status.terminal:
        raise JobNotFinishedError(
            f"The training job '{name}' is not finished: it is {record.status}.",
            remedy=[
                f"Wait for it: smlocal wait {name}",
                "A job that runs with --publish uploads its artifacts itself.",
            ],
        )
    plan, local = store.document(name, PLAN), store.document(name, LOCAL) or {}
    request = store.document(name, REQUEST)
    uri = s3_form(plan["Output"]["S3ModelArtifacts"])
    artifacts = local.get("Artifacts") or {}
    unsent = tuple((each["S3Uri"], each["Directory"]) for each in artifacts.get(UNSENT, ()))
    if not uri.startswith(_S3) and not unsent:
        raise NothingToPublishError(
            f"the S3OutputPath of '{name}' is not in S3: {plan['Output']['Requested']}",
            remedy=["Publishing uploads to the job's S3OutputPath. Use an s3:// URI there in the next run."],
        )
    paths = tuple(artifacts[kind] for kind in _KINDS if artifacts.get(kind) and uri.startswith(_S3))
    if not paths and not unsent:
        raise NothingToPublishError(
            f"the job '{name}' has no artifacts",
            details=[f"It is {record.status}, and no host wrote a model or output data."],
            remedy=[f"smlocal describe {name} says what happened."],
        )
    missing = [path for path in (*paths, *(folder for _, folder in unsent)) if not os.path.exists(path)]
    if missing:
        raise NothingToPublishError(
            f"artifacts of '{name}' were moved or deleted",
            details=missing,
            remedy=["Restore them, or run the job again with --publish."],
        )
    return Publishable(
        name=name,
        region=plan["Region"],
        uri=f"{uri.rstrip('/').rpartition('/')[0]}/",
        kms_key=kms_key(request),
        paths=paths,
        unsent=unsent,
        local=local,
    )


def publish_again(
    store: Store,
    job: Publishable,
    *,
    working: Callable[[str], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> "Published":
    """Upload the artifacts of a finished job and store the result. The status of the job does not change."""
    check_publishing(job.region)
    lease = Lease.take(store.directory(job.name))
    if lease is None:
        raise JobNotFinishedError(
            f"The artifacts of '{job.name}' are being published by another process.", remedy=["Wait for it."]
        )
    with lease:
        directory = store.directory(job.name)
        published = _send(
            _publisher(job.region, target_of(job.uri, job.kms_key), directory, cancelled), job.paths, working
        )
        unsent = list(job.unsent)
        while unsent and published.whole:
            uri, folder = unsent[0]
            sender = _publisher(job.region, target_of(uri, job.kms_key), directory, cancelled)
            published += _send(sender, (f"{folder}/",), working)
            unsent = unsent[1:] if published.whole else unsent
        artifacts = {**job.local["Artifacts"], **published_document(published), UNSENT: unsent_document(unsent)}
        store.put_document(job.name, LOCAL, {**job.local, "Artifacts": artifacts})
    return published


def _send(sender: "Publisher", paths: tuple[str, ...], working: Callable[[str], None]) -> "Published":
    """Upload archives and folders; of a folder with a `/` at its end its contents only."""
    with sender as publisher:
        for path in paths:
            if os.path.isdir(path):
                publisher.folder(path)
            else:
                publisher.file(path)
        return publisher.finish(working)


def _publisher(region: str, target: "Target", directory: str, cancelled: Callable[[], bool]) -> "Publisher":
    from smlocal.artifacts.s3_publish import Publisher

    journal = OpenUploads(directory)
    others = [OpenUploads(directory, journal_name(name)) for name in MIRRORS]  # mirroring has ended

    def open_client() -> "S3Client":
        from smlocal.sources.s3.client import open_store

        client = open_store(region)
        for each in (journal, *others):
            each.abort_all(client)
        return client

    return Publisher(open_client, target, cancelled=cancelled, journal=journal)


def upload_not_possible(job: Publishable, published: "Published") -> MachineNotReadyError | None:
    """The error if it was not S3 that refused: wrong credentials, or S3 is unreachable."""
    if published.error is None:
        return None
    from smlocal.sources.s3_source_errors import machine_error
    from smlocal.sources.source_errors import RequestedSource

    asked = RequestedSource(subject=f'job "{job.name}"', member="S3OutputPath", uri=job.uri, where=None, directory="")
    error = machine_error(asked, published.error)
    return error if isinstance(error, MachineNotReadyError) else None
