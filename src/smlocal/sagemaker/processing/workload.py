"""What a processing job needs of this machine."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from smlocal.data.sources.local_path import is_remote
from smlocal.jobs.planning.aspects.mirrored.plan import CollectorPlan
from smlocal.jobs.planning.aspects.output.look import folder_at
from smlocal.jobs.planning.workload import AskedChannel, AskedFolder, AskedOutput, ContainerFolders, StopPlan, Workload
from smlocal.sagemaker.contract.documents.config_files import homogeneous
from smlocal.sagemaker.contract.requested import NO_INSTANCES
from smlocal.sagemaker.processing import facts
from smlocal.sagemaker.processing.job_file import Input, ProcessingFile, UploadedOutput
from smlocal.terms.checkpoints import within

_OUTPUT: Final = "output-"
"""The beginning of the names of mirrored folders that are outputs."""
_MEMBER: Final = "ProcessingOutputConfig"
_FOLDERS: Final = ContainerFolders(
    root=facts.ROOT,
    input=facts.CONFIG,
    data=facts.PROCESSING,
    model="",
    output=facts.OUTPUT,
    output_data="",
    failure=facts.MESSAGE,
)


def workload_of(job: ProcessingFile) -> Workload:
    """What the job needs. Its inputs are channels, and its outputs are mirrored."""
    request = job.request
    app, network, config = request.AppSpecification, request.NetworkConfig, request.ProcessingOutputConfig
    kind, count = job.instances
    return Workload(
        document=job.document,
        local=job.local,
        image=job.image,
        entrypoint=None if app.ContainerEntrypoint is None else tuple(app.ContainerEntrypoint),
        command=None if app.ContainerArguments is None else tuple(app.ContainerArguments),
        hosts=homogeneous(count, kind),
        variables=request.Environment or {},
        folders=_FOLDERS,
        channels=tuple(_channel(each) for each in job.inputs),
        empty_source_fails=True,  # the service creates such a job, and its download fails
        output=AskedOutput(kms_key=None if config is None else config.KmsKeyId),
        mirrored=tuple(_mirrored(each, job.inputs) for each in job.outputs),
        role=request.RoleArn or "",
        role_member="RoleArn",
        isolated=job.isolated,
        in_vpc=network is not None and network.VpcConfig is not None,
        volume_gb=job.volume_gb,
        stop=StopPlan(
            max_runtime=job.max_runtime, grace=job.local.StopGraceSeconds, peer_grace=job.local.PeerGraceSeconds
        ),
        has_instances=not any(fault.Kind == NO_INSTANCES for fault in job.local.Faults),
        faults=tuple(job.local.Faults),
    )


def _channel(each: Input) -> AskedChannel:
    return AskedChannel(
        name=each.name,
        place=("ProcessingInputs", each.index, *each.member, "OutputS3Uri" if each.query else "S3Uri"),
        uri=each.uri,
        target=each.path,
        mode="Pipe" if each.pipe else "File",
        data_type="ManifestFile" if each.data_type == "ManifestFile" else "S3Prefix",
        sharded=each.sharded,
        gzip=each.gzip,
    )


def _mirrored(output: UploadedOutput, inputs: tuple[Input, ...]) -> AskedFolder:
    return AskedFolder(
        name=f"{_OUTPUT}{output.name}",
        member=_MEMBER,
        uri=output.uri,
        path=output.path,
        # Everything below /opt/ml/processing is one mount, but for the inputs.
        own_mount=any(within(output.path, each.path) for each in inputs if not each.pipe),
        kept_in=output.name,
        continuous=output.continuous,
    )


def check_outputs(job: ProcessingFile) -> None:
    """Local folders that cannot be used are an error."""
    for output in job.outputs:
        if not is_remote(output.uri):
            folder_at(output.uri, job.document.directory, job.local.rights)


def output_name(collector: CollectorPlan) -> str:
    """The output's name, from its mirrored folder."""
    return collector.name.removeprefix(_OUTPUT)


def shown(collectors: tuple[CollectorPlan, ...]) -> Iterator[dict[str, Any]]:
    """The outputs, as the `Local` block and the plan have them."""
    for each in collectors:
        yield {
            "Name": output_name(each),
            "LocalPath": each.local_path,
            "S3Uri": each.uri,
            "S3UploadMode": "Continuous" if each.continuous else "EndOfJob",
            "Directory": each.directory,
            "Published": each.s3_prefix,
        }


def count_files(top: str, *, most: int) -> tuple[int, int, bool]:
    """The files below a folder and their bytes, without following links; False if more than `most`.

    Unreadable folders are left out.
    """
    count, size, pending = 0, 0, [top]
    while pending:
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif count == most:
                    return count, size, False
                elif entry.is_file(follow_symlinks=False):
                    count, size = count + 1, size + entry.stat(follow_symlinks=False).st_size
    return count, size, True
