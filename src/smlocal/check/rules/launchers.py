"""What servers, processors and the launchers of the SageMaker SDK need of an image."""

from collections.abc import Iterator

from smlocal.check.cannot_look import JOB_FILE_NEEDED, CannotLookError
from smlocal.check.image_files import NAMES, PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.starting import (
    TOOLKITS,
    StartedProgram,
    has_program,
    has_toolkit,
    missing,
    not_executable,
    programs,
    user_of,
    words_of,
)
from smlocal.check.subject import LaunchProfile, Subject
from smlocal.jobs.planning.aspects.image.plan import MODEL_TRAINER_STOP, is_model_trainer


def _server_missing(subject: Subject) -> Iterator[Finding]:
    for program in programs(subject.as_server):
        if program.found is None or program.found.entry.kind != "file":
            yield Finding(
                message=_missing_server(program),
                path=program.word if program.word.startswith("/") else "",
                instruction="ENTRYPOINT" if subject.facts.entrypoint else "",
            )


def _missing_server(program: StartedProgram) -> str:
    where = "" if "/" in program.word else " on its PATH"
    if program.starter:
        return f"{program.starter} runs its arguments, and the image has no {program.word}{where}"
    if program.word == "serve":
        return "there is no ENTRYPOINT, and no serve on the PATH of the image"
    return f"the image has no {program.word}{where}"


SERVER_MISSING = Rule(
    id="server-missing",
    severity=Severity.ERROR,
    title="The image has no serve program",
    why=(
        "The service runs `docker run IMAGE serve`. With an ENTRYPOINT, `serve` is its argument. Without one, `serve` "
        "is the program, which the engine looks for on the PATH of the image. A CMD does not count: `serve` takes its "
        "place."
    ),
    mark=Mark.DOCUMENTED,
    remedy="COPY an executable to /usr/local/bin/serve, or set ENTRYPOINT to a program that takes the argument serve.",
    check=_server_missing,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad="FROM busybox\nCOPY serve /opt/program/serve\n",
        good="FROM busybox\nCOPY serve /opt/program/serve\nENV PATH=/opt/program:/usr/bin:/bin\n",
        bad_files=(("serve", "#!/bin/sh\nexec httpd -f -p 8080\n"),),
        output="there is no ENTRYPOINT, and no serve on the PATH of the image",
    ),
)


SERVER_NOT_EXECUTABLE = Rule(
    id="server-not-executable",
    severity=Severity.ERROR,
    title="The serve program is not executable",
    why=(
        "The engine starts the ENTRYPOINT of the image, or `serve` from its PATH, as a program. A file without execute "
        "permission is not started. COPY keeps the permissions that the file has beside the Dockerfile."
    ),
    mark=Mark.INFERRED,
    remedy="Run chmod +x on it before COPY, or RUN chmod +x in the Dockerfile.",
    check=lambda subject: not_executable(subject.as_server),
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad="FROM busybox\nCOPY serve /usr/local/bin/serve\nRUN chmod 644 /usr/local/bin/serve\n",
        good="FROM busybox\nCOPY serve /usr/local/bin/serve\nRUN chmod 755 /usr/local/bin/serve\n",
        bad_files=(("serve", "#!/bin/sh\nexec httpd -f -p 8080\n"),),
        output='/usr/local/bin/serve is not executable (mode 0644): exec: "serve": executable file not found in $PATH',
    ),
)


def _processing_program_missing(subject: Subject) -> Iterator[Finding]:
    subject = subject.as_processor
    if not words_of(subject):
        yield Finding(message="the image has neither ENTRYPOINT nor CMD, and there is no ContainerEntrypoint")
        return
    for program in programs(subject):
        if program.found is None or program.found.entry.kind != "file":
            where = "" if "/" in program.word else " on its PATH"
            runs = f"{program.starter} runs its arguments, and " if program.starter else ""
            yield Finding(
                message=f"{runs}the image has no {program.word}{where}",
                path=program.word if program.word.startswith("/") else "",
                instruction="" if subject.is_entrypoint_of_job else "ENTRYPOINT" if subject.facts.entrypoint else "CMD",
            )
    yield from not_executable(subject)


PROCESSING_PROGRAM_MISSING = Rule(
    id="processing-program-missing",
    severity=Severity.ERROR,
    title="A processing job has no program to start",
    why=(
        "The service starts a processing job as `docker run IMAGE`, without an argument `train`: the ENTRYPOINT and "
        "the CMD of the image are its command. ContainerEntrypoint of the request takes the place of both, and "
        "ContainerArguments that of the CMD. If the program is not in the image, the job fails at once."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Set ENTRYPOINT to the program that processes, or name it in ContainerEntrypoint.",
    check=_processing_program_missing,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.PROCESSING}),
    example=Example(
        bad='FROM busybox\nCOPY split /opt/program/split\nENTRYPOINT ["split"]\n',
        good='FROM busybox\nCOPY split /opt/program/split\nENTRYPOINT ["/opt/program/split"]\n',
        bad_files=(("split", "#!/bin/sh\nls /opt/ml/processing\n"),),
        output="the image has no split on its PATH",
    ),
)


_PROGRAMS_OF_IT = ("python3", "python", "/bin/bash", "tar", "pip")


def _processing_programs(subject: Subject) -> Iterator[Finding]:
    if subject.processing is None or not subject.processing.entrypoint:
        yield from missing(subject, "a processor of the SDK", programs=_PROGRAMS_OF_IT)


PROCESSING_PROGRAMS = Rule(
    id="processing-programs",
    severity=Severity.WARNING,
    title="The image lacks a program that the processors of the SDK start",
    why=(
        "ScriptProcessor and SKLearnProcessor of the SageMaker SDK start a script with the command that they are "
        "given, which is python3 for most images. FrameworkProcessor starts a script of bash, which unpacks the code "
        "with tar, installs requirements.txt with pip and calls python. Processor starts the image's own command, and "
        "a job file with a ContainerEntrypoint its own."
    ),
    mark=Mark.SEEN,
    remedy="Install Python, pip, bash and tar in the image; ignore it for an image with a program of its own.",
    check=_processing_programs,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.PROCESSING}),
    example=Example(
        bad="FROM busybox\n",
        good="FROM python:3.11-slim-bookworm\n",
        options=("--for", "processing"),
        output=(
            "the image has no python3 on the PATH, which a processor of the SDK starts\n"
            "the image has no python on the PATH, which a processor of the SDK starts\n"
            "the image has no /bin/bash, which a processor of the SDK starts\n"
            "the image has no pip on the PATH, which a processor of the SDK starts"
        ),
    ),
)


_PROFILES = frozenset({LaunchProfile.MODEL_TRAINER, LaunchProfile.MODEL_TRAINER_MPI})


def _model_trainer_stop(subject: Subject) -> Iterator[Finding]:
    if _PROFILES & subject.profiles or is_model_trainer(words_of(subject)):
        yield Finding(message=MODEL_TRAINER_STOP)
    elif subject.job is None:
        raise CannotLookError("needs a job file that says what starts the program", test=JOB_FILE_NEEDED)


STOP_OF_MODEL_TRAINER = Rule(
    id="model-trainer-stop",
    severity=Severity.INFO,
    title="A job of ModelTrainer does not receive SIGTERM",
    why=(
        "ModelTrainer of the SageMaker SDK version 3 starts its jobs with `/bin/bash -c`, and bash stays the first "
        "process. It has no handler for SIGTERM and does not pass the signal on. Tried with bash 5.2: a container "
        "started in this form ignores the stop and is killed at the end of the grace period. That the service behaves "
        "the same is inferred."
    ),
    mark=Mark.INFERRED,
    remedy="Write checkpoints regularly, not only when SIGTERM arrives.",
    check=_model_trainer_stop,
    profiles=_PROFILES,
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        bad_job=(
            "AlgorithmSpecification:\n"
            "  TrainingInputMode: File\n"
            "  ContainerEntrypoint: [/bin/bash]\n"
            "  ContainerArguments:\n"
            "    - -c\n"
            "    - chmod +x /opt/ml/input/data/sm_drivers/sm_train.sh && /opt/ml/input/data/sm_drivers/sm_train.sh\n"
        ),
        good_job="AlgorithmSpecification: {TrainingInputMode: File}\n",
        output=(
            "the first process of a ModelTrainer job is bash, which does not pass SIGTERM on: each stop takes the "
            "whole grace period, and a checkpoint that is written on SIGTERM is lost"
        ),
    ),
)


PROGRAMS_OF_IT = ("/bin/bash", "chmod", ("python3", "python"), ("pip3", "pip"))


def _model_trainer_programs(subject: Subject) -> Iterator[Finding]:
    yield from missing(subject, "ModelTrainer", programs=PROGRAMS_OF_IT)


MODEL_TRAINER_PROGRAMS = Rule(
    id="model-trainer-programs",
    severity=Severity.ERROR,
    title="The image lacks a program that ModelTrainer starts",
    why=(
        "ModelTrainer of the SageMaker SDK version 3 replaces the entry point of the image by `/bin/bash -c`, makes "
        "its script in a channel executable and runs it. The script looks for python3 or python, and for pip3 or pip "
        "to install requirements.txt."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Install bash, Python and pip in the image.",
    check=_model_trainer_programs,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.MODEL_TRAINER, LaunchProfile.MODEL_TRAINER_MPI}),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        options=("--for", "model-trainer"),
        output=(
            "the image has no /bin/bash, which ModelTrainer starts\n"
            "the image has no python3 or python on the PATH, which ModelTrainer starts\n"
            "the image has no pip3 or pip on the PATH, which ModelTrainer starts"
        ),
    ),
)


def _model_trainer_mpi_programs(subject: Subject) -> Iterator[Finding]:
    yield from missing(
        subject,
        "the MPI driver of ModelTrainer",
        programs=("/usr/sbin/sshd", "ssh", "mpirun"),
        modules=("paramiko", "mpi4py"),
    )


MODEL_TRAINER_MPI_PROGRAMS = Rule(
    id="model-trainer-mpi-programs",
    severity=Severity.ERROR,
    title="The image lacks something that the MPI driver of ModelTrainer needs",
    why=(
        "With Distributed MPI, ModelTrainer starts /usr/sbin/sshd on each host, waits for the others with paramiko, "
        "and starts the script with mpirun and mpi4py. It installs none of them."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Install openssh-server, openssh-client, openmpi-bin, paramiko and mpi4py in the image.",
    check=_model_trainer_mpi_programs,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.MODEL_TRAINER_MPI}),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY program /usr/bin/mpirun\n",
        good=(
            "FROM python:3.11-slim-bookworm\nCOPY program /usr/bin/mpirun\nCOPY program /usr/bin/ssh\n"
            "COPY program /usr/sbin/sshd\nCOPY module.py /usr/local/lib/python3.11/dist-packages/paramiko.py\n"
            "COPY module.py /usr/local/lib/python3.11/dist-packages/mpi4py/__init__.py\n"
        ),
        bad_files=(("program", "#!/bin/sh\n"), ("module.py", "")),
        options=("--for", "model-trainer=mpi"),
        output=(
            "the image has no /usr/sbin/sshd, which the MPI driver of ModelTrainer starts\n"
            "the image has no ssh on the PATH, which the MPI driver of ModelTrainer starts\n"
            "the image has no Python package paramiko, which the MPI driver of ModelTrainer imports\n"
            "the image has no Python package mpi4py, which the MPI driver of ModelTrainer imports"
        ),
    ),
)


def _remote_function_programs(subject: Subject) -> Iterator[Finding]:
    sudo = () if user_of(subject).is_root else ("sudo",)
    yield from missing(subject, "a remote function", programs=("/bin/bash", ("python", "python3"), *sudo))


REMOTE_FUNCTION_PROGRAMS = Rule(
    id="remote-function-programs",
    severity=Severity.ERROR,
    title="The image lacks a program that remote functions start",
    why=(
        "A function with the decorator `@remote` is run by a script of the SDK in bash, and then by Python. If the "
        "user of the image is not root, the script calls sudo to open `/opt/ml/input`, `/opt/ml/output`, "
        "`/opt/ml/model` and `/tmp` to that user."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Install bash and Python, and sudo without a password if the USER of the image is not root.",
    check=_remote_function_programs,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.REMOTE_FUNCTION}),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nUSER nobody\n",
        good="FROM python:3.11-slim-bookworm\nUSER root\n",
        options=("--for", "remote-function"),
        output="the image has no sudo on the PATH, which a remote function starts",
    ),
)


def _toolkit_programs(subject: Subject) -> Iterator[Finding]:
    if not has_toolkit(subject.files):
        yield Finding(message=f"the image has no Python package {' or '.join(TOOLKITS)}")


TOOLKIT_PROGRAMS = Rule(
    id="toolkit-programs",
    severity=Severity.ERROR,
    title="The image lacks the training toolkit",
    why=(
        "Estimators with an `entry_point` leave it to the SageMaker training toolkit in the image to fetch the source, "
        "to install its requirements and to start the script. Without the toolkit the script is never started."
    ),
    mark=Mark.DOCUMENTED,
    remedy="RUN pip install sagemaker-training.",
    check=_toolkit_programs,
    files=(NAMES,),
    profiles=frozenset({LaunchProfile.TOOLKIT, LaunchProfile.TOOLKIT_MPI, LaunchProfile.SMDDP}),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY module.py /opt/program/module.py\n",
        good=(
            "FROM python:3.11-slim-bookworm\n"
            "COPY module.py /usr/local/lib/python3.11/dist-packages/sagemaker_training/__init__.py\n"
        ),
        bad_files=(("module.py", ""),),
        options=("--for", "toolkit"),
        output="the image has no Python package sagemaker_training or sagemaker_containers",
    ),
)


def _toolkit_mpi_programs(subject: Subject) -> Iterator[Finding]:
    yield from missing(
        subject, "the MPI launcher of the toolkit", programs=("/usr/sbin/sshd", "mpirun"), modules=("mpi4py",)
    )


TOOLKIT_MPI_PROGRAMS = Rule(
    id="toolkit-mpi-programs",
    severity=Severity.ERROR,
    title="The image lacks something that the MPI launcher of the toolkit needs",
    why=(
        "With `sagemaker_mpi_enabled` the training toolkit starts /usr/sbin/sshd on each host and then `mpirun … "
        "python -m mpi4py` on the first one. It looks for these programs on the PATH and installs none of them."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Install openssh-server, openmpi-bin and mpi4py in the image.",
    check=_toolkit_mpi_programs,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.TOOLKIT_MPI, LaunchProfile.SMDDP}),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY program /usr/sbin/sshd\n",
        good=(
            "FROM python:3.11-slim-bookworm\nCOPY program /usr/sbin/sshd\nCOPY program /usr/bin/mpirun\n"
            "COPY module.py /usr/local/lib/python3.11/dist-packages/mpi4py/__init__.py\n"
        ),
        bad_files=(("program", "#!/bin/sh\n"), ("module.py", "")),
        options=("--for", "toolkit-mpi"),
        output=(
            "the image has no mpirun on the PATH, which the MPI launcher of the toolkit starts\n"
            "the image has no Python package mpi4py, which the MPI launcher of the toolkit imports"
        ),
    ),
)


def _smddp_programs(subject: Subject) -> Iterator[Finding]:
    if not has_program(subject, "smddprun"):
        yield Finding(message="the image has no smddprun on the PATH: the job runs as plain MPI")


SMDDP_PROGRAMS = Rule(
    id="smddp-programs",
    severity=Severity.WARNING,
    title="The image lacks the launcher of SMDDP",
    why=(
        "With `sagemaker_distributed_dataparallel_enabled` the training toolkit puts smddprun before the script if it "
        "is on the PATH. If not, it prints a warning and starts the script with plain MPI: the job succeeds without "
        "the library that was asked for."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Use an image of AWS that has the library, or install its wheel.",
    check=_smddp_programs,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.SMDDP}),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY program /opt/smddprun\n",
        good="FROM python:3.11-slim-bookworm\nCOPY program /usr/local/bin/smddprun\n",
        bad_files=(("program", "#!/bin/sh\n"),),
        options=("--for", "smddp"),
        output="the image has no smddprun on the PATH: the job runs as plain MPI",
    ),
)


RULES = (
    SERVER_MISSING,
    SERVER_NOT_EXECUTABLE,
    PROCESSING_PROGRAM_MISSING,
    PROCESSING_PROGRAMS,
    STOP_OF_MODEL_TRAINER,
    MODEL_TRAINER_PROGRAMS,
    MODEL_TRAINER_MPI_PROGRAMS,
    REMOTE_FUNCTION_PROGRAMS,
    TOOLKIT_PROGRAMS,
    TOOLKIT_MPI_PROGRAMS,
    SMDDP_PROGRAMS,
)
