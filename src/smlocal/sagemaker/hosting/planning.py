"""From a validated model file to the plan of an endpoint: look at the machine once, then compute.

It also makes the notes, and records a job that another process will start.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from smlocal.base.accounts import other_users, why_a_key
from smlocal.base.at_use import at_use
from smlocal.engine.engines import Engines
from smlocal.engine.facts import EngineFacts, ImageFacts
from smlocal.errors import ImagePullError
from smlocal.errors.of_jobs import EndpointUnreachableError, PortLabelMissingError
from smlocal.jobs.planning.aspects.accelerators.show import GPU_RULES
from smlocal.jobs.planning.aspects.credentials.plan import credentials_of
from smlocal.jobs.planning.aspects.credentials.show import CREDENTIAL_RULES
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine, PlacedEngines
from smlocal.jobs.planning.aspects.engines.look_folders import with_folder_facts, with_known_folders
from smlocal.jobs.planning.aspects.engines.plan import EnginesFacts, EnginesPlan, MachineFacts
from smlocal.jobs.planning.aspects.engines.show import ENGINE_RULES
from smlocal.jobs.planning.aspects.image.look import check_architecture, pull_image
from smlocal.jobs.planning.aspects.inputs.plan import InputsPlan
from smlocal.jobs.planning.aspects.limits.show import LIMIT_RULES
from smlocal.jobs.planning.aspects.looks import Asked, examined, try_out
from smlocal.jobs.planning.aspects.network.look import choose_network, refuse_contradictions
from smlocal.jobs.planning.aspects.network.plan import JobNetwork, plan_network
from smlocal.jobs.planning.aspects.network.show import NETWORK_RULES
from smlocal.jobs.planning.aspects.output.plan import OutputPlan
from smlocal.jobs.planning.aspects.serving.plan import ModelPlan, ServingPlan, VariantPlan
from smlocal.jobs.planning.model import IdentityPlan, JobPlan, Note
from smlocal.jobs.planning.note_rule import notes_of, some
from smlocal.jobs.planning.workload import ContainerFolders, StopPlan, Workload
from smlocal.jobs.prepared import Prepared, find_credentials
from smlocal.jobs.view import Reporter
from smlocal.sagemaker.contract import identity
from smlocal.sagemaker.contract.identity import sagemaker_arn
from smlocal.sagemaker.hosting.hosts import (
    HostsShared,
    Images,
    Models,
    containers_of,
    image_name,
    instance_count,
    instances,
    plan_hosts,
    program,
)
from smlocal.sagemaker.hosting.model_data import ModelSearch, check_room
from smlocal.sagemaker.place import arn_of, region_of
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.address import OPEN_TO_ALL
from smlocal.sagemaker.serving.members import recorded_members
from smlocal.sagemaker.serving.model_file import ModelFile, ServingLimits

if TYPE_CHECKING:
    from smlocal.engine.seen_folders import is_folder_seen
    from smlocal.jobs.planning.aspects.place.look import check_place
    from smlocal.jobs.submission.scheduler import WaitingJob
else:
    is_folder_seen = at_use("smlocal.engine.seen_folders", "is_folder_seen")
    check_place = at_use("smlocal.jobs.planning.aspects.place.look", "check_place")
    WaitingJob = at_use("smlocal.jobs.submission.scheduler", "WaitingJob")

_FOLDERS: Final = ContainerFolders(root="", input="", data="", model="", output="", output_data="", failure="")
"""Nothing is collected from a container that serves; its model is mounted like a channel."""
_NOTE_RULES: Final = (*GPU_RULES, *LIMIT_RULES, *CREDENTIAL_RULES, *ENGINE_RULES, *NETWORK_RULES)
_REMOTE: Final = ("s3://", "https://")
_ALSO: Final = {"MaxBodyBytes": (facts.MODEL_BODY,)}
"""Limits that another document of the service states."""
_NO_END: Final = 2**31
"""Seconds that an endpoint may run."""


def prepare(
    model: ModelFile,
    *,
    name: str,
    home: str,
    engines: Engines,
    reporter: Reporter,
    strict: bool,  # noqa: ARG001 - the same for all kinds; reading the file was strict already
    run_id: str | None = None,
) -> Prepared:
    """Check everything that can be checked before the endpoint is made. What is wrong is an error.

    `run_id`: of an endpoint that is already recorded.
    """
    refuse_contradictions(workload_of(model))
    data = find_models(model)
    engine = engines.first
    found = with_known_folders(engine.facts(), home)
    check_reach(model, found, home)
    placed = PlacedEngine(engine=engine, facts=found, hosts=())
    asked = _asked(model)
    machine = examined(asked, placed, home=home)
    images = _images(model, placed, reporter)
    found = with_folder_facts(found, engine, next(iter(images.values())), home)
    _check_folders(data, found, placed, images)
    try_out(asked, placed, machine)
    plan = plan_endpoint(
        model, data, replace(placed, facts=found), images, name=name, home=home, machine=machine, run_id=run_id
    )
    if archives := [each.path for each in _models_of(plan) if each.form == "archive" and each.path]:
        check_room(archives, home)
    return Prepared(plan=plan, job=model.document.record(), credentials=find_credentials(plan, engines))


def _models_of(plan: JobPlan) -> Iterator[ModelPlan]:
    """Those of each container: each unpacks its own."""
    for host in plan.hosts:
        yield from () if host.server is None else host.server.models


def plan_job(model: ModelFile, *, name: str, home: str, engines: Engines, strict: bool) -> JobPlan:  # noqa: ARG001 - as above
    """Only the plan: nothing is pulled, and missing GPUs are not an error."""
    refuse_contradictions(workload_of(model))
    engine = engines.first
    found = with_known_folders(engine.facts(), home)
    check_reach(model, found, home)
    placed = PlacedEngine(engine=engine, facts=found, hosts=())
    machine = examined(replace(_asked(model), required=False), placed, home=home)
    names = {image_name(container) for variant in model.variants for container in variant.model.containers}
    images = {each: engine.image(each) for each in sorted(names)}
    return plan_endpoint(model, find_models(model), placed, images, name=name, home=home, machine=machine, run_id=None)


def find_models(model: ModelFile) -> Models:
    """The models of each container, by its place in the document."""
    search = ModelSearch(
        document=model.document,
        local=model.local,
        region=region_of(model.local, image_name(model.containers[0])),
        role=model.role,
    )
    return {each.at: search.models(each.definition, each.at) for each in model.containers}


def _images(model: ModelFile, placed: PlacedEngine, reporter: Reporter) -> Images:
    """The facts of all images, by their names, once the engine has them."""
    found: dict[str, ImageFacts | None] = {}
    for variant in model.variants:
        for container in variant.model.containers:
            name = image_name(container)
            if name not in found:
                found[name], refused = pull_image(placed.engine, name, model.local.Pull, reporter)
                if refused is not None:
                    raise ImagePullError(refused)
                check_architecture(name, found[name], placed.facts)
            if len(variant.model.containers) > 1:
                check_label(name, found[name])
    return found


def check_label(name: str, image: ImageFacts | None) -> None:
    """Refuse an image that the service refuses beside others."""
    if image is not None and image.labels.get(facts.PORT_LABEL) != "true":
        raise PortLabelMissingError(
            f"Your Ecr Image {name} does not contain required {facts.PORT_LABEL}=true Docker label(s).",
            details=["A model with several containers needs images that listen on $SAGEMAKER_BIND_TO_PORT."],
            remedy=[f"Listen on that port, and add to the Dockerfile: LABEL {facts.PORT_LABEL}=true"],
        )


def _asked(model: ModelFile) -> Asked:
    work = workload_of(model)
    return Asked(hosts=work.hosts, local=work.local, document=work.document, image=work.image, required=True)


def _has_address(engine: EngineFacts) -> bool:
    """True if this machine reaches containers of the engine at their own addresses."""
    return engine.local and not engine.desktop and not engine.rootless


def check_reach(model: ModelFile, engine: EngineFacts, home: str) -> None:
    """Refuse an engine whose containers cannot be invoked from here, and what its place does not let them have."""
    if engine.place is not None:
        check_place(
            engine.place,
            model.local,
            hosts=1,
            isolated=model.isolated,
            home=home,
            elsewhere="Or use the model on the service.",
        )
        return
    if not engine.local:
        raise EndpointUnreachableError(
            f"the engine at {engine.address} is on another machine, and its containers cannot be invoked from here",
            remedy=["Deploy on an engine of this machine."],
        )
    if model.isolated and not _has_address(engine):
        raise EndpointUnreachableError(
            f"the engine at {engine.address} publishes no port of a container with EnableNetworkIsolation",
            remedy=["Deploy without EnableNetworkIsolation, or on an engine that root runs on Linux."],
        )


def _check_folders(data: Models, engine: EngineFacts, placed: PlacedEngine, images: Images) -> None:
    image = next(iter(images.values()))
    unseen = "" if engine.shares_folders else "the folders of this machine"
    if not unseen and not engine.same_mounts and image is not None:
        folders = [each.path for models in data.values() for each in models if each.form == "folder" and each.path]
        unseen = next((each for each in folders if not is_folder_seen(each, [placed.engine], image.id)), "")
    if unseen:
        raise EndpointUnreachableError(
            f"the engine at {engine.address} does not see {unseen}, and cannot mount the model",
            remedy=["Use an engine that sees them: smlocal help engines."]
            if not engine.shares_folders
            else ["Use a folder that the engine sees at the same path, or an archive."],
        )


def plan_endpoint(
    model: ModelFile,
    data: Models,
    placed: PlacedEngine,
    images: Images,
    *,
    name: str,
    home: str,
    machine: MachineFacts,
    run_id: str | None,
) -> JobPlan:
    """The plan of these models on this machine."""
    run_id = run_id or os.urandom(4).hex()
    called = model.raw.get("EndpointName", name)
    local, directory = model.local, os.path.join(home, "jobs", name)
    stem = f"smlocal-{name}-{run_id}"
    containers = containers_of(model)
    engines = PlacedEngines(each=(placed,))
    network = choose_network(
        len(containers) if model.isolated else 1,
        local,
        engines,
        isolated=model.isolated,
        run_id=run_id,
        remove_leftovers=True,
    )
    first = image_name(model.containers[0])
    region, account = region_of(local, first), identity.account(role=model.role, image=first)
    own = None
    if model.isolated:
        hosts = [each.name for each in containers]
        own = plan_network(stem, network.subnet, hosts, within=local.NetworkRange, isolated=True)
        own = replace(own, reached=True)
    known = EnginesFacts(first=placed.facts, machine=machine)
    shared = HostsShared(
        model=model,
        data=data,
        images=images,
        engine=placed.engine,
        engines=known,
        network=network,
        region=region,
        stem=stem,
        staged=f"{directory}/staged",
        published=not _has_address(placed.facts),
    )
    key, access = key_demand(asked=model.serving.Key)
    plan = JobPlan(
        platform=facts.NAME,
        name=name,
        run_id=run_id,
        job_directory=directory,
        request={**model.raw, "EndpointName": called},
        rights=local.rights,
        identity=IdentityPlan(
            arn=sagemaker_arn(facts.IN_ARN, called, region=region, account=account), region=region, account=account
        ),
        image=program(first, images),
        engines=EnginesPlan(first=placed.facts, machine=machine),
        network=JobNetwork(
            own=own,
            unreachable=() if model.isolated else network.loopback_only,
            joined=tuple(local.Networks),
            shared=placed.facts.place.network if placed.facts.place is not None else "",
        ),
        folders=_FOLDERS,
        hosts=plan_hosts(containers, shared),
        inputs=InputsPlan(cache_bytes=local.CacheGiB << 30 if local.Cache else 0),
        output=OutputPlan(uri="", model_uri="", directory=directory, compression="NONE", merge_output=False),
        credentials=credentials_of(local, role_arn=model.role, session=identity.SESSION_NAME, isolated=model.isolated),
        serving=ServingPlan(
            variants=tuple(
                VariantPlan(name=each.name, weight=each.weight, direct=each.model.direct) for each in model.variants
            ),
            ping=float(model.serving.PingSeconds),
            invocation=float(model.serving.InvocationSeconds),
            stream=float(model.serving.StreamSeconds),
            most_body=model.serving.MaxBodyBytes,
            key=key,
            access=access,
        ),
        stop=StopPlan(max_runtime=_NO_END, grace=model.grace, peer_grace=model.grace),
    )
    return replace(plan, notes=notes(plan, model))


def key_demand(*, asked: bool | None) -> tuple[bool, str]:
    """Whether the address demands a key, and what its owner is told of that. `asked`: None if nothing is."""
    others = other_users()
    if asked is None and others:
        return True, f"a key is demanded: {why_a_key(others)}"
    return bool(asked), OPEN_TO_ALL if others and not asked else ""


def notes(plan: JobPlan, model: ModelFile) -> tuple[Note, ...]:
    """Where the endpoint differs from the service."""
    return notes_of_model(plan, model, _own_notes(model))


def notes_of_model(
    plan: JobPlan,
    model: ModelFile,
    own: Iterator[tuple[str, str]],
    *,
    read: Sequence[tuple[str, str]] = (),
    written: Sequence[str] = (),
) -> tuple[Note, ...]:
    """The notes of an endpoint or a transform job: those of its model, and its own.

    `read`: other locations that are read, each with its path on this machine, or "". `written`: those of outputs.
    """
    models = [each for host in plan.hosts if host.server is not None for each in host.server.models]
    located = [*((each.uri, each.path) for each in models), *read]
    general = (*_relaxed(plan, model, [*(uri for uri, _ in located), *written]), *_read_from(located))
    return notes_of(_NOTE_RULES, plan, workload_of(model), (*general, *own))


def workload_of(model: ModelFile) -> Workload:
    """The needs of all variants' hosts. Models are not channels, since each container has its own."""
    first = model.containers[0]
    return Workload(
        document=model.document,
        local=model.local,
        image=image_name(first),
        hosts=tuple(each.host for each in instances(model)),
        variables=first.definition.Environment or {},
        folders=_FOLDERS,
        role=model.role,
        role_member="ExecutionRoleArn",
        isolated=model.isolated,
        stop=StopPlan(max_runtime=_NO_END, grace=model.grace, peer_grace=model.grace),
    )


def _relaxed(plan: JobPlan, model: ModelFile, uris: Sequence[str]) -> Iterator[tuple[str, str]]:
    if not model.role:
        yield "relaxed-role", "ExecutionRoleArn is missing; the service requires it of the model"
    if any(host.host.is_this_machine for host in plan.hosts):
        yield (
            "relaxed-instance",
            "the instance type local means this machine; the service requires a real instance type",
        )
    relaxed = [uri for uri in uris if not uri.startswith(_REMOTE)]
    if relaxed:
        yield "relaxed-uri", f"local paths are used where the service requires s3:// URIs ({some(relaxed)})"


def _read_from(located: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    mapped = [f"{uri} from {path}" for uri, path in located if uri.startswith(_REMOTE) and path]
    if mapped:
        yield "mapped-sources", f"read from this machine through Local.Sources: {some(mapped)}"
    remote = [uri for uri, path in located if not path]
    if remote:
        yield "s3-credentials", f"read from S3 with your own credentials, not those of the role: {some(remote)}"


def _own_notes(model: ModelFile) -> Iterator[tuple[str, str]]:
    limits = [
        f"{name} is {here}, and {there} on the service"
        for name, there in vars(ServingLimits()).items()
        if there is not None and (here := getattr(model.serving, name)) != there and here not in _ALSO.get(name, ())
    ]
    if limits:
        yield "serving-limits", f"Local.Serving: {'; '.join(limits)}"
    fewer = [
        f"{run} of {variant.definition.InitialInstanceCount} of {variant.name}"
        for variant in model.variants
        if (run := instance_count(model, variant)) < (variant.definition.InitialInstanceCount or 1)
    ]
    if fewer:
        yield "fewer-instances", f"fewer instances than asked for: {', '.join(fewer)} (Local.Serving.MaxInstances)"
    roles = {each.ExecutionRoleArn for each in model.models if each.ExecutionRoleArn}
    if len(roles) > 1:
        yield "one-role", f"all containers have the role of the first model, {model.role}"
    named = {"EndpointConfigName", "ExecutionRoleArn"}
    recorded = sorted(recorded_members(model.raw) - named)
    if recorded:
        yield "recorded", f"recorded, no effect here: {', '.join(recorded)}"


def waiting_job(model: ModelFile, name: str) -> WaitingJob:
    """What is recorded of a validated endpoint.

    It counts as no instance, because it has no end: others would wait for it.
    """
    called = model.raw.get("EndpointName", name)
    return WaitingJob(
        platform=facts.NAME,
        arn=arn_of(workload_of(model), facts.IN_ARN, called),
        request={**model.raw, "EndpointName": called},
        job=model.document.record(),
    )
