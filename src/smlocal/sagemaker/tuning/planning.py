"""From a validated tuning job to its plan: what one of its training jobs needs, without a container of its own."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from smlocal.engine.engines import Engines, engines_named
from smlocal.jobfile.document import recorded_document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.planning.aspects.image.plan import ImagePlan
from smlocal.jobs.planning.aspects.inputs.plan import InputsPlan
from smlocal.jobs.planning.aspects.mirrored.plan import MirroredPlan
from smlocal.jobs.planning.aspects.network.plan import JobNetwork
from smlocal.jobs.planning.aspects.rules.plan import RulesPlan
from smlocal.jobs.planning.model import IdentityPlan, JobPlan, KeptPlan, StopPlan
from smlocal.jobs.prepared import Prepared
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.view import Reporter
from smlocal.sagemaker import prepare as training
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.children import training_job
from smlocal.sagemaker.tuning.notes import notes
from smlocal.sagemaker.tuning.search import first_points
from smlocal.sagemaker.tuning.tuning_file import TuningFile, read_tuning
from smlocal.sagemaker.tuning.warm_start import earlier_of

_NO_END = 2**31
"""Seconds: the search has a limit of its own."""


def prepare(
    file: TuningFile,
    *,
    name: str,
    home: str,
    engines: Engines,
    reporter: Reporter,
    strict: bool,  # noqa: ARG001 - the same for all kinds; reading the file was strict already
    run_id: str | None = None,
) -> Prepared:
    """Check everything that would stop its training jobs, with one of each definition. What is wrong is an error."""
    _check_parents(file, home)
    if file.plan(name).strategy == "Bayesian":
        from smlocal.sagemaker.tuning.bayesian import load_library  # an extra

        load_library()
    prepared = [
        training.prepare(
            training_job(file, index, _sample(file, index)),
            name=facts.child_name(name, 1, "00000000"),
            home=home,
            engines=engines,
            reporter=reporter,
            strict=False,
        )
        for index in range(len(file.definitions))
    ]
    plan = _plan(file, prepared[0].plan, name=name, home=home, run_id=run_id)
    return Prepared(plan=plan, job=_pinned(file, plan))


def plan_job(file: TuningFile, *, name: str, home: str, engines: Engines, strict: bool) -> JobPlan:  # noqa: ARG001 - as above
    """Only the plan: no image is pulled."""
    _check_parents(file, home)
    job = training_job(file, 0, _sample(file, 0))
    first = facts.child_name(name, 1, "00000000")
    plan = training.plan_job(job, name=first, home=home, engines=engines, strict=False)
    return _plan(file, plan, name=name, home=home, run_id=None)


def prepare_recorded(recorded: Mapping[str, Any], record: JobRecord, *, home: str, reporter: Reporter) -> Prepared:
    """Prepare a tuning job that was recorded and never begun."""
    file = read_tuning(recorded_document(recorded))
    engines = engines_named(file.local.Engines)
    return prepare(
        file, name=record.name, home=home, engines=engines, reporter=reporter, strict=False, run_id=record.run_id
    )


def plan_again(recorded: Mapping[str, Any], old: JobPlan, *, home: str, engines: Engines) -> JobPlan:  # noqa: ARG001 - nothing is looked at
    """The same plan: each training job is planned when it begins."""
    return old


def _sample(file: TuningFile, definition: int) -> dict[str, str]:
    """A point of a definition."""
    return {each.name: each.at(0.0) for each in file.definitions[definition].search.ranges}


def _check_parents(file: TuningFile, home: str) -> None:
    if file.parents:
        with Store.open(home) as store:
            earlier_of(file, store)


def _plan(file: TuningFile, of: JobPlan, *, name: str, home: str, run_id: str | None) -> JobPlan:
    region, account = of.identity.region, of.identity.account
    plan = replace(
        of,
        platform=facts.NAME,
        name=name,
        run_id=run_id or os.urandom(4).hex(),
        job_directory=os.path.join(home, "jobs", name),
        request={"HyperParameterTuningJobName": name, **file.raw},
        identity=IdentityPlan(
            arn=facts.tuning_job_arn(name, region=region, account=account), region=region, account=account
        ),
        image=ImagePlan(name=of.image.name, facts=of.image.facts, entrypoint=None, command=None),
        network=JobNetwork(),
        hosts=(),
        inputs=InputsPlan(),
        output=replace(of.output, directory=os.path.join(os.path.dirname(of.output.directory), name), model_uri=""),
        mirrored=MirroredPlan(),
        credentials=None,
        rules=RulesPlan(),
        metrics=(),
        data_parallel=None,
        debug=None,
        stop=StopPlan(max_runtime=_NO_END, grace=of.stop.grace, peer_grace=of.stop.peer_grace),
        kept=KeptPlan(),
    )
    return replace(plan, notes=notes(of.notes, file))


def _pinned(file: TuningFile, plan: JobPlan) -> dict[str, Any]:
    """The job file, with what depends on the environment and the folder of the command."""
    local = {**(file.document.data.get(LOCAL) or {}), "Region": plan.identity.region}
    if plan.output.uri.startswith(("s3://", "https://")):
        local["Output"] = os.path.dirname(plan.output.directory)
    return {**file.document.record(), "Data": {**file.document.data, LOCAL: local}}


def first_trials(file: TuningFile, name: str, count: int) -> list[tuple[str | None, dict[str, str]]]:
    """The first points, each with the name of its definition; none if the strategy learns from results."""
    plan = file.plan(name)
    if plan.strategy == "Bayesian":
        return []
    return [(file.definitions[each.definition].name, each.tuned) for each in first_points(plan, count)]
