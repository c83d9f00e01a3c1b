"""The containers of an endpoint: as many instances as each variant has, with all containers of its model."""

import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.facts import ImageFacts
from smlocal.engine.interface import Engine
from smlocal.jobs.planning.aspects.accelerators.plan import HostAccelerators, accelerators_of
from smlocal.jobs.planning.aspects.engines.look import plain_runtime
from smlocal.jobs.planning.aspects.engines.plan import EnginesFacts
from smlocal.jobs.planning.aspects.image.plan import ImagePlan
from smlocal.jobs.planning.aspects.inputs.plan import HostInputs
from smlocal.jobs.planning.aspects.limits.plan import asked_limits, wants_limits
from smlocal.jobs.planning.aspects.network.plan import HostNames, NetworkFacts, endpoints_of
from smlocal.jobs.planning.aspects.serving.plan import ModelPlan, ServerPlan
from smlocal.jobs.planning.model import HostPlan
from smlocal.sagemaker.contract import identity
from smlocal.sagemaker.contract.instance_types import host_of_type
from smlocal.sagemaker.hosting.model_data import mounted
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.model_file import ModelFile
from smlocal.sagemaker.serving.variants import Container, Variant
from smlocal.terms.gpus import VISIBLE_DEVICES
from smlocal.terms.hosts import Host
from smlocal.terms.limits import Limits
from smlocal.terms.validation.violation import Path

if TYPE_CHECKING:
    from smlocal.engine.place import is_in_home
else:
    is_in_home = at_use("smlocal.engine.place", "is_in_home")

Models = Mapping[Path, tuple[ModelPlan, ...]]
"""The models of each container, by its place in the document."""
Images = Mapping[str, ImageFacts | None]
"""By name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Instance:
    """What the service would launch as one machine."""

    variant: Variant
    number: int
    host: Host


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedContainer:
    """One container of one instance."""

    instance: Instance
    container: Container
    number: int
    """Its place in the model, counted from 1."""

    @property
    def name(self) -> str:
        """`AllTraffic`, `AllTraffic.2`, `AllTraffic.clean`, `AllTraffic.2.clean`."""
        several = len(self.instance.variant.model.containers) > 1
        return f"{self.instance.host.name}.{self.container.name}" if several else self.instance.host.name


@dataclass(frozen=True, kw_only=True, slots=True)
class HostsShared:
    """What the plans of all containers are made from."""

    model: ModelFile
    data: Models
    images: Images
    engine: Engine
    engines: EnginesFacts
    network: NetworkFacts
    region: str
    stem: str
    """The beginning of the names of containers."""
    staged: str
    """The folder for models that are not mounted from where they are."""
    published: bool
    """True if containers are reached only at ports of this machine."""


def image_name(container: Container) -> str:
    """The image of a container."""
    return container.definition.Image or ""


def program(image: str, images: Images) -> ImagePlan:
    """How the image is started."""
    return ImagePlan(name=image, facts=images.get(image), entrypoint=None, command=("serve",))


def instance_count(model: ModelFile, variant: Variant) -> int:
    """How many are run here."""
    asked = variant.definition.InitialInstanceCount or 1
    return min(asked, model.serving.MaxInstances or facts.usual_instances(_kind(variant)))


def instances(model: ModelFile) -> tuple[Instance, ...]:
    """Those of all variants."""
    found: list[Instance] = []
    for variant in model.variants:
        kind = _kind(variant)
        for number in range(1, instance_count(model, variant) + 1):
            host = host_of_type(facts.instance_name(variant.name, number), len(found) + 1, kind)
            found.append(Instance(variant=variant, number=number, host=host))
    return tuple(found)


def containers_of(model: ModelFile) -> tuple[PlacedContainer, ...]:
    """Those of all instances."""
    return tuple(
        PlacedContainer(instance=instance, container=container, number=number)
        for instance in instances(model)
        for number, container in enumerate(instance.variant.model.containers, start=1)
    )


def plan_hosts(containers: Sequence[PlacedContainer], shared: HostsShared) -> tuple[HostPlan, ...]:
    """The plan of each container. Those of one instance share its devices, and no others."""
    hosts = tuple({each.instance.host.name: each.instance.host for each in containers}.values())
    given = accelerators_of(hosts, shared.model.local, [(hosts, shared.engines.machine.accelerators)])
    ports = _free_ports(len(containers)) if shared.published else (0,) * len(containers)
    if shared.engines.first.place is not None:
        ports = _ports_there(containers, shared)
    return tuple(
        _host(each, shared, given[each.instance.host.name], published=published)
        for each, published in zip(containers, ports, strict=True)
    )


def _host(placed: PlacedContainer, shared: HostsShared, given: HostAccelerators, *, published: int) -> HostPlan:
    variant, model = placed.instance.variant, shared.model
    several = len(variant.model.containers) > 1
    image = image_name(placed.container)
    place = shared.engines.first.place
    listens = facts.port(placed.number, several=several) if place is None else published
    models = tuple(
        replace(each, folder=each.path)
        if each.form == "folder" and each.path and (place is None or is_in_home(each.path))
        else replace(each, folder=f"{shared.staged}/{placed.name}/{each.name}")
        for each in shared.data[placed.container.at]
    )
    runtime = plain_runtime(shared.engine, shared.images.get(image), placed.container.definition.Environment)
    if given.gpus is None:
        given = replace(given, runtime=runtime or "")
    return HostPlan(
        host=replace(placed.instance.host, name=placed.name),
        container=f"{shared.stem}-{placed.name}",
        names=_names(placed, shared, several=several),
        directories=(),
        files={},
        environment=_environment(placed, shared, listens, hidden=given.gpus is None and runtime is None),
        inputs=HostInputs(trees=tuple(map(mounted, models))),
        accelerators=given,
        limits=asked_limits(model.local) if wants_limits(model.local) else Limits(),
        program=program(image, shared.images),
        server=ServerPlan(
            variant=variant.name,
            instance=placed.instance.number,
            called=placed.container.name,
            number=placed.number,
            port=listens,
            published=published,
            startup=model.startup(variant),
            models=models,
        ),
    )


def _names(placed: PlacedContainer, shared: HostsShared, *, several: bool) -> HostNames:
    model = shared.model
    if shared.engines.first.place is not None:
        return HostNames(hostname="")
    stated = placed.container.name if several else placed.container.definition.ContainerHostname
    called = stated or identity.instance_hostname(placed.instance.host.number, shared.region)
    _, named = endpoints_of(model.local, shared.engines, shared.network, None)
    return HostNames(
        hostname=called,
        extra_hosts={**({} if model.isolated else {called: "127.0.0.1"}), **named, **model.local.AddHosts},
        aliases=(called,) if model.isolated else (),
    )


def _environment(placed: PlacedContainer, shared: HostsShared, listens: int, *, hidden: bool) -> dict[str, str]:
    """Those of the request override the platform's, but for the port, which is where it is called."""
    model, place = shared.model, shared.engines.first.place
    variables = {} if model.isolated else endpoints_of(model.local, shared.engines, shared.network, None)[0]
    return {
        "AWS_REGION": shared.region,
        "SAGEMAKER_SAFE_PORT_RANGE": facts.safe_ports(listens),
        **({} if place is None else {place.variable: "True"}),
        **variables,
        **(placed.container.definition.Environment or {}),
        "SAGEMAKER_BIND_TO_PORT": str(listens),
        **({VISIBLE_DEVICES: "void"} if hidden else {}),
    }


def _ports_there(containers: Sequence[PlacedContainer], shared: HostsShared) -> tuple[int, ...]:
    """Free ports of a place where all containers have the ports of smlocal.

    The service's own port comes first, if it is free and the first image does not say that it can have another.
    """
    ports = _free_ports(len(containers))
    image = shared.images.get(image_name(containers[0].container))
    told = image is not None and image.labels.get(facts.PORT_LABEL) == "true"
    return ports if told or not _is_free(facts.PORT) else (facts.PORT, *ports[1:])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _free_ports(count: int) -> tuple[int, ...]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return tuple(probe.getsockname()[1] for probe in probes)


def _kind(variant: Variant) -> str:
    return variant.definition.InstanceType or "local"
