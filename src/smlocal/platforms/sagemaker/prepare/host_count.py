"""How many hosts a job may have."""

from smlocal.errors import TooManyHostsError
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.planning.hosts import MAX_PLANNED_HOSTS, host_count


def check_host_count(job: JobFile, *, most: int | None) -> None:
    """All hosts are containers of one machine: refuse more than `most`, and more than can be planned."""
    resources = job.request.ResourceConfig
    count = 1 if resources is None else host_count(resources)
    if count > MAX_PLANNED_HOSTS:
        raise TooManyHostsError(
            f"{count} hosts are too many for one machine: the maximum is {MAX_PLANNED_HOSTS}",
            remedy=["Use fewer: --instance-count, or ResourceConfig.InstanceCount."],
        )
    if most is not None and count > most:
        raise TooManyHostsError(
            f"{count} hosts would be {count} containers at once on this machine, and Local.MaxHosts is {most}",
            remedy=[
                "Use fewer: --instance-count, or ResourceConfig.InstanceCount.",
                "Raise Local.MaxHosts if this machine has enough memory: smlocal plan shows what they need.",
            ],
        )
