"""Rules about what is in an image, and about its configuration, on images in memory."""

import pytest
from tests.unit.check.images import file, layer, messages, program, subject

from smlocal.check.subject import LaunchProfile
from smlocal.jobfile.document import Document
from smlocal.sagemaker.jobfile.job_file import JobFile, read_job

PYTHON = "usr/lib/python3/dist-packages"


def job(**members: object) -> JobFile:
    asked = {
        "AlgorithmSpecification": {"TrainingImage": "my-image", "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "s3://my-bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
    }
    return read_job(Document({**asked, **members}, name="job.yaml", directory="/work"), strict=False)


def test_files_below_opt_ml() -> None:
    image = subject(
        layer(
            *(file(f"opt/ml/model/part-{n}") for n in range(5)),
            file("opt/ml/code/x"),
            file("opt/ml/input/data/"),
            file("opt/mlx/y"),
        )
    )
    (said,) = messages("reserved-files", image)
    assert said == (
        "/opt/ml/model/part-0, /opt/ml/model/part-1, /opt/ml/model/part-2 and 2 more may be hidden on the service"
    )
    assert messages("reserved-files", subject(layer(file("opt/ml/x")), layer(file("opt/.wh.ml")))) == []
    copied = layer(file("opt/ml/a.R"), file("opt/ml/b.R")), layer(file("opt/ml/c.R"))
    assert messages("reserved-files", subject(*copied)) == [
        "/opt/ml/a.R, /opt/ml/b.R may be hidden on the service",
        "/opt/ml/c.R may be hidden on the service",
    ]


def test_volumes() -> None:
    image = subject(volumes=("/data", "/opt/ml", "/opt/ml/code/x", "/opt/ml/model/", "/opt/mlx"))
    assert [said.split()[1] for said in messages("reserved-volume", image)] == ["/opt/ml", "/opt/ml/model/"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('open("/opt/ml/failure", "w")', 1),
        ('x = 1\nos.path.join("/opt/ml", "failure")', 2),
        ('prefix = "/opt/ml/"\nf = os.path.join(prefix, "failure")', 2),
        ('output = "/opt/ml/output"\nf = os.path.join(output, "failure")', None),
        ('open("/opt/ml/output/failure", "w")', None),
        ("# not /opt/ml/failure", None),
    ],
)
def test_failure_files(text: str, line: int | None) -> None:
    found = messages("failure-file-path", subject(layer(file("opt/program/t.py", text.encode()))))
    assert found == ([] if line is None else [found[0]])
    assert line is None or found[0].startswith(f"line {line} of /opt/program/t.py ")


def test_packages_are_not_somebody_s_own() -> None:
    text = b'open("/opt/ml/failure")\nos.environ["SM_HOSTS"]\n'
    image = subject(
        layer(*(file(f"{folder}/x.py", text) for folder in (PYTHON, "usr/share/x", "opt/conda/lib/python3.9")))
    )
    assert messages("failure-file-path", image) == []
    assert messages("toolkit-variables", image) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('os.environ["SM_MODEL_DIR"]', True),
        ("os.environ['SM_CHANNEL_TRAINING']", True),
        ('os.environ["SM_MODEL_DIR"] = "/x"', False),
        ('if os.environ["SM_IS_HETERO"] == "1": pass', True),
        ('os.environ["SM_ROLE"]', False),
        ("echo $SM_MODEL_DIRECTORY", False),
        ("echo $SM_HP_EPOCHS", True),
        ('os.environ.get("SM_HOSTS")', True),
        ('os.environ.get("SM_HOSTS", "[]")', False),
        ('os.getenv("SM_NUM_GPUS")', True),
        ('os.getenv("SM_NUM_GPUS", 0)', False),
        ("cp model $SM_MODEL_DIR", True),
        ("cp model ${SM_MODEL_DIR}/x", True),
        ("cp model ${SM_MODEL_DIR:-/opt/ml/model}", False),
        ("export SM_MODEL_DIR=/opt/ml/model\ncp model $SM_MODEL_DIR", False),
        ("# $SM_MODEL_DIR", False),
        ("$ASM_THING and ISM_X", False),
    ],
)
def test_variables_of_the_toolkit(text: str, expected: bool) -> None:
    script = layer(file("opt/t.sh", text.encode()))
    assert bool(messages("toolkit-variables", subject(script))) is expected
    assert messages("toolkit-variables", subject(script, layer(file(f"{PYTHON}/sagemaker_training/__init__.py")))) == []
    assert messages("toolkit-variables", subject(script, profiles=[LaunchProfile.MODEL_TRAINER])) == []


def test_a_variable_that_the_image_or_the_job_sets() -> None:
    script = layer(file("opt/t.py", b'os.environ["SM_MODEL_DIR"]'))
    assert messages("toolkit-variables", subject(script, environment={"SM_MODEL_DIR": "/x"})) == []
    assert messages("toolkit-variables", subject(script, job=job(Environment={"SM_MODEL_DIR": "/x"}))) == []


def test_a_toolkit_of_another_python() -> None:
    train = program("usr/local/bin/train", b"#!/usr/bin/python3\n")
    installed = file("usr/local/lib/python3.8/dist-packages/sagemaker_training/__init__.py")
    python = program("usr/bin/python3.11")
    link = file("usr/bin/python3", kind=b"2", link="python3.11")
    (said,) = messages("toolkit-unusable", subject(layer(train, installed, python, link)))
    assert said == ("/usr/local/bin/train is run by python3.11, and sagemaker_training is installed for Python 3.8")
    also = file("usr/local/lib/python3.11/dist-packages/sagemaker_training/__init__.py")
    assert messages("toolkit-unusable", subject(layer(train, installed, also, python, link))) == []
    any_python = file(f"{PYTHON}/sagemaker_training/__init__.py")
    assert messages("toolkit-unusable", subject(layer(train, any_python, python, link))) == []
    folder, code = file("opt/ml/code/train.py"), file("opt/ml/code")
    assert messages("toolkit-unusable", subject(layer(train, any_python, python, link, folder))) == []
    (said,) = messages("toolkit-unusable", subject(layer(train, any_python, python, link, code)))
    assert said == "/opt/ml/code is a file, and sagemaker_training looks for scripts in a folder of that name"


def test_variables_that_the_service_sets() -> None:
    given = {"TRAINING_JOB_NAME": "x", "DMLC_INTERFACE": "eth0", "SAGEMAKER_METRICS_DIRECTORY": "/x", "PATH": "/bin"}
    assert [said.split()[1] for said in messages("variable-overridden", subject(environment=given))] == [
        *("TRAINING_JOB_NAME", "SAGEMAKER_METRICS_DIRECTORY")
    ]


def test_secrets_are_named_and_never_shown() -> None:
    given = {
        "AWS_SECRET_ACCESS_KEY": "abc/def",
        "SOMETHING": "AKIA0123456789ABCDEF",
        "INDEX": "https://user:hunter2@example.com/simple",
        "GPG_KEY": "A035C8C19219BA821ECEA86B64E628F8D684696D",
        "TOKENIZERS_PARALLELISM": "false",
        "DB_PASSWORD": "",
    }
    found = messages("variable-secret", subject(environment=given))
    assert [said.split()[1] for said in found] == ["AWS_SECRET_ACCESS_KEY", "SOMETHING", "INDEX"]
    assert not any(value in " ".join(found) for value in given.values() if value)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("|2 PIP_TOKEN=abc VERSION=1 /bin/sh -c pip install x", ["PIP_TOKEN"]),
        ("RUN |1 DB_PASSWORD=x y /bin/bash -ec make # buildkit", ["DB_PASSWORD"]),
        ("|1 TOKEN= /bin/sh -c make", []),
        ("/bin/sh -c export API_KEY=abc", []),
        ("/bin/sh -c #(nop)  ARG TOKEN", []),
    ],
)
def test_secrets_among_the_build_arguments(text: str, names: list[str]) -> None:
    found = messages("variable-secret", subject(layer(), history=[{"created_by": text}]))
    assert [said.split()[3] for said in found] == names
    assert not any("abc" in said for said in found)


def test_drivers_and_what_only_looks_like_them() -> None:
    image = subject(
        layer(
            file("usr/lib/libcuda.so.1", b"x"),
            file("usr/lib/libnvidia-ml.so.535.54.03", b""),
            program("usr/bin/nvidia-smi"),
            file("usr/local/cuda/lib64/stubs/libcuda.so", b"x"),
            file("usr/local/cuda-12.2/compat/libcuda.so.535.104.05", b"x"),
            file("usr/lib/libnvidia-container.so.1.14.0", b"x"),
            file("usr/lib/libcuda.so", kind=b"2", link="libcuda.so.1"),
            file("opt/libcudart.so.12", b"x"),
        )
    )
    assert messages("gpu-driver", image) == [
        "/usr/bin/nvidia-smi belongs to the NVIDIA driver",
        "/usr/lib/libcuda.so.1 and 1 more in /usr/lib belongs to the NVIDIA driver",
    ]
    empty = subject(layer(file("usr/lib/libcuda.so.1")))
    assert messages("gpu-driver", empty) == ["/usr/lib/libcuda.so.1 belongs to the NVIDIA driver, empty"]


@pytest.mark.parametrize(
    ("environment", "lacks"),
    [
        ({}, "NVIDIA_VISIBLE_DEVICES=all and NVIDIA_DRIVER_CAPABILITIES=compute,utility"),
        ({"NVIDIA_VISIBLE_DEVICES": "all"}, "NVIDIA_DRIVER_CAPABILITIES=compute,utility"),
        ({"NVIDIA_VISIBLE_DEVICES": "void", "NVIDIA_DRIVER_CAPABILITIES": "all"}, "NVIDIA_VISIBLE_DEVICES=all"),
        ({"NVIDIA_VISIBLE_DEVICES": "0,1", "NVIDIA_DRIVER_CAPABILITIES": "utility,compute"}, None),
    ],
)
def test_variables_for_gpus(environment: dict[str, str], lacks: str | None) -> None:
    image = subject(layer(file(f"{PYTHON}/torch/lib/libtorch_cuda.so")), environment=environment)
    found = messages("gpu-variables", image)
    assert found == ([] if lacks is None else [found[0]])
    assert lacks is None or found[0].endswith(f"does not set {lacks}")
    assert messages("gpu-variables", subject(layer(), environment=environment)) == []


def test_processors() -> None:
    assert messages("image-architecture", subject()) == []
    (said,) = messages("image-architecture", subject(architecture="arm64"))
    assert said == "the image is built for linux/arm64, nearly all instance types run linux/amd64: exec format error"
    here = job(ResourceConfig={"InstanceType": "local", "InstanceCount": 1})
    assert messages("image-architecture", subject(architecture="arm64", job=here)) == []
    groups = [
        {"InstanceType": name, "InstanceCount": 1, "InstanceGroupName": name.split(".")[1]}
        for name in ("ml.m5.large", "ml.p6e-gb200.36xlarge")
    ]
    mixed = job(ResourceConfig={"InstanceGroups": groups, "VolumeSizeInGB": 10})
    (said,) = messages("image-architecture", subject(job=mixed))
    assert "ml.p6e-gb200.36xlarge" in said


def test_sizes() -> None:
    assert messages("image-size", subject(size=50 << 30)) == []
    assert messages("image-size", subject(size=100 << 30)) == [
        "the image takes 100 GiB; a root disk of 96 GiB was seen"
    ]
    assert messages("image-size", subject(size=9 << 30, job=job())) == []
    assert messages("image-size", subject(size=11 << 30, job=job())) != []


def test_an_entry_point_of_the_job_replaces_that_of_the_image() -> None:
    own = {
        "TrainingImage": "my-image",
        "TrainingInputMode": "File",
        "ContainerEntrypoint": ["/bin/sh", "-c", "python t.py"],
    }
    image = subject(layer(program("bin/sh")), entrypoint=["/usr/bin/train"], job=job(AlgorithmSpecification=own))
    (said,) = messages("entrypoint-shell-form", image)
    assert said.startswith("ContainerEntrypoint runs 'python t.py'")
    assert messages("train-missing", image) == []


def test_what_remote_functions_need_of_another_user() -> None:
    known = layer(file("etc/passwd", b"root:x:0:0::/:\napp:x:5:5::/:\n"), program("bin/bash"), program("bin/python"))
    assert messages("remote-function-programs", subject(known, user="root")) == []
    assert len(messages("remote-function-programs", subject(known, user="app"))) == 1
