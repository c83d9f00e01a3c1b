"""Makes the plan of a job from what it needs and the facts. Pure: nothing here looks at the machine.

A kind of job adds what its containers find: `Contents`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.facts import Place
from smlocal.jobs.planning.aspects.accelerators.plan import accelerators_of
from smlocal.jobs.planning.aspects.credentials.plan import credentials_of
from smlocal.jobs.planning.aspects.debugging.plan import debug_of
from smlocal.jobs.planning.aspects.engines.plan import EnginesFacts, EnginesPlan
from smlocal.jobs.planning.aspects.faults.plan import faults_of
from smlocal.jobs.planning.aspects.image.plan import ImagePlan
from smlocal.jobs.planning.aspects.inputs.plan import (
    HostInputs,
    InputsPlan,
    code_of,
    delivered_bytes,
    pipes_of,
    trees_of,
)
from smlocal.jobs.planning.aspects.limits.plan import limits_of, wants_limits
from smlocal.jobs.planning.aspects.mirrored.plan import mirrored_of
from smlocal.jobs.planning.aspects.network.plan import (
    HostNames,
    JobNetwork,
    endpoints_of,
    plan_network,
    shared_network,
)
from smlocal.jobs.planning.aspects.output.plan import output_of
from smlocal.jobs.planning.aspects.rules.plan import rules_of
from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import HostPlan, IdentityPlan, JobPlan, KeptPlan
from smlocal.jobs.planning.workload import Workload
from smlocal.terms.channels import TreePlan
from smlocal.terms.gpus import VISIBLE_DEVICES
from smlocal.terms.hosts import Host
from smlocal.terms.limits import Limits


@dataclass(frozen=True, kw_only=True, slots=True)
class HostContents:
    """What the container of one host finds, besides its data."""

    hostname: str
    directories: tuple[str, ...]
    """Folders that are empty at the start."""
    files: Mapping[str, bytes]
    """By their path."""
    variables: Mapping[str, str]
    """Those of the platform. The request overrides them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """The names of one job, and its request."""

    platform: str
    name: str
    arn: str
    request: Mapping[str, Any]
    """As given, with the job's name."""
    session: str
    """The name of the session of its credentials."""


def named_there(work: Workload, place: Place | None) -> Workload:
    """The workload with the name that its host is given in containers of a place; outside of one it is as it was."""
    if place is None:
        return work
    return replace(work, hosts=tuple(replace(host, name=place.host) for host in work.hosts))


def plan_of(work: Workload, facts: Facts, named: Named, contents: Callable[[Host], HostContents]) -> JobPlan:
    """The plan of this job on this machine, without notes."""
    local, name = work.local, named.name
    output = output_of(work.output, local, facts.output, name)
    mirrored = mirrored_of(work, facts.mirrored, output=output.directory, name=name)
    network = _network(work, facts, stem=f"smlocal-{name}-{facts.run_id}")
    return JobPlan(
        platform=named.platform,
        name=name,
        run_id=facts.run_id,
        job_directory=facts.job_directory,
        request=named.request,
        rights=local.rights,
        identity=IdentityPlan(arn=named.arn, region=facts.region, account=facts.account),
        image=ImagePlan(name=work.image, facts=facts.image, entrypoint=work.entrypoint, command=work.command),
        engines=EnginesPlan(
            first=facts.engines.first,
            machine=facts.engines.machine,
            several=tuple(share.engine for share in facts.engines.shares),
            machines=tuple(share.machine for share in facts.engines.shares),
        ),
        network=network,
        folders=work.folders,
        hosts=_hosts(work, facts, name, network, contents),
        inputs=InputsPlan(
            code=code_of(work, facts.inputs, facts.engines.first),
            cache_bytes=local.CacheGiB << 30 if local.Cache else 0,
        ),
        output=output,
        mirrored=mirrored,
        credentials=credentials_of(local, role_arn=work.role, session=named.session, isolated=work.isolated),
        rules=rules_of(work.rules, local, facts.engines, facts.rules),
        metrics=work.metrics,
        debug=debug_of(local.DebugPort, [host.name for host in work.hosts]),
        stop=work.stop,
        faults=faults_of(work.faults),
        kept=KeptPlan(containers=local.Keep, changes=local.ListChanges and facts.engines.first.place is None),
    )


def _hosts(
    work: Workload,
    facts: Facts,
    name: str,
    network: JobNetwork,
    contents: Callable[[Host], HostContents],
) -> tuple[HostPlan, ...]:
    """Each container, and everything in it."""
    local, engines = work.local, facts.engines
    endpoints, named = endpoints_of(local, engines, facts.network, network.own)
    place = engines.first.place
    accelerators = accelerators_of(
        work.hosts, local, ((there, machine.accelerators) for there, machine in engines.groups(work.hosts))
    )
    planned = []
    for host in work.hosts:
        given = accelerators[host.name]
        inputs = HostInputs(
            trees=trees_of(work, host, facts=facts.inputs, engine=engines.first),
            pipes=pipes_of(work, host, facts=facts.inputs),
        )
        found = contents(host)
        hides_gpus = given.gpus is None and engines.machine_of(host.name).accelerators.plain_runtime is None
        planned.append(
            HostPlan(
                host=host,
                container=f"smlocal-{name}-{facts.run_id}-{host.name}",
                names=HostNames(hostname="")
                if place is not None
                else HostNames(
                    hostname=found.hostname,
                    # A single host on the default network must be able to resolve its own name.
                    extra_hosts={
                        **({} if network.own is not None else {host.name: "127.0.0.1"}),
                        **named,
                        **local.AddHosts,
                    },
                    aliases=(host.name,) if network.own is not None else (),
                ),
                directories=found.directories,
                files=found.files,
                inputs=inputs,
                # Devices are given by the engine. Where it cannot keep them away, only the variable does.
                environment={
                    **({} if place is None else {place.variable: "True"}),
                    **found.variables,
                    **endpoints,
                    **work.variables,
                    **({VISIBLE_DEVICES: "void"} if hides_gpus else {}),
                },
                accelerators=given,
                limits=_limits(host, work, engines, inputs.trees),
                engine=engines.address_of(host.name),
            )
        )
    return tuple(planned)


def _limits(host: Host, work: Workload, engines: EnginesFacts, trees: tuple[TreePlan, ...]) -> Limits:
    if not wants_limits(work.local):
        return Limits()
    machine = engines.machine_of(host.name)
    return limits_of(
        host,
        work.local,
        engines.machine.limits,
        cpus=machine.cpus,
        memory_mib=machine.memory_mib,
        volume_gb=work.volume_gb,
        delivered=delivered_bytes(trees),
    )


def _network(work: Workload, facts: Facts, *, stem: str) -> JobNetwork:
    """A network of the job's own for several hosts, and for isolation."""
    own, shared = None, shared_network(work.local, facts.engines.first)
    if len(work.hosts) > 1 or work.isolated:
        own = plan_network(
            stem,
            facts.network.subnet,
            [host.name for host in work.hosts],
            within=work.local.NetworkRange,
            isolated=work.isolated,
            manager=facts.engines.manager,
        )
    unreachable = () if work.isolated or shared else facts.network.loopback_only
    return JobNetwork(own=own, unreachable=unreachable, joined=tuple(work.local.Networks), shared=shared)
