"""From a validated transform file to its plan: that of an endpoint with the same model, and what differs."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from smlocal.engine.engines import Engines, engines_named
from smlocal.jobfile.document import recorded_document
from smlocal.jobs.planning.aspects.output.look import DEFAULT_OUTPUT, folder_at
from smlocal.jobs.planning.aspects.output.plan import OutputPlan
from smlocal.jobs.planning.model import HostPlan, IdentityPlan, JobPlan
from smlocal.jobs.prepared import Prepared
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.view import Reporter
from smlocal.sagemaker.hosting.planning import plan_job as plan_endpoint
from smlocal.sagemaker.hosting.planning import prepare as prepare_endpoint
from smlocal.sagemaker.transform import facts
from smlocal.sagemaker.transform.inputs import list_objects, store_of
from smlocal.sagemaker.transform.notes import notes
from smlocal.sagemaker.transform.transform_file import TransformFile, read_transform

_REMOTE: Final = ("s3://", "https://")


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
    _look_at_input(asked, plan)
    return replace(prepared, plan=plan, job=asked.document.record())


def _look_at_input(asked: TransformFile, plan: JobPlan) -> None:
    """What the service refuses is an error. The objects are listed again when the work begins."""
    region = plan.identity.region
    list_objects(asked, region=region, store=store_of(region, plan.rights))


def plan_job(asked: TransformFile, *, name: str, home: str, engines: Engines, strict: bool) -> JobPlan:
    """Only the plan: nothing is made or pulled."""
    endpoint = plan_endpoint(asked.model, name=name, home=home, engines=engines, strict=strict)
    plan = plan_transform(asked, endpoint, name=name, folder=output_folder(asked, name))
    _look_at_input(asked, plan)
    return plan


def prepare_recorded(recorded: Mapping[str, Any], record: JobRecord, *, home: str, reporter: Reporter) -> Prepared:
    """Prepare a job that was recorded and never begun."""
    asked = read_transform(recorded_document(recorded))
    engines = engines_named(asked.local.Engines)
    return prepare(
        asked, name=record.name, home=home, engines=engines, reporter=reporter, strict=False, run_id=record.run_id
    )


def plan_again(recorded: Mapping[str, Any], old: JobPlan, *, home: str, engines: Engines) -> JobPlan:  # noqa: ARG001 - nothing has to be looked at
    """The same plan: the objects are listed when the work begins."""
    return old


def output_folder(asked: TransformFile, name: str) -> str:
    """The folder of this machine that stands for S3OutputPath."""
    uri = asked.request.TransformOutput.S3OutputPath
    if uri.startswith(_REMOTE):
        uri = asked.local.Output or os.path.abspath(os.path.join(DEFAULT_OUTPUT, name))
    return folder_at(uri, asked.document.directory, asked.local.rights)


def plan_transform(asked: TransformFile, endpoint: JobPlan, *, name: str, folder: str) -> JobPlan:
    """The plan of an endpoint with the model, as that of a job that transforms."""
    identity, uri = endpoint.identity, asked.request.TransformOutput.S3OutputPath
    plan = replace(
        endpoint,
        platform=facts.NAME,
        request={**asked.raw, "TransformJobName": name},
        identity=IdentityPlan(
            arn=facts.transform_job_arn(name, region=identity.region, account=identity.account),
            region=identity.region,
            account=identity.account,
        ),
        hosts=tuple(_host(asked, host) for host in endpoint.hosts),
        output=OutputPlan(uri=uri, model_uri="", directory=folder, compression="NONE", merge_output=False),
        notes=(),
    )
    return replace(plan, notes=notes(plan, asked))


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
