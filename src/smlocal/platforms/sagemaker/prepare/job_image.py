"""The image that a request names."""

from smlocal.platforms.sagemaker.jobfile.job_file import JobFile


def image_name(job: JobFile) -> str:
    """As in the request; empty if it has none."""
    specification = job.request.AlgorithmSpecification
    return (specification.TrainingImage if specification is not None else None) or ""
