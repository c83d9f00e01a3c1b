"""Plans of jobs in SageMaker Studio: one network, one host, and nothing asked of the engine that it may refuse."""

import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from smlocal.engine.documents import container_document
from smlocal.engine.engines import engines_at
from smlocal.engine.facts import EngineFacts, ImageFacts, Place
from smlocal.errors import EngineRemoteError, HomeUnusableError, MachineNotReadyError
from smlocal.errors.of_jobs import NotInPlaceError, OneHostError
from smlocal.jobfile.document import Document
from smlocal.jobfile.settings import Fault, LocalSettings
from smlocal.jobs.containers import container_spec
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine
from smlocal.jobs.planning.aspects.engines.plan import MachineFacts
from smlocal.jobs.planning.aspects.inputs.plan import InputFacts
from smlocal.jobs.planning.aspects.place.look import check_place, inputs_there
from smlocal.jobs.planning.aspects.serving.plan import ModelPlan
from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.recall import recall, remember
from smlocal.sagemaker.hosting.hosts import image_name
from smlocal.sagemaker.hosting.planning import check_reach, plan_endpoint
from smlocal.sagemaker.hosting.servers import Server
from smlocal.sagemaker.processing.job_file import read_processing
from smlocal.sagemaker.processing.planning import build_plan as plan_processing
from smlocal.sagemaker.processing.workload import workload_of as processing_workload
from smlocal.sagemaker.serving import facts as serving
from smlocal.sagemaker.serving.model_file import read_model
from smlocal.sagemaker.training.preparing import PREPARING
from smlocal.terms.listing import Listing

STUDIO = Place(app="JupyterLab")
ONE = {"AppSpecification": {"ImageUri": "i"}, "ProcessingResources": {"ClusterConfig": {"InstanceCount": 1}}}


@pytest.fixture
def engine(facts: Facts) -> EngineFacts:
    return replace(facts.engines.first, place=STUDIO)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def asked_of_the_engine(plan: JobPlan) -> dict[str, Any]:
    """What the documents of all containers say about networks and names."""
    (document,) = (container_document(container_spec(plan, host, labels={}, mounts=())) for host in plan.hosts)
    host = document["HostConfig"]
    return {
        "network": host["NetworkMode"],
        "endpoints": document.get("NetworkingConfig"),
        "names": [document["Hostname"], *host["ExtraHosts"], *host["Dns"]],
        "ports": [*document["ExposedPorts"], *host["PortBindings"]],
    }


NOTHING_ELSE = {"network": "sagemaker", "endpoints": None, "names": [""], "ports": []}


def test_a_training_job(plan: Callable[..., JobPlan], engine: EngineFacts) -> None:
    local = {"Endpoints": {"s3": "http://localhost:9000"}, "DebugPort": 5678}
    made = plan({}, local, engine=engine)
    assert asked_of_the_engine(made) == NOTHING_ELSE
    (host,) = made.hosts
    config = json.loads(host.files["/opt/ml/input/config/resourceconfig.json"])
    assert (config["current_host"], config["hosts"]) == ("sagemaker-local", ["sagemaker-local"])
    assert config["instance_groups"][0]["hosts"] == ["sagemaker-local"]
    assert host.host.name == "algo-1"  # in names of logs, as everywhere
    assert host.environment["SM_STUDIO_LOCAL_MODE"] == "True"
    assert host.environment["AWS_ENDPOINT_URL_S3"] == "http://127.0.0.1:9000"
    assert recall(remember(made)) == recall(json.loads(json.dumps(remember(made))))
    assert PREPARING.plan_document(made)["SharedNetwork"] == "sagemaker"
    script = PREPARING.script(made)
    assert "--network sagemaker" in script
    unknown = ("--hostname", "--add-host", "-p 127", "docker network", "/tmp/")
    assert not [word for word in unknown if word in script]


@pytest.mark.parametrize(
    ("mode", "staging", "expected"),
    [("File", None, "copy"), ("File", "overlay", "copy"), ("File", "copy", "copy"), ("FastFile", None, "bind")],
)
def test_no_channel_is_an_overlay(
    mode: str, staging: str | None, expected: str, plan: Callable[..., JobPlan], engine: EngineFacts
) -> None:
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/train/"}}
    channel = {"ChannelName": "train", "InputMode": mode, "DataSource": source}
    made = plan({"InputDataConfig": [channel]}, {} if staging is None else {"Staging": staging}, engine=engine)
    (tree,) = made.trees
    assert tree.staging == expected
    assert tree.writable is (mode == "File")  # only a copy can be written to


def test_a_processing_job(engine: EngineFacts, facts: Facts) -> None:
    job = read_processing(Document(dict(ONE), name="job.yaml", directory="/work"), strict=False)
    there = replace(facts, engines=replace(facts.engines, first=engine))
    made = plan_processing(job, processing_workload(job), there, name="job-1")
    assert asked_of_the_engine(made) == NOTHING_ELSE
    config = json.loads(made.hosts[0].files["/opt/ml/config/resourceconfig.json"])
    assert config == {"current_host": "sagemaker-local", "hosts": ["sagemaker-local"]}


@pytest.fixture
def usual_port(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The port of the service is one that another program has."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(serving, "PORT", taken.getsockname()[1])
        yield taken


def endpoint(engine: EngineFacts, *models: ModelPlan, labels: dict[str, str] | None = None, **data: Any) -> JobPlan:
    of = read_model(Document({"PrimaryContainer": {"Image": "held"}, **data}, name="model.yaml", directory="/here"))
    image = ImageFacts(
        id="1",
        architecture="",
        operating_system="",
        size=1,
        entrypoint=None,
        command=None,
        user="",
        working_directory="",
        labels=labels or {},
    )
    placed = PlacedEngine(engine=engines_at([engine.address]).first, facts=engine, hosts=())
    return plan_endpoint(
        of,
        {each.at: models for each in of.containers},
        placed,
        {image_name(each): image for each in of.containers},
        name="Here",
        home="/home",
        machine=MachineFacts(cpus=4, memory_mib=8000),
        run_id="0a",
    )


def test_a_container_that_serves(engine: EngineFacts, usual_port: socket.socket) -> None:
    """It has the port that it is told, where the address of this machine is its own."""
    taken = usual_port.getsockname()[1]
    made = endpoint(engine)
    assert asked_of_the_engine(made) == NOTHING_ELSE
    (host,) = made.hosts
    assert host.server is not None
    assert host.server.port == host.server.published != taken
    assert host.environment["SAGEMAKER_BIND_TO_PORT"] == str(host.server.port)
    assert [note.text for note in made.notes if note.id == "studio-ports" and str(host.server.port) in note.text]

    usual_port.close()
    for labels, has_usual in (({}, True), ({serving.PORT_LABEL: "true"}, False)):
        (server,) = (each.server for each in endpoint(engine, labels=labels).hosts)
        assert server is not None
        assert (server.port == taken) is has_usual


def test_a_container_that_does_not_answer_is_told_where_to_listen(engine: EngineFacts) -> None:
    for there, said in ((engine, "SAGEMAKER_BIND_TO_PORT, "), (replace(engine, place=None), "for 480 s")):
        made = endpoint(there)
        (host,) = made.hosts
        assert host.server is not None
        server = Server(run=cast("HostRun", SimpleNamespace(plan=made)), plan=host.server, trouble="nothing there")
        assert server.silence.startswith("nothing there, for 480 s")
        assert server.silence.endswith(f"{said}{host.server.port}" if there.place else said)


def test_each_instance_has_its_own_port(engine: EngineFacts) -> None:
    variant = {"VariantName": "A", "InstanceType": "ml.m5.large", "InitialInstanceCount": 2}
    ports = {host.server and host.server.port for host in endpoint(engine, ProductionVariants=[variant]).hosts}
    assert len(ports) == 2


def test_a_folder_with_a_model_is_mounted_from_the_home_only(engine: EngineFacts, home: Path, tmp_path: Path) -> None:
    for folder, mounted in ((home / "m", True), (tmp_path / "m", False)):
        model = ModelPlan(name="model", uri="m", target="/opt/ml/model", form="folder", path=str(folder))
        (tree,) = endpoint(engine, model).trees
        assert (tree.listing.root == str(folder), tree.writable) == (mounted, False)


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"hosts": 2}, OneHostError, "2 hosts cannot run in SageMaker Studio"),
        ({"isolated": True}, NotInPlaceError, "EnableNetworkIsolation: not possible in SageMaker Studio"),
        ({"local": {"Networks": ["a"], "AddHosts": {"b": "10.0.0.1"}}}, NotInPlaceError, "Local.Networks, Local.AddHo"),
        ({"local": {"Network": "host"}}, NotInPlaceError, "Local.Network: host"),
        ({"local": {"Faults": [Fault(Kind="LateNames")]}}, NotInPlaceError, "Local.Faults: LateNames"),
        ({"home": "/var/lib/smlocal"}, HomeUnusableError, "not below your home folder: /var/lib/smlocal"),
    ],
)
def test_what_is_not_possible_is_refused_by_name(
    asked: dict[str, Any], error: type[MachineNotReadyError], said: str, home: Path
) -> None:
    given: dict[str, Any] = {"hosts": 1, "isolated": False, "home": str(home / "smlocal"), **asked}
    local = LocalSettings(**given.pop("local", {}))
    with pytest.raises(error) as caught:
        check_place(STUDIO, local, **given)
    assert said in caught.value.sentence
    if "home" not in asked:
        assert "smlocal submit" in caught.value.remedy[-1]


def test_an_isolated_endpoint_is_refused(engine: EngineFacts, home: Path) -> None:
    of = read_model(
        Document(
            {"PrimaryContainer": {"Image": "held"}, "EnableNetworkIsolation": True}, name="m.yaml", directory="/here"
        )
    )
    with pytest.raises(NotInPlaceError) as caught:
        check_reach(of, engine, str(home / "smlocal"))
    assert caught.value.remedy[-1] == "Or use the model on the service."  # there is no command that deploys it there


def test_folders_outside_the_home_are_copied(home: Path, tmp_path: Path, listing: Listing) -> None:
    inside, outside = (replace(listing, root=str(folder)) for folder in (home / "data", tmp_path / "data"))
    (home / "link").symlink_to(tmp_path / "data")
    linked = replace(listing, root=str(home / "link"))
    given = InputFacts(listings={"in": inside, "out": outside, "link": linked, "pipe": outside}, code=outside)
    found = inputs_there(STUDIO, given, ["pipe"])
    copied = [name for name, each in found.listings.items() if each.copy_reasons]
    assert copied == ["out", "link"]
    assert found.code is not None
    assert found.code.copy_reasons == (f"{tmp_path}/data is not below your home folder",)
    with pytest.raises(EngineRemoteError, match="mounts folders of"):
        inputs_there(STUDIO, InputFacts(listings={}, file_systems={"fs": outside}), [])
    inputs_there(STUDIO, InputFacts(listings={}, file_systems={"fs": inside}), [])
