"""From a validated model file to the plan of an endpoint: look at the machine once, then compute."""

import os
import socket
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any, Final

from smlocal.data.sources.s3.aws_session import profile_region
from smlocal.engine.engines import Engines, engines_named
from smlocal.engine.facts import EngineFacts, ImageFacts
from smlocal.errors import ImagePullError, RegionNameError
from smlocal.errors.hosting import EndpointUnreachableError
from smlocal.jobfile.document import recorded_document
from smlocal.jobs.contract.gpus import VISIBLE_DEVICES
from smlocal.jobs.contract.hosts import Host
from smlocal.jobs.contract.limits import Limits
from smlocal.jobs.contract.listing import Listing
from smlocal.jobs.planning.aspects.accelerators.plan import HostAccelerators, accelerators_of
from smlocal.jobs.planning.aspects.credentials.plan import credentials_of
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine, PlacedEngines, plain_runtime
from smlocal.jobs.planning.aspects.engines.look_folders import is_folder_seen, with_folder_facts, with_known_folders
from smlocal.jobs.planning.aspects.engines.plan import EnginesFacts, EnginesPlan, MachineFacts
from smlocal.jobs.planning.aspects.image.look import check_architecture, pull_image
from smlocal.jobs.planning.aspects.image.plan import ImagePlan
from smlocal.jobs.planning.aspects.inputs.plan import HostInputs, TreePlan
from smlocal.jobs.planning.aspects.limits.plan import asked_limits, wants_limits
from smlocal.jobs.planning.aspects.looks import Asked, examined, try_out
from smlocal.jobs.planning.aspects.network.asked import endpoints_of, plan_network
from smlocal.jobs.planning.aspects.network.look import choose_network
from smlocal.jobs.planning.aspects.network.plan import HostNames, JobNetwork, NetworkFacts
from smlocal.jobs.planning.aspects.output.plan import OutputPlan
from smlocal.jobs.planning.aspects.serving.plan import ServingPlan
from smlocal.jobs.planning.model import ContainerFolders, HostPlan, IdentityPlan, JobPlan, StopPlan
from smlocal.jobs.prepared import Prepared, find_credentials
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.view import Reporter
from smlocal.sagemaker.contract import identity, paths
from smlocal.sagemaker.contract.instance_types import type_gpus, type_neuron
from smlocal.sagemaker.hosting import facts
from smlocal.sagemaker.hosting.model_data import ModelData, find_model
from smlocal.sagemaker.hosting.model_file import ModelFile, read_model
from smlocal.sagemaker.hosting.notes import notes

_FOLDERS: Final = ContainerFolders(root="", input="", data="", model="", output="", output_data="", failure="")
"""Nothing is collected from a container that serves; its model is mounted like a channel."""
_NO_END: Final = 2**31
"""Seconds that an endpoint may run."""


def prepare(
    model: ModelFile, *, name: str, home: str, engines: Engines, reporter: Reporter, run_id: str | None = None
) -> Prepared:
    """Check everything that can be checked before the endpoint is made. What is wrong is an error.

    `run_id`: of an endpoint that is already recorded.
    """
    data = find_model(model)
    engine = engines.first
    found = with_known_folders(engine.facts(), home)
    check_reach(model, found)
    placed = PlacedEngine(engine=engine, facts=found, hosts=())
    asked = _asked(model)
    machine = examined(asked, placed, home=home)
    image, refused = pull_image(engine, _image_name(model), model.local.Pull, reporter)
    if refused is not None:
        raise ImagePullError(refused)
    check_architecture(_image_name(model), image, found)
    found = with_folder_facts(found, engine, image, home)
    _check_folders(data, found, placed, image)
    try_out(asked, placed, machine)
    plan = plan_endpoint(
        model, data, replace(placed, facts=found), image, name=name, home=home, machine=machine, run_id=run_id
    )
    return Prepared(plan=plan, job=model.document.record(), credentials=find_credentials(plan, engines))


def prepare_recorded(recorded: Mapping[str, Any], record: JobRecord, *, home: str, reporter: Reporter) -> Prepared:
    """Prepare an endpoint that was recorded and never begun."""
    model = read_model(recorded_document(recorded))
    engines = engines_named(model.local.Engines)
    return prepare(model, name=record.name, home=home, engines=engines, reporter=reporter, run_id=record.run_id)


def plan_again(recorded: Mapping[str, Any], old: JobPlan, *, home: str, engines: Engines) -> JobPlan:  # noqa: ARG001 - nothing has to be looked at
    """The same plan: nothing in it is of one attempt."""
    return old


def _image_name(model: ModelFile) -> str:
    return model.container.Image or ""


def _asked(model: ModelFile) -> Asked:
    return Asked(
        hosts=(_host(model),), local=model.local, document=model.document, image=_image_name(model), required=True
    )


def _host(model: ModelFile) -> Host:
    kind = model.variant.InstanceType or "local"
    return Host(
        name=model.variant.VariantName or facts.VARIANT,
        number=1,
        instance_type=kind,
        gpus=type_gpus(kind),
        neuron=type_neuron(kind),
    )


def _has_address(engine: EngineFacts) -> bool:
    """True if this machine reaches containers of the engine at their own addresses."""
    return engine.local and not engine.desktop and not engine.rootless


def check_reach(model: ModelFile, engine: EngineFacts) -> None:
    """Refuse an engine whose containers cannot be invoked from here."""
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


def _check_folders(data: ModelData, engine: EngineFacts, placed: PlacedEngine, image: ImageFacts | None) -> None:
    seen = engine.shares_folders
    if seen and data.folder and not engine.same_mounts and image is not None:
        seen = is_folder_seen(data.folder, [placed.engine], image.id)
    if not seen:
        raise EndpointUnreachableError(
            f"the engine at {engine.address} does not see the folders of this machine, and cannot mount the model",
            remedy=["Use an engine that sees them: docs/engines.md."],
        )


def region_of(model: ModelFile) -> str:
    """The region of its ARN."""
    found = identity.region(
        stated=model.local.Region, environment=os.environ, profile=profile_region(), image=_image_name(model)
    )
    if not identity.is_region_name(found):
        raise RegionNameError(
            f"'{found}' is not a valid region", remedy=["Set AWS_REGION, for example to us-east-1, or Local.Region."]
        )
    return found


def plan_endpoint(
    model: ModelFile,
    data: ModelData,
    placed: PlacedEngine,
    image: ImageFacts | None,
    *,
    name: str,
    home: str,
    machine: MachineFacts,
    run_id: str | None,
) -> JobPlan:
    """The plan of this model on this machine."""
    run_id = run_id or os.urandom(4).hex()
    called = model.raw.get("EndpointName", name)
    local, host, directory = model.local, _host(model), os.path.join(home, "jobs", name)
    runtime = plain_runtime(placed.engine, image, model.container.Environment)
    machine = replace(machine, accelerators=replace(machine.accelerators, plain_runtime=runtime))
    network = choose_network(
        1, local, PlacedEngines(each=(placed,)), isolated=model.isolated, run_id=run_id, remove_leftovers=True
    )
    region, account = region_of(model), identity.account(role=model.role, image=_image_name(model))
    stem = f"smlocal-{name}-{run_id}"
    own = None
    if model.isolated:
        own = plan_network(stem, network.subnet, [host.name], within=local.NetworkRange, isolated=True)
        own = replace(own, reached=True)
    engines = EnginesFacts(first=placed.facts, machine=machine)
    given = accelerators_of((host,), local, [((host,), machine.accelerators)])[host.name]
    plan = JobPlan(
        platform=facts.NAME,
        name=name,
        run_id=run_id,
        job_directory=directory,
        request={**model.raw, "EndpointName": called},
        rights=local.rights,
        identity=IdentityPlan(
            arn=facts.endpoint_arn(called, region=region, account=account), region=region, account=account
        ),
        image=ImagePlan(name=_image_name(model), facts=image, entrypoint=None, command=("serve",)),
        engines=EnginesPlan(first=placed.facts, machine=machine),
        network=JobNetwork(
            own=own, unreachable=() if model.isolated else network.loopback_only, joined=tuple(local.Networks)
        ),
        folders=_FOLDERS,
        hosts=(
            HostPlan(
                host=host,
                container=f"{stem}-{host.name}",
                names=_names(model, host, engines, network, region=region),
                directories=(),
                files={},
                inputs=HostInputs(trees=(_tree(data, directory),)),
                environment=_environment(model, engines, network, given, region=region),
                accelerators=given,
                limits=asked_limits(local) if wants_limits(local) else Limits(),
            ),
        ),
        output=OutputPlan(uri="", model_uri="", directory=directory, compression="NONE", merge_output=False),
        credentials=credentials_of(local, role_arn=model.role, session=identity.SESSION_NAME, isolated=model.isolated),
        serving=ServingPlan(
            port=facts.PORT,
            published=0 if _has_address(placed.facts) else _free_port(),
            archive=data.archive,
            uri=data.uri,
            startup=model.startup,
            ping=float(model.serving.PingSeconds),
            invocation=float(model.serving.InvocationSeconds),
            most_body=model.serving.MaxBodyBytes,
        ),
        stop=StopPlan(max_runtime=_NO_END, grace=model.grace, peer_grace=model.grace),
    )
    return replace(plan, notes=notes(plan, model))


def _names(model: ModelFile, host: Host, engines: EnginesFacts, network: NetworkFacts, *, region: str) -> HostNames:
    stated = model.container.ContainerHostname
    called = stated or identity.instance_hostname(host.number, region)
    _, named = endpoints_of(model.local, engines, network, None)
    isolated = model.isolated
    return HostNames(
        hostname=called,
        extra_hosts={**({} if isolated else {called: "127.0.0.1"}), **named, **model.local.AddHosts},
        aliases=(called,) if isolated else (),
    )


def _tree(data: ModelData, directory: str) -> TreePlan:
    """The folder with the model. What was unpacked is a copy, and may be written to."""
    root = data.folder or f"{directory}/staged/model"
    listing = Listing(
        root=root, bucket_uri="file:///", prefix="", key_base="", paths=(), total_bytes=None, whole_tree=True
    )
    return TreePlan(
        name="model",
        uri=data.uri,
        target=paths.MODEL,
        listing=listing,
        staging="bind",
        reason=None,
        mode="FileSystem" if data.folder else "Unpacked",
        writable=not data.folder,
    )


def _environment(
    model: ModelFile, engines: EnginesFacts, network: NetworkFacts, given: HostAccelerators, *, region: str
) -> dict[str, str]:
    """Those of the request override the platform's, but for the port, which is where it is called."""
    variables = {} if model.isolated else endpoints_of(model.local, engines, network, None)[0]
    hidden = given.gpus is None and engines.machine.accelerators.plain_runtime is None
    return {
        "AWS_REGION": region,
        "SAGEMAKER_SAFE_PORT_RANGE": facts.SAFE_PORTS,
        **variables,
        **(model.container.Environment or {}),
        "SAGEMAKER_BIND_TO_PORT": str(facts.PORT),
        **({VISIBLE_DEVICES: "void"} if hidden else {}),
    }


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
