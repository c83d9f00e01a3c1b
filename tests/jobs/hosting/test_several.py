"""Endpoints of several containers: in a row, each by its name, variants and instances."""

import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from smlocal.jobs.control.requests import wake
from smlocal.sagemaker.serving.state import WEIGHTS

Clean = Callable[[str], None]
Invoke = Callable[..., str]


@pytest.fixture
def several(hosting: Any) -> Callable[..., str]:
    """Deploys, and returns the address."""

    def deploy(name: str, *flags: str, **members: Any) -> str:
        hosting.archive()
        local = {"StopGraceSeconds": 5, **members.pop("Local", {})}
        path = hosting.life.folder / f"{name}.json"
        path.write_text(json.dumps({**members, "Local": local}))
        done = hosting.life("deploy", path, "--name", name, *flags)
        assert done.returncode == 0, done.stderr
        address: str = done.stdout.strip()
        return address

    return deploy


def container(hosting: Any, answer: str, name: str | None = None, **more: Any) -> dict[str, Any]:
    named = {} if name is None else {"ContainerHostname": name}
    return {"Image": hosting.image, **named, "Environment": {"ANSWER": answer, **more.pop("variables", {})}, **more}


def ask(hosting: Any, name: str, body: str = "x", *flags: str) -> str:
    done = hosting.invoke(name, body, *flags)
    assert done.returncode == 0, done.stderr
    answer: str = done.stdout
    return answer


def refused(hosting: Any, name: str, *flags: str) -> str:
    done = hosting.invoke(name, "x", *flags)
    assert (done.returncode, done.stdout) == (1, "")
    return " ".join(done.stderr.split())


def hosts(hosting: Any, name: str) -> Sequence[str]:
    return [each["Name"] for each in hosting.described(name)["Local"]["Hosts"]]


@pytest.mark.slow(5)
def test_containers_in_a_row_answer_one_after_the_other(
    hosting: Any, several: Any, life: Any, assert_nothing_left: Clean
) -> None:
    row = [
        container(hosting, "append:a", ModelDataUrl="model.tar.gz"),
        container(hosting, "append:b"),
        container(hosting, "json"),
    ]
    several("many-row", Containers=row)
    seen = json.loads(ask(hosting, "many-row", "x", "--content-type", "text/csv", "--accept", "application/json"))
    assert seen["body"] == "xab"
    assert seen["hostname"] == "container-3"
    assert seen["headers"]["content-type"] == "text/b"
    assert seen["headers"]["accept"] == "application/json"
    assert seen["environment"]["SAGEMAKER_BIND_TO_PORT"] != "8080"
    assert "not configured for direct invocation" in refused(hosting, "many-row", "--target-container", "container-1")
    logs = [f"AllTraffic.container-{number}" for number in (1, 2, 3)]
    assert [life.log("many-row", each) for each in logs] == ["serving\n"] * 3
    assert "AllTraffic.container-2" in life("logs", "many-row").stdout
    assert life("logs", "many-row", "--host", "AllTraffic.container-2").stdout == "serving\n"
    assert life("stop", "many-row", "--wait").returncode == 0
    assert hosts(hosting, "many-row") == logs
    assert_nothing_left("many-row")


@pytest.mark.slow(4)
def test_an_error_in_a_row_names_its_container(
    hosting: Any, several: Any, life: Any, assert_nothing_left: Clean
) -> None:
    row = [container(hosting, "append:a", "clean"), container(hosting, "error:500", "predict")]
    several("many-error", Containers=row)
    said = refused(hosting, "many-error")
    assert 'Received server error (500) from predict with message "no such feature: xa"' in said
    life("rm", "--stop", "many-error")
    assert_nothing_left("many-error")


@pytest.mark.slow(4)
def test_each_container_is_invoked_by_its_name(
    hosting: Any, several: Any, life: Any, assert_nothing_left: Clean
) -> None:
    each = [container(hosting, f"append:{name}", name) for name in ("first", "second")]
    several("many-direct", Containers=each, InferenceExecutionConfig={"Mode": "Direct"})
    for name in ("first", "second"):
        assert ask(hosting, "many-direct", "x", "--target-container", name) == f"x{name}"
    assert "TargetContainerHostname must be specified" in refused(hosting, "many-direct")
    assert "container third" in refused(hosting, "many-direct", "--target-container", "third")
    life("rm", "--stop", "many-direct")
    assert_nothing_left("many-direct")


@pytest.mark.slow(6)
def test_variants_with_their_own_models_answer_by_weight(
    hosting: Any, several: Any, life: Any, assert_nothing_left: Clean
) -> None:
    models = [
        {"ModelName": "old", "PrimaryContainer": container(hosting, "append:old")},
        {"ModelName": "new", "Containers": [container(hosting, "append:new"), container(hosting, "append:er")]},
    ]
    variants = [
        {"VariantName": "Blue", "ModelName": "old", "InitialVariantWeight": 1},
        {"VariantName": "Green", "ModelName": "new", "InitialVariantWeight": 0},
    ]
    several("many-variants", Models=models, ProductionVariants=variants)
    assert {ask(hosting, "many-variants") for _ in range(3)} == {"xold"}
    assert ask(hosting, "many-variants", "x", "--target-variant", "Green") == "xnewer"
    unknown = refused(hosting, "many-variants", "--target-variant", "Blues")
    assert "Variant Blues is not found" in unknown
    assert "Its variants are Blue, Green. Did you mean Blue?" in " ".join(unknown.split())
    described = hosting.described("many-variants")
    weights = {each["VariantName"]: each["CurrentWeight"] for each in described["ProductionVariants"]}
    assert weights == {"Blue": 1.0, "Green": 0.0}
    shown = life("describe", "many-variants").stdout
    assert ("Blue, weight 1" in shown, "Green, weight 0" in shown) == (True, True)
    life("rm", "--stop", "many-variants")
    assert_nothing_left("many-variants")


@pytest.mark.slow(4)
def test_weights_are_changed_in_service(hosting: Any, several: Any, life: Any, assert_nothing_left: Clean) -> None:
    variants = [{"VariantName": name, "InitialVariantWeight": weight} for name, weight in (("Blue", 1), ("Green", 0))]
    several("many-weights", PrimaryContainer=container(hosting, "host"), ProductionVariants=variants)
    first = ask(hosting, "many-weights", "x", "--target-variant", "Blue")
    assert ask(hosting, "many-weights") == first
    life.store.put_document("many-weights", WEIGHTS, {"Blue": 0.0, "Green": 1.0})
    wake(life.store, "many-weights")
    hosting.until(lambda: ask(hosting, "many-weights") != first)
    described = hosting.described("many-weights")
    assert [each["CurrentWeight"] for each in described["ProductionVariants"]] == [0.0, 1.0]
    life.crash("many-weights")
    assert ask(hosting, "many-weights") != first
    life("rm", "--stop", "many-weights")
    assert_nothing_left("many-weights")


@pytest.mark.slow(5)
def test_every_instance_has_a_container_of_its_own(
    hosting: Any, several: Any, life: Any, assert_nothing_left: Clean
) -> None:
    variant = {"VariantName": "Blue", "InitialInstanceCount": 3}
    one = container(hosting, "host", ModelDataUrl="model.tar.gz")
    several("many-instances", PrimaryContainer=one, ProductionVariants=[variant])
    seen = Counter(ask(hosting, "many-instances") for _ in range(12))
    assert len(seen) == 2
    assert "2 of 3 of Blue" in json.dumps(
        json.loads((life.home / "jobs/many-instances/plan.json").read_text())["Notes"]
    )
    life("stop", "many-instances", "--wait")
    assert hosts(hosting, "many-instances") == ["Blue", "Blue.2"]
    assert_nothing_left("many-instances")


@pytest.mark.slow(5)
def test_one_of_several_that_dies_is_started_again_alone(
    hosting: Any, several: Any, life: Any, assert_nothing_left: Clean, docker: Any
) -> None:
    each = [container(hosting, f"append:{name}", name) for name in ("stays", "dies")]
    several("many-dies", Containers=each, InferenceExecutionConfig={"Mode": "Direct"})
    before = running(docker, "many-dies")
    assert "ModelError" in hosting.invoke("many-dies", "die", "--target-container", "dies").stderr
    assert ask(hosting, "many-dies", "x", "--target-container", "stays") == "xstays"
    hosting.until(lambda: hosting.invoke("many-dies", "x", "--target-container", "dies").stdout == "xdies")
    after = running(docker, "many-dies")
    assert before["AllTraffic.stays"] == after["AllTraffic.stays"]
    assert before["AllTraffic.dies"] != after["AllTraffic.dies"]
    local = hosting.described("many-dies")["Local"]
    assert [(each["Host"], each["ExitCode"]) for each in local["Restarts"]] == [("AllTraffic.dies", 3)]
    assert life.log("many-dies", "AllTraffic.dies") == "serving\nserving\n"
    life("rm", "--stop", "many-dies")
    assert_nothing_left("many-dies")


def running(docker: Any, name: str) -> dict[str, str]:
    """The container of each host."""
    form = '{{.Label "smlocal.host"}} {{.ID}}'
    found = docker("ps", "--filter", f"label=smlocal.job={name}", "--format", form)
    return dict(line.split() for line in found.splitlines())


@pytest.mark.slow(6)
def test_several_containers_are_found_again(
    hosting: Any, several: Any, life: Any, assert_nothing_left: Clean, docker: Any
) -> None:
    row = [container(hosting, "append:a"), container(hosting, "append:b")]
    variant = {"VariantName": "Blue", "InitialInstanceCount": 2}
    address = several("many-found", Containers=row, ProductionVariants=[variant])
    before = running(docker, "many-found")
    assert sorted(before) == ["Blue.2.container-1", "Blue.2.container-2", "Blue.container-1", "Blue.container-2"]
    life.crash("many-found")
    docker("kill", before.pop("Blue.2.container-1"))
    assert ask(hosting, "many-found") == "xab"
    assert hosting.described("many-found")["Local"]["Address"] == address
    hosting.until(lambda: len(running(docker, "many-found")) == 4)
    after = running(docker, "many-found")
    assert {name: after[name] for name in before} == before
    assert life("stop", "many-found", "--wait").returncode == 0
    assert_nothing_left("many-found")


@pytest.mark.slow(5)
def test_one_that_never_gets_healthy_fails_all(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    row = [container(hosting, "echo", "good"), container(hosting, "echo", "bad", variables={"PING": "500"})]
    document = {"Containers": row, "Local": {"StopGraceSeconds": 5, "Serving": {"StartupSeconds": 3}}}
    (life.folder / "many-ill.json").write_text(json.dumps(document))
    assert life("deploy", life.folder / "many-ill.json", "--name", "many-ill").returncode == 1
    described = hosting.described("many-ill")
    assert described["FailureReason"].startswith("The bad container for production variant AllTraffic did not pass")
    assert described["Local"]["Explanation"] == "AllTraffic.bad: /ping answered 500, for 3 s"
    assert_nothing_left("many-ill")


@pytest.mark.slow(3)
def test_one_that_ends_at_once_fails_all(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    row = [container(hosting, "echo", "good"), container(hosting, "echo", "ends", variables={"DIES": "at-once"})]
    document = {"Containers": row, "Local": {"StopGraceSeconds": 5}}
    (life.folder / "many-ends.json").write_text(json.dumps(document))
    assert life("deploy", life.folder / "many-ends.json", "--name", "many-ends").returncode == 1
    described = hosting.described("many-ends")
    assert described["FailureReason"].startswith("The ends container for production variant")
    assert "AllTraffic.ends ended 3 times before it answered /ping" in described["Local"]["Explanation"]
    assert_nothing_left("many-ends")


def test_an_image_without_the_label_is_refused_beside_others(hosting: Any, life: Any, image: Any) -> None:
    row = [container(hosting, "echo"), {"Image": image("py")}]
    (life.folder / "many-label.json").write_text(json.dumps({"Containers": row}))
    done = life("deploy", life.folder / "many-label.json", "--name", "many-label")
    assert (done.returncode, "[port-label-missing]" in done.stderr) == (2, True), done.stderr


@pytest.mark.slow(3)
def test_an_isolated_endpoint_of_several_containers(
    hosting: Any, several: Any, life: Any, assert_nothing_left: Clean
) -> None:
    row = [container(hosting, "append:a"), container(hosting, "append:b")]
    several("many-isolated", Containers=row, EnableNetworkIsolation=True)
    assert ask(hosting, "many-isolated") == "xab"
    life("rm", "--stop", "many-isolated")
    assert_nothing_left("many-isolated")


@pytest.mark.slow(9)
def test_killed_at_any_moment_several_are_found_again_or_made_again(
    hosting: Any, life: Any, assert_nothing_left: Clean
) -> None:
    chance = random.Random(seed := os.urandom(4))
    row = [container(hosting, "append:a"), container(hosting, "append:b")]
    (life.folder / "many-any.json").write_text(json.dumps({"Containers": row, "Local": {"StopGraceSeconds": 5}}))
    for number in range(int(os.environ.get("SMLOCAL_CRASHES", "3"))):
        name = f"many-any-{number}"
        life.commands.append(life.begin("deploy", life.folder / "many-any.json", "--name", name))
        hosting.until(lambda number=number: life.store.count() > number)
        time.sleep(chance.uniform(0, 1.5))
        life.crash(name)
        hosting.until(lambda name=name: hosting.invoke(name, "x").stdout == "xab")
        assert hosting.described(name)["EndpointStatus"] == "InService", seed
        assert life("stop", name, "--wait").returncode == 0
        assert_nothing_left(name)
