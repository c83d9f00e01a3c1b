"""Which containers answer a request: by weights, or by the variant and the container that it names.

The supervisor changes the table, and the thread of the front reads it: each change replaces it as a whole.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.planning.aspects.serving.plan import VariantPlan
from smlocal.jobs.planning.model import HostPlan
from smlocal.sagemaker.hosting.service_answers import validation_error
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.route import Address, AnswerError, Route, Step

TARGET_VARIANT: Final = "x-amzn-sagemaker-target-variant"
TARGET_CONTAINER: Final = "x-amzn-sagemaker-target-container-hostname"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Container:
    host: str
    called: str
    address: Address | None = None
    """None: it has none now, because it is being started again."""


_Instance = tuple[_Container, ...]
"""Its containers, in the order of the model."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Variant:
    name: str
    weight: float
    direct: bool
    instances: tuple[_Instance, ...]

    @property
    def ready(self) -> tuple[_Instance, ...]:
        """The instances that can answer; all, if none can."""
        found = tuple(each for each in self.instances if all(one.address is not None for one in each))
        return found or self.instances


@dataclass(kw_only=True, slots=True)
class Router:
    """The table of one endpoint: the `Routes` of its front."""

    endpoint: str
    _variants: tuple[_Variant, ...] = ()
    _only: Route | None = None
    """Where every request goes that names nothing, if there is one place."""
    _weights: Mapping[str, float] = field(default_factory=dict)
    """Those that were changed, by variant."""

    @classmethod
    def of(cls, endpoint: str, variants: Sequence[VariantPlan], hosts: Sequence[HostPlan]) -> "Router":
        """No container has an address yet."""
        made = cls(endpoint=endpoint)
        made._change(tuple(_of_plan(each, hosts) for each in variants))
        return made

    def place(self, host: str, address: Address | None) -> None:
        """A container is reached there from now on."""

        def placed(instance: _Instance) -> _Instance:
            return tuple(replace(each, address=address) if each.host == host else each for each in instance)

        self._change(tuple(replace(each, instances=tuple(map(placed, each.instances))) for each in self._variants))

    def weigh(self, weights: Mapping[str, float]) -> None:
        """Use these weights in place of those of the plan."""
        self._weights = weights

    def route(self, headers: Mapping[str, str]) -> Route:
        """The containers of a request with these headers, whose names are in small letters."""
        named, target = headers.get(TARGET_VARIANT), headers.get(TARGET_CONTAINER)
        if self._only is not None and named is None and target is None:
            return self._only
        variant = self._drawn() if named is None else self._named(named)
        instances = variant.ready
        instance = instances[0] if len(instances) == 1 else random.choice(instances)  # noqa: S311 - as the service does
        return _route(variant, _part(variant, instance, target))

    def _change(self, variants: tuple[_Variant, ...]) -> None:
        only = None
        if len(variants) == 1 and not variants[0].direct and len(variants[0].instances) == 1:
            (instance,) = variants[0].instances
            if all(each.address is not None for each in instance):
                only = _route(variants[0], instance)
        self._variants, self._only = variants, only

    def _drawn(self) -> _Variant:
        if len(self._variants) == 1:
            return self._variants[0]
        weights = [self._weights.get(each.name, each.weight) for each in self._variants]
        if sum(weights) <= 0:
            return random.choice(self._variants)  # noqa: S311 - not known; nobody asks for that
        return random.choices(self._variants, weights)[0]  # noqa: S311 - as the service does

    def _named(self, name: str) -> _Variant:
        for each in self._variants:
            if each.name == name:
                return each
        raise validation_error(facts.unknown_variant(name, endpoint=self.endpoint))


def _of_plan(variant: VariantPlan, hosts: Sequence[HostPlan]) -> _Variant:
    instances: dict[int, list[tuple[int, _Container]]] = {}
    for host in hosts:
        if host.server is not None and host.server.variant == variant.name:
            container = _Container(host=host.host.name, called=host.server.called)
            instances.setdefault(host.server.instance, []).append((host.server.number, container))
    return _Variant(
        name=variant.name,
        weight=max(0.0, variant.weight),
        direct=variant.direct,
        instances=tuple(
            tuple(each for _, each in sorted(found, key=lambda pair: pair[0])) for _, found in sorted(instances.items())
        ),
    )


def _part(variant: _Variant, instance: _Instance, target: str | None) -> _Instance:
    """All containers of an instance, or the one that the request names."""
    if not variant.direct:
        if target is not None:
            raise validation_error(facts.not_direct(target))
        return instance
    if target is None:
        raise validation_error(facts.no_target())
    found = tuple(each for each in instance if each.called == target)
    if not found:
        raise validation_error(facts.unknown_container(target))
    return found


def _route(variant: _Variant, containers: _Instance) -> Route:
    steps = tuple(Step(address=each.address, container=each.called) for each in containers if each.address is not None)
    if len(steps) < len(containers):
        raise AnswerError(503, "ServiceUnavailable", {"Message": "the container is being started again"})
    return Route(variant=variant.name, steps=steps)
