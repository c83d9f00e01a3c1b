"""From a validated transform file to its plan: that of an endpoint with the same model, and what differs.

It also makes the notes, and records a job that another process will start.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from smlocal.base.at_use import at_use
from smlocal.engine.engines import Engines
from smlocal.jobs.planning.aspects.output.look import DEFAULT_OUTPUT, folder_at
from smlocal.jobs.planning.aspects.output.plan import OutputPlan
from smlocal.jobs.planning.model import HostPlan, IdentityPlan, JobPlan, Note
from smlocal.jobs.prepared import Prepared
from smlocal.jobs.view import Reporter
from smlocal.sagemaker.contract.identity import sagemaker_arn
from smlocal.sagemaker.hosting.planning import notes_of_model, workload_of
from smlocal.sagemaker.hosting.planning import plan_job as plan_endpoint
from smlocal.sagemaker.hosting.planning import prepare as prepare_endpoint
from smlocal.sagemaker.place import arn_of
from smlocal.sagemaker.transform import facts
from smlocal.sagemaker.transform.members import MEMBERS
from smlocal.sagemaker.transform.objects import list_objects, store_of
from smlocal.sagemaker.transform.transform_file import TransformFile
from smlocal.terms.listing import Listing

if TYPE_CHECKING:
    from smlocal.base.alike_names import first_alike, ignores_case
    from smlocal.errors.of_jobs import NamesAlikeError
    from smlocal.jobs.submission.scheduler import WaitingJob
else:
    first_alike = at_use("smlocal.base.alike_names", "first_alike")
    ignores_case = at_use("smlocal.base.alike_names", "ignores_case")
    NamesAlikeError = at_use("smlocal.errors.of_jobs", "NamesAlikeError")
    WaitingJob = at_use("smlocal.jobs.submission.scheduler", "WaitingJob")

_REMOTE: Final = ("s3://", "https://")
_CONTAINERS: Final = 1
"""However many instances the request asks for."""


def prepare(
    asked: TransformFile,
    *,
    name: str,
    home: str,
    engines: Engines,
    reporter: Reporter,
    strict: bool,
    run_id: str | None = None,
) -> Prepared:
    """Check everything that can be checked before the job is made. What is wrong is an error.

    `run_id`: of a job that is already recorded.
    """
    folder = output_folder(asked, name)
    prepared = prepare_endpoint(
        asked.model, name=name, home=home, engines=engines, reporter=reporter, strict=strict, run_id=run_id
    )
    plan = plan_transform(asked, prepared.plan, name=name, folder=folder)
    return replace(prepared, plan=_with_notes(asked, plan), job=asked.document.record())


def _with_notes(asked: TransformFile, plan: JobPlan) -> JobPlan:
    """The plan with its notes, after a look at the input. What the service refuses is an error.

    The objects are listed again when the work begins.
    """
    region = plan.identity.region
    listing = list_objects(asked, region=region, store=store_of(region, plan.rights))
    if len(listing.paths) > 1:
        _check_names(listing, plan.output.directory)
    return replace(plan, notes=notes(plan, asked, listing))


def _check_names(listing: Listing, folder: str) -> None:
    """Refuse objects whose output would be one file."""
    pair = first_alike(listing.paths)
    if pair is not None and ignores_case(folder):
        raise NamesAlikeError(
            f"the output of {pair[0]} and {pair[1]} is one name on the disk of {folder}, which ignores case",
            remedy=["Rename one of them, or give a folder on a case-sensitive disk: S3OutputPath, or Local.Output."],
        )


def plan_job(asked: TransformFile, *, name: str, home: str, engines: Engines, strict: bool) -> JobPlan:
    """Only the plan: nothing is made or pulled."""
    endpoint = plan_endpoint(asked.model, name=name, home=home, engines=engines, strict=strict)
    plan = plan_transform(asked, endpoint, name=name, folder=output_folder(asked, name))
    return _with_notes(asked, plan)


def output_folder(asked: TransformFile, name: str) -> str:
    """The folder of this machine that stands for S3OutputPath."""
    uri = asked.request.TransformOutput.S3OutputPath
    if uri.startswith(_REMOTE):
        uri = asked.local.Output or os.path.abspath(os.path.join(DEFAULT_OUTPUT, name))
    return folder_at(uri, asked.document.directory, asked.local.rights)


def plan_transform(asked: TransformFile, endpoint: JobPlan, *, name: str, folder: str) -> JobPlan:
    """The plan of an endpoint with the model, as that of a job that transforms. It has no notes yet."""
    identity, uri = endpoint.identity, asked.request.TransformOutput.S3OutputPath
    return replace(
        endpoint,
        platform=facts.NAME,
        request={**asked.raw, "TransformJobName": name},
        identity=IdentityPlan(
            arn=sagemaker_arn(facts.IN_ARN, name, region=identity.region, account=identity.account),
            region=identity.region,
            account=identity.account,
        ),
        hosts=tuple(_host(asked, host) for host in endpoint.hosts),
        output=OutputPlan(uri=uri, model_uri="", directory=folder, compression="NONE", merge_output=False),
        notes=(),
    )


def _host(asked: TransformFile, host: HostPlan) -> HostPlan:
    """The container gets the variables of the request over those of the model, and those that say how it is used."""
    request = asked.request
    said = {
        "SAGEMAKER_BATCH": "true",
        "SAGEMAKER_MAX_PAYLOAD_IN_MB": request.MaxPayloadInMB,
        "SAGEMAKER_BATCH_STRATEGY": request.BatchStrategy and facts.STRATEGIES[request.BatchStrategy],
        "SAGEMAKER_MAX_CONCURRENT_TRANSFORMS": request.MaxConcurrentTransforms,
    }
    given = {name: str(value) for name, value in said.items() if value is not None}
    own = host.environment
    after = {name: own[name] for name in ("SAGEMAKER_BIND_TO_PORT",) if name in own}
    return replace(host, environment={**own, **given, **(request.Environment or {}), **after})


def notes(plan: JobPlan, asked: TransformFile, listing: Listing) -> tuple[Note, ...]:
    """Where the transform job differs from the service."""
    read = asked.request.TransformInput.DataSource.S3DataSource.S3Uri, "" if listing.remote else listing.root
    return notes_of_model(plan, asked.model, _own_notes(plan, asked), read=[read], written=[plan.output.uri])


def _own_notes(plan: JobPlan, asked: TransformFile) -> Iterator[tuple[str, str]]:
    if plan.output.uri.startswith(_REMOTE):
        yield "output-local", f"nothing is written to {plan.output.uri}; the output goes to {plan.output.directory}"
    resources = asked.request.TransformResources
    if resources is not None and resources.InstanceCount > 1:
        yield "one-container", f"one container transforms what {resources.InstanceCount} instances would share"
    named = {"ExecutionRoleArn", "Tags", "TransformResources"}
    recorded = sorted({name for name in MEMBERS.recorded(asked.raw) if name.partition(".")[0] not in named})
    if recorded:
        yield "recorded", f"recorded, no effect here: {', '.join(recorded)}"


def waiting_job(asked: TransformFile, name: str) -> WaitingJob:
    """What is recorded of a validated job."""
    return WaitingJob(
        platform=facts.NAME,
        arn=arn_of(workload_of(asked.model), facts.IN_ARN, name),
        request={**asked.raw, "TransformJobName": name},
        job=asked.document.record(),
        instances=_CONTAINERS,
        needs=((asked.model.variants[0].definition.InstanceType or "", _CONTAINERS),),
    )
