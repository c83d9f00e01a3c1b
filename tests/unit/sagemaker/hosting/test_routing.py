"""Which containers answer a request."""

from collections import Counter
from typing import Any

import pytest

from smlocal.jobs.planning.aspects.network.plan import HostNames
from smlocal.jobs.planning.aspects.serving.plan import ServerPlan, VariantPlan
from smlocal.jobs.planning.model import HostPlan
from smlocal.sagemaker.hosting.routing import Router
from smlocal.sagemaker.serving.route import AnswerError, Step
from smlocal.terms.hosts import Host

VARIANT = "x-amzn-sagemaker-target-variant"
CONTAINER = "x-amzn-sagemaker-target-container-hostname"


def host(name: str, variant: str, *, instance: int = 1, called: str = "primary", number: int = 1) -> HostPlan:
    return HostPlan(
        host=Host(name=name, number=1, instance_type="local"),
        container=name,
        names=HostNames(hostname=name),
        directories=(),
        files={},
        environment={},
        server=ServerPlan(
            variant=variant, instance=instance, called=called, number=number, port=8080, startup=1.0, models=()
        ),
    )


def router(variants: list[VariantPlan], hosts: list[HostPlan]) -> Router:
    """All containers have an address, whose host is their name."""
    made = Router.of("here", variants, hosts)
    for each in hosts:
        made.place(each.host.name, (each.host.name, 8080))
    return made


def places(made: Router, **headers: str) -> tuple[str, ...]:
    named = {"variant": VARIANT, "container": CONTAINER}
    return tuple(step.address[0] for step in made.route({named[key]: value for key, value in headers.items()}).steps)


def refusal(made: Router, **headers: str) -> tuple[int, str]:
    with pytest.raises(AnswerError) as error:
        places(made, **headers)
    return error.value.status, error.value.document["Message"]


ONE = VariantPlan(name="Blue", weight=1.0)
ROW = [host("b", "Blue", called="b", number=2), host("a", "Blue", called="a", number=1)]


def test_one_container_gets_every_request() -> None:
    made = router([ONE], [host("x", "Blue")])
    assert made.route({}).steps == (Step(address=("x", 8080), container="primary"),)
    assert made.route({}) is made.route({})
    assert made.route({VARIANT: "Blue"}).variant == "Blue"


def test_a_row_of_containers_is_in_the_order_of_the_model() -> None:
    made = router([ONE], ROW)
    assert places(made) == ("a", "b")
    assert [step.container for step in made.route({}).steps] == ["a", "b"]


def test_a_container_is_named_only_with_direct_invocation() -> None:
    direct = router([VariantPlan(name="Blue", weight=1.0, direct=True)], ROW)
    assert places(direct, container="b") == ("b",)
    status, message = refusal(direct)
    assert (status, "must be specified" in message) == (400, True)
    assert "container c" in refusal(direct, container="c")[1]
    assert "not configured for direct invocation" in refusal(router([ONE], ROW), container="a")[1]


@pytest.mark.parametrize(("weights", "expected"), [((3.0, 1.0), 0.75), ((1.0, 0.0), 1.0), ((0.0, 0.0), 0.5)])
def test_variants_get_requests_by_their_weights(weights: tuple[float, float], expected: float) -> None:
    blue, green = weights
    variants = [VariantPlan(name="Blue", weight=blue), VariantPlan(name="Green", weight=green)]
    made = router(variants, [host("x", "Blue"), host("y", "Green")])
    counted = Counter(made.route({}).variant for _ in range(4000))
    assert counted["Blue"] / 4000 == pytest.approx(expected, abs=0.05)


def test_a_request_may_name_its_variant() -> None:
    variants = [ONE, VariantPlan(name="Green", weight=0.0)]
    made = router(variants, [host("x", "Blue"), host("y", "Green")])
    assert {places(made, variant="Green") for _ in range(20)} == {("y",)}
    assert refusal(made, variant="Red") == (400, "Variant Red is not found in endpoint here.")


def test_weights_can_be_changed() -> None:
    variants = [ONE, VariantPlan(name="Green", weight=0.0)]
    made = router(variants, [host("x", "Blue"), host("y", "Green")])
    made.weigh({"Blue": 0.0, "Green": 1.0})
    assert {places(made) for _ in range(20)} == {("y",)}


def two_instances() -> Router:
    return router([ONE], [host("x", "Blue"), host("y", "Blue", instance=2)])


def test_all_instances_get_requests() -> None:
    made = two_instances()
    assert {places(made) for _ in range(100)} == {("x",), ("y",)}


def test_a_container_without_an_address_gets_none_while_there_is_another_instance() -> None:
    made = two_instances()
    made.place("x", None)
    assert {places(made) for _ in range(20)} == {("y",)}
    made.place("y", None)
    assert refusal(made)[0] == 503
    made.place("x", ("again", 8080))
    assert places(made) == ("again",)


def test_a_row_with_a_gap_answers_nothing() -> None:
    made = router([ONE], ROW)
    made.place("a", None)
    assert refusal(made)[0] == 503


def test_headers_of_others_mean_nothing() -> None:
    any_header: dict[str, Any] = {"content-type": "text/csv"}
    assert router([ONE], ROW).route(any_header).variant == "Blue"
