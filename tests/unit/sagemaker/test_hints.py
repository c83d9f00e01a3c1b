"""The log of a failed program, beside its job."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.sagemaker.conftest import FACTS, LISTING, REQUEST, job, planned

from smlocal.jobs.decide.attempt_outcome import Symptoms, Trouble
from smlocal.jobs.planning.aspects.inputs.plan import InputFacts
from smlocal.sagemaker.training.hints import log_hint, lost_model

DATA = "/opt/ml/input/data"
SOURCE = REQUEST["InputDataConfig"][0]["DataSource"]
MISSING = "FileNotFoundError: [Errno 2] No such file or directory: '{}'"


def channels(*names: str, mode: str = "File") -> dict[str, Any]:
    return {"InputDataConfig": [{"ChannelName": name, "InputMode": mode, "DataSource": SOURCE} for name in names]}


def hint(
    log: str = "",
    changes: Mapping[str, Any] | None = None,
    *,
    failure: str = "",
    image: Mapping[str, Any] | None = None,
) -> str | None:
    changes = channels("train") if changes is None else changes
    names = [each["ChannelName"] for each in changes.get("InputDataConfig") or ()]
    assert FACTS.image is not None
    known = dict.fromkeys(names, LISTING)
    facts = replace(
        FACTS,
        inputs=InputFacts(listings=known, file_systems=known),
        image=replace(FACTS.image, **(image or {})),
    )
    plan = planned(job({"InputDataConfig": None, **changes}, {}), facts)
    return log_hint(plan, plan.hosts[0], Symptoms(trouble=Trouble.FAILED, log=log, failure=failure))


@pytest.mark.parametrize(
    "line",
    [
        MISSING.format(f"{DATA}/training"),
        MISSING.format(f"{DATA}/training/a.csv"),
        f"cat: can't open '{DATA}/training/*': No such file or directory",
        f"ls: cannot access '{DATA}/training': No such file or directory",
        f"java.io.FileNotFoundException: {DATA}/training/x (No such file or directory)",
        f"cannot open file '{DATA}/training/x.csv': No such file or directory",
        f"OSError: {DATA}/training/x.npy not found.",
        f"ValueError: There are no files in {DATA}/training.",
        MISSING.format(f"{DATA}/training-manifest"),
    ],
)
def test_a_channel_of_another_name(line: str) -> None:
    said = hint(f"starting\n{line}\n", channels("train", "validation"))
    assert said is not None
    assert said.startswith("The job has the channels train and validation; the log names training. ")
    said = hint(failure=line)
    assert said is not None
    assert said.startswith("The job has the channel train; the failure file names training. ")


@pytest.mark.parametrize(
    "line",
    [
        f"reading {DATA}/training/a.csv",
        MISSING.format(f"{DATA}/train/a.csv"),
        MISSING.format(f"{DATA}/train/b"),
        MISSING.format(f"{DATA}/train/*.parquet"),
        MISSING.format(f"{DATA}/train"),
        MISSING.format(f"{DATA}/train-manifest"),
        MISSING.format("/opt/ml/input/config/x"),
        MISSING.format("/data/training"),
        MISSING.format(DATA),
    ],
)
def test_what_is_there_is_not_missed(line: str) -> None:
    assert hint(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "python: Error while finding module specification (ModuleNotFoundError: No module named 'sagemaker')",
        "ERROR: No matching distribution found for sagemaker<3.0.0,>=2.256.0",
    ],
)
def test_a_function_in_an_image_without_the_sdk(line: str) -> None:
    log = f"{MISSING.format(f'{DATA}/sm_rf_user_ws')}\n{line}\n"
    said = hint(log, channels("sagemaker_remote_function_bootstrap"))
    assert said is not None
    assert said.startswith("Functions with @remote and @step are run by the SageMaker SDK in the container")
    said = hint(line, channels("train"))
    assert said is None or said.startswith("The Python that ran in the container has no module sagemaker")


def test_only_what_ended_the_program_counts() -> None:
    missing = MISSING.format(f"{DATA}/validation")
    assert hint(f"{missing}, skipping\nTraceback:\n  File x\nValueError: loss is nan\n") is None
    for words in ("During handling of the above exception, another", "The above exception was the direct cause of"):
        said = hint(f"{missing}\n\n{words}:\n\nTraceback:\nRuntimeError: no data\n")
        assert said is not None
        assert "the log names validation" in said
    said = hint(f"IndexError: x\nload: {DATA}/validation: No such file or directory\n")
    assert said is not None


def test_a_file_that_the_channel_does_not_have() -> None:
    assert hint(MISSING.format(f"{DATA}/train/train.csv")) == (
        "The channel train has no train.csv, which the log names. It has 2 files: a.csv, b/c.csv."
    )


def test_a_job_without_channels() -> None:
    said = hint(MISSING.format(f"{DATA}/training/a.csv"), {})
    assert said is not None
    assert said.startswith("The job has no channels, and the log names training. ")
    assert said.endswith("--channel training=DIR.")
    said = hint(MISSING.format(DATA), {})
    assert said is not None
    assert said.startswith("The job has no channels: ")


def test_a_channel_in_another_mode() -> None:
    pipe = hint(MISSING.format(f"{DATA}/train/a.csv"), channels("train", mode="Pipe"))
    assert pipe is not None
    assert pipe.startswith("The channel train is in Pipe mode")
    fifo = hint(MISSING.format(f"{DATA}/train_0"))
    assert fifo is not None
    assert "the channel train is not in Pipe mode" in fifo


@pytest.mark.parametrize(
    "line",
    [
        f"touch: {DATA}/train/index: Read-only file system",
        f"OSError: [Errno 30] Read-only file system: '{DATA}/train/index'",
        "rm: can't remove 'a': Read-only file system",
    ],
)
def test_what_is_written_to_a_channel_in_fast_file_mode(line: str) -> None:
    said = hint(line, channels("train", mode="FastFile"))
    assert said is not None
    assert said.startswith("The channel train is in FastFile mode, which cannot be written to")
    assert hint(line) is None


def test_a_file_system_that_may_only_be_read() -> None:
    file_system = {
        "FileSystemId": "fs-0123456789abcdef0",
        "FileSystemType": "EFS",
        "DirectoryPath": "/data",
        "FileSystemAccessMode": "ro",
    }
    source = {"ChannelName": "train", "DataSource": {"FileSystemDataSource": file_system}}
    said = hint(f"touch: {DATA}/train/x: Read-only file system", {"InputDataConfig": [source]})
    assert said is not None
    assert said.startswith("The channel train is a file system that is mounted read-only")
    assert said.endswith("set FileSystemAccessMode to rw.")


NUMBERS = {"HyperParameters": {"name": "big", "epochs": "10", "learning-rate": "0.1", "sagemaker_program": "1"}}


@pytest.mark.parametrize(
    "error",
    [
        "TypeError: '<' not supported between instances of 'int' and 'str'",
        "TypeError: 'str' object cannot be interpreted as an integer",
        "TypeError: unsupported operand type(s) for /: 'int' and 'str'",
        "TypeError: can't multiply sequence by non-int of type 'float'",
        "TypeError: must be real number, not str",
        'TypeError: can only concatenate str (not "int") to str',
        (
            "sklearn.utils._param_validation.InvalidParameterError: The 'n_estimators' parameter of "
            "RandomForestClassifier must be an int in the range [1, inf). Got '10' instead."
        ),
        (
            "numpy.core._exceptions.UFuncTypeError: ufunc 'multiply' did not contain a loop with signature matching "
            "types (dtype('<U3'), dtype('float64')) -> None"
        ),
    ],
)
def test_hyperparameters_are_text(error: str) -> None:
    said = hint(f'  File "/opt/train.py", line 3\n    fit(given["epochs"])\n{error}\n', NUMBERS)
    assert said == (
        'Hyperparameters are text in the container: epochs is "10". The program has to convert it, for example with '
        "int(value)."
    )
    assert hint(error, {"HyperParameters": {"name": "big"}}) is None


def test_the_hyperparameter_is_the_one_that_is_named() -> None:
    error = "TypeError: '<=' not supported between instances of 'float' and 'str'"
    said = hint(f"epochs = 10\n    SGD(lr=args.learning_rate)\n{error}", NUMBERS)
    assert said is not None
    assert 'learning-rate is "0.1"' in said
    assert said.endswith("float(value).")
    said = hint("ValueError: x must be an int. Got '0.1'", NUMBERS)
    assert said is not None
    assert 'learning-rate is "0.1"' in said


def test_a_secret_is_not_shown() -> None:
    given = {"HyperParameters": {"api_key": "123456789012345678901234567890"}}
    assert hint("TypeError: unsupported operand type(s) for /: 'int' and 'str'", given) is None


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("ValueError: invalid literal for int() with base 10: '{}'", "an integer"),
        ("train: error: ValueError: could not convert string to float: '{}'", "a number"),
    ],
)
def test_a_value_that_is_no_number(error: str, kind: str) -> None:
    given = {"HyperParameters": {"rate": "0.5", "epochs": "five"}}
    kind_of_text = "a number"
    assert (
        hint(error.format("five"), given)
        == f'The hyperparameter epochs is "five", which the program takes for {kind_of_text}.'
    )
    assert hint(error.format("0.5"), given) == f'The hyperparameter rate is "0.5", which the program takes for {kind}.'
    assert hint(error.format("six"), given) is None


@pytest.mark.parametrize(
    "line",
    [
        "train.py: error: unrecognized arguments: train",
        "Error: Got unexpected extra argument (train)",
        "train.py: error: the following arguments are required: --epochs",
    ],
)
def test_an_argument_that_the_program_does_not_know(line: str) -> None:
    image = {"entrypoint": ("python", "/opt/train.py"), "command": ("--epochs", "3")}
    said = hint(line, image=image)
    assert said is not None
    assert 'in place of the CMD of the image, ["--epochs", "3"]' in said
    assert said.endswith('["python", "/opt/train.py", "--epochs", "3"]')
    said = hint(line, image={**image, "command": None})
    assert (said is None) == ("required" in line)
    algorithm = {**REQUEST["AlgorithmSpecification"], "ContainerEntrypoint": ["python", "/opt/train.py"]}
    assert hint(line, {"AlgorithmSpecification": algorithm}, image=image) is None


def test_a_file_of_the_image_that_is_hidden() -> None:
    image = {"reserved_files": ("/opt/ml/model/vocab.txt",)}
    said = hint(MISSING.format("/opt/ml/model/vocab.txt"), image=image)
    assert said is not None
    assert said.startswith("/opt/ml/model/vocab.txt is a file of the image")


@pytest.mark.parametrize(
    "line",
    [
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "ping: bad address 'pypi.org'",
        "OSError: [Errno 101] Network is unreachable",
    ],
)
def test_a_job_without_the_network(line: str) -> None:
    said = hint(line, {"EnableNetworkIsolation": True})
    assert said is not None
    assert said.startswith("The job has EnableNetworkIsolation")
    assert hint(line) is None


def test_a_program_that_wants_a_gpu() -> None:
    line = "RuntimeError: Found no NVIDIA driver on your system."
    assert hint(line) == "The program needs a GPU, and ml.m5.large has none."


def test_threads_of_gloo_that_are_there_at_the_end() -> None:
    said = hint("loss 0.3\nterminate called without an active exception\n")
    assert said is not None
    assert "torch.distributed.destroy_process_group()" in said
    assert hint("terminate called after throwing an instance of 'std::bad_alloc'\n") is None


@pytest.mark.parametrize(
    "line",
    [
        "ValueError: loss is nan",
        "TypeError: f() missing 1 required positional argument: 'x'",
        "KeyError: 'SM_CHANNEL_TRAIN'",
        "x" * 100_000,
        f"{DATA}/" * 10_000 + " No such file",
        "TypeError: " + "str " * 20_000,
        "unrecognized arguments: " + "a " * 20_000,
        "\x00\ufffd",
    ],
)
def test_what_is_not_known_is_not_explained(line: str) -> None:
    assert hint(line, {**channels("train"), **NUMBERS}) is None


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("Model saved to /opt/models/m.bin", "/opt/models/m.bin"),
        ("saving checkpoint at /opt/ml/models/m.", "/opt/ml/models/m"),
        ("wrote '/tmp/m.pkl'", "/tmp/m.pkl"),
        ("Exporting to file:///model and /srv/m", "/srv/m"),
    ],
)
def test_a_model_that_was_saved_elsewhere(line: str, path: str) -> None:
    said = lost_model(f"begin\n{line}\nsaved to /opt/ml/model/x\nend")
    assert said is not None
    assert said.startswith(f"The log names {path}, which is not below /opt/ml/model")


def test_a_model_that_is_among_the_other_output() -> None:
    said = lost_model("saved /opt/ml/output/data/m.bin")
    assert said is not None
    assert "output.tar.gz" in said


@pytest.mark.parametrize(
    "line", ["saved /opt/ml/model/x", "loading /opt/x", "saved to s3://bucket/model", "written to /dev/null", "saved"]
)
def test_nothing_is_made_up_about_a_model(line: str) -> None:
    assert lost_model(line) is None
