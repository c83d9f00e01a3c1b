"""The plan of an endpoint: what its container gets, and how it is reached."""

from dataclasses import replace
from typing import Any

import pytest

from smlocal.engine.engines import engines_at
from smlocal.engine.facts import EngineFacts, ImageFacts
from smlocal.errors.of_jobs import EndpointUnreachableError, PortLabelMissingError
from smlocal.jobfile.document import Document
from smlocal.jobs.containers import container_spec
from smlocal.jobs.planning.aspects.accelerators.plan import AcceleratorFacts, GpuFacts
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine
from smlocal.jobs.planning.aspects.engines.plan import MachineFacts
from smlocal.jobs.planning.aspects.serving.plan import ModelForm, ModelPlan
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.recall import recall, remember
from smlocal.sagemaker.hosting import planning
from smlocal.sagemaker.hosting.planning import check_label, check_reach, plan_endpoint
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.model_file import ModelFile, read_model

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
    of: ModelFile, data: ModelPlan | None = None, engine: EngineFacts = HERE, machine: MachineFacts = MACHINE
) -> JobPlan:
    placed = PlacedEngine(engine=engines_at([engine.address]).first, facts=engine, hosts=())
    found = {each.at: () if data is None else (data,) for each in of.containers}
    return plan_endpoint(of, found, placed, {}, name="Here", home="/home", machine=machine, run_id="0a")


def data(uri: str, form: ModelForm, path: str = "") -> ModelPlan:
    return ModelPlan(name="model", uri=uri, target="/opt/ml/model", form=form, path=path)


ARCHIVE = data("m.tar.gz", "archive", "/m.tar.gz")


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
    (host,) = plan.hosts
    assert host.program is not None
    assert (host.program.entrypoint, host.program.command) == (None, ("serve",))
    assert host.environment == {
        "AWS_REGION": "eu-west-1",
        "SAGEMAKER_SAFE_PORT_RANGE": "8081-8099",
        "SAGEMAKER_BIND_TO_PORT": "8080",
        "A": "1",
    }
    assert (plan.stop.grace, host.server and host.server.startup) == (30, 480.0)


def test_the_variant_names_the_host_and_its_type_decides_the_gpus() -> None:
    variant = {"VariantName": "Blue", "InstanceType": "ml.g4dn.xlarge", "InitialInstanceCount": 1}
    machine = replace(MACHINE, accelerators=AcceleratorFacts(gpus=GpuFacts(ids=("0", "1"))))
    (host,) = planned(model(ProductionVariants=[variant]), machine=machine).hosts
    assert host.host.name == "Blue"
    assert host.accelerators.gpus is not None
    assert host.accelerators.gpus.ids == ("0",)


@pytest.mark.parametrize(
    ("found", "root", "writable"),
    [
        (ARCHIVE, "/home/jobs/Here/staged/AllTraffic/model", True),
        (data("s3://b/m.tar.gz", "archive"), "/home/jobs/Here/staged/AllTraffic/model", True),
        (data("m", "folder", "/m"), "/m", False),
        (data("s3://b/m/", "folder"), "/home/jobs/Here/staged/AllTraffic/model", False),
        (data("m/one", "object", "/m/one"), "/home/jobs/Here/staged/AllTraffic/model", False),
    ],
)
def test_the_model_is_mounted(found: ModelPlan, root: str, *, writable: bool) -> None:
    (tree,) = planned(model(), found).trees
    assert (tree.target, tree.listing.root, tree.writable) == ("/opt/ml/model", root, writable)
    assert tree.as_it_is


def test_without_a_model_nothing_is_mounted() -> None:
    assert planned(model()).trees == ()


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
        check_reach(model(EnableNetworkIsolation=isolated), engine, "/home")
    check_reach(model(EnableNetworkIsolation=isolated), HERE, "/home")


def test_credentials_are_those_of_a_job() -> None:
    assert planned(model()).credentials is None
    plan = planned(model(Local={"Credentials": "inherit"}))
    assert plan.credentials is not None
    assert plan.credentials.mode == "inherit"


def test_a_later_supervisor_reads_the_same_plan() -> None:
    plan = planned(model(), ARCHIVE)
    assert recall(remember(plan)) == plan


def test_what_differs_from_the_service_is_noted() -> None:
    plan = planned(model(Tags=[{"Key": "a", "Value": "b"}]), ARCHIVE)
    assert [note.id for note in plan.notes] == ["relaxed-role", "relaxed-instance", "relaxed-uri", "recorded"]
    assert plan.notes[-1].text == "recorded, no effect here: Tags"


def test_what_isolation_does_not_cover_is_noted() -> None:
    """This machine must reach the container, so it has an address on its network."""
    notes = {note.id: note for note in planned(model(EnableNetworkIsolation=True)).notes}
    assert notes["engine-isolation"].warning
    assert notes["engine-isolation"].text.endswith("containers can reach what listens on this machine's addresses")
    assert notes["isolation"].text.startswith("the container can reach only itself and this machine (Enable")
    assert "engine-isolation" not in {note.id for note in planned(model()).notes}


def test_differences_of_this_machine_are_noted_as_of_a_job() -> None:
    role = "arn:aws:iam::123456789012:role/mine"
    local = {"AllowCpu": True, "Memory": "1g", "Credentials": "inherit"}
    limits = {"InvocationSeconds": 600, "PingSeconds": 2, "StartupSeconds": 9, "MaxInstances": 1}
    variants = [{"VariantName": "A", "ModelName": "m", "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": 1}]
    given = model(ExecutionRoleArn=role, ProductionVariants=variants, ModelName="m", Local={**local, "Serving": limits})
    plan = planned(given, data("s3://bucket/m.tar.gz", "archive", "/m.tar.gz"))
    assert {note.id: note.text for note in plan.notes} == {
        "allow-cpu": "ml.g5.xlarge has 1 GPU; this run has none, because --allow-cpu is set",
        "instance-size": "CPU and memory of ml.g5.xlarge (4 vCPU, 16 GiB) are not enforced: "
        "this machine has 4 CPUs and 7 GiB",
        "limits-own": "limits that the service does not have: Local.Memory",
        "credentials": "the container gets your own AWS credentials and permissions; on the service, "
        "those of ExecutionRoleArn",
        "mapped-sources": "read from this machine through Local.Sources: s3://bucket/m.tar.gz from /m.tar.gz",
        "serving-limits": "Local.Serving: InvocationSeconds is 600, and 60 on the service",
    }
    remote = planned(given, data("s3://bucket/m.tar.gz", "archive"))
    assert "read from S3 with your own credentials, not those of the role: s3://bucket/m.tar.gz" in {
        note.text for note in remote.notes
    }


def several(**of_the_second: Any) -> ModelFile:
    image = {"Image": "held"}
    models = [
        {"ModelName": "one", "PrimaryContainer": image},
        {"ModelName": "row", "Containers": [image, {**image, "Environment": {"A": "1"}}], **of_the_second},
    ]
    variants = [
        {"VariantName": "Blue", "ModelName": "one", "InitialInstanceCount": 3, "InitialVariantWeight": 0.5},
        {"VariantName": "Green", "ModelName": "row", "InitialInstanceCount": 2},
    ]
    return read_model(Document({"Models": models, "ProductionVariants": variants}, name="m", directory="/here"))


def test_each_instance_has_all_containers_of_its_model() -> None:
    plan = planned(several())
    expected = [
        "Blue",
        "Blue.2",
        "Green.container-1",
        "Green.container-2",
        "Green.2.container-1",
        "Green.2.container-2",
    ]
    assert [host.host.name for host in plan.hosts] == expected
    assert [host.host.number for host in plan.hosts] == [1, 2, 3, 3, 4, 4]
    servers = [host.server for host in plan.hosts if host.server is not None]
    assert [(each.variant, each.instance, each.called) for each in servers] == [
        ("Blue", 1, "primary"),
        ("Blue", 2, "primary"),
        ("Green", 1, "container-1"),
        ("Green", 1, "container-2"),
        ("Green", 2, "container-1"),
        ("Green", 2, "container-2"),
    ]
    assert plan.serving is not None
    assert [(each.name, each.weight, each.direct) for each in plan.serving.variants] == [
        ("Blue", 0.5, False),
        ("Green", 1.0, False),
    ]
    assert "fewer instances than asked for: 2 of 3 of Blue" in "".join(note.text for note in plan.notes)
    assert recall(remember(plan)) == plan


def test_containers_beside_others_listen_on_ports_of_their_own() -> None:
    ports = [host.server and host.server.port for host in planned(several()).hosts]
    assert ports == [8080, 8080, 8180, 8280, 8180, 8280]
    last = planned(several()).hosts[-1]
    assert last.environment["SAGEMAKER_BIND_TO_PORT"] == "8280"
    assert last.environment["SAGEMAKER_SAFE_PORT_RANGE"] == "8281-8299"
    assert last.environment["A"] == "1"
    assert last.names.hostname == "container-2"


def test_containers_of_one_instance_share_its_gpus() -> None:
    row = {"Containers": [{"Image": "held"}, {"Image": "held"}]}
    variants = [
        {"VariantName": name, "InstanceType": "ml.g4dn.xlarge", "InitialInstanceCount": 2} for name in ("Blue", "Green")
    ]
    document = Document({**row, "ProductionVariants": variants}, name="m", directory="/here")
    machine = replace(MACHINE, accelerators=AcceleratorFacts(gpus=GpuFacts(ids=("0", "1"))))
    hosts = planned(read_model(document), machine=machine).hosts
    given = [(host.host.name, host.accelerators.gpus and host.accelerators.gpus.ids) for host in hosts]
    assert given == [
        ("Blue.container-1", ("0",)),
        ("Blue.container-2", ("0",)),
        ("Green.container-1", ("1",)),
        ("Green.container-2", ("1",)),
    ]


def test_a_setting_says_how_many_instances_are_run() -> None:
    variant = {"VariantName": "Blue", "InstanceType": "ml.g4dn.xlarge", "InitialInstanceCount": 5}
    for asked, expected in ((None, 1), (3, 3), (9, 5)):
        local = {"Gpus": "none", **({} if asked is None else {"Serving": {"MaxInstances": asked}})}
        assert len(planned(model(ProductionVariants=[variant], Local=local)).hosts) == expected


def image(labels: dict[str, str]) -> ImageFacts:
    return ImageFacts(
        id="sha256:0",
        architecture="amd64",
        operating_system="linux",
        size=0,
        entrypoint=None,
        command=None,
        user="",
        working_directory="",
        labels=labels,
    )


def test_an_image_beside_others_says_that_it_listens_where_it_is_told() -> None:
    check_label("held", image({facts.PORT_LABEL: "true"}))
    with pytest.raises(PortLabelMissingError) as error:
        check_label("held", image({facts.PORT_LABEL: "false"}))
    assert error.value.sentence == (
        "Your Ecr Image held does not contain required com.amazonaws.sagemaker.capabilities.accept-bind-to-port=true "
        "Docker label(s)."
    )


@pytest.mark.parametrize(
    ("asked", "others", "key", "said"),
    [
        (None, ["ann", "bob"], True, "a key is demanded: others have an account on this machine (ann, bob)"),
        (None, [], False, ""),
        (True, ["ann"], True, ""),
        (True, [], True, ""),
        (False, ["ann"], False, "every user of this machine can invoke it"),
        (False, [], False, ""),
    ],
)
def test_the_owner_is_told_who_can_invoke(
    monkeypatch: pytest.MonkeyPatch, asked: bool | None, others: list[str], key: bool, said: str
) -> None:
    monkeypatch.setattr(planning, "other_users", lambda: others)
    local = {} if asked is None else {"Local": {"Serving": {"Key": asked}}}
    serving = planned(model(**local), ARCHIVE).serving
    assert serving is not None
    assert (serving.key, serving.access) == (key, said)
