"""A description of a job where a job file is expected: the request in it is used."""

from collections.abc import Callable

from smlocal.cli.shown_help import shown_option
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import Head
from smlocal.jobs.kind import Kind
from smlocal.sagemaker.kinds import PROCESSING, TUNING

_SIGNS = {"TrainingJobArn", "TrainingJobSummaries", "TrainingJob", "Results", "detail", "S3Operations"}
"""No job file has such a key. Answers of the service have one, and so has a request that SDK v2 made for Airflow."""


allow_local_paths_option = shown_option(
    "--allow-local-paths",
    is_flag=True,
    help="Let the description of a job of this machine name the local paths that the job was made with.",
    head=Head.DATA,
)


def use_described_request(
    document: "Document", say: Callable[[str], None], *, local: bool = True, allow_local_paths: bool = False
) -> None:
    """Replace the answer in a document by its request, and say so. Nothing is done with a job file.

    `local`: add the settings of this machine that keep the job as it was. `allow_local_paths` as the option says.
    """
    for kind in (PROCESSING, TUNING):
        if kind.arn_member in document.data:
            _use(kind, document, say, allow_local_paths=allow_local_paths)
            return
    if not _SIGNS & document.data.keys():
        return
    from smlocal.service.job_file_text import make_job, sentences

    job = make_job(document, local=local, allow_local_paths=allow_local_paths)
    for sentence in sentences(job, document.name):
        say(sentence)


def _use(kind: Kind, document: "Document", say: Callable[[str], None], *, allow_local_paths: bool) -> None:
    from smlocal.service.described_request import is_answer, use_request

    if is_answer(kind, document.data):
        job = use_request(kind, document, allow_local_paths=allow_local_paths)
        say(f"{document.name} describes the {kind.spoken} {job.name} ({job.state}): its request is used")
        if job.newer:
            say(f"left out, because this version of smlocal does not know it: {', '.join(job.newer)}")
