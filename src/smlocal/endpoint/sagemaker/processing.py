"""Processing jobs: what their requests mean here."""

from contextlib import ExitStack
from typing import Final

from smlocal.endpoint.call import AwsCall
from smlocal.endpoint.sagemaker.job_operations import JobOperations, refusals_answered, request_document
from smlocal.endpoint.sagemaker.named_jobs import NamedJobs
from smlocal.endpoint.serving import Serving
from smlocal.jobfile.option import LOCAL
from smlocal.sagemaker.processing.facts import NAME
from smlocal.sagemaker.processing.job_file import ProcessingFile, read_processing
from smlocal.sagemaker.processing.planning import waiting_job


def _read(serving: Serving, call: AwsCall, _: ExitStack) -> ProcessingFile:
    document = request_document(serving, call)
    document.data[LOCAL].setdefault("Output", serving.artifacts)
    with refusals_answered():
        return read_processing(document, strict=False)


PROCESSING: Final = JobOperations(
    jobs=NamedJobs(platform=NAME, stem="ProcessingJob", spoken="processing job"), read=_read, waiting=waiting_job
)
