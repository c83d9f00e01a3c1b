"""An engine that is lost or in trouble: an internal error, whatever the algorithm does."""

from collections.abc import Callable
from typing import Any

from tests.kit import until

Fails = Callable[..., dict[str, Any]]


def test_the_engine_is_lost_while_the_container_runs(fails: Fails, beside: Callable[..., Any], relay: Any) -> None:
    end = beside(fails, "engine-lost", "exec sleep 600", env={"DOCKER_HOST": relay.address})
    # Podman is not asked before the container runs; between two requests there is nothing to lose.
    until(lambda: any("/wait?" in request for request in relay.seen))
    relay.lose()
    relay.find()
    assert "the engine was lost" in end()["Local"]["Explanation"]


def test_the_engine_is_lost_before_the_container_runs(fails: Fails, relay: Any) -> None:
    # One without a name, before the job is made, looks into the image.
    def lose() -> None:
        relay.before(r"GET \S*/containers/json", relay.find)  # the clean-up; the look asks for the same before
        relay.lose()

    relay.before(r"POST \S*/containers/create\?name=\S", lose)
    answer = fails("engine-lost-early", "true", env={"DOCKER_HOST": relay.address})
    assert "the engine was lost" in answer["Local"]["Explanation"]


def test_the_engine_cannot_start_the_container(fails: Fails, relay: Any, docker: Callable[..., str]) -> None:
    def remove() -> None:
        filters = ("--filter", "label=smlocal.job=engine-trouble")
        docker("rm", *docker("ps", "--all", "--quiet", *filters).split())

    relay.before(r"POST \S*/start", remove)
    answer = fails("engine-trouble", "true", env={"DOCKER_HOST": relay.address})
    assert "the engine could not start a container: No such container" in answer["Local"]["Explanation"]
