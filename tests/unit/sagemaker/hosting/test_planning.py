"""The plan of an endpoint: what its container gets, and how it is reached."""

from dataclasses import replace
from typing import Any

import pytest

from smlocal.engine.engines import engines_at
from smlocal.engine.facts import EngineFacts
from smlocal.errors.hosting import EndpointUnreachableError
from smlocal.jobfile.document import Document
from smlocal.jobs.containers import container_spec
from smlocal.jobs.planning.aspects.accelerators.plan import AcceleratorFacts, GpuFacts
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine
from smlocal.jobs.planning.aspects.engines.plan import MachineFacts
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.recall import recall, remember
from smlocal.sagemaker.hosting.model_data import ModelData
from smlocal.sagemaker.hosting.model_file import ModelFile, read_model
from smlocal.sagemaker.hosting.planning import check_reach, plan_endpoint

HERE = EngineFacts(
    address="unix:///var/run/docker.sock",
    local=True,
    shares_folders=True,
    version="28.0.0",
    architecture="amd64",
    operating_system="linux",
    storage_driver="overlay2",
)
MACHINE = MachineFacts(cpus=4, memory_mib=8000)


def model(container: dict[str, Any] | None = None, **data: Any) -> ModelFile:
    given = {"Image": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/held", **(container or {})}
    return read_model(Document({"PrimaryContainer": given, **data}, name="model.yaml", directory="/here"))


def planned(
    of: ModelFile, data: ModelData | None = None, engine: EngineFacts = HERE, machine: MachineFacts = MACHINE
) -> JobPlan:
    placed = PlacedEngine(engine=engines_at([engine.address]).first, facts=engine, hosts=())
    found = ModelData(uri="") if data is None else data
    return plan_endpoint(of, found, placed, None, name="Here", home="/home", machine=machine, run_id="0a")


@pytest.fixture(autouse=True)
def no_region(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")


def test_it_is_called_as_on_the_service() -> None:
    plan = planned(model(ExecutionRoleArn="arn:aws:iam::210987654321:role/serves"))
    assert plan.identity.arn == "arn:aws:sagemaker:eu-west-1:210987654321:endpoint/here"
    (host,) = plan.hosts
    assert (host.host.name, host.container) == ("AllTraffic", "smlocal-Here-0a-AllTraffic")


def test_the_container_is_told_to_serve() -> None:
    plan = planned(model({"Environment": {"A": "1", "SAGEMAKER_BIND_TO_PORT": "9"}}))
    assert (plan.image.entrypoint, plan.image.command) == (None, ("serve",))
    (host,) = plan.hosts
    assert host.environment == {
        "AWS_REGION": "eu-west-1",
        "SAGEMAKER_SAFE_PORT_RANGE": "8081-8099",
        "SAGEMAKER_BIND_TO_PORT": "8080",
        "A": "1",
    }
    assert (plan.stop.grace, plan.serving and plan.serving.startup) == (30, 480.0)


def test_the_variant_names_the_host_and_its_type_decides_the_gpus() -> None:
    variant = {"VariantName": "Blue", "InstanceType": "ml.g4dn.xlarge", "InitialInstanceCount": 1}
    machine = replace(MACHINE, accelerators=AcceleratorFacts(gpus=GpuFacts(ids=("0", "1"))))
    (host,) = planned(model(ProductionVariants=[variant]), machine=machine).hosts
    assert host.host.name == "Blue"
    assert host.accelerators.gpus is not None
    assert host.accelerators.gpus.ids == ("0",)


@pytest.mark.parametrize(
    ("data", "root", "writable"),
    [
        (ModelData(uri="m.tar.gz", archive="/m.tar.gz"), "/home/jobs/Here/staged/model", True),
        (ModelData(uri="m", folder="/m"), "/m", False),
        (ModelData(uri=""), "/home/jobs/Here/staged/model", True),
    ],
)
def test_the_model_is_mounted(data: ModelData, root: str, *, writable: bool) -> None:
    (tree,) = planned(model(), data).trees
    assert (tree.target, tree.listing.root, tree.writable) == ("/opt/ml/model", root, writable)


@pytest.mark.parametrize("change", [{"rootless": True}, {"desktop": True}])
def test_a_port_is_published_where_the_address_cannot_be_reached(change: dict[str, bool]) -> None:
    for engine, published in ((HERE, False), (replace(HERE, **change), True)):  # type: ignore[arg-type]
        plan = planned(model(), engine=engine)
        spec = container_spec(plan, plan.hosts[0], labels={}, mounts=())
        assert (8080 in spec.published) is published


@pytest.mark.parametrize(
    ("engine", "isolated"),
    [
        (replace(HERE, address="ssh://there", local=False), False),
        (replace(HERE, rootless=True), True),
        (replace(HERE, desktop=True), True),
    ],
)
def test_a_container_that_cannot_be_reached_is_refused(engine: EngineFacts, *, isolated: bool) -> None:
    with pytest.raises(EndpointUnreachableError):
        check_reach(model(EnableNetworkIsolation=isolated), engine)
    check_reach(model(EnableNetworkIsolation=isolated), HERE)


def test_credentials_are_those_of_a_job() -> None:
    assert planned(model()).credentials is None
    plan = planned(model(Local={"Credentials": "inherit"}))
    assert plan.credentials is not None
    assert plan.credentials.mode == "inherit"


def test_a_later_supervisor_reads_the_same_plan() -> None:
    plan = planned(model(), ModelData(uri="m.tar.gz", archive="/m.tar.gz"))
    assert recall(remember(plan)) == plan


def test_what_differs_from_the_service_is_noted() -> None:
    plan = planned(model(Tags=[{"Key": "a", "Value": "b"}]), ModelData(uri="m.tar.gz", archive="/m.tar.gz"))
    assert [note.id for note in plan.notes] == ["relaxed-role", "relaxed-instance", "relaxed-uri", "recorded"]
    assert plan.notes[-1].text == "recorded, no effect here: Tags"
