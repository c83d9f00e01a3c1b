from collections.abc import Callable

import pytest

from smlocal.engine.engines import engines_at, engines_named
from smlocal.errors import EngineTwiceError, EngineUnreachableError

pytestmark = pytest.mark.usefixtures("docker_home")
ADDRESSES = ["tcp://b:1", "unix:///run/a.sock", "ssh://c"]


def test_engines_are_in_the_order_of_their_names() -> None:
    for engines in (engines_named(ADDRESSES), engines_at(ADDRESSES)):
        assert len(engines) == 3
        assert list(engines) == [engines.at(address) for address in ADDRESSES]
        assert engines.first is engines.at("tcp://b:1")
        with pytest.raises(KeyError):
            engines.at("tcp://other:1")


def test_without_names_it_is_the_engine_that_the_docker_command_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://far:1")
    engines = engines_named([])
    assert list(engines) == [engines.at("tcp://far:1")]


def test_an_address_and_a_context_with_this_address_are_the_same_engine(run_docker: Callable[..., None]) -> None:
    run_docker("context", "create", "far", "--docker", "host=tcp://far:1")
    with pytest.raises(EngineTwiceError) as caught:
        engines_named(["ssh://c", "tcp://far:1", "far"])
    assert caught.value.sentence == 'the engines "tcp://far:1" and "far" are the same one, at tcp://far:1'
    assert (caught.value.exit_code, caught.value.id) == (3, "engine-twice")


def test_an_engine_that_does_not_answer_is_named_as_the_job_names_it(run_docker: Callable[..., None]) -> None:
    run_docker("context", "create", "far-away", "--docker", "host=unix:///nowhere")
    by_context, by_address, by_ssh = engines_named(["far-away", "unix:///elsewhere", "ssh://127.0.0.1:1"])
    answers = []
    for engine in (by_context, by_address, by_ssh):
        with pytest.raises(EngineUnreachableError) as caught:
            engine.facts()
        answers.append((caught.value.sentence, caught.value.remedy[0]))
        assert "leave it out of Local.Engines" in caught.value.remedy[1]
    assert answers[:2] == [
        (
            'no Docker engine answers at unix:///nowhere, the address of the Docker context "far-away"',
            "Does this work?  docker --context far-away version",
        ),
        (
            "no Docker engine answers at unix:///elsewhere",
            "Does this work?  docker --host unix:///elsewhere version",
        ),
    ]
    assert answers[2][0] == "no Docker engine answers at ssh://127.0.0.1:1"
    assert answers[2][1].startswith("Does this work?  ssh ")
