"""Upload what a finished job has left on disk."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from smlocal.errors import ArtifactError
from smlocal.job.finish.publish import publish_again, publishable, upload_not_possible
from smlocal.store.jobs import Store

if TYPE_CHECKING:
    from smlocal.job.finish.publish import Published


def publish(store: Store, name: str, *, progress: Callable[[str], None], cancelled: Callable[[], bool]) -> "Published":
    """What is in S3 then. Raises an error if S3 refused something or could not be reached."""
    job = publishable(store, name)
    published = publish_again(store, job, working=progress, cancelled=cancelled)
    if published.failure is not None:
        raise upload_not_possible(job, published) or ArtifactError(
            published.failure,
            details=[published.error.uri] if published.error is not None else (),
            remedy=[f"The artifacts are still in: {', '.join(job.local_paths)}"],
        )
    return published
