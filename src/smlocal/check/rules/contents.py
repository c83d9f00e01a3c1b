"""What else is in an image: the training toolkit, variables, libraries of the GPU's driver, and its size."""

import posixpath
import re
from collections.abc import Iterator

from smlocal.base.readable import readable_bytes
from smlocal.check.image_files import NAMES, PROGRAMS, SCRIPTS, USERS, FoundFile
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.program_files import Script, lines, read_program, written_text
from smlocal.check.starting import TOOLKITS, Package, find_program, has_toolkit, packages, user_of
from smlocal.check.subject import LaunchProfile, Subject
from smlocal.sagemaker.contract import paths
from smlocal.sagemaker.contract.documents.hosts import INTERFACE
from smlocal.terms.masking import looks_secret, without_passwords

_TOOLKITS = (
    r"CHANNEL_[A-Z0-9_]+|HP_[A-Z0-9_]+|CHANNELS|HOSTS|CURRENT_HOST|CURRENT_INSTANCE_TYPE|CURRENT_INSTANCE_GROUP"
    r"|CURRENT_INSTANCE_GROUP_HOSTS|INSTANCE_GROUPS|INSTANCE_GROUPS_DICT|DISTRIBUTION_INSTANCE_GROUPS|IS_HETERO"
    r"|TOPOLOGY|NETWORK_INTERFACE_NAME|HPS|USER_ARGS|USER_ENTRY_POINT|FRAMEWORK_PARAMS|FRAMEWORK_MODULE"
    r"|TRAINING_ENV|MODULE_NAME|MODULE_DIR|LOG_LEVEL|RESOURCE_CONFIG|INPUT_DATA_CONFIG|INPUT_DIR"
    r"|INPUT_CONFIG_DIR|OUTPUT_DATA_DIR|OUTPUT_DIR|OUTPUT_INTERMEDIATE_DIR|MODEL_DIR|NUM_CPUS|NUM_GPUS"
    r"|NUM_NEURONS"
)
"""Without `SM_`. Programs have variables of their own that begin so."""
_VARIABLE = rf"(SM_(?:{_TOOLKITS})\b)"
_EXPECTED = re.compile(
    rf"""environ\[\s*["']{_VARIABLE}["']\s*\](?!\s*=[^=])"""  # read, not set
    rf"""|(?:environ\.get|getenv)\(\s*["']{_VARIABLE}["']\s*\)"""  # without a default
    rf"""|\$\{{?{_VARIABLE}\b(?!:?[-=+?])"""
)


def _toolkit_variables(subject: Subject) -> Iterator[Finding]:
    if has_toolkit(subject.files) or {LaunchProfile.MODEL_TRAINER, LaunchProfile.MODEL_TRAINER_MPI} & subject.profiles:
        return  # either sets them
    given = {*subject.facts.environment, *subject.requested_environment}
    for path, text, layer in written_text(subject):
        if "SM_" not in text:
            continue
        for number, line in lines(text):
            name = next((name for match in _EXPECTED.finditer(line) for name in match.groups() if name), None)
            if name is not None and name not in given and not re.search(rf"(?:^|\n)\s*(?:export\s+)?{name}=", text):
                yield Finding(
                    message=f"line {number} of {path} expects {name}, which the service does not set",
                    path=path,
                    layer=layer,
                )
                break


TOOLKIT_VARIABLES = Rule(
    id="toolkit-variables",
    severity=Severity.WARNING,
    title="A script expects SM_ variables, and the image has no training toolkit",
    why=(
        "The service sets a few variables, and none that begins with `SM_`. SM_MODEL_DIR, SM_CHANNEL_TRAINING and the "
        "others are set inside the container by the SageMaker training toolkit or by the scripts of ModelTrainer. In "
        "an image without the toolkit they are missing, and a script that has no default for them fails."
    ),
    mark=Mark.SEEN,
    remedy='Give a default: os.environ.get("SM_MODEL_DIR", "/opt/ml/model"); or install sagemaker-training.',
    check=_toolkit_variables,
    files=(NAMES, SCRIPTS, PROGRAMS),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/usr/bin/env python\nimport os\n\nprint(os.environ["SM_MODEL_DIR"])\n'),),
        good_files=(
            ("train", '#!/usr/bin/env python\nimport os\n\nprint(os.environ.get("SM_MODEL_DIR", "/opt/ml/model"))\n'),
        ),
        output="line 4 of /usr/local/bin/train expects SM_MODEL_DIR, which the service does not set",
    ),
)


def _toolkit_unusable(subject: Subject) -> Iterator[Finding]:
    installed = list(packages(subject.files, *TOOLKITS))
    if not installed:
        return
    user = user_of(subject)
    train = find_program(subject, "train", user)
    if train is None or not user.may_execute(train.entry):
        package = installed[0]
        yield Finding(
            message=f"{package.name} is installed in {package.folder}, and its program train is not on the PATH",
            path=package.folder,
            layer=package.layer,
        )
        return
    code = subject.files.find(paths.CODE)
    if code is not None and code.entry.kind == "file":
        yield Finding(
            message=f"{paths.CODE} is a file, and {installed[0].name} looks for scripts in a folder of that name",
            path=paths.CODE,
            layer=code.entry.layer,
        )
    wrong = [message for package in installed if (message := _other_python(subject, package, train))]
    if len(wrong) == len(installed):
        yield Finding(message=wrong[0], path=train.path, layer=train.entry.layer)


def _other_python(subject: Subject, package: Package, train: FoundFile) -> str:
    """Why the Python that runs `train` does not have the package; empty where it may have it."""
    read = read_program(subject.files.content(train.path) or b"")
    if not isinstance(read, Script) or "python" not in read.program or not package.python:
        return ""
    found = find_program(subject, read.program, user_of(subject))
    if found is None:
        return ""  # another rule says it
    name = posixpath.basename(found.path)
    if name in {"python3", "python", "python2"} or name == f"python{package.python}":
        return ""
    return f"{train.path} is run by {name}, and {package.name} is installed for Python {package.python}"


TOOLKIT_UNUSABLE = Rule(
    id="toolkit-unusable",
    severity=Severity.ERROR,
    title="The training toolkit is installed and cannot run",
    why=(
        "The SageMaker training toolkit brings a program `train`, which reads the job and starts the user's script. It "
        "must be on the PATH of the image, and be run by the Python for which the toolkit is installed. `pip install "
        "--target`, a virtual environment that is not on the PATH and an upgrade of Python break that. It also needs "
        "the folder `/opt/ml/code`: `COPY train.py /opt/ml/code` makes a file of that name, and each job fails with "
        "`NotADirectoryError`."
    ),
    mark=Mark.DOCUMENTED,
    remedy=(
        "Install sagemaker-training with the pip of the Python that is first on the PATH of the image, and copy "
        "scripts to /opt/ml/code/ with a slash at the end."
    ),
    check=_toolkit_unusable,
    files=(PROGRAMS, USERS),
    example=Example(
        bad=(
            "FROM python:3.11-slim-bookworm\n"
            "COPY sagemaker_training /opt/venv/lib/python3.11/site-packages/sagemaker_training\n"
            "COPY train /opt/venv/bin/train\n"
        ),
        good=(
            "FROM python:3.11-slim-bookworm\n"
            "COPY sagemaker_training /opt/venv/lib/python3.11/site-packages/sagemaker_training\n"
            "COPY train /opt/venv/bin/train\n"
            "ENV PATH=/opt/venv/bin:/usr/local/bin:/usr/bin:/bin\n"
        ),
        bad_files=(
            ("sagemaker_training/__init__.py", ""),
            ("train", "#!/usr/bin/env python3\nfrom sagemaker_training.cli.train import main\n\nmain()\n"),
        ),
        output=(
            "sagemaker_training is installed in /opt/venv/lib/python3.11/site-packages, and its program train is not "
            "on the PATH"
        ),
    ),
)


_SET = {
    "TRAINING_JOB_NAME": "",
    "TRAINING_JOB_ARN": "",
    "AWS_REGION": "",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "",
    "DMLC_INTERFACE": INTERFACE,
    "SAGEMAKER_METRICS_DIRECTORY": paths.METRICS,
    "HOSTNAME": "",
}
"""Variables that the service sets, with the value that is always the same, where there is one."""


def _variable_overridden(subject: Subject) -> Iterator[Finding]:
    for name, usual in _SET.items():
        value = subject.facts.environment.get(name)
        if value is not None and value != usual:
            yield Finding(message=f"ENV {name} has no effect: the service sets it", instruction=f"ENV {name}")


VARIABLE_OVERRIDDEN = Rule(
    id="variable-overridden",
    severity=Severity.WARNING,
    title="The image sets a variable that the service overrides",
    why=(
        "The service sets the name and ARN of the job, the region, the address of the credentials and a few more "
        "variables in each container. A value from the image is replaced, so a program that relies on it behaves "
        "differently in a job."
    ),
    mark=Mark.SEEN,
    remedy="Remove it from the image, and read the value that the service sets.",
    check=_variable_overridden,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nENV AWS_REGION=eu-west-1\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="ENV AWS_REGION has no effect: the service sets it",
    ),
)


_KEY_ID = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")
_BUILD_ARGUMENTS = re.compile(r"(?:RUN )?\|\d+ (.*?) /\S+ -\w*c ", re.DOTALL)
_SECRET_NAME = re.compile(r"(?:^|\s)([A-Za-z_]\w*)=.")
_PUBLIC = {"GPG_KEY"}
"""Keys that official images publish, to be checked with."""


def _variable_secret(subject: Subject) -> Iterator[Finding]:
    for name, value in subject.facts.environment.items():
        if name in _PUBLIC or not value:
            continue
        if looks_secret(name, value) or _KEY_ID.search(value) or without_passwords(value) != value:
            yield Finding(message=f"ENV {name} looks like a secret", instruction=f"ENV {name}")
    for name in dict.fromkeys(name for step in subject.history for name in _arguments(step.text)):
        if name not in subject.facts.environment and looks_secret(name):
            yield Finding(
                message=f"the build argument {name} looks like a secret, and is in the history of the image",
                instruction=f"ARG {name}",
            )


def _arguments(text: str) -> list[str]:
    """Build arguments of a step, which its builder wrote before the command with their values."""
    found = _BUILD_ARGUMENTS.match(text)
    return _SECRET_NAME.findall(found[1]) if found else []


VARIABLE_SECRET = Rule(
    id="variable-secret",
    severity=Severity.ERROR,
    title="The image has a secret in its environment or history",
    why=(
        "Anyone who can pull the image can read its variables, and they stay in its history even if a later "
        "instruction changes them. A build argument stays in the history with its value. Credentials of AWS in the "
        "environment also win over those of the job's role."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Remove it, replace the secret, and let the program read it at run time, for example from Secrets Manager.",
    check=_variable_secret,
    is_general=True,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nENV WANDB_API_KEY=0123456789abcdef\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="ENV WANDB_API_KEY looks like a secret",
    ),
)


_DRIVER = re.compile(
    r"libcuda\.so(?:\.\d+)*$"
    r"|(?:libnvidia-(?!container)[a-z0-9-]+|libcudadebugger|libnvcuvid|libnvoptix)\.so\.\d+\.\d+(?:\.\d+)?$"
    r"|nvidia-smi$"
)
_OTHER = re.compile(r"/(?:stubs|compat)/")
"""Stand-ins to link with, and libraries for older drivers, which belong in images."""


def _gpu_driver(subject: Subject) -> Iterator[Finding]:
    by_folder: dict[str, list[FoundFile]] = {}
    for found in subject.files.named(_DRIVER):
        if found.entry.kind == "file" and not _OTHER.search(found.path):
            by_folder.setdefault(posixpath.dirname(found.path), []).append(found)
    for folder, files in sorted(by_folder.items()):
        first = min(files)
        more = f" and {len(files) - 1} more in {folder}" if len(files) > 1 else ""
        empty = ", empty" if all(found.entry.size == 0 for found in files) else ""
        yield Finding(
            message=f"{first.path}{more} belongs to the NVIDIA driver{empty}", path=first.path, layer=first.entry.layer
        )


GPU_DRIVER = Rule(
    id="gpu-driver",
    severity=Severity.ERROR,
    title="The image has libraries of the NVIDIA driver",
    why=(
        "An image for GPUs has the CUDA toolkit and not the driver. The instance has the driver, and the container "
        "runtime puts its libraries into the container. Libraries of another version in the image can hide them, and "
        "CUDA then fails to start."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Do not install nvidia-driver or libnvidia packages; start from an image that has only the CUDA toolkit.",
    check=_gpu_driver,
    files=(NAMES,),
    is_general=True,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nCOPY libcuda.so /usr/lib/libcuda.so.535.54.03\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\nCOPY libcuda.so /usr/local/cuda/lib64/stubs/libcuda.so\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'), ("libcuda.so", "a library\n")),
        output="/usr/lib/libcuda.so.535.54.03 belongs to the NVIDIA driver",
    ),
)


_CUDA = re.compile(r"(?:libcudart\.so[.\d]*|libtorch_cuda\.so|libcublas\.so[.\d]*|nvcc)$")
_DEVICES, _ABILITIES = "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"
_NONE = {"", "void", "none"}
_ENOUGH = {"compute", "all"}


def _gpu_variables(subject: Subject) -> Iterator[Finding]:
    cuda = min(subject.files.named(_CUDA), default=None)
    if cuda is None:
        return
    environment = {**subject.facts.environment, **subject.requested_environment}
    wrong = []
    if environment.get(_DEVICES, "") in _NONE:
        wrong.append(f"{_DEVICES}=all")
    if not _ENOUGH & set(environment.get(_ABILITIES, "").split(",")):
        wrong.append(f"{_ABILITIES}=compute,utility")
    if wrong:
        yield Finding(
            message=f"the image has CUDA ({cuda.path}) and does not set {' and '.join(wrong)}",
            path=cuda.path,
            layer=cuda.entry.layer,
        )


GPU_VARIABLES = Rule(
    id="gpu-variables",
    severity=Severity.WARNING,
    title="The image has CUDA and does not ask for GPUs",
    why=(
        "AWS asks that images for GPUs work with nvidia-docker. NVIDIA's container runtime uses two variables: "
        "without NVIDIA_VISIBLE_DEVICES a container may get no GPU, and without `compute` in "
        "NVIDIA_DRIVER_CAPABILITIES no CUDA. The images of NVIDIA and AWS set both. Whether the service sets them for "
        "other images is not documented."
    ),
    mark=Mark.INFERRED,
    remedy=(
        "Add ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility, or start from an image of "
        "NVIDIA."
    ),
    check=_gpu_variables,
    files=(NAMES,),
    is_general=True,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nCOPY libcudart.so /usr/local/cuda/lib64/libcudart.so.12\n",
        good=(
            "FROM busybox\nCOPY train /usr/local/bin/train\nCOPY libcudart.so /usr/local/cuda/lib64/libcudart.so.12\n"
            "ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility\n"
        ),
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'), ("libcudart.so", "a library\n")),
        output=(
            "the image has CUDA (/usr/local/cuda/lib64/libcudart.so.12) and does not set NVIDIA_VISIBLE_DEVICES=all "
            "and NVIDIA_DRIVER_CAPABILITIES=compute,utility"
        ),
    ),
)


_GIB = 1 << 30
_ROOT_DISK = 96 << 30
"""Bytes of the root file system of an instance that a user measured."""


def _image_size(subject: Subject) -> Iterator[Finding]:
    size = subject.facts.size
    resources = subject.job.request.ResourceConfig if subject.job is not None else None
    volume = resources.VolumeSizeInGB if resources is not None else None
    if volume and size > volume * _GIB:
        yield Finding(message=f"the image takes {readable_bytes(size)}, more than the {volume} GiB of VolumeSizeInGB")
    elif size > _ROOT_DISK:
        yield Finding(
            message=f"the image takes {readable_bytes(size)}; a root disk of {readable_bytes(_ROOT_DISK)} was seen"
        )


IMAGE_SIZE = Rule(
    id="image-size",
    severity=Severity.WARNING,
    title="The image is large for the disk of the instance",
    why=(
        "An image is unpacked on a disk of the instance before the job starts. AWS does not document which disk: it "
        "may be the volume of the job, whose size is VolumeSizeInGB, or the root disk, of which a user saw 96 GB. If "
        "it does not fit, the job cannot start."
    ),
    mark=Mark.INFERRED,
    remedy="Make the image smaller, keep weights and data in channels, or increase VolumeSizeInGB.",
    check=_image_size,
    is_general=True,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nRUN dd if=/dev/zero of=/weights bs=1M count=1100\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        bad_job="ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1, VolumeSizeInGB: 1}\n",
        output="the image takes 1.1 GiB, more than the 1 GiB of VolumeSizeInGB",
    ),
)


RULES = (
    TOOLKIT_VARIABLES,
    TOOLKIT_UNUSABLE,
    VARIABLE_OVERRIDDEN,
    VARIABLE_SECRET,
    GPU_DRIVER,
    GPU_VARIABLES,
    IMAGE_SIZE,
)
