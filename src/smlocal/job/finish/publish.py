"""Artifacts of a job sent to the `s3://` location that its request names: while it runs, or once more afterwards."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from smlocal.contract.s3_uri import bucket_name, s3_form, split_s3_uri
from smlocal.errors import JobNotFinishedError, MachineNotReadyError, NothingToPublishError
from smlocal.job.finish.describe import LOCAL, PLAN, REQUEST
from smlocal.job.finish.open_uploads import MIRRORS, OpenUploads, uploads_of
from smlocal.planning.model import JobPlan
from smlocal.quick_dataclass import dataclass
from smlocal.store.jobs import Store
from smlocal.store.lease import Lease

if TYPE_CHECKING:
    from smlocal.artifacts.s3_publish import Published as Published  # noqa: PLC0414  for the command, which says what became of it
    from smlocal.artifacts.s3_publish import Publisher
    from smlocal.sources.s3.client import S3Client
    from smlocal.sources.s3.writer import Target

_S3 = "s3://"
_KINDS = ("Model", "Output")
UNSENT = "Unsent"
"""What `Local.Artifacts` calls what is mirrored and S3 did not take."""


@contextmanager
def publishing(plan: JobPlan, *, given_up: Callable[[], bool]) -> "Iterator[Publisher | None]":
    """What sends the artifacts of a job on while they are written; None for a job that does not publish.

    `given_up` is asked all the time, by any thread; once it says so the upload is broken off. Leaving the context takes
    back what is not complete.
    """
    if not plan.output.publish:
        yield None
        return
    place = _place(plan.output.model_uri, kms_key(plan.request))
    with _publisher(plan.region, place, plan.job_directory, given_up) as publisher:
        yield publisher


def kms_key(request: Mapping[str, Any]) -> str | None:
    """With which everything is encrypted that a job sends."""
    found: str | None = (request.get("OutputDataConfig") or {}).get("KmsKeyId")
    return found


def place_of(uri: str, kms_key: str | None) -> "Target":
    """`s3://bucket/some/key/`, as where something is sent."""
    from smlocal.sources.s3.writer import Target

    bucket_uri, key = split_s3_uri(s3_form(uri))
    return Target(bucket=bucket_name(bucket_uri), key=key, kms_key=kms_key)


def check_publishing(region: str) -> None:
    """See before the start that somebody is logged in; nothing is asked of S3."""
    from smlocal.sources.s3.client import open_store

    open_store(region)


def published_document(published: "Published") -> dict[str, Any]:
    """What `Local.Artifacts` says of it."""
    return {
        "Published": [{"S3Uri": each.uri, "Bytes": each.bytes} for each in published.objects],
        "PublishFailure": published.failure or ("it was interrupted" if published.broken_off else None),
    }


def unsent_document(unsent: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """What it says of folders that are still to be sent."""
    return [{"S3Uri": uri, "Directory": directory} for uri, directory in unsent]


@dataclass(frozen=True, kw_only=True, slots=True)
class Publishable:
    """What a finished job has left, and where it is meant for."""

    name: str
    region: str
    uri: str
    """Of the folder, with a `/` at its end."""
    kms_key: str | None
    paths: tuple[str, ...]
    unsent: tuple[tuple[str, str], ...]
    """What S3 did not take of what is mirrored there: the prefix, and the folder."""
    local: Mapping[str, Any]

    @property
    def places(self) -> tuple[str, ...]:
        """Where all of it is here."""
        return (*self.paths, *(directory for _, directory in self.unsent))


def publishable(store: Store, name: str) -> Publishable:
    """Look at a job before anything is sent; `JobNotFinishedError` or `NothingToPublishError` says what is wrong."""
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
    gone = [path for path in (*paths, *(folder for _, folder in unsent)) if not os.path.exists(path)]
    if gone:
        raise NothingToPublishError(
            f"artifacts of '{name}' were moved or deleted",
            details=gone,
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
    given_up: Callable[[], bool] = lambda: False,
) -> "Published":
    """Send what a finished job has left on disk, and remember how that went; the job itself stays as it is."""
    check_publishing(job.region)
    lease = Lease.take(store.directory(job.name))
    if lease is None:
        raise JobNotFinishedError(
            f"The artifacts of '{job.name}' are being published by another process.", remedy=["Wait for it."]
        )
    with lease:
        directory = store.directory(job.name)
        published = _send(
            _publisher(job.region, place_of(job.uri, job.kms_key), directory, given_up), job.paths, working
        )
        left = list(job.unsent)
        while left and published.whole:
            uri, folder = left[0]
            sender = _publisher(job.region, place_of(uri, job.kms_key), directory, given_up)
            published += _send(sender, (f"{folder}/",), working)
            left = left[1:] if published.whole else left
        artifacts = {**job.local["Artifacts"], **published_document(published), UNSENT: unsent_document(left)}
        store.put_document(job.name, LOCAL, {**job.local, "Artifacts": artifacts})
    return published


def _send(sender: "Publisher", paths: tuple[str, ...], working: Callable[[str], None]) -> "Published":
    """Send archives and folders; of a folder with a `/` at its end only what is in it, without its name."""
    with sender as publisher:
        for path in paths:
            if os.path.isdir(path):
                publisher.folder(path)
            else:
                publisher.file(path)
        return publisher.finish(working)


def _place(model_uri: str, kms_key: str | None) -> "Target":
    """The folder that the model is meant for, with its archive or its folder `model/` in it."""
    return place_of(f"{model_uri.rstrip('/').rpartition('/')[0]}/", kms_key)


def _publisher(region: str, place: "Target", directory: str, given_up: Callable[[], bool]) -> "Publisher":
    from smlocal.artifacts.s3_publish import Publisher

    journal = OpenUploads(directory)
    others = [OpenUploads(directory, uploads_of(name)) for name in MIRRORS]  # those have ended by now

    def open_client() -> "S3Client":
        from smlocal.sources.s3.client import open_store

        client = open_store(region)
        for each in (journal, *others):
            each.take_back(client)
        return client

    return Publisher(open_client, place, cancelled=given_up, journal=journal)


def unready(job: Publishable, published: "Published") -> MachineNotReadyError | None:
    """The error where it was not S3 that refused: credentials that do not count, or no way there at all."""
    if published.error is None:
        return None
    from smlocal.sources.refusals import Asked
    from smlocal.sources.s3_refusals import machine_not_ready

    asked = Asked(subject=f'job "{job.name}"', member="S3OutputPath", uri=job.uri, where=None, directory="")
    error = machine_not_ready(asked, published.error)
    return error if isinstance(error, MachineNotReadyError) else None
