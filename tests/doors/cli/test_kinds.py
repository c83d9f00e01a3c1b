"""Each command that takes a file takes that of every kind of job, or says what does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit.life import Life

KINDS = ("training", "processing", "tuning", "transform", "pipeline", "endpoint")
FILES = dict(
    zip(
        KINDS,
        ("job.yaml", "processing.yaml", "tuning.yaml", "transform.yaml", "pipeline.yaml", "model.yaml"),
        strict=True,
    ),
)
HEADS = {
    "training": "Job",
    "processing": "Job",
    "tuning": "Tuning job",
    "transform": "Transform",
    "pipeline": "Pipeline",
    "endpoint": "Endpoint",
}
TRAIN = """\
#!/usr/bin/env python3
import json

hyperparameters = json.load(open("/opt/ml/input/config/hyperparameters.json"))
depth = int(hyperparameters.get("depth", "3"))
open("/opt/ml/model/factor", "w").write(str(depth))
print(f"score={depth / 10}")
"""


@pytest.fixture
def project(life: Life, image: Callable[[str], str], docker: Callable[..., str]) -> Any:
    """A folder with a Dockerfile, whose image is built as `init` says, and removed afterwards."""
    folder = life.folder / "all-kinds-project"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "a.csv").write_text("1,2\n")
    (folder / "Dockerfile").write_text(f"FROM {image('train-serve')}\nCOPY train /usr/local/bin/train\n")
    (folder / "train").write_text(TRAIN)
    (folder / "train").chmod(0o755)
    docker("build", "--tag", "all-kinds-project:latest", str(folder))
    try:
        yield folder
    finally:
        docker("rmi", "--force", "all-kinds-project:latest")


@pytest.mark.slow(5)
def test_the_file_of_each_kind_runs(project: Path, life: Life) -> None:
    """With the image of the folder: its training job leaves the model that the others take by its name."""
    life.folder = project
    for kind in KINDS:
        done = life("init", "--kind", kind)
        assert done.returncode == 0, done.stderr
        assert done.stderr.endswith(f"  smlocal {'deploy' if kind == 'endpoint' else 'run'} {FILES[kind]}\n")
        for words in (("validate",), ("plan",), ("check", "--static")):
            done = life(*words, FILES[kind])
            assert done.returncode == 0, done.stderr
            assert words != ("plan",) or done.stdout.startswith(HEADS[kind]), done.stdout
        if kind == "endpoint":
            break
        done = life("run", FILES[kind], "--name", f"kinds-{kind}")
        assert done.returncode == 0, done.stderr
    assert (project / "smlocal-output" / "processing" / "files.txt").read_text().count("a.csv") == 1
    best = life.describe("kinds-tuning")["BestTrainingJob"]
    assert best["FinalHyperParameterTuningJobObjectiveMetric"]["MetricName"] == "score"
    depth = best["TunedHyperParameters"]["depth"]
    assert (project / "smlocal-output" / "transform" / "a.csv.out").read_text() != ""
    text = (project / "model.yaml").read_text()
    (project / "model.yaml").write_text(text.replace(_model(text), "kinds-tuning"))
    done = life("deploy", "model.yaml", "--name", "kinds-endpoint")
    assert done.returncode == 0, done.stderr
    done = life("invoke", "kinds-endpoint", "--body", str(project / "data" / "a.csv"), "--content-type", "text/csv")
    assert (done.returncode, done.stdout.strip()) == (0, f"{depth},{2 * int(depth)}"), done.stderr
    assert life("stop", "kinds-endpoint").returncode == 0


def _model(text: str) -> str:
    """What a model file has where a model is named."""
    return next(line.split()[1] for line in text.splitlines() if line.lstrip().startswith("ModelDataUrl: "))


WRONG = {
    "training": "AlgorithmSpecification: {TrainingImagee: image}\n",
    "processing": "AppSpecification: {ImageUrl: image}\n",
    "tuning": "HyperParameterTuningJobConfig: {Strategie: Random}\n",
    "transform": "TransformInput: {SplitTipe: Line}\n",
    "pipeline": 'Local: {Step: {}}\nVersion: "2020-12-01"\nSteps: [{Name: F, Type: Fail, Arguments: {}}]\n',
    "endpoint": "PrimaryContainer: {Image: image, ModelDataUri: model}\n",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_mistake_is_named_whatever_the_kind(kind: str, life: Life) -> None:
    """By its own name, and not as that of a training job."""
    (life.folder / "wrong.yaml").write_text(WRONG[kind])
    for words in (("validate",), ("plan",), ("check", "--static")):
        done = life(*words, "wrong.yaml")
        assert done.returncode == 2
        assert "[request-invalid]" in done.stderr, done.stderr
        assert "wrong.yaml:1   unknown key " in done.stderr
        assert "did you mean" in done.stderr


@pytest.mark.parametrize(
    ("kind", "words", "says"),
    [
        ("endpoint", ("run",), "Deploy it: smlocal deploy file.yaml"),
        ("transform", ("deploy",), "Run it: smlocal run file.yaml"),
        ("tuning", ("deploy",), "  smlocal deploy NAME"),
        ("transform", ("submit", "--dry-run"), "On the service: aws sagemaker create-model, then create-transform-job"),
        ("endpoint", ("submit", "--dry-run"), "On the service: aws sagemaker create-model, create-endpoint-config and"),
        ("endpoint", ("plan", "--script"), "pings its container and restarts it"),
        ("processing", ("plan", "--script"), "no docker command uploads its outputs"),
        ("pipeline", ("plan", "--script"), "its later steps get values of earlier ones"),
        ("pipeline", ("deploy",), "Run it: smlocal run file.yaml"),
    ],
)
def test_what_a_command_does_not_do_it_says_in_the_words_of_the_kind(
    kind: str, words: tuple[str, ...], says: str, life: Life
) -> None:
    assert life("init", "image", "--kind", kind, "--file", "file.yaml").returncode == 0
    done = life(*words, "file.yaml")
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr


def test_the_rest_of_an_endpoint_plan_is_its_own(life: Life) -> None:
    assert life("init", "image", "--kind", "endpoint").returncode == 0
    done = life("plan", "model.yaml", "--json", "--image", "another", "-e", "LEVEL=1", "--name", "planned-endpoint")
    document = json.loads(done.stdout)
    assert document["EndpointName"] == "planned-endpoint"
    assert document["Hosts"][0]["Image"]["Name"] == "another"
    assert document["Hosts"][0]["Environment"]["LEVEL"] == "1"


def test_a_file_with_several_models_is_checked_by_the_first(life: Life, image: Callable[[str], str]) -> None:
    variants = [{"VariantName": name, "ModelName": name, "InstanceType": "local"} for name in ("one", "two")]
    models = [
        {"ModelName": name, "PrimaryContainer": {"Image": tag}}
        for name, tag in (("one", image("train-serve")), ("two", "absent-for-kinds"))
    ]
    (life.folder / "model.json").write_text(
        json.dumps({"Models": models, "ProductionVariants": [{**each, "InitialInstanceCount": 1} for each in variants]})
    )
    done = life("check", "model.json", "--static")
    assert (done.returncode, f"{image('train-serve')}: " in done.stderr) == (0, True), done.stderr


@pytest.mark.slow(1)
def test_an_image_that_is_not_there_may_have_a_similar_name(life: Life, docker: Callable[..., str]) -> None:
    """Of the images of the engine: by another tag, or with a typing mistake."""
    docker("tag", life.image, "held-for-kinds/trainer:v2")
    try:
        for image, meant in (
            ("held-for-kinds/trainer:v1", "held-for-kinds/trainer:v2"),
            ("held-for-kinds/trianer:v2", "held-for-kinds/trainer:v2"),
        ):
            for words in (("run", "--image", image, "--pull", "never"), ("check", image, "--static")):
                done = life(*words)
                assert (done.returncode, f"Did you mean {meant}?" in done.stderr) == (3, True), done.stderr
        done = life("run", "--image", "127.0.0.1:9/held-for-kinds/trainer:v2")
        assert (done.returncode, "[registry-unreachable]" in done.stderr) == (3, True), done.stderr
        assert "Did you mean" in done.stderr
    finally:
        docker("rmi", "held-for-kinds/trainer:v2")


def test_a_job_that_is_not_there_may_have_a_similar_name(life: Life) -> None:
    assert life("run", life.job_file("kinds-similar", "exit 0")).returncode == 0
    done = life("describe", "kinds-similra")
    assert (done.returncode, "Did you mean kinds-similar?" in done.stderr) == (2, True), done.stderr
    model = life.folder / "model.yaml"
    model.write_text(f"PrimaryContainer: {{Image: {life.image}, ModelDataUrl: kinds-similra}}\n")
    done = life("deploy", model)
    assert (done.returncode, "Did you mean kinds-similar?" in done.stderr) == (2, True), done.stderr
    model.write_text(f"PrimaryContainer: {{Image: {life.image}, ModelDataUrl: kinds-similar}}\n")
    (life.folder / "kinds-similar").mkdir()  # no model, so the job is meant
    done = life("deploy", model)
    assert (done.returncode, "the job kinds-similar has no model" in done.stderr) == (2, True), done.stderr
